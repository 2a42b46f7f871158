"""Which files of a project and of the user are extensions, and which of them count."""

import json
from pathlib import Path

import pytest

from odin_lsp.config import user_file
from odin_lsp.extensions.mcp_files import OAuthClient
from odin_lsp.extensions.places import MAX_BYTES
from odin_lsp.extensions.registry import Extensions
from tests.support.trusting import Everything

SKILL = "---\nname: {name}\ndescription: {about}\n---\nDo it well.\n"


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setattr(Path, "home", lambda: home)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    return home


@pytest.fixture
def root(tmp_path, home):
    root = tmp_path / "project"
    root.mkdir()
    return root


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text))


def found(root, *disabled, is_trusted=True):
    return Extensions.found(root, agreed=Everything() if is_trusted else (), disabled=disabled)


def states(extensions):
    return {(it.kind, it.name): it.state for it in extensions.listed}


def fill(root):
    """One of each kind, as other agents have them."""
    write(root / ".agents/skills/deploy/SKILL.md", SKILL.format(name="deploy", about="ship it"))
    write(
        root / ".claude/commands/git/commit.md", "---\ndescription: commit\nargument-hint: [message]\n---\nCommit $1.\n"
    )
    write(
        root / ".claude/agents/reviewer.md", "---\nname: reviewer\ndescription: reads\ntools: Read, Grep\n---\nRead.\n"
    )
    write(root / ".mcp.json", {"mcpServers": {"time": {"command": "mcp-server-time", "args": ["--utc"]}}})
    hook = {"type": "command", "command": "./check", "timeout": 5}
    write(root / ".claude/settings.json", {"hooks": {"PreToolUse": [{"matcher": "Edit|Write", "hooks": [hook]}]}})


def test_the_files_of_other_agents_are_taken_as_they_are(root):
    fill(root)

    extensions = found(root)

    assert extensions.skills["deploy"].body == "Do it well."
    assert extensions.commands["git:commit"].argument_hint == "[message]"
    assert extensions.agents["reviewer"].mode == "ask"
    assert extensions.servers["time"].args == ("--utc",)
    assert [(it.event, it.matcher, it.command, it.timeout) for it in extensions.hooks] == [
        ("PreToolUse", "Edit|Write", "./check", 5.0)
    ]
    assert set(states(extensions).values()) == {"on"}


def test_nothing_of_a_folder_counts_before_it_is_trusted_but_all_of_it_is_listed(root):
    fill(root)

    extensions = found(root, is_trusted=False)

    assert extensions == Extensions(listed=extensions.listed)
    assert set(states(extensions).values()) == {"untrusted"}
    assert len(extensions.listed) == 5
    assert sum(it.tokens for it in extensions.listed) == 0


def test_what_the_user_has_counts_in_every_folder(root, home):
    fill(home)
    write(user_file().parent / "skills/tidy/SKILL.md", SKILL.format(name="tidy", about="clean up"))
    write(home / ".claude.json", {"mcpServers": {"git": {"command": "mcp-server-git"}}, "other": 1})

    extensions = found(root, is_trusted=False)

    assert set(extensions.skills) == {"deploy", "tidy"}
    assert set(extensions.servers) == {"git"}
    assert {it.owner for it in extensions.listed} == {"user"}


def test_the_project_goes_before_the_user_and_odins_own_files_before_those_of_others(root, home):
    for base, about in ((root / ".odin", "own"), (root / ".claude", "theirs"), (home / ".agents", "user")):
        write(base / "skills/deploy/SKILL.md", SKILL.format(name="deploy", about=about))

    extensions = found(root)

    assert extensions.skills["deploy"].description == "own"
    assert [it.state for it in extensions.listed] == ["on", "hidden", "hidden"]


@pytest.mark.parametrize("name", ["deploy", "skill:deploy"])
def test_what_is_switched_off_does_not_count_and_lets_no_other_through(root, home, name):
    fill(root)

    extensions = found(root, name)

    assert extensions.skills == {}
    assert states(extensions)["skill", "deploy"] == "off"
    assert extensions.commands


BROKEN = {
    ".agents/skills/a/SKILL.md": (SKILL.format(name="b", about="x"), "its folder is called 'a'"),
    ".agents/skills/c/SKILL.md": ("---\nname: c\n---\n", "`description` is missing"),
    ".agents/skills/D/SKILL.md": (SKILL.format(name="D", about="x"), "small letters"),
    ".agents/skills/long/SKILL.md": (SKILL.format(name="long", about="x") + "x" * MAX_BYTES, "longer than 32 KiB"),
    ".agents/skills/list/SKILL.md": ("---\n- a\n---\n", "no list of `key: value`"),
    ".agents/skills/yaml/SKILL.md": ("---\na: [\n---\n", "line 3: its head is not YAML"),
    ".odin/agents/x.md": ("---\nmode: root\n---\n", "it must be ask, plan or edit"),
    ".odin/commands/empty.md": ("", "it has no text"),
    ".odin/commands/a b.md": ("x", "its name must be"),
    ".odin/commands/loud.md": ("!`ls` " * 11, "more than 10 commands"),
    ".odin/hooks.json": ("{\n  oops\n}", "line 2: not valid JSON"),
    ".mcp.json": ("[]", "must be a JSON object"),
}


@pytest.mark.parametrize("path", BROKEN)
def test_a_broken_file_is_told_and_the_rest_still_works(root, path):
    text, problem = BROKEN[path]
    write(root / ".claude/commands/fine.md", "Fine.")
    write(root / path, text)

    extensions = found(root)

    (broken,) = [it for it in extensions.listed if it.state == "broken"]
    assert problem in broken.problem
    assert broken.source == str(root / path)
    assert set(extensions.commands) == {"fine"}
    assert not extensions.skills


PARTS = {
    "no object": ({"mcpServers": {"a": 1}}, "a: an object is wanted"),
    "neither": ({"mcpServers": {"a": {}}}, "a: it needs `command`, or else `url`"),
    "a bad name": ({"mcpServers": {"a b": {"command": "x"}}}, "a b: a server's name"),
    "an input": ({"servers": {"a": {"url": "https://x/${input:key}"}}}, "which only VS Code fills in"),
    "no texts": ({"mcpServers": {"a": {"command": "x", "env": 3}}}, "`env` must be an object"),
    "no client": ({"mcpServers": {"a": {"url": "https://x", "oauth": "x"}}}, "`oauth` must be an object"),
    "no port": ({"mcpServers": {"a": {"url": "https://x", "oauth": {"callbackPort": "x"}}}}, "the number of a port"),
}


def test_a_server_may_know_odin_as_a_client(root):
    client = {"clientId": "odin-1", "clientSecret": "${SECRET}", "callbackPort": 8080, "scopes": "all"}
    servers = {"known": {"url": "https://x", "oauth": client}, "off": {"url": "https://x", "oauth": False}}
    write(root / ".mcp.json", {"mcpServers": servers})

    extensions = found(root)

    assert extensions.servers["known"].oauth == OAuthClient("odin-1", "${SECRET}", 8080)
    assert extensions.servers["off"].oauth == OAuthClient()


@pytest.mark.parametrize("name", PARTS)
def test_one_server_that_makes_no_sense_hides_no_other(root, name):
    content, problem = PARTS[name]
    (servers,) = content.values()
    servers["good"] = {"url": "https://x.test/mcp", "headers": {"Authorization": "Bearer ${TOKEN:-none}"}}
    write(root / ".vscode/mcp.json", content)

    extensions = found(root)

    assert set(extensions.servers) == {"good"}
    (broken,) = [it for it in extensions.listed if it.state == "broken"]
    assert problem in broken.problem


def test_hooks_that_cannot_be_run_are_told(root):
    hooks = {
        "PreToolUse": [
            {"hooks": [{"type": "http", "url": "https://x"}]},
            {"matcher": "(", "hooks": [{"command": "x"}]},
            {"matcher": "*", "hooks": [{"command": "for all"}]},
        ],
        "Teleport": [],
        "Stop": [{"hooks": [{"command": "ok"}]}],
    }
    write(root / ".claude/settings.json", {"hooks": hooks})

    extensions = found(root)

    assert [it.command for it in extensions.hooks] == ["for all", "ok"]
    assert [it.problem for it in extensions.listed if it.problem] == [
        "PreToolUse: hooks of type 'http' are not run, only commands are",
        "PreToolUse: matcher '(' is no regular expression",
        "Teleport: nothing in Odin corresponds to this event",
    ]


def test_comments_in_json_are_none_of_it(root):
    write(root / ".vscode/mcp.json", '{// mine\n"servers": {"a": {"command": "x //y", /* no */ "args": ["/*", ], },}}')

    assert found(root).servers["a"].command == "x //y"
    assert found(root).servers["a"].args == ("/*",)


def test_a_link_of_a_project_is_not_followed_and_one_of_the_user_is(root, home):
    write(home / "elsewhere/deploy/SKILL.md", SKILL.format(name="deploy", about="x"))
    for base in (root, home):
        (base / ".claude/skills").mkdir(parents=True)
        (base / ".claude/skills/deploy").symlink_to(home / "elsewhere/deploy")

    assert [(it.owner, it.state) for it in found(root).listed] == [("project", "broken"), ("user", "on")]


def test_a_link_of_a_project_is_named_and_not_followed(root, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    write(elsewhere / "deploy" / "SKILL.md", SKILL.format(name="deploy", about="ship it"))
    write(elsewhere / "secret.md", "Secret.")
    (root / ".claude" / "commands").mkdir(parents=True)
    (root / ".claude" / "skills").symlink_to(elsewhere)
    (root / ".claude" / "commands" / "secret.md").symlink_to(elsewhere / "secret.md")
    (root / ".mcp.json").symlink_to(elsewhere / "secret.md")

    extensions = found(root)

    assert {(Path(it.source).name, it.state, it.problem) for it in extensions.listed} == {
        (name, "broken", "it is a link, and links of a project are not followed")
        for name in ("skills", "secret.md", ".mcp.json")
    }
    assert (extensions.skills, extensions.commands, extensions.servers) == ({}, {}, {})


def test_a_skill_of_a_megabyte_is_named_and_not_used(root):
    write(root / ".claude/skills/huge/SKILL.md", SKILL.format(name="huge", about="x") + "x" * 1_000_000)

    (listed,) = found(root).listed

    assert (listed.state, listed.problem) == (
        "broken",
        "it is longer than 32 KiB; put details into files beside it",
    )
