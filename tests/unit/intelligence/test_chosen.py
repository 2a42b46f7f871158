"""Whose language servers are asked."""

from pathlib import Path

import pytest

from odin_lsp.intelligence.chosen import Chosen
from odin_lsp.intelligence.servers import Problem, Problems

PYTHON, GO = Path("/w/a.py"), Path("/w/a.go")


def problem(message):
    return Problem(line=0, character=0, end_line=0, end_character=1, severity="error", message=message)


ONE, OTHER = problem("one"), problem("other")


class Known:
    """Servers of some documents, and what they find wrong."""

    def __init__(self, served=(), problems=None):
        self.served = set(served)
        self.told = problems or {}
        self.asked = []
        self.is_closed = False

    async def of(self, path):
        return (self,) if path in self.served else ()

    async def problems(self, paths, patience):
        self.asked.append(sorted(paths))
        return {path: it for path, it in self.told.items() if not paths or path in paths}

    async def close(self):
        self.is_closed = True


async def test_the_editors_servers_come_first_and_odins_own_where_it_has_none():
    editor, own = Known([PYTHON]), Known([PYTHON, GO])
    chosen = Chosen(editor, own)

    assert await chosen.of(PYTHON) == (editor,)
    assert await chosen.of(GO) == (own,)
    assert await chosen.of(Path("/w/a.txt")) == ()


async def test_odins_own_are_asked_about_what_the_editors_do_not_serve():
    editor = Known([PYTHON], {PYTHON: Problems((ONE,), is_current=True)})
    own = Known([PYTHON, GO], {GO: Problems((OTHER,), is_current=True)})

    told = await Chosen(editor, own).problems([PYTHON, GO], 1.0)

    assert {path: it.found for path, it in told.items()} == {PYTHON: (ONE,), GO: (OTHER,)}
    assert (editor.asked, own.asked) == ([sorted([PYTHON, GO])], [[GO]])


async def test_where_the_editor_serves_all_none_of_odins_own_is_asked():
    editor, own = Known([PYTHON]), Known([PYTHON])

    await Chosen(editor, own).problems([PYTHON], 1.0)

    assert own.asked == []


@pytest.mark.parametrize(
    ("editors", "own", "expected"),
    [
        (Problems((ONE,), True), Problems((ONE, OTHER), True), Problems((ONE, OTHER), True)),
        (Problems((ONE,), False), Problems((OTHER,), True), Problems((OTHER,), True)),
        (Problems((ONE,), True), Problems((OTHER,), False), Problems((ONE,), True)),
        (Problems((ONE,), False), Problems((OTHER,), False), Problems((ONE, OTHER), False)),
    ],
)
async def test_what_is_not_current_says_nothing_beside_what_is(editors, own, expected):
    chosen = Chosen(Known([], {GO: editors}), Known([GO], {GO: own}))

    assert await chosen.problems([GO], 1.0) == {GO: expected}


async def test_without_paths_both_tell_what_they_know():
    editor = Known([PYTHON], {PYTHON: Problems((ONE,), is_current=True)})
    own = Known([GO], {GO: Problems((OTHER,), is_current=True)})

    assert {*await Chosen(editor, own).problems([], 0.0)} == {PYTHON, GO}


async def test_both_are_closed():
    editor, own = Known(), Known()

    await Chosen(editor, own).close()

    assert editor.is_closed
    assert own.is_closed
