"""CFG-08 to CFG-12: settings are code. Neither a command nor a repository changes what Odin may do."""

import json
import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odin_lsp import config
from odin_lsp.permissions.approvals import approvals_file
from odin_lsp.permissions.rules import Effect, Rules, decide
from odin_lsp.permissions.shell import judge
from odin_lsp.ports import Answer
from odin_lsp.workspace.ignore import Ignore
from tests.adversarial.conftest import snapshot
from tests.e2e.steps import results, results_of, says
from tests.support.trusting import Everything

PROTECTED_WRITES = [
    "echo x > odinconfig.json",
    "echo x > OdinConfig.JSON",
    "echo x >> .vscode/settings.json",
    "cd .odin && echo x > settings.json",
    "cd .vscode && cd .. && cd .odin && cp ../greet.py settings.json",
    "tee odinconfig.json",
    "tee -a .git/hooks/pre-commit",
    "sed -i s/a/b/ odinconfig.json",
    "cp greet.py odinconfig.json",
    "cp greet.py .vscode",
    "cp -t .vscode greet.py",
    "cp --target-directory=.git/hooks greet.py",
    "mv greet.py AGENTS.md",
    "ln -s greet.py .nvim.lua",
    "ln greet.py .envrc.d/../.exrc",
    "install greet.py .husky/pre-commit",
    "touch ODIN.md",
    "mkdir -p .idea",
    "dd if=greet.py of=odinconfig.json",
    "git config core.hooksPath hooks",
    "git config --file=.git/config core.pager x",
    "git apply evil.patch",
    "patch -p1 odinconfig.json evil.patch",
    "tar xf evil.tar",
    "tar -xf evil.tar -C .vscode",
    "unzip evil.zip",
    "rsync greet.py .vscode/settings.json",
    "truncate -s 0 .gitmodules",
    "rm .gitattributes",
    'cp greet.py "$HOME/.bashrc"',
    "cp greet.py ~/.bashrc",
]
ALLOWING = [
    "tee", "sed -i", "cp greet.py", "cp -t", "mv greet.py", "ln -s", "ln greet.py", "install greet.py", "touch",
    "mkdir -p", "dd if=greet.py", "git apply", "patch -p1", "unzip", "rsync greet.py", "truncate -s", "echo", "cd",
]  # fmt: skip
"""What a user may have allowed without having thought of protected files."""
HANDED_OVER = {"git apply evil.patch", "tar xf evil.tar", "unzip evil.zip"}
"""Whose words do not tell what they write: allowed by name they would run, so no rule here names them in full."""


@pytest.mark.parametrize("command", PROTECTED_WRITES)
def test_cfg_08_a_command_that_writes_settings_asks_whatever_else_is_allowed(tmp_path, command):
    for name in (".vscode", ".odin", ".git/hooks", ".envrc.d"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "greet.py").write_text("x\n")
    allowed = [it for it in ALLOWING if not any(command.startswith(it) for command in HANDED_OVER)]
    rules = Rules.of(config.Config.model_validate({"allowedCommands": allowed}), root=tmp_path)
    verdict = judge(command, mode="edit_mode", cwd=tmp_path, roots=[tmp_path], rules=rules)
    assert verdict.decision != "allow"
    for mode in ("ask_mode", "plan_mode"):
        assert judge(command, mode=mode, cwd=tmp_path, roots=[tmp_path], rules=rules).decision == "deny"


async def test_cfg_08_without_an_answer_no_command_changes_them(odin, call, person):
    odin.settings = {"limits": {"maxTurns": 0}}
    odin.script(*({"calls": [call("ExecuteCommand", command=it)]} for it in PROTECTED_WRITES), {"text": "no"})
    before = snapshot(odin.root)
    outcome = await odin.take(mode="edit_mode")
    assert {it.status for it in outcome.tools} == {"error"}
    assert snapshot(odin.root) == before
    assert len(person.questions) == len(PROTECTED_WRITES)


BROKEN = {
    "no JSON": b"{",
    "nothing": b"",
    "NUL": b"\0" * 100,
    "a list": b"[]",
    "a number": b"9" * 5000,
    "huge number": b'{"limits": {"maxTurns": ' + b"9" * 5000 + b"}}",
    "UTF-16": '{"model": "x"}'.encode("utf-16"),
    "latin": b'{"model": "\xff"}',
    "comment": b'{"sandbox": true} // yes',
    "trailing comma": b'{"sandbox": true,}',
    "too large": b'{"model": "' + b"x" * (10 << 20) + b'"}',
    "deep": b'{"x":' * 900 + b"1" + b"}" * 900,
    "deeper": b'{"x":' * 100_000 + b"1" + b"}" * 100_000,
    "deep list": b'{"rules":' + b"[" * 990 + b"]" * 990 + b"}",
    "types": b'{"limits": 1, "rules": "x", "files": [], "forbiddenCommands": 7, "model": {}, "keys": null}',
    "rules that are none": b'{"rules": [{}, {"tool": 1, "host": 3}, [], null, {"tool": "x", "decision": "no"}]}',
    "many rules that are none": json.dumps({"rules": [{"tool": "x"}] * 5000}).encode(),
    "unknown keys": json.dumps({f"k{number}": 1 for number in range(20_000)}).encode(),
    "half a character": b'{"\\ud800": 1, "model": "\\ud800"}',
    "not a number": b'{"limits": {"maxBudgetUsd": NaN, "maxTurns": Infinity}}',
}


@pytest.fixture
def user(tmp_path):
    """The user's own settings."""
    path = tmp_path / "user.json"
    path.write_text(json.dumps({"forbiddenCommands": ["touch"], "rules": [{"tool": "WebFetch", "decision": "deny"}]}))
    return path


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_cfg_09_a_broken_file_of_the_workspace_is_reported_and_costs_only_itself(tmp_path, user, content):
    (tmp_path / "odinconfig.json").write_bytes(content)
    settings, problems = config.load(tmp_path, user=user)
    assert problems
    assert settings == config.load(None, user=user)[0]
    rules = Rules.of(settings, root=tmp_path)
    assert judge("touch x", mode="edit_mode", cwd=tmp_path, roots=[tmp_path], rules=rules).decision == "deny"


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_cfg_09_a_broken_file_of_the_user_leaves_the_strict_defaults(tmp_path, content):
    user = tmp_path / "user.json"
    user.write_bytes(content)
    settings, problems = config.load(None, user=user)
    assert problems
    assert settings.model_copy(update={"model": None}) == config.load(None, user=tmp_path / "none.json")[0]


def test_cfg_09_a_mark_at_the_beginning_is_no_fault(tmp_path, user):
    (tmp_path / "odinconfig.json").write_bytes(b'\xef\xbb\xbf{"forbiddenCommands": ["ls"]}')
    settings, problems = config.load(tmp_path, user=user)
    assert (settings.forbidden_commands, problems) == (("touch", "ls"), ())


def test_cfg_09_of_two_values_the_last_counts_and_both_are_told(tmp_path, user):
    (tmp_path / "odinconfig.json").write_text(
        '{"sandbox": true,\n"forbiddenCommands": ["a"], "forbiddenCommands": ["b"]}'
    )
    settings, problems = config.load(tmp_path, user=user, agreed=Everything())
    assert settings.forbidden_commands == ("touch", "b")
    assert "stands here twice" in str(problems[0])


@pytest.mark.parametrize(
    "part",
    [{"host": 3}, {"hots": "docs.test"}, {"modes": ["edti"]}, {"path": []}, {"examples": {"match": ["other.test"]}}],
)
def test_cfg_09_a_rule_that_allows_never_becomes_wider_by_being_wrong(tmp_path, part):
    user = tmp_path / "user.json"
    rule = {"tool": "WebFetch", "host": "docs.test", "decision": "allow", **part}
    user.write_text(json.dumps({"rules": [rule, {"tool": "Read", "path": "x", "decision": "deny"}]}))
    settings, problems = config.load(None, user=user)
    assert [it.tool for it in settings.rules] == ["Read"]
    assert "rules.0" in str(problems[0])


async def test_cfg_09_the_server_starts_says_so_and_still_forbids(start, root, wire, step, anthropic, tmp_path):
    (tmp_path / "config" / "odin").mkdir(parents=True)
    (tmp_path / "config" / "odin" / "odinconfig.json").write_text('{"forbiddenCommands": ["ls"], "rules": [{}]}')
    (root / "odinconfig.json").write_text(json.dumps({f"k{number}": 1 for number in range(1_000)}))
    client = await start(XDG_CONFIG_HOME=str(tmp_path / "config"), **anthropic)
    step(("ExecuteCommand", {"command": "ls"}))
    wire.play(says())

    await client.command("ask", text="go")

    assert "is forbidden by the user's rules" in results(wire)[0]
    told = [message.message for message in client.lsp.messages]
    assert 0 < len(told) <= 30
    assert any("more problems with the settings" in message for message in told)


async def test_cfg_10_tightening_counts_at_once_and_loosening_asks_again(start, root, wire, step, anthropic, tmp_path):
    settings = root / "odinconfig.json"
    settings.write_text(json.dumps({"allowedCommands": ["touch"]}))
    client = await start(XDG_STATE_HOME=str(tmp_path / "state"), **anthropic)
    await client.trusts()
    step(("ExecuteCommand", {"command": "touch one.txt"}))
    wire.play(says())
    await client.command("edit", text="go")
    asked = len(client.questions)
    assert (root / "one.txt").exists()

    settings.write_text(json.dumps({"allowedCommands": ["touch", "rm -r"], "forbiddenCommands": ["ls"]}))
    client.tells_of(settings)
    await client.until_asked(asked + 1)
    step(("ExecuteCommand", {"command": "ls"}))
    step(("ExecuteCommand", {"command": "touch two.txt"}))
    wire.play(says())
    await client.command("edit", text="go")

    assert "`ls` is forbidden by the user's rules" in results_of(wire.sent[-2].body)[0]
    assert [it["command"] for it in client.questions[asked:] if it["kind"] == "permission"] == ["touch two.txt"]
    assert not (root / "two.txt").exists()


async def test_cfg_10_a_file_that_is_denied_from_now_on_is_not_read_any_more(odin, call):
    odin.start()
    odin.configure(files=config.FileRules(deny=("greet.py",)))
    odin.script(
        {"calls": [call("Read", file_path=str(odin.root / "greet.py")), call("Glob", pattern="*")]}, {"text": ""}
    )
    await odin.take()
    [read, found] = [it for message in odin.session.messages for it in message.results]
    assert "is hidden: it looks like a secret" in read.content
    assert "greet.py" not in found.content


NEVER = {
    "network": {"proxy": "http://evil.test", "caBundle": "evil.pem"},
    "keys": {"anthropic": ["HOME"]},
    "web": {"privateHosts": ["*"]},
    "baseUrl": "http://evil.test",
    "mcpServers": {"evil": {"command": "touch"}},
    "redis": {"url": "redis://evil.test"},
    "trusted": True,
}
NOT_YET = {
    "model": "openai/gpt-5-5",
    "smallModel": "scripted/evil.json",
    "fallbackModels": ["anthropic/x"],
    "subagentModel": "openai/x",
    "extensions": {"disabled": ["guard"]},
    "allowedCommands": ["*", "touch"],
    "rules": [{"tool": "*", "decision": "allow"}],
    "files": {"allow": ["**"]},
    "limits": {"maxTurns": 0, "maxTokens": 1_000_000},
    "review": {"policy": "auto"},
    "sandbox": False,
    "commands": {"environment": ["ANTHROPIC_API_KEY"], "network": True},
}


@pytest.mark.parametrize("key", NEVER)
@pytest.mark.parametrize("trusted", [False, True])
def test_cfg_11_what_leads_keys_elsewhere_is_never_taken_from_a_workspace(tmp_path, user, key, trusted):
    (tmp_path / "odinconfig.json").write_text(json.dumps({key: NEVER[key]}))
    settings, problems = config.load(tmp_path, user=user, agreed=Everything() if trusted else ())
    assert settings == config.load(None, user=user)[0]
    assert f"`{key}`" in str(problems[0])


@pytest.mark.parametrize("key", NOT_YET)
def test_cfg_11_what_allows_more_waits_for_trust(tmp_path, user, key):
    user.write_text(json.dumps({**json.loads(user.read_text()), "sandbox": True}))
    (tmp_path / "odinconfig.json").write_text(json.dumps({key: NOT_YET[key]}))
    settings, problems = config.load(tmp_path, user=user)
    assert settings == config.load(None, user=user)[0]
    assert all(it.needs_trust for it in problems)
    assert f"`{key}" in str(problems[0])


@pytest.mark.parametrize("denied", ["private/**", "!nothing", "*.secret"])
@pytest.mark.parametrize("said", [["!private/**"], ["!**"], ["!/private/key", "!private"], ["x", "!*"]])
def test_cfg_11_no_pattern_takes_back_what_another_layer_denies(tmp_path, said, denied):
    user = tmp_path / "user.json"
    user.write_text(json.dumps({"files": {"deny": ["private/**", denied]}}))
    (tmp_path / "odinconfig.json").write_text(json.dumps({"files": {"deny": said}}))
    for trusted in (False, True):
        rules = config.load(tmp_path, user=user, agreed=Everything() if trusted else ())[0].files
        assert Ignore([tmp_path], rules).hides(tmp_path / "private" / "key")


def test_cfg_11_within_a_layer_a_pattern_takes_back_another(tmp_path, user):
    (tmp_path / "odinconfig.json").write_text('{"files": {"deny": ["logs/*", "!logs/today"]}}')
    ignore = Ignore([tmp_path], config.load(tmp_path, user=user)[0].files)
    assert ignore.hides(tmp_path / "logs" / "yesterday")
    assert not ignore.hides(tmp_path / "logs" / "today")


LIMITS = {"maxTurns": 7, "maxBudgetUsd": 0.5, "maxContext": 900, "maxTokens": 100, "maxRetries": 3}


@pytest.mark.parametrize(
    "value",
    ['"0"', '"-0"', '"+0.0"', "0", "-0.0", "false", '"1e3"', "1e3", "1e400", '"inf"', '"NaN"', '" 999 "', "null"],
)
@pytest.mark.parametrize("limit", LIMITS)
def test_cfg_11_no_spelling_of_a_number_lifts_a_limit(tmp_path, limit, value):
    user = tmp_path / "user.json"
    user.write_text(json.dumps({"limits": LIMITS}))
    (tmp_path / "odinconfig.json").write_text(f'{{"limits": {{"{limit}": 1, "{limit}": {value}}}}}')
    assert config.load(tmp_path, user=user)[0] == config.load(None, user=user)[0]


RULES = [
    {"tool": tool, "decision": decision, **about}
    for tool, about in (
        ("ExecuteCommand", {"pattern": "touch"}),
        ("Bash", {"pattern": "git push *"}),
        ("WebFetch", {"host": "*.docs.test"}),
        ("Read", {"path": "src/**", "modes": ["edit"]}),
        ("*", {}),
    )
    for decision in ("allow", "ask", "deny", "Allow", ["allow"], True)
]
NUMBERS = st.sampled_from([0, 1, 5, 500, -1, 0.0, -0.0, 0.5, "0", "5", "500", " 0", "0.0", True, False, None, 1e400])
PATTERNS = st.lists(st.sampled_from(["private/**", "!private/**", "*.log", "!*", "!**", "!.env", "/", "["]), max_size=3)
COMMANDS = st.lists(st.sampled_from(["touch", "git push", "*", "rm -r", "ls", 3, "", "git * --force"]), max_size=3)
SETTINGS = st.fixed_dictionaries(
    {
        "limits": st.fixed_dictionaries(dict.fromkeys(LIMITS, NUMBERS), optional={"max_turns": NUMBERS}),
        "files": st.fixed_dictionaries({"deny": PATTERNS}, optional={"allow": PATTERNS}),
        "rules": st.lists(st.sampled_from([*RULES, None, {}]), max_size=4),
    },
    optional={
        "allowedCommands": COMMANDS,
        "forbiddenCommands": COMMANDS | st.none(),
        "review": st.sampled_from([{"policy": "auto"}, {"policy": "end"}, None]),
        "sandbox": st.sampled_from([True, False, "no", 0]),
        "model": st.sampled_from(["scripted/x", "offline/odin", ["scripted/x"], None]),
    },
)
PATHS = ("private/key", "private/deep/key", "src/a.py", "x.log", ".env", "src/.env", "a.txt")
TRIED = ("touch x", "git push", "git push --force", "ls", "cat a.txt", "cat private/key", "rm -r x", "sudo ls")
STRICTNESS = ("allow", "ask", "deny")


def powers(settings, root):
    """How strict the settings are, by what they are asked for: higher is stricter."""
    rules, ignore = Rules.of(settings, root=root), Ignore([root], settings.files)
    found = {path: int(ignore.hides(root / path)) for path in PATHS}
    for mode in ("ask_mode", "edit_mode"):
        for command in TRIED:
            verdict = judge(command, mode=mode, cwd=root, roots=[root], rules=rules)
            found[mode, command] = STRICTNESS.index(verdict.decision)
        for host in ("a.docs.test", "evil.test"):
            verdict = decide("WebFetch", Effect.NETWORK, mode, rules, host=host)
            found[mode, host] = STRICTNESS.index(verdict.decision)
        for path in PATHS:
            verdict = decide("Read", Effect.READ_ONLY, mode, rules, path=root / path)
            found[mode, path] = STRICTNESS.index(verdict.decision)
    for name in config.Limits.model_fields:
        found[name] = -(getattr(settings.limits, name) or float("inf"))
    found["review"] = -("each", "end", "auto").index(settings.review.policy)
    found["sandbox"] = int(settings.sandbox)
    found["script"] = -int(str(settings.model).startswith("scripted/"))
    return found


@pytest.mark.thorough
@given(users=SETTINGS, workspaces=SETTINGS)
def test_cfg_11_whatever_a_stranger_writes_only_restricts(tmp_path_factory, users, workspaces):
    root = tmp_path_factory.getbasetemp() / "stranger"
    root.mkdir(exist_ok=True)
    user = root.with_suffix(".json")
    user.write_text(json.dumps(users))
    (root / "odinconfig.json").write_text(json.dumps(workspaces))
    before = powers(config.load(None, user=user)[0], root)
    after = powers(config.load(root, user=user)[0], root)
    assert {what: strictness for what, strictness in after.items() if strictness < before[what]} == {}


@pytest.mark.parametrize(
    "command",
    [
        "bash -c x", "sh x.sh", "python3 -c x", "node x.js", "perl -e x", "env x", "xargs rm", "timeout 1 x", "sudo x",
        "git commit -m x", "git push", "find . -delete", "sed -i s/a/b/ x", "npm run x", "make x", "npx x", "curl x",
        "docker run x", "./script.sh", "ssh host x", "eval x", "nice x", "time x",
    ],
)  # fmt: skip
async def test_cfg_12_nothing_that_runs_others_is_offered_for_good(odin, call, person, command):
    odin.script({"calls": [call("ExecuteCommand", command=command)]}, {"text": "no"})
    await odin.take(mode="edit_mode")
    assert {it.id for question in person.questions for it in question.options} <= {"allow_once", "deny"}


async def test_cfg_12_what_is_remembered_are_the_exact_words_in_a_private_file_of_the_user(
    odin, call, person, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    before = os.umask(0)
    try:
        odin.script(
            *(
                {"calls": [call("ExecuteCommand", command=it)]}
                for it in ("mkdir -p one", "mkdir -p one two", "mkdir x")
            ),
            {"text": "done"},
        )
        person.answers = [Answer(("allow_always",))]
        await odin.take(mode="edit_mode")
    finally:
        os.umask(before)
    assert [it.command for it in person.questions] == ["mkdir -p one", "mkdir x"]
    file = approvals_file()
    assert file.is_relative_to(tmp_path / "state")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [it["pattern"] for it in json.loads(file.read_text())] == ["mkdir -p one"]
    assert not (odin.root / "x").exists()


@pytest.mark.parametrize("planted", ["link", "writable by others", "garbage", "other shape"])
async def test_cfg_12_approvals_that_others_could_have_written_do_not_count(
    odin, call, person, tmp_path, monkeypatch, planted
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    file = approvals_file()
    file.parent.mkdir(parents=True)
    approval = {"tool": "ExecuteCommand", "pattern": "mkdir", "workspace": None, "mode": "edit_mode", "when": "now"}
    real = tmp_path / "planted.json" if planted == "link" else file
    real.write_text(
        "{" if planted == "garbage" else json.dumps([approval if planted != "other shape" else {**approval, "x": 1}])
    )
    real.chmod(0o622 if planted == "writable by others" else 0o600)
    if planted == "link":
        file.symlink_to(real)
    odin.script({"calls": [call("ExecuteCommand", command="mkdir -p one")]}, {"text": "no"})
    await odin.take(mode="edit_mode")
    assert len(person.questions) == 1
    assert not (odin.root / "one").exists()


@pytest.mark.parametrize(
    "told",
    [
        {"bedrock": {"region": "eu-west-1", "profile": "other"}},
        {"vertex": {"project": "theirs", "region": "us"}},
        {"foundry": {"resource": "theirs"}},
    ],
)
def test_cfg_29_a_workspace_never_says_where_platforms_are_or_as_whom(tmp_path, told):
    """Not even one that is trusted: it would lead the user's code and tokens elsewhere."""
    (tmp_path / "odinconfig.json").write_text(json.dumps({"platforms": told}))
    found, problems = config.load(tmp_path, agreed=Everything())
    assert found.platforms == config.Config().platforms
    assert ["is not taken from a workspace" in str(it) for it in problems] == [True]


@pytest.mark.parametrize("layer", ["workspace", "editor"])
def test_cfg_30_only_the_users_own_settings_name_a_program_that_prints_a_key(tmp_path, layer):
    """It would run before anybody was asked, and its output would go to a provider."""
    told = {"keyHelpers": {"anthropic": ["sh", "-c", "touch ran; echo a-key-0123"]}}
    (tmp_path / "odinconfig.json").write_text(json.dumps(told if layer == "workspace" else {}))
    mine = tmp_path / "mine.json"
    mine.write_text(json.dumps({"keyHelpers": {"anthropic": ["print-key"]}}))
    settings = told if layer == "editor" else {}

    found, problems = config.load(tmp_path, settings=settings, agreed=Everything(), user=mine)

    assert found.key_helpers == {"anthropic": ("print-key",)}
    assert [
        f"`keyHelpers` is not taken from {'a workspace' if layer == 'workspace' else 'an editor'}" in str(it)
        for it in problems
    ] == [True]
