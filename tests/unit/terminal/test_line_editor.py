"""The line at the bottom of a terminal: what is kept of it, and how often what is above it is drawn."""

import stat

from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from odin_lsp.terminal.line_editor import MAX_HISTORY, Keys, LineEditor, PrivateHistory, Views


def test_what_was_said_is_remembered_by_the_user_alone(tmp_path):
    path = tmp_path / "state" / "history" / "ws.jsonl"
    for text in ("first", "two\nlines"):
        PrivateHistory(path).store_string(text)

    assert list(PrivateHistory(path).load_history_strings()) == ["two\nlines", "first"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_only_the_latest_is_looked_at_and_what_is_damaged_is_left_out(tmp_path):
    path = tmp_path / "history" / "ws.jsonl"
    path.parent.mkdir()
    path.write_text("".join(f'["{number}"]\n' for number in range(MAX_HISTORY + 5)) + "{nonsense\n[3]\n")

    found = list(PrivateHistory(path).load_history_strings())

    assert (found[0], len(found)) == (str(MAX_HISTORY + 4), MAX_HISTORY - 2)


def test_a_history_that_cannot_be_kept_hinders_nobody(tmp_path):
    (tmp_path / "elsewhere.jsonl").write_text('["stolen"]\n')
    (tmp_path / "history").mkdir()
    (tmp_path / "history" / "ws.jsonl").symlink_to(tmp_path / "elsewhere.jsonl")
    history = PrivateHistory(tmp_path / "history" / "ws.jsonl")

    history.store_string("secret")

    assert list(history.load_history_strings()) == []
    assert (tmp_path / "elsewhere.jsonl").read_text() == '["stolen"]\n'


async def test_what_stands_above_is_drawn_once_for_each_picture_of_the_screen(tmp_path):
    drawn = []

    def above():
        drawn.append("edit › ")
        return drawn[-1]

    with create_pipe_input() as typed, create_app_session(input=typed, output=DummyOutput()):
        keys = Keys(stop=lambda: False, hint=list, switch_mode=list)
        line = LineEditor(keys, Views(above=above, status=str), lambda _: [], tmp_path / "history")
        typed.send_text("hello\r")

        assert await line.message() == "hello"

    assert 0 < len(drawn) == line._session.app.render_counter
