"""Notebooks, as a model reads and changes them."""

import pytest

from tests.support.reviewing import Bench
from tests.unit.formats.test_notebooks import BOOK


@pytest.fixture
def bench(tmp_path):
    bench = Bench(tmp_path)
    (bench.root / "a.ipynb").write_text(BOOK)
    return bench


@pytest.fixture
def edit(bench):
    async def edit(**arguments):
        return await bench.use("NotebookEdit", file_path="a.ipynb", **arguments)

    return edit


@pytest.fixture
def read(bench):
    async def read(**arguments):
        return (await bench.use("Read", file_path="a.ipynb", **arguments)).content

    return read


async def test_read_shows_cells_with_their_ids_and_what_they_printed(read):
    assert await read() == (
        "[intro] markdown\n# Title\ncafé\n\n"
        "[load] code\nimport os\nOutput:\n1\n2\nOutput:\n<Figure>\n(image/png)\nOutput:\nValueError: no\n\n"
        "(cells of a notebook, by their ids; NotebookEdit changes them)"
    )
    assert "[intro]" not in await read(offset=2)
    assert "(cells 1-1 of 2; go on with offset 2)" in await read(limit=1)


async def test_a_cell_is_changed_in_review_and_all_else_stays(bench, read, edit):
    await read()

    result = await edit(cell_id="load", source="import re")

    assert not result.failed, result.content
    assert (bench.root / "a.ipynb").read_text() == BOOK.replace('"import os"', '"import re"')
    assert len(bench.editor.reviews) == 1


async def test_cells_are_inserted_and_deleted(bench, read, edit):
    await read()

    told = (await edit(action="insert", cell_id="intro", source="x = 1")).content
    cell_id = told.rpartition("The new cell is ")[2].rstrip(".")
    assert f'"id": "{cell_id}"' in (bench.root / "a.ipynb").read_text()
    await read()
    result = await edit(action="delete", cell_id=cell_id)

    assert not result.failed, result.content
    assert (bench.root / "a.ipynb").read_text() == BOOK


async def test_a_cell_that_was_not_read_is_not_changed(read, edit):
    assert "Must read file first" in (await edit(cell_id="load", source="import re")).content
    await read(limit=1)
    assert "lines" in (await edit(cell_id="load", source="import re")).content
    assert (await edit(cell_id="load", source="import re")).failed


async def test_a_call_that_cannot_work_says_why(read, edit):
    await read()

    assert "has no cell 'x'; it has intro, load" in (await edit(cell_id="x")).content
    assert "cell_id is missing; delete needs it" in (await edit(action="delete")).content


async def test_a_broken_notebook_is_text(bench, read, edit):
    (bench.root / "a.ipynb").write_text('{"cells": [\n')

    assert (await read()).startswith('     1\t{"cells": [')
    assert "is not a notebook that can be read; edit it as text" in (await edit(cell_id="load")).content


async def test_the_tool_is_listed_only_where_there_are_notebooks(odin, call):
    odin.script({"text": "ok"})
    planner = await odin.live._planner(odin.turns.start(odin.message("hi", "edit_mode")).progress, odin.events.append)
    assert "NotebookEdit" not in planner.executor.tools

    (odin.root / "work").mkdir()
    (odin.root / "work" / "a.ipynb").write_text(BOOK)
    odin.core.sessions.begin()
    planner = await odin.live._planner(odin.turns.start(odin.message("hi", "edit_mode")).progress, odin.events.append)
    assert "NotebookEdit" in planner.executor.tools
