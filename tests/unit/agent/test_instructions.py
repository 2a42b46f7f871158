"""Which files are instructions, for which work, and how people learn of it."""

import pytest

from odin_lsp.agent.instructions import MAX_BYTES, Instructions
from odin_lsp.config import user_file


def notices(odin):
    return [event.message for event in odin.events if event.kind == "notice"]


def test_all_files_of_all_folders_are_merged_and_none_hides_another(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    for folder, name, text in ((one, "CLAUDE.md", "c"), (one, "ODIN.md", "o"), (two, "AGENTS.md", "a")):
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text)

    found = Instructions.load([one, two])

    assert [(it.path, it.size) for it in found.files] == [
        (str(one / "ODIN.md"), 1),
        (str(one / "CLAUDE.md"), 1),
        (str(two / "AGENTS.md"), 1),
    ]
    assert found.text.index("\no\n") < found.text.index("\nc\n") < found.text.index("\na\n")


def test_what_two_files_say_alike_is_said_once(tmp_path):
    (tmp_path / "AGENTS.md").write_text("the same")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")

    assert [it.path for it in Instructions.load([tmp_path]).files] == [str(tmp_path / "AGENTS.md")]


def test_a_long_file_is_cut_and_says_so(tmp_path):
    (tmp_path / "ODIN.md").write_text("x" * (MAX_BYTES + 1))

    [file] = Instructions.load([tmp_path]).files

    assert (len(file.text), file.is_cut) == (MAX_BYTES, True)
    assert "of which the first 32,768 are used" in str(file)


async def test_the_files_and_their_sizes_are_shown(odin):
    (odin.root / "ODIN.md").write_text("Use tabs.")
    (odin.root / "AGENTS.md").write_text("Be kind.")
    odin.script({"text": "one"}, {"text": "two"})

    await odin.take()
    await odin.take()

    first, second = odin.root / "ODIN.md", odin.root / "AGENTS.md"
    assert notices(odin) == [f"instructions: {first} (9 bytes), {second} (8 bytes)"]
    state = await odin.state()
    assert state["instructionFiles"] == [
        {"path": str(first), "size": 9, "isCut": False},
        {"path": str(second), "size": 8, "isCut": False},
    ]
    assert "Use tabs." in state["instructions"]
    assert "Be kind." in state["instructions"]


async def test_a_change_is_told_once_and_a_new_session_uses_it(odin):
    (odin.root / "ODIN.md").write_text("Use tabs.")
    odin.script(*[{"text": "ok"}] * 4)
    await odin.take()
    (odin.root / "ODIN.md").write_text("Use spaces.")
    await odin.take()
    await odin.take()
    assert "Use tabs." in (await odin.state())["instructions"]

    odin.core.sessions.begin()

    assert "Use spaces." in (await odin.state())["instructions"]
    assert notices(odin)[1:] == ["the instructions have changed; a new session will use them"]


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The folder of the user's settings."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = user_file().parent
    folder.mkdir(parents=True)
    return folder


def test_the_users_own_instructions_come_first_and_say_whose_they_are(own, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    for path in (own / "ODIN.md", own / "AGENTS.md", own / "CLAUDE.md", project / "ODIN.md"):
        path.write_text(f"by {path}")

    found = Instructions.load([project])

    assert [(it.path, it.of) for it in found.files] == [
        (str(own / "ODIN.md"), "user"),
        (str(own / "AGENTS.md"), "user"),
        (str(project / "ODIN.md"), "project"),
    ]
    assert ['from="user"' in it.block for it in found.files] == [True, True, False]


def test_a_link_of_the_users_own_may_lead_anywhere(own, tmp_path):
    elsewhere = tmp_path / "dotfiles" / "agents.txt"
    elsewhere.parent.mkdir()
    elsewhere.write_text("Use tabs.")
    (own / "AGENTS.md").symlink_to(elsewhere)

    assert [it.text for it in Instructions.load([]).files] == ["Use tabs."]


async def test_which_instructions_hold_and_what_they_cost_is_in_the_context(odin, own):
    (own / "ODIN.md").write_text("Use tabs.")
    (odin.root / "AGENTS.md").write_text("Be kind.")
    odin.script({"text": "done"})
    await odin.take()

    seen = await odin.core.preview(None, "ask_mode", "hi")

    assert [(it.path, it.of) for it in seen.instructions] == [
        (str(own / "ODIN.md"), "user"),
        (str(odin.root / "AGENTS.md"), "project"),
    ]
    assert all(it.tokens > 0 for it in seen.instructions)
    assert "Use tabs." in next(it.content for it in seen.parts if "Be kind." in it.content)
