"""One text, replaced over many files as one proposal."""

from dataclasses import replace

import pytest

from odin_lsp.config import Config, RuleSettings
from odin_lsp.permissions.approvals import Approvals
from odin_lsp.permissions.gate import Gate
from odin_lsp.tools.replace_in_files import MAX_FILES
from odin_lsp.workspace.text import Change
from tests.support.reviewing import Bench, accept, reject


@pytest.fixture(params=["ripgrep", "fallback"])
def bench(request, tmp_path):
    bench = Bench(tmp_path)
    if request.param == "fallback":
        bench.context.search._ripgrep = None
    bench.write("src/a.py", "board = 1\nprint(board)\nkeyboard = board\n")
    bench.write("src/b.py", "from a import board\n")
    bench.write("notes.md", "The board is here.\n")
    return bench


def replacing(bench, **arguments):
    return bench.use("ReplaceInFiles", **{"pattern": "board", "replacement": "shelf", "glob": "**/*.py"} | arguments)


async def test_a_text_is_replaced_wherever_it_is_as_one_proposal_with_a_short_receipt(bench):
    result = await replacing(bench)

    assert result.content == "Accepted: 5 places in 2 files (src/a.py 4, src/b.py 1)."
    assert [len(review.files) for review in bench.editor.reviews] == [2]
    assert (bench.root / "src/a.py").read_text() == "shelf = 1\nprint(shelf)\nkeyshelf = shelf\n"
    assert (bench.root / "notes.md").read_text() == "The board is here.\n"
    [ended] = bench.events_of("toolFinished")
    assert (len(ended.files), ended.added, ended.removed, ended.diff.count("--- a/")) == (2, 4, 4, 2)


async def test_whole_words_are_not_parts_of_others(bench):
    await replacing(bench, whole_word=True)

    assert (bench.root / "src/a.py").read_text() == "shelf = 1\nprint(shelf)\nkeyboard = shelf\n"


async def test_what_is_excluded_stays(bench):
    result = await replacing(bench, glob="*", exclude="src/b.*")

    assert result.content == "Accepted: 5 places in 2 files (notes.md 1, src/a.py 4)."


@pytest.mark.parametrize(("pattern", "replacement"), [("a.c", r"\1"), ("$x", "$y"), ("(", "["), (r"\d", r"\w")])
async def test_both_texts_are_meant_literally(bench, pattern, replacement):
    path = bench.write("x.txt", f"abc {pattern}\n")

    await replacing(bench, pattern=pattern, replacement=replacement, glob="*.txt")

    assert path.read_text() == f"abc {replacement}\n"


async def test_what_is_on_the_screen_is_what_is_changed(bench):
    path = bench.root / "src/b.py"
    bench.open(path)
    bench.files.buffers.change(path.as_uri(), 2, [Change("my board, not saved\n")])

    await replacing(bench)

    assert bench.text(path) == "my shelf, not saved\n"


async def test_edits_of_the_same_step_are_seen(bench):
    await bench.read(bench.root / "src/b.py")
    edit = {"file_path": "src/b.py", "old_string": "import board", "new_string": "import (board)"}

    await bench.step(
        ("EditTool", edit), ("ReplaceInFiles", {"pattern": "board", "replacement": "shelf", "glob": "src/b.py"})
    )

    assert (bench.root / "src/b.py").read_text() == "from a import (shelf)\n"


async def test_only_what_differs_from_the_proposal_is_told_in_full(bench):
    bench.editor.decide = lambda hunk: reject(hunk) if hunk.range.start.character == 14 else accept(hunk)

    result = await replacing(bench)

    assert "Accepted: 4 places in 1 file (src/a.py 4)." in result.content
    assert "src/b.py: 1 rejected" in result.content
    assert not result.failed
    assert bench.events_of("toolFinished")[0].description.endswith("(in part)")


async def test_if_all_is_rejected_the_call_has_failed(bench):
    bench.editor.decide = reject

    assert (await replacing(bench)).failed


async def test_at_the_end_of_the_turn_it_is_reviewed_with_the_rest(tmp_path):
    bench = Bench(tmp_path, policy="end")
    path = bench.write("a.py", "board\n")

    result = await replacing(bench)

    assert "1 place in 1 file (a.py 1)" in result.content
    assert path.read_text() == "board\n"
    assert bench.context.draft.texts == {path: "shelf\n"}


async def test_ignored_and_secret_files_are_not_touched_and_protected_ones_are_told(bench):
    for name in ("build/x.py", ".env", "AGENTS.md"):
        bench.write(name, "board\n")
    bench.write(".gitignore", "build/\n")

    result = await replacing(bench, glob="**")

    assert "Left out (protected; use EditTool): AGENTS.md" in result.content
    assert "x.py" not in result.content
    assert {(bench.root / name).read_text() for name in ("build/x.py", ".env", "AGENTS.md")} == {"board\n"}


async def test_what_rules_or_a_scope_keep_from_edits_is_left_out(bench, tmp_path):
    config = Config(rules=(RuleSettings(tool="EditTool", decision="deny", path="src/a.py", reason="a.py is frozen"),))
    gate = Gate(bench.editor, lambda: config, lambda: bench.root, Approvals(tmp_path / "approvals.json"))
    bench.executor.context = replace(bench.context, gate=gate, write_scope=(bench.root / "src",))

    result = await replacing(bench, glob="**")

    assert result.content.splitlines() == [
        "Accepted: 1 place in 1 file (src/b.py 1).",
        "Left out (outside of what you were asked to edit): notes.md",
        "Left out (a.py is frozen): src/a.py",
    ]


@pytest.mark.parametrize(("tool", "questions"), [("ReplaceInFiles", 1), ("EditTool", 0)])
async def test_what_rules_ask_about_is_changed_if_the_call_was_asked_about(bench, tmp_path, tool, questions):
    config = Config(rules=(RuleSettings(tool=tool, decision="ask", reason="be careful"),))
    gate = Gate(bench.editor, lambda: config, lambda: bench.root, Approvals(tmp_path / "approvals.json"))
    bench.executor.context = replace(bench.context, gate=gate)

    result = await replacing(bench)

    assert len(bench.editor.questions) == questions
    assert ("Left out (be careful): src/a.py" in result.content) == (questions == 0)


async def test_line_ends_are_those_of_each_file(bench):
    path = bench.write("dos.py", "board\r\nend\r\n")

    await replacing(bench, pattern="board", replacement="shelf\nshelf", glob="dos.py")

    assert path.read_bytes() == b"shelf\r\nshelf\r\nend\r\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"pattern": "zeppelin"}, "zeppelin occurs in no file"),
        ({"pattern": r"\bboard\b"}, "taken literally, not as a regular expression"),
        ({"glob": "*.lua"}, "only in files that are not wanted, such as notes.md"),
        ({"pattern": "a\nb"}, "within one line"),
        ({"replacement": "board"}, "nothing would change"),
    ],
)
async def test_what_cannot_be_done_says_so(bench, arguments, problem):
    result = await replacing(bench, **arguments)

    assert result.failed
    assert problem in result.content
    assert bench.editor.reviews == []


async def test_too_many_files_are_refused_with_their_number(bench):
    for number in range(MAX_FILES + 1):
        bench.write(f"many/{number}.txt", "board\n")

    result = await replacing(bench, glob="many/*")

    assert f"{MAX_FILES + 1} files would be changed, and {MAX_FILES} can be at once" in result.content
