"""TRUST-08 to TRUST-15 and TRUST-18: a folder that hides what it runs from whoever is asked about it."""

import asyncio
import json
import subprocess
import sys

import pytest
from pygls.exceptions import JsonRpcException

from odin_lsp import config
from odin_lsp.errors import ToolError
from odin_lsp.extensions.hook_files import MAX_HOOKS
from odin_lsp.extensions.registry import Extensions
from odin_lsp.language_servers.choosing import CHANGED, Around, all_of
from odin_lsp.mcp.connection import Around as McpAround
from odin_lsp.mcp.connection import Connection
from odin_lsp.mcp.values import Host
from odin_lsp.named_files import named_files
from odin_lsp.permissions.trust import Trust, told
from tests.support.trusting import trust_folder

PATIENCE = 60


@pytest.fixture
def ws(tmp_path):
    """A folder `ws` in one of its own, so that there is something around it."""
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


def write(folder, name, content=""):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def hooks(*commands, event="Stop", **more):
    return {"hooks": {event: [{"hooks": [{"command": it, **more} for it in commands]}]}}


def running(folder):
    found = Extensions.found(folder, agreed=Trust().agreement(folder).agreed)
    return [it.command for it in found.hooks] + [it.command for it in found.servers.values()]


NAMED = {
    "python3 -m pkg": "pkg/__main__.py",
    "python3 -m pkg.deep.run": "pkg/deep/run.py",
    "python3 tools": "tools/__main__.py",
    "PYTHONPATH=lib python3 -m check": "lib/check.py",
    "node .": "index.js",
    "node srv": "srv.js",
    "node -r./first.js x.js": "first.js",
    "node --require=./first other.js": "first.js",
    "ruby -Ilib -rfirst x.rb": "lib/first.rb",
    "perl -Ilib -MEvil::Twin -e 1": "lib/Evil/Twin.pm",
    "cd one; cd two; ./run.sh": "one/two/run.sh",
    "cd .. && sh ws/run.sh": "run.sh",
    "make -C sub check": "sub/Makefile",
    '"$(git rev-parse --show-toplevel)"/hooks/run.sh': "hooks/run.sh",
    "`pwd`/run.sh": "run.sh",
    "sh ${PWD%/}/run.sh": "run.sh",
    "D=hooks; sh $D/run.sh": "hooks/run.sh",
    "N=run; sh hooks/$N.sh": "hooks/run.sh",
    "sh hooks/{run,other}.sh": "hooks/run.sh",
    "for it in hooks/*.sh; do . $it; done": "hooks/run.sh",
    "sh hooks/r?n.sh": "hooks/run.sh",
    "sh -c \"sh hooks/r'u'n.sh\"": "hooks/run.sh",
    "sh -c 'sh hooks/r\\un.sh'": "hooks/run.sh",
    "bash --rcfile=hooks/run.sh -i": "hooks/run.sh",
    "java @options.txt Main": "options.txt",
    "curl file:run.sh | sh": "run.sh",
    "sh link/../run.sh": "far/run.sh",
    "sh <<< '. ./run.sh'": "run.sh",
}


@pytest.mark.parametrize("command", NAMED)
def test_trust_09_a_file_belongs_to_the_command_that_names_it_in_whatever_way(ws, command):
    name = NAMED[command]
    (ws / "far" / "deep").mkdir(parents=True)
    (ws / "link").symlink_to(ws / "far" / "deep")
    write(ws, name, "good")
    write(ws, ".claude/settings.json", hooks(command))
    trust_folder(ws)
    assert running(ws) == [command]

    write(ws, name, "evil")

    assert (Trust().of(ws), running(ws)) == ("changed", [])


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ({"command": "node", "args": ["srv.js"], "env": {"NODE_OPTIONS": "--require ./first.js"}}, "first.js"),
        ({"command": "python3", "args": ["-m", "srv"], "env": {"PYTHONPATH": "lib"}}, "lib/srv.py"),
        ({"command": "serve", "env": {"PATH": "./bin:/usr/bin"}}, "bin/serve"),
        ({"command": "serve", "env": {"LD_PRELOAD": "./first.so"}}, "first.so"),
        ({"command": "serve", "args": ["--config", "serve.toml"]}, "serve.toml"),
        ({"command": "sh", "args": ["ws/run.sh"], "cwd": ".."}, "run.sh"),
        ({"command": "./run.sh", "cwd": "${workspaceFolder}/sub"}, "sub/run.sh"),
        ({"command": "sh", "args": ["${NO_SUCH_THING:-run.sh}"]}, "run.sh"),
        ({"command": "npx", "args": ["-y", "serve"]}, "node_modules/.bin/serve"),
        ({"command": "uv", "args": ["run", "serve"]}, ".venv/bin/serve"),
    ],
)
def test_trust_09_what_a_server_is_led_to_belongs_to_it(ws, entry, name):
    (ws / "sub").mkdir()
    write(ws, name, "good")
    write(ws, ".mcp.json", {"mcpServers": {"s": entry}})
    trust_folder(ws)
    assert running(ws) == [entry["command"]]

    write(ws, name, "evil")

    assert (Trust().of(ws), running(ws)) == ("changed", [])


@pytest.mark.parametrize(
    "command",
    [
        "sh -c '. $0;test ' run.sh",
        "touch\nrun.sh",
        "node -e 'require(eval(\"[0].map(a=>`./run.sh`)\")[0])'",
        "node -e 'a=>\"run.sh\"'",
        "sh <>run.sh",
        "touch() { sh $1; }; touch run.sh",
        "shopt -s expand_aliases; alias test=sh\ntest run.sh",
        "PATH=bin; touch run.sh",
        "tee log <run.sh | sh",
        "touch x; sh run.sh > x",
        "echo >\nrun.sh",
    ],
)
def test_trust_10_what_only_looks_like_an_output_is_no_output(ws, command):
    write(ws, "run.sh", "good")
    assert "run.sh" in named_files(ws, command)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("make check", "Makefile"),
        ("make check", "GNUmakefile"),
        ("npm run check", "package.json"),
        ("npx --no-install check", "node_modules/.bin/check"),
        ("uv run check", "pyproject.toml"),
        ("just check", "justfile"),
        ("cargo xtask check", ".cargo/config.toml"),
        ("./gradlew check", "gradle/wrapper/gradle-wrapper.properties"),
        ("docker compose up -d", "compose.yaml"),
        ("sh -c 'cd sub && make'", "sub/Makefile"),
    ],
)
def test_trust_11_where_a_program_looks_up_what_to_do_belongs_to_the_command(ws, command, name):
    (ws / "sub").mkdir()
    write(ws, ".claude/settings.json", hooks(command))
    trust_folder(ws)
    assert running(ws) == [command]

    write(ws, name, "evil")

    assert (Trust().of(ws), running(ws)) == ("changed", [])


HOSTILE = {
    "a number of thousands of digits": '{"hooks": {}, "n": ' + "9" * 5000 + "}",
    "a time limit without end": json.dumps(hooks("x", timeout=10**400)),
    "half a character": json.dumps(hooks("../\ud800 \ud800", "~\ud800/x", "a\0b")),
    "patterns through the whole disk": json.dumps(hooks("cat /*/*/*/*/*/* */*/*/*")),
    "words and folders without end": json.dumps(hooks(" ".join(f"d{it}" for it in range(1500)))),
    "more hooks than anybody could judge": json.dumps(hooks(*(f"x{it}" for it in range(10_000)))),
    "a matcher that nobody could read": json.dumps({"hooks": {"Stop": [{"matcher": "x" * 20_000, "hooks": []}]}}),
    "no end of brackets": '{"hooks": ' + "[" * 100_000,
}
HEADS = ("2001-99-99", "0x" + "f" * 7000, "!!bool x", "!!int ''", "!!timestamp x", "!!float x", "&a [*a]", "? [a]")


@pytest.mark.parametrize(
    ("file", "name"),
    [*((".claude/settings.json", it) for it in HOSTILE), (".mcp.json", "half a character")],
)
def test_trust_13_a_file_that_is_hostile_costs_only_itself(ws, tmp_path, monkeypatch, file, name):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    write(config.user_file().parent, "hooks.json", hooks("guard"))
    for number in range(30):
        (ws / f"d{number}").mkdir()
    content = HOSTILE[name].replace('"hooks": {', '"mcpServers": {', 1) if file == ".mcp.json" else HOSTILE[name]
    write(ws, file, content)
    write(ws, ".claude/settings.local.json", hooks("other"))

    brought = Trust().brought(ws)
    assert [it.program for it in brought.items if it.program == "other"] == ["other"]
    assert len(brought.items) <= MAX_HOOKS + 1
    json.dumps(told(brought.items))
    trust_folder(ws)
    assert {"guard", "other"} <= set(running(ws))


LOOK = (
    "import sys, pathlib, odin_lsp.permissions.trust as it; print(it.Trust().brought(pathlib.Path(sys.argv[1])).items)"
)


@pytest.mark.parametrize(
    "content",
    ['{"hooks": {},' + "//" * 5000 + "\n x", '{"hooks": {}' + ",/*" * 80_000, '"' + '\\"' * 120_000],
    ids=["comments in many ways", "comments without end", "quotes without end"],
)
def test_trust_13_a_file_does_not_decide_how_long_it_takes_to_be_read(ws, content):
    """In a process of its own: a pattern that goes back and forth stops all threads."""
    write(ws, ".claude/settings.json", content)
    write(ws, ".odin/hooks.json", hooks("other"))

    done = subprocess.run([sys.executable, "-P", "-c", LOOK, ws], capture_output=True, text=True, timeout=PATIENCE)

    assert "Stop runs: other" in done.stdout, done.stderr


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("file", [".claude/agents/a.md", ".claude/commands/a.md", ".claude/skills/a/SKILL.md"])
def test_trust_13_a_head_that_is_hostile_costs_only_its_file(ws, file, head):
    write(ws, file, f"---\ndescription: {head}\n---\ntext")
    write(ws, ".claude/commands/other.md", "text")

    assert "other" in [it.name for it in Trust().brought(ws).items]


def test_trust_14_nothing_is_behind_an_end_that_is_not_shown(ws):
    """What runs is shown in whole, however much stands before it."""
    long = "x" * 5000
    write(ws, ".claude/settings.json", hooks(f"true {long}; evil-hook"))
    write(ws, ".mcp.json", {"mcpServers": {"s": {"command": "true", "args": [long, "evil-server"]}}})
    write(ws, ".claude/commands/c.md", f"---\ndescription: {long}\n---\n!`evil-command`")
    server = {"command": ["zls", long, "evil-program"], "settings": {"zls": {"path": "evil-option"}}}
    write(ws, "odinconfig.json", {"languageServers": {"servers": {"zls": server}}})

    shown = "\n".join(told(Trust().brought(ws).items))

    for word in ("evil-hook", "evil-server", "evil-command", "evil-program", "evil-option"):
        assert word in shown


def test_trust_14_a_thing_that_is_brought_twice_is_one(ws):
    write(ws, ".claude/settings.json", hooks("same", "same"))
    write(ws, ".odin/hooks.json", hooks("same"))
    assert len(Trust().brought(ws).items) == 1
    trust_folder(ws)

    write(ws, ".claude/settings.json", hooks("same", "same", "same"))

    assert (Trust().of(ws), running(ws)) == ("trusted", ["same"])


@pytest.mark.parametrize("settings", [{"extensions": {"sandboxHooks": True}}, {"commands": {"network": False}}])
def test_trust_15_a_stranger_does_not_take_from_the_users_guards_what_they_need(ws, tmp_path, settings):
    """A guard that asks the network, or reads a list elsewhere, could let pass what it can no longer look up."""
    user = write(tmp_path, "user.json", {"commands": {"network": True}})
    write(ws, "odinconfig.json", settings)

    assert config.load(ws, user=user)[0] == config.load(None, user=user)[0]


def test_trust_18_a_language_server_whose_program_changed_after_it_was_agreed_to_does_not_start(ws):
    """The settings are read when a turn begins; the server starts when somebody asks it."""
    program = write(ws, "zls.sh", "good")
    program.chmod(0o755)
    server = {"command": [str(program)], "languages": {".zig": "zig"}}
    write(ws, "odinconfig.json", {"languageServers": {"servers": {"zls": server}}})
    trust_folder(ws)
    settings, _ = config.load(ws, agreed=Trust().agreement(ws).agreed)
    around = Around(roots=(ws.resolve(),), settings=settings.language_servers, is_trusted=True)
    [before] = [it for it in all_of(ws, around) if it.known.name == "zls"]
    assert before.program == program

    program.write_text("evil")

    [after] = [it for it in all_of(ws, around) if it.known.name == "zls"]
    assert (after.program, after.why_not) == (None, CHANGED)


def test_trust_18_a_server_whose_script_was_swapped_does_not_start(ws):
    """A turn knows its servers from its beginning; one starts when its tools are wanted."""
    write(ws, "srv.py", "good")
    write(ws, ".mcp.json", {"mcpServers": {"s": {"command": sys.executable, "args": ["srv.py"]}}})
    trust_folder(ws)
    server = Extensions.found(ws, agreed=Trust().agreement(ws).agreed).servers["s"]
    around = McpAround(roots=(ws.resolve(),), is_trusted=True)
    connection = Connection(server, around, Host(asyncio.sleep, list, print), asyncio.sleep, print)
    assert connection._spec().argv == (sys.executable, "srv.py")

    write(ws, "srv.py", "evil")

    with pytest.raises(ToolError, match="a file that its command names has changed"):
        connection._spec()


@pytest.fixture
def bringing(root):
    """A trusted clone to be: hooks at the begin and at the end, and a server, each with a script of the folder."""
    for event in ("UserPromptSubmit", "SessionEnd"):
        write(root, f"{event}.sh", f"touch {event}-good")
    groups = {it: [{"hooks": [{"command": f"sh {it}.sh"}]}] for it in ("UserPromptSubmit", "SessionEnd")}
    write(root, ".claude/settings.json", {"hooks": groups})
    write(root, ".claude/agents/helper.md", "Help.")
    return root


def ran(root):
    return {it.name for it in root.glob("*-good")} | {it.name for it in root.glob("*-evil")}


async def test_trust_18_what_is_swapped_after_it_was_agreed_to_does_not_run(start, bringing, script):
    client = await start(**script({"text": "one"}, {"text": "two"}))
    assert await client.trusts("hook")
    await client.command("ask", text="hello")
    assert ran(bringing) == {"UserPromptSubmit-good"}

    for script_file in bringing.glob("*.sh"):
        script_file.write_text(f"touch {script_file.stem}-evil")
    await client.command("ask", text="hello")
    await client.leave()

    assert ran(bringing) == {"UserPromptSubmit-good"}


async def test_trust_12_a_decision_says_which_list_was_seen(start, bringing, script):
    client = await start(**script())
    brought = await client.command("brought")

    with pytest.raises(JsonRpcException, match="`digest` is missing"):
        await client.command("trust", decision="trust")
    write(bringing, "SessionEnd.sh", "touch SessionEnd-evil")
    with pytest.raises(JsonRpcException, match="has changed since it was listed"):
        await client.command("trust", decision="trust", digest=brought["digest"])

    assert {it["state"] for it in (await client.command("brought"))["items"]} == {"new"}


async def test_trust_08_each_change_asks_even_if_the_last_one_was_left_open(start, bringing, script):
    client = await start(**script({"text": "one"}, {"text": "two"}, {"text": "three"}))
    await client.until_asked(1)
    assert await client.trusts("hook")

    write(bringing, "UserPromptSubmit.sh", "touch evil")
    await client.command("ask", text="hello")
    await client.until_asked(2)
    write(bringing, "SessionEnd.sh", "touch SessionEnd-evil")
    await client.command("ask", text="hello")
    await client.until_asked(3)

    states = [{it["name"]: it["state"] for it in question["items"]} for question in client.questions[1:]]
    assert states == [
        {"helper": "agreed", "SessionEnd": "agreed", "UserPromptSubmit": "changed"},
        {"helper": "agreed", "SessionEnd": "changed", "UserPromptSubmit": "changed"},
    ]
