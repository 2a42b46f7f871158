"""`odin.extensions`: one, many or all are switched, and MCP servers say how they are."""

import json
from types import SimpleNamespace

import pytest

from odin_lsp.errors import RequestError
from odin_lsp.server.commands.extensions import extensions
from tests.support.mcp_servers import entry


@pytest.fixture
def ask(odin, tmp_path, monkeypatch):
    """The command, in a project with three servers and a skill."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    entries = {name: entry(tmp_path, {}, name) for name in ("one", "two", "three")}
    (odin.root / ".mcp.json").write_text(json.dumps({"mcpServers": entries}))
    skill = odin.root / ".odin" / "skills" / "deploy"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: deploy\ndescription: How to deploy.\n---\nPush.\n")
    odin.script({"text": "one"}, {"text": "two"})
    odin.settings["mcp"] = {"wait": 30}
    odin.start(trusted=True)
    server = SimpleNamespace(core=odin.core, project=odin.project, is_guest=False)

    async def ask(**params):
        listed = (await extensions(server, params, None))["extensions"]
        return {f"{it['kind']}:{it['name']}": it for it in listed if it["owner"] == "project"}

    return ask


def on(listed):
    return {name for name, it in listed.items() if it["state"] == "on"}


ALL = {"mcp:one", "mcp:two", "mcp:three", "skill:deploy"}


async def test_one_several_or_all_are_switched(ask):
    assert on(await ask(action="disable", name="one")) == ALL - {"mcp:one"}
    assert on(await ask(action="disable", names=["mcp:two", "deploy"])) == {"mcp:three"}
    assert on(await ask(action="enable", names=[])) == ALL
    assert on(await ask(action="disable", names=[])) == set()


async def test_an_empty_list_and_a_kind_are_all_of_the_kind(ask):
    listed = await ask(action="disable", names=[], kind="mcp")

    assert set(listed) == {"mcp:one", "mcp:two", "mcp:three"}
    assert on(listed) == set()
    assert on(await ask()) == {"skill:deploy"}
    assert on(await ask(action="enable", names=[], kind="mcp")) == ALL - {"skill:deploy"}


async def test_what_the_settings_disable_by_its_plain_name_can_be_switched_on(ask, odin):
    odin.configure(extensions=odin.config.extensions.model_copy(update={"disabled": ("one", "mcp:two")}))
    assert on(await ask()) == {"mcp:three", "skill:deploy"}

    assert on(await ask(action="enable", names=["mcp:one", "two"])) == ALL


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"names": ["one", "nobody"]}, "there is no extension 'nobody'; list what there is"),
        ({"name": "deploy", "kind": "mcp"}, "there is no extension 'deploy'; list what there is"),
        ({}, "`name` or `names` is missing; disable needs it"),
    ],
)
async def test_what_is_not_there_is_said_and_nothing_is_switched(ask, params, message):
    with pytest.raises(RequestError, match=message):
        await ask(action="disable", **params)

    assert on(await ask()) == ALL


async def test_to_switch_one_off_ends_that_one_alone(ask, odin):
    await odin.take(mode="edit_mode")
    kept = await odin.core.mcp.of("one").connection()

    await ask(action="disable", name="mcp:two")

    assert odin.core.mcp.names == ["one", "three"]
    assert await odin.core.mcp.of("one").connection() is kept
    await ask(action="enable", name="two")
    await odin.take(mode="edit_mode")
    assert odin.core.mcp.names == ["one", "three", "two"]
    assert await odin.core.mcp.of("one").connection() is kept
    assert await odin.core.mcp.of("two").connection()


async def test_servers_say_how_they_are_and_those_that_are_off_are_disabled(ask, odin, tmp_path):
    (tmp_path / "two.json").write_text(json.dumps({"start": [{"exit": 2}]}))
    await ask(action="disable", name="three")
    await odin.take(mode="edit_mode")

    listed = await ask(kind="mcp")
    states = (await odin.state())["mcpServers"]

    facts = {name: (it.get("running"), it.get("attempt"), it.get("maxAttempts")) for name, it in listed.items()}
    assert facts == {
        "mcp:one": ("ready", 1, 4),
        "mcp:two": ("retrying", 2, 4),
        "mcp:three": (None, None, None),
    }
    assert listed["mcp:two"]["problem"] == "two has stopped with code 2"
    assert {it["name"]: it["state"] for it in states} == {"one": "ready", "two": "retrying", "three": "disabled"}
