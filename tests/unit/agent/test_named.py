"""Subagents that a project describes."""

import pytest

from odin_lsp.agent.named import choose
from odin_lsp.errors import ToolError
from odin_lsp.extensions.agents import NamedAgent
from odin_lsp.extensions.registry import Extensions
from odin_lsp.tools.base import AgentTask
from tests.support.trusting import Everything


def load(folder):
    return Extensions.found(folder, agreed=Everything()).agents


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / ".odin" / "agents" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return write


def test_a_file_describes_a_helper(write, tmp_path):
    write("tester.md", "---\nname: tester\ndescription: writes tests\nmode: edit\nmodel: a/b@low\n---\nTest it all.\n")
    write("plain.md", "Just look.\n")

    assert load(tmp_path) == {
        "plain": NamedAgent("plain", "", "Just look."),
        "tester": NamedAgent("tester", "writes tests", "Test it all.", "edit", "a/b@low"),
    }


@pytest.mark.parametrize(
    "text", ["---\nname: ../x\n---\n", "---\nmode: root\n---\n", "---\nname: " + "x" * 99 + "\n---\n"]
)
def test_a_file_that_makes_no_sense_describes_nobody(write, tmp_path, text):
    write("x.md", text)

    assert load(tmp_path) == {}


def test_what_is_no_text_in_a_file_is_shown_as_such(write, tmp_path):
    write("plain.md", "")
    (tmp_path / ".odin" / "agents" / "plain.md").write_bytes(b"Just \xff look.")

    assert load(tmp_path)["plain"].prompt == "Just \ufffd look."


def test_links_and_folders_describe_nobody(write, tmp_path):
    write("real.md", "x")
    (tmp_path / "outside.md").write_text("x")
    (tmp_path / ".odin" / "agents" / "folder.md").mkdir()
    (tmp_path / ".odin" / "agents" / "link.md").symlink_to(tmp_path / "outside.md")
    (tmp_path / ".odin" / "agents" / "inner.md").symlink_to("real.md")

    assert list(load(tmp_path)) == ["real"]


def test_a_helper_does_no_more_than_its_mode_allows():
    agents = {"reader": NamedAgent("reader", "", "", "ask")}

    assert choose(agents, AgentTask("", "", "ask_mode", "reader")) is agents["reader"]
    assert choose(agents, AgentTask("", "", "edit_mode")) is None
    with pytest.raises(ToolError, match="reader works in ask mode at most"):
        choose(agents, AgentTask("", "", "edit_mode", "reader"))
    with pytest.raises(ToolError, match="there is no agent 'x' here: there are reader; leave `agent` out"):
        choose(agents, AgentTask("", "", "ask_mode", "x"))
