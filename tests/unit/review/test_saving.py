"""Saving what a turn has changed, and telling what a formatter made of it."""

import pytest

from odin_lsp.config import Timeouts
from odin_lsp.events import Notice
from odin_lsp.ports import Answer
from odin_lsp.review.applying import Applier
from odin_lsp.review.saving import Saver
from odin_lsp.review.turn_review import TurnReview
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.shown import Shown
from odin_lsp.workspace.text import Change


class Editor:
    """Formats what it saves: capital letters."""

    def __init__(self, files):
        self.files = files
        self.saved = []
        self.refuses = ()
        self.answer = None
        self.formats = False

    async def ask(self, question):
        return self.answer

    async def save(self, uris):
        failed = tuple((uri, "read-only") for uri in uris if uri in self.refuses)
        for uri in set(uris) - set(self.refuses):
            self.saved.append(uri)
            buffer = self.files.buffers.of_uri(uri)
            if self.formats:
                self.files.buffers.change(uri, buffer.version + 1, [Change(buffer.text.upper())])
            buffer.path.write_text(buffer.text)
            self.files.buffers.save(uri)
        return failed


@pytest.fixture
def files(tmp_path):
    return Files([tmp_path], Buffers(), FileCache())


@pytest.fixture
def editor(files):
    return Editor(files)


@pytest.fixture
def events():
    return []


@pytest.fixture
def path(files, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one\n")
    files.buffers.open(path.as_uri(), 1, "one\ntwo\n")
    return path


@pytest.fixture
def saver(files, editor, events, path):
    def saver(policy="touched", *, was_clean=True):
        turn = TurnReview("t", events.append, touched={path: was_clean})
        shown = Shown()
        shown.note(path, 1, ["one", "two"], total=2)
        applier = Applier(files, editor, Timeouts)
        return Saver(files, editor, editor, applier, turn, shown, policy)

    return saver


async def test_what_was_touched_is_saved_and_told_to_the_user(saver, editor, path, events):
    assert await saver().save() == ""
    assert editor.saved == [path.as_uri()]
    assert [it.message for it in events] == ["saved a.txt"]


async def test_a_formatters_changes_are_told_and_count_as_seen(saver, editor, path):
    editor.formats = True
    saving = saver()

    told = await saving.save()

    assert told == f"When {path} was saved, the editor's formatter changed it:\n     1\tONE\n     2\tTWO"
    assert saving.shown.covers(path, 1, ["ONE", "TWO"])


async def test_the_users_own_unsaved_work_is_saved_for_a_command_but_not_at_the_end(saver, editor, path):
    await saver(was_clean=False).save(at_end=True)
    assert editor.saved == []

    await saver(was_clean=False).save()
    assert editor.saved == [path.as_uri()]


@pytest.mark.parametrize(
    ("policy", "answer", "saved"),
    [("never", None, 0), ("ask", None, 0), ("ask", Answer(("leave",)), 0), ("ask", Answer(("save",)), 1)],
)
async def test_the_user_decides_whether_anything_is_saved(saver, editor, policy, answer, saved):
    editor.answer = answer
    await saver(policy).save()

    assert len(editor.saved) == saved


async def test_what_cannot_be_saved_is_told(saver, editor, path, events):
    editor.refuses = (path.as_uri(),)

    told = f"{path.as_uri()} could not be saved: read-only"
    assert await saver().save() == told
    assert events == [Notice("error", told)]
