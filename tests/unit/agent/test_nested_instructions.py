"""Instructions further down: told where the work gets to, looked up once, and followed."""

from pathlib import Path

import pytest

from odin_lsp.agent import nested_instructions
from odin_lsp.agent.instructions import InstructionFile
from odin_lsp.agent.nested_instructions import MAX_NESTED, FolderInstructions, NestedInstructions, told_as
from odin_lsp.messages import Message, Text
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files


def notices(odin):
    return [event.message for event in odin.events if event.kind == "notice"]


def sent(odin):
    return str(odin.session.messages)


@pytest.fixture
def nested(odin):
    """A folder with instructions of its own, and a call that reads a file there."""
    for name in ("lib", "node_modules/evil", "repo", ".hidden"):
        folder = odin.root / name
        folder.mkdir(parents=True)
        (folder / "ODIN.md").write_text(f"nested rules of {name}")
        (folder / "code.py").write_text("x = 1\n")
    (odin.root / "repo" / ".git").mkdir()
    return odin.root / "lib"


def reading(odin, call, *names):
    return {"calls": [call("Read", file_path=str(odin.root / name / "code.py")) for name in names]}


async def test_in_a_trusted_workspace_nested_ones_hold_where_the_work_is_and_are_told_once(odin, call, nested):
    odin.script(reading(odin, call, "lib"), reading(odin, call, "lib"), {"text": "ok"}, {"text": "ok"})
    odin.start(trusted=True)

    await odin.take()
    await odin.take()

    assert sent(odin).count("nested rules of lib") == 1
    assert f"in work below {nested}:" in sent(odin)
    assert notices(odin) == [f"instructions further down: {nested / 'ODIN.md'} (19 bytes)"]


async def test_nested_ones_that_a_compaction_has_taken_out_are_told_again_in_the_same_turn(odin, call, nested):
    odin.settings["limits"] = {"maxContext": 100_000}
    odin.script(
        reading(odin, call, "lib"),
        *[{"text": "ok"}] * 2,
        {**reading(odin, call, "lib"), "usage": {"contextTokens": 95_000}},
        {"text": "the summary"},
        {"calls": [call("Glob", pattern="*")]},
        {"text": "ok"},
    )
    odin.start(trusted=True)
    for text in ("read", "word " * 4000, "read it again"):
        await odin.take(text)

    assert "the summary" in sent(odin)
    assert sent(odin).count("nested rules of lib") == 1


async def test_where_the_work_is_not_nothing_is_told(odin, call, nested):
    odin.script({"calls": [call("Read", file_path=str(odin.root / "greet.py"))]}, {"text": "ok"})
    odin.start(trusted=True)

    await odin.take()

    assert "nested rules" not in sent(odin)


async def test_inj_05_in_an_untrusted_workspace_nested_ones_are_data(odin, call, nested):
    odin.script(reading(odin, call, "lib", "repo", "node_modules/evil"), {"text": "ok"})

    await odin.take()

    assert "nested rules" not in sent(odin)
    assert "nested rules" not in (await odin.state())["instructions"]
    assert notices(odin) == []


async def test_inj_05_dependencies_and_other_repositories_are_never_obeyed(odin, call, nested):
    odin.script(reading(odin, call, "node_modules/evil", "repo", ".hidden"), {"text": "ok"})
    odin.start(trusted=True)

    await odin.take()

    assert "nested rules" not in sent(odin)


@pytest.fixture
def files(tmp_path):
    return Files([tmp_path], Buffers(), FileCache())


@pytest.fixture
def folders(files):
    return FolderInstructions(files)


@pytest.fixture
def turn(folders, tmp_path):
    """Begins one."""

    def turn(hides=lambda _: False):
        folders.begin(tmp_path)
        return NestedInstructions(folders, hides)

    return turn


@pytest.fixture
def looked(monkeypatch):
    """Folders that were looked up."""
    looked = []
    look_up = nested_instructions.instructions_in
    monkeypatch.setattr(nested_instructions, "instructions_in", lambda it: looked.append(it) or look_up(it))
    return looked


def lay_out(root, *names):
    """Files, and of each folder that is named the rules."""
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"rules of {path.parent.name}" if path.suffix == ".md" else "x = 1\n")
    return [root / name for name in names if not name.endswith(".md")]


def conversation(*told):
    return [Message("user", tuple(Text(told_as(it)) for it in told))]


async def texts(nested, reached, messages=()):
    return [it.text for it in await nested.due(reached, messages)]


async def test_what_left_the_conversation_is_told_again_and_so_is_what_changed(turn, tmp_path):
    reached = lay_out(tmp_path, "lib/AGENTS.md", "lib/code.py")
    nested = turn()
    [told] = await nested.due(reached, [])
    history = conversation(told)

    assert await nested.due(reached, history) == []
    nested.look_again()
    assert await nested.due(reached, history) == []
    nested.look_again()
    assert await nested.due(reached, []) == [told]
    (tmp_path / "lib" / "AGENTS.md").write_text("second")
    nested.look_again()
    assert await texts(nested, reached, history) == ["second"]


async def test_what_no_model_may_read_is_no_instruction(turn, tmp_path):
    reached = lay_out(tmp_path, "lib/ODIN.md", "lib/code.py")

    assert await texts(turn(hides=lambda path: path.name == "ODIN.md"), reached) == []


async def test_outer_folders_come_first_and_of_many_some(turn, tmp_path):
    many = [f"{number:02}/{name}" for number in range(MAX_NESTED + 2) for name in ("AGENTS.md", "code.py")]
    reached = lay_out(tmp_path, "a/b/ODIN.md", "a/ODIN.md", "a/b/code.py", *many)

    assert await texts(turn(), reached[:1]) == ["rules of a", "rules of b"]
    assert await texts(turn(), reached[1:]) == [f"rules of {number:02}" for number in range(MAX_NESTED)]


async def test_below_the_first_folder_of_others_nothing_is_looked_up(turn, tmp_path, looked):
    (tmp_path / "lib" / "repo" / ".git").mkdir(parents=True)
    reached = lay_out(tmp_path, "lib/repo/own/ODIN.md", "lib/repo/own/code.py", "node_modules/a/code.py", ".b/code.py")

    assert await texts(turn(), [*reached, tmp_path.parent / "elsewhere" / "code.py"]) == []
    assert looked == [tmp_path / "lib"]


async def test_a_folder_is_looked_up_once_in_a_turn_however_many_files_are_reached(turn, tmp_path, looked):
    reached = lay_out(tmp_path, *(f"a/b/{number}.py" for number in range(20)), "a/c/code.py")
    nested = turn()

    for count in range(len(reached)):
        await nested.due(reached[: count + 1], [])

    assert sorted(looked) == [tmp_path / "a", tmp_path / "a" / "b", tmp_path / "a" / "c"]


async def test_what_somebody_follows_is_looked_up_once_for_all_turns(turn, files, tmp_path, looked):
    files.are_changes_told = True
    reached = lay_out(tmp_path, *(f"{number}/code.py" for number in range(30)), "30/ODIN.md", "30/code.py")

    told = [await texts(turn(), reached) for _ in range(3)]

    assert told == [["rules of 30"]] * 3
    assert len(looked) == 31


async def test_where_nobody_tells_of_changes_each_turn_looks_once_more(turn, files, tmp_path, looked):
    reached = lay_out(tmp_path, "lib/AGENTS.md", "lib/code.py")
    await turn().due(reached, [])
    (tmp_path / "lib" / "AGENTS.md").write_text("second")
    files.are_changes_told = True  # from now on: what was known before may be out of date

    assert await texts(turn(), reached) == ["second"]
    assert len(looked) == 2
    assert await texts(turn(), reached) == ["second"]
    assert len(looked) == 2


@pytest.mark.parametrize(
    ("change", "told", "again"),
    [
        ("a/b/AGENTS.md", ["a/b/AGENTS.md"], ["a", "b"]),
        ("a/ODIN.md", ["a/ODIN.md"], ["a"]),
        ("a/b/docs/rules.md", ["a/b/docs/rules.md"], ["a", "b"]),
        ("a/b/code.py", ["a/b/code.py"], []),
        ("c/README.md", ["c/README.md"], ["c"]),
        ("a/b/.git", ["a/b/.git"], ["a", "b", "c"]),
        ("a", ["a", "d"], ["a", "b", "c"]),
    ],
)
async def test_a_change_is_followed_and_nothing_else_looked_up_again(
    turn, files, tmp_path, looked, change, told, again
):
    files.are_changes_told = True
    reached = lay_out(tmp_path, "a/b/code.py", "a/code.py", "c/code.py")
    await turn().due(reached, [])
    looked.clear()

    files.heed({tmp_path / name for name in told})
    await turn().due(reached, [])

    assert [it.name for it in sorted(looked)] == again, change


async def test_what_changes_while_it_is_looked_up_is_looked_up_again(turn, files, tmp_path, monkeypatch):
    files.are_changes_told = True
    reached = lay_out(tmp_path, "lib/AGENTS.md", "lib/code.py")
    path = tmp_path / "lib" / "AGENTS.md"

    def look_up(folder):
        found = InstructionFile(str(path), 5, path.read_text())
        path.write_text("second")
        files.heed({path})
        return [found]

    with monkeypatch.context() as during:
        during.setattr(nested_instructions, "instructions_in", look_up)
        assert await texts(turn(), reached) == ["rules of lib"]

    assert await texts(turn(), reached) == ["second"]


async def test_a_link_is_followed_to_where_it_leads(turn, files, tmp_path):
    files.are_changes_told = True
    reached = lay_out(tmp_path, "lib/docs/rules.md", "lib/code.py")
    (tmp_path / "lib" / "CLAUDE.md").symlink_to("docs/rules.md")
    assert await texts(turn(), reached) == ["rules of docs"]

    (tmp_path / "lib" / "docs" / "rules.md").write_text("second")
    files.heed({tmp_path / "lib" / "docs" / "rules.md"})

    assert await texts(turn(), reached) == ["second"]


async def test_what_is_told_by_another_name_of_the_workspace_may_be_anything(turn, files, tmp_path, looked):
    files.are_changes_told = True
    reached = lay_out(tmp_path, "lib/code.py")
    await turn().due(reached, [])

    files.heed({Path("/by/another/name/lib/AGENTS.md")})
    await turn().due(reached, [])

    assert len(looked) == 2


async def test_what_odin_itself_changes_is_followed(turn, files, tmp_path):
    files.are_changes_told = True
    reached = lay_out(tmp_path, "lib/AGENTS.md", "lib/code.py")
    await turn().due(reached, [])

    (tmp_path / "lib" / "AGENTS.md").write_text("second")
    files.note_change(tmp_path / "lib" / "AGENTS.md")

    assert await texts(turn(), reached) == ["second"]
