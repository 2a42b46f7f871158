"""`odin-lsp connect`."""

import io
import json
import tomllib

import pytest

from odin_lsp.cli.main import main
from odin_lsp.connecting.agents import AROUND

FILES = {
    "claude": (".mcp.json", ".claude/settings.json"),
    "codex": (".codex/config.toml",),
    "gemini": (".gemini/settings.json",),
    "opencode": ("opencode.json",),
}
KEPT = {
    ".mcp.json": '{\n  "mcpServers": {\n    "other": {"command": "x"}\n  }\n}\n',
    ".claude/settings.json": '{\n\t"permissions": {\n\t\t"deny": ["Edit"],\n\t\t"allow": []\n\t},\n\t"a": 1\n}\n',
    ".codex/config.toml": '# mine\nmodel = "gpt"\n\n[mcp_servers.other] # keep\ncommand = "x"\n',
    ".gemini/settings.json": '{\n  // mine\n  "tools": {"exclude": ["web_fetch"]}, /* more */\n}\n',
    "opencode.json": '{"permission": {"*": "allow"}, "mcp": {}}',
}


@pytest.fixture
def connect(tmp_path, capsys, monkeypatch):
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in ("state", "config", "home"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("sys.stdin", io.StringIO())
    root = tmp_path / "project"
    root.mkdir()

    def connect(agent, *options, code=0, yes=True):
        assert main(["connect", agent, "--cwd", str(root), *(["--yes"] if yes else []), *options]) == code
        return "".join(capsys.readouterr())

    connect.root, connect.home, connect.config = root, tmp_path / "home", tmp_path / "config"
    return connect


def settings(path):
    return json.loads(path.read_text())


def written(root):
    return {str(it.relative_to(root)): it.read_text() for it in sorted(root.rglob("*")) if it.is_file()}


def test_claude_code_gets_the_server_and_its_own_editing_is_off(connect):
    said = connect("claude")

    [server] = settings(connect.root / ".mcp.json")["mcpServers"].values()
    assert server["args"] == ["mcp", "serve"]
    told = settings(connect.root / ".claude" / "settings.json")
    assert told["permissions"] == {"allow": ["mcp__odin"], "deny": ["Edit", "Write", "NotebookEdit"]}
    assert str(connect.root / ".mcp.json") in said
    assert '+    "deny": ["Edit", "Write", "NotebookEdit"]' in said
    assert f"Not reviewed: {AROUND['claude']}" in said


def test_codex_gets_the_server_and_a_sandbox_that_only_reads(connect):
    connect("codex")

    told = tomllib.loads((connect.root / ".codex" / "config.toml").read_text())
    assert told["sandbox_mode"] == "read-only"
    assert told["mcp_servers"]["odin"]["args"] == ["mcp", "serve"]
    assert told["mcp_servers"]["odin"]["tool_timeout_sec"] > 3600


def test_gemini_cli_gets_the_server_and_its_own_editing_is_off(connect):
    connect("gemini")

    told = settings(connect.root / ".gemini" / "settings.json")
    assert told["mcpServers"]["odin"]["args"] == ["mcp", "serve"]
    assert told["tools"] == {"exclude": ["replace", "write_file"]}


def test_opencode_gets_the_server_and_its_own_editing_is_off_behind_all_other_rules(connect):
    (connect.root / "opencode.jsonc").write_text('{"permission": {"*": "allow"}} // mine\n')

    connect("opencode")

    told = (connect.root / "opencode.jsonc").read_text()
    assert told.startswith('{"permission": {"*": "allow", "edit": "deny"}, "mcp": {"odin": {"type": "local"')
    assert told.endswith("} // mine\n")


@pytest.mark.parametrize("agent", FILES)
def test_with_a_hook_the_agent_keeps_its_own_editing(connect, agent):
    connect(agent, "--hook")

    text = "".join(written(connect.root).values())
    assert f"hook {agent} || exit 2" in text or '["hook", "opencode"]' in text
    assert '"deny"' not in text
    assert "exclude" not in text
    assert ("read-only" in text) == (agent == "codex")


@pytest.mark.parametrize("options", [(), ("--hook",)], ids=["off", "hook"])
@pytest.mark.parametrize("agent", FILES)
def test_what_was_written_is_taken_away_again_and_nothing_else(connect, agent, options):
    for name in FILES[agent]:
        (connect.root / name).parent.mkdir(parents=True, exist_ok=True)
        (connect.root / name).write_text(KEPT[name])
    before = written(connect.root)

    connect(agent, *options)
    once = written(connect.root)
    assert "connected already" in connect(agent, *options)

    assert once != before
    assert written(connect.root) == once
    connect(agent, "--remove")
    assert written(connect.root) == before
    assert "is not connected" in connect(agent, "--remove")


@pytest.mark.parametrize("agent", FILES)
def test_files_that_were_made_for_it_go_with_it(connect, agent):
    connect(agent, "--hook")
    connect(agent, "--remove")

    assert written(connect.root) == {}


@pytest.mark.parametrize("agent", FILES)
def test_one_way_takes_the_place_of_the_other(connect, agent):
    connect(agent)
    off = written(connect.root)

    connect(agent, "--hook")
    assert written(connect.root) != off
    connect(agent)

    assert written(connect.root) == off


@pytest.mark.parametrize("agent", FILES)
def test_for_all_projects_it_is_written_to_the_user_s_own_files(connect, agent):
    connect(agent, "--user")

    assert written(connect.root) == {}
    assert {**written(connect.home), **written(connect.config)}


def test_what_somebody_else_has_connected_is_taken_away_too(connect, tmp_path, monkeypatch):
    connect("claude")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))

    connect("claude", "--remove")

    assert [json.loads(text) for text in written(connect.root).values()] == [{}, {}]


def test_nothing_is_written_that_nobody_agreed_to(connect):
    said = connect("claude", yes=False, code=1)

    assert '+    "odin": {' in said
    assert "nothing was written" in said
    assert written(connect.root) == {}


@pytest.mark.parametrize(
    ("agent", "name", "text", "why"),
    [
        ("claude", ".mcp.json", '{"mcpServers": {', "line 1 is no JSON"),
        ("claude", ".mcp.json", '{"mcpServers": {"odin": {"command": "mine"}}}', "`mcpServers.odin` is there already"),
        ("claude", ".claude/settings.json", '{"permissions": {"deny": "all"}}', "`permissions.deny` is no list"),
        ("codex", ".codex/config.toml", "model = ", "not valid TOML"),
        ("codex", ".codex/config.toml", "[mcp_servers.odin]\n", "`mcp_servers.odin` is there already"),
        ("codex", ".codex/config.toml", 'sandbox_mode = "workspace-write"\n', "set it to 'read-only'"),
        ("codex", ".codex/config.toml", 'mcp_servers = {x = {command = "y"}}\n', "does not go with what is there"),
        ("opencode", "opencode.json", '{"permission": "allow"}', "`permission` is no object"),
        ("opencode", "opencode.json", '{"permission": {"edit": "ask"}}', "`permission.edit` is there already"),
        ("opencode", "opencode.json", '{"permission": {"edit": "deny", "*": "ask"}}', "`permission.*` stands behind"),
    ],
)
def test_a_file_that_is_not_as_it_has_to_be_is_left_alone(connect, agent, name, text, why):
    (connect.root / name).parent.mkdir(exist_ok=True)
    (connect.root / name).write_text(text)

    said = connect(agent, code=1)

    assert why in said
    assert "Nothing was written" in said
    assert written(connect.root) == {name: text}


def test_a_plugin_of_the_same_name_is_left_alone(connect):
    plugin = connect.root / "opencode-odin.js"
    plugin.write_text("// mine\n")

    assert "it is not Odin's" in connect("opencode", "--hook", code=1)
    connect("opencode")

    assert plugin.read_text() == "// mine\n"


def test_the_doctor_names_who_is_connected_and_how(connect, capsys):
    connect("claude", "--hook")
    connect("codex", "--user")

    main(["doctor", "--cwd", str(connect.root)])

    said = capsys.readouterr().out
    assert "✓ Claude Code is connected in this project: a hook asks Odin before each edit\n" in said
    assert "✓ Codex is connected for you: its read-only sandbox refuses its own edits, unless" in said
    assert said.count("is connected") == 2


def test_what_others_have_put_into_odin_s_part_is_not_thrown_away(connect):
    connect("codex")
    file = connect.root / ".codex" / "config.toml"
    text = file.read_text().replace("tool_timeout_sec", "[projects.mine]\ntool_timeout_sec")
    file.write_text(text)

    assert "`[projects.mine]` stands in Odin's part" in connect("codex", "--remove", code=1)
    assert file.read_text() == text


def test_a_file_that_is_a_link_stays_one_and_keeps_its_mode(connect):
    real = connect.home / "dotfiles.json"
    real.write_text("{}\n")
    real.chmod(0o640)
    (connect.root / ".mcp.json").symlink_to(real)

    connect("claude")

    assert (connect.root / ".mcp.json").is_symlink()
    assert "odin" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640
