"""Keys of the user's, which the entry of a project's server would like to have."""

import json
from dataclasses import replace

import pytest

from odin_lsp.config import McpSettings, load
from odin_lsp.extensions.mcp_files import McpServer
from odin_lsp.extensions.registry import Extensions
from odin_lsp.mcp.connection import Around, filled
from odin_lsp.mcp.trying import try_out
from odin_lsp.ports import Answer
from odin_lsp.redaction import is_secret_variable
from tests.support.login_server import LoginServer
from tests.support.mcp_servers import allowing, entry
from tests.support.trusting import Everything

KEY = "sk-ant-api03-of-the-user-0123456789"
NAME = "ANTHROPIC_API_KEY"


@pytest.fixture(autouse=True)
def keys(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv(NAME, KEY)


def name_servers(odin, **servers):
    (odin.root / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))


@pytest.mark.parametrize("written", ["${%s}", "Bearer ${env:%s}", "${%s:-none}"])
async def test_mcp_10_a_header_of_a_project_has_no_key_before_the_user_says_so(odin, written):
    odin.settings["mcp"] = {"wait": 20, "timeout": 20}
    odin.script({"text": "one"}, {"text": "two"})
    with LoginServer().running() as server:
        name_servers(odin, docs={"url": server.entry.url, "headers": {"X": written % NAME}})
        odin.start(trusted=True)
        await odin.take()
        [state] = odin.core.mcp.states()
        sent = list(server.requests)
        server_id = odin.project.now.extensions.servers["docs"].identity
        odin.configure(mcp=odin.config.mcp.model_copy(update={"variables": {server_id: (NAME,)}}))
        await odin.take()

        assert KEY not in str(sent)
        assert f"the variable {NAME} looks like a key" in state.problem
        assert f'"mcp": {{"variables": {{"{server_id}": ["{NAME}"]}}}} into your own settings' in state.problem
        assert any(KEY in headers.get("x", "") for _, headers in server.requests)


PLACES = {
    "the program": {"command": "${%s}"},
    "an argument": {"command": "/bin/echo", "args": ("--key=${%s}",)},
    "its environment": {"command": "/bin/echo", "env": {"X": "${%s}"}},
    "its folder": {"command": "/bin/echo", "cwd": "/tmp/${%s}"},
    "the address": {"transport": "http", "url": "http://127.0.0.1:9/${%s}"},
    "a header": {"transport": "http", "url": "http://127.0.0.1:9/", "headers": {"X": "${%s}"}},
}


@pytest.mark.parametrize("place", PLACES)
async def test_mcp_10_no_place_of_an_entry_has_a_key(place, tmp_path):
    said = json.loads(json.dumps(PLACES[place]).replace("%s", NAME))
    said = {**said, "args": tuple(said.get("args", ()))}
    server = McpServer(**{"name": "docs", "transport": "stdio", "layer": "project", **said})

    [trial] = await try_out([server], Around((tmp_path,), McpSettings(timeout=5)))

    assert f"the variable {NAME} looks like a key" in trial.problem
    assert KEY not in f"{trial}"


@pytest.mark.parametrize(
    ("name", "value", "is_key"),
    [
        ("GITHUB_PAT", "abc", True),
        ("HARMLESS", KEY, True),
        ("HARMLESS", f"prefix {KEY}", True),
        ("HARMLESS", "postgres://me:hunter2@db/x", True),
        ("MY_CLAUDE", "words of mine", True),
        ("COPY", "words of mine", True),
        ("REGION", "eu-central-1", False),
        ("HOME", "/home/me", False),
    ],
)
def test_mcp_10_a_key_is_known_by_its_name_its_value_and_the_settings(name, value, is_key):
    environ = {NAME: KEY, "MY_CLAUDE": "words of mine", name: value}

    assert is_secret_variable(name, environ, {"MY_CLAUDE"}) == is_key


def test_mcp_10_a_default_stands_for_a_key_that_is_not_there_or_that_the_user_has_refused(monkeypatch, tmp_path):
    server = McpServer(name="docs", transport="stdio", command="x", layer="project")
    around = Around((tmp_path,))
    refusing = replace(around, settings=McpSettings(variables={server.identity: ()}))

    assert filled(server, around, "${NOT_SET_TOKEN:-none}") == "none"
    assert filled(server, refusing, "${ANTHROPIC_API_KEY:-none}") == "none"


def test_mcp_10_an_entry_of_the_users_has_what_it_names(tmp_path):
    for layer in ("user", "client"):
        server = McpServer(name="docs", transport="stdio", command="x", layer=layer)
        assert filled(server, Around((tmp_path,)), "${ANTHROPIC_API_KEY}") == KEY


def test_mcp_10_only_the_user_allows_a_name_and_for_one_server_as_it_is(tmp_path, monkeypatch):
    root = tmp_path / "project"
    root.mkdir()
    allowing_it = {"mcp": {"variables": {"0" * 32: [NAME]}, "timeout": 7}}
    (root / "odinconfig.json").write_text(json.dumps(allowing_it))

    settings, problems = load(root, settings=allowing_it, agreed=Everything())

    assert (settings.mcp.variables, settings.mcp.timeout) == ({}, 7)
    assert ["`mcp.variables` is not taken from" in str(it) for it in problems] == [True, True]
    server = McpServer(name="docs", transport="stdio", command="x", layer="project")
    others = [replace(server, **it) for it in ({"layer": "user"}, {"args": ("y",)}, {"agreed_as": "other"})]
    assert len({it.identity for it in (server, *others)}) == 4


async def test_mcp_10_a_program_of_a_project_inherits_no_key(odin, call, person, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_API_TOKEN", "of-the-user")
    odin.settings["mcp"] = {"wait": 20, "timeout": 20}
    name_servers(odin, bad=entry(tmp_path, {"call:echo": [{"environment": {}}]}, "bad"))
    odin.script({"calls": [call("mcp__bad__echo")]}, {"text": "done"})
    odin.start(trusted=True)
    odin.configure(rules=(allowing(odin, "bad"),))
    person.answers = [Answer(("allow_once",))]

    await odin.take(mode="edit_mode")

    [told] = [it.content for message in odin.session.messages for it in message.results]
    assert '"PATH"' in told
    assert not [it for it in (KEY, NAME, "XDG_API_TOKEN") if it in told]


def test_mcp_10_a_server_of_a_file_is_of_whoever_has_the_file(tmp_path):
    root, config = tmp_path / "project", tmp_path / "config" / "odin"
    for folder, name in ((root, ".mcp.json"), (config, "mcp.json")):
        folder.mkdir(parents=True)
        (folder / name).write_text(json.dumps({"mcpServers": {folder.name: {"command": "x"}}}))

    servers = Extensions.found(root, agreed=Everything()).servers

    assert {name: it.layer for name, it in servers.items() if name in ("project", "odin")} == {
        "project": "project",
        "odin": "user",
    }
