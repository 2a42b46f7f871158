"""The Memory tool: in every mode, for the user's eyes, and never with a secret."""

from dataclasses import replace

import pytest

from odin_lsp.agent.mode_tools import mode_tools
from odin_lsp.errors import ToolError
from odin_lsp.modes import MODES
from odin_lsp.sessions.memory import Memory
from odin_lsp.tools.base import all_tools


@pytest.fixture
def context(context, tmp_path):
    return replace(context, memory=Memory(lambda: tmp_path / "state" / "memory"))


@pytest.mark.parametrize("mode", MODES.values())
def test_it_is_there_in_every_mode_and_not_for_helpers(mode):
    assert "Memory" in mode_tools(mode)
    assert "Memory" not in mode_tools(mode, subagent=True)


async def test_notes_are_remembered_recalled_and_forgotten(use):
    kept = await use("Memory", action="remember", text="tabs, not spaces", lasting=True)
    found = await use("Memory", action="recall", text="tabs")
    note_id = kept.data.rpartition("id ")[2].strip(").")
    gone = await use("Memory", action="forget", id=note_id)

    assert kept.description == "remembered: tabs, not spaces"
    assert found.data == f"- tabs, not spaces (id {note_id})"
    assert gone.description == "forgot: tabs, not spaces"
    assert (await use("Memory", action="recall")).data == "There is no such note."


@pytest.mark.parametrize("action", ["remember", "forget"])
async def test_k_75_where_notes_are_only_read_none_is_taken_or_dropped(context, tmp_path, action):
    tool = all_tools()["Memory"]
    context = replace(context, may_note=False)

    with pytest.raises(ToolError, match="in Ask notes for later sessions are only read"):
        await tool.run(tool.parse({"action": action, "text": "x", "id": "12345678"}), context)

    assert (await tool.run(tool.parse({"action": "recall"}), context)).data == "There is no such note."
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("text", ["the key is sk-ant-api03-abcdefghijklmnop", "password=hunter22"])
async def test_no_secret_is_kept(use, tmp_path, text):
    with pytest.raises(ToolError, match="looks like a key"):
        await use("Memory", action="remember", text=text)

    assert not (tmp_path / "state").exists()


async def test_what_people_could_not_see_is_not_kept(use):
    await use("Memory", action="remember", text="plain\u202e\U000e0041\u200b words")

    assert (await use("Memory", action="recall")).data.partition(": ")[2].startswith("plain words")


async def test_what_cannot_be_done_is_said(use):
    with pytest.raises(ToolError, match="nothing to remember"):
        await use("Memory", action="remember")
    with pytest.raises(ToolError, match="there is no note"):
        await use("Memory", action="forget", id="12345678")
