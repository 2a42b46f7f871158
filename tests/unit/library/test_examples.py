"""The programs of docs/library.md do what the page says."""

import io
import json
import re
import runpy
from pathlib import Path

import pytest

from odin_lsp.sessions.listing import summaries
from odin_lsp.sessions.store import sessions_folder

PAGE = Path(__file__).parents[3] / "docs" / "library.md"
PROGRAMS = {
    name: f"# {name}\n{code}"
    for name, code in re.findall(r"```python\n# (\w+\.py)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
}


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a program in a workspace with a model that plays these replies: the exit code, and what it prints."""

    def run(name, *replies, stdin=""):
        workspace, script, program = tmp_path / "ws", tmp_path / "script.json", tmp_path / name
        workspace.mkdir()
        (workspace / "README.md").write_text("A program.\n")
        script.write_text(json.dumps({"replies": replies}))
        program.write_text(PROGRAMS[name], encoding="utf-8")
        monkeypatch.chdir(workspace)
        monkeypatch.setenv("ODIN_MODEL", f"scripted/{script}")
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        code = 0
        try:
            runpy.run_path(str(program), run_name="__main__")
        except SystemExit as ended:
            code = ended.code
        return code, capsys.readouterr().out

    return run


def test_all_of_them_are_tested():
    assert PROGRAMS.keys() == {"question.py", "ci.py", "bot.py", "docs_writer.py"}


def test_a_question_is_answered(run):
    assert run("question.py", {"text": "It is `main`."}) == (0, "It is `main`.\n")


@pytest.mark.parametrize(
    ("reply", "code"),
    [({"text": "Yes, all."}, 0), ({"text": "No: --fast is missing."}, 1), ({"text": "Ye", "stop": "refused"}, 2)],
)
def test_a_ci_step_passes_if_the_answer_is_yes(run, reply, code):
    assert run("ci.py", reply) == (code, f"{reply['text']}\n")


def test_a_bot_streams_and_knows_its_chats_apart(run, tmp_path, call):
    _, out = run(
        "bot.py",
        {"calls": [call("Glob", pattern="*.md")], "when": {"contains": "which files?"}},
        {"text": ["One ", "file."], "usage": {"outputTokens": 3}},
        {"text": "Hello, Bob.", "when": {"contains": "hello"}},
        {"text": "README.md", "when": {"contains": "its name?"}},
        stdin="ann: which files?\nbob: hello\nann: its name?\n",
    )

    assert out == (
        "(find *.md)\nOne file.\n[ann: end_turn, 3 tokens]\n"
        "Hello, Bob.\n[bob: end_turn, 0 tokens]\n"
        "README.md\n[ann: end_turn, 0 tokens]\n"
    )
    assert sorted(it.title for it in summaries(sessions_folder(tmp_path / "ws"))) == ["ann", "bob"]


def test_a_reviewer_accepts_what_it_wants_and_says_why_not(run, tmp_path, call):
    readme, setup = tmp_path / "ws" / "README.md", tmp_path / "ws" / "setup.py"
    edit = {"old_string": "A program.\n", "new_string": "A program.\n\nInstall it.\n"}

    code, out = run(
        "docs_writer.py",
        {"calls": [call("Ticket", number=42), call("Read", file_path=str(readme))]},
        {
            "calls": [
                call("EditTool", file_path=str(readme), **edit),
                call("WriteFile", file_path=str(setup), content="pass\n"),
            ]
        },
        {"text": "Done."},
    )

    assert (code, out) == (0, "Done.\naccepted README.md \nrejected setup.py only Markdown files may change\n")
    assert readme.read_text() == "A program.\n\nInstall it.\n"
    assert not setup.exists()
