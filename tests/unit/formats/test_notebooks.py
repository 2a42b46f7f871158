import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odin_lsp.errors import ToolError
from odin_lsp.formats.notebooks import Notebook

BOOK = """{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {"tags": [ "odd  spacing" ]},
   "source": [
    "# Title\\n",
    "caf\\u00e9"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 1.0,
   "id": "load",
   "metadata": {},
   "outputs": [
    {"name": "stdout", "output_type": "stream", "text": ["1\\n", "2\\n"]},
    {"data": {"image/png": "aGk=", "text/plain": "<Figure>"}, "metadata": {}, "output_type": "display_data"},
    {"ename": "ValueError", "evalue": "no", "output_type": "error", "traceback": []}
   ],
   "source": "import os"
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 5
}
"""


def book(text=BOOK):
    notebook = Notebook.of(text)
    assert notebook is not None
    return notebook


def sources(text):
    return [cell.source for cell in book(text).cells]


def test_a_notebook_is_read_as_cells():
    intro, load = book().cells

    assert (intro.id, intro.kind, intro.source, intro.outputs) == ("intro", "markdown", "# Title\ncafé", ())
    assert (load.id, load.kind, load.source) == ("load", "code", "import os")
    assert load.outputs == ("1\n2", "<Figure>\n(image/png)", "ValueError: no")


def test_only_the_lines_of_the_source_change():
    notebook = book()

    text = notebook.replaced(notebook.find("intro"), "# Other\ncafé")

    assert text == BOOK.replace('"# Title\\n"', '"# Other\\n"')
    assert notebook.replaced(notebook.find("load"), "import re") == BOOK.replace('"import os"', '"import re"')


def test_a_cell_is_inserted_as_jupyter_writes_it_and_deleted_without_a_trace():
    notebook = book()
    for after in (None, *notebook.cells):
        text, cell_id = notebook.inserted(after, "code", "a = 1\nb = 2")
        added = book(text)

        assert added.find(cell_id).source == "a = 1\nb = 2"
        assert json.loads(text)["cells"][[it.id for it in added.cells].index(cell_id)].keys() == {
            *("cell_type", "execution_count", "id", "metadata", "outputs", "source")
        }
        assert added.deleted(added.find(cell_id)) == BOOK


def test_the_first_and_the_last_cell_can_be_deleted_and_a_cell_be_put_into_an_empty_notebook():
    notebook = book()

    assert sources(notebook.deleted(notebook.find("intro"))) == ["import os"]
    assert sources(notebook.deleted(notebook.find("load"))) == ["# Title\ncafé"]
    for empty in ('{\n "cells": [],\n "nbformat": 4, "nbformat_minor": 2\n}', '{"cells":[],"nbformat":4}'):
        text, cell_id = book(empty).inserted(None, "markdown", "hi")
        assert (sources(text), cell_id) == (["hi"], "cell-0")
        assert book(text).deleted(book(text).cells[0]) == empty


def test_a_cell_that_is_not_there_is_told_with_those_that_are():
    with pytest.raises(ToolError, match="has no cell 'x'; it has intro, load"):
        book().find("x")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"cells": 1}', '{"cells": [1]}', '{"cells": [{"cell_type": "code"}]}', "[" * 10_000]
)
def test_what_is_no_notebook_is_none(text):
    assert Notebook.of(text) is None


@given(st.lists(st.text(), min_size=1, max_size=4), st.text(), st.sampled_from([None, 1, 2, "\t"]), st.booleans())
def test_whatever_is_written_comes_back_and_all_else_stays(old, new, indent, is_one_text):
    lines = [it if is_one_text else it.splitlines(keepends=True) for it in old]
    cells = [{"cell_type": "code", "source": it, "outputs": [], "metadata": {"n": n}} for n, it in enumerate(lines)]
    notebook = book(json.dumps({"cells": cells, "nbformat": 4}, indent=indent, ensure_ascii=False))
    cell = notebook.cells[-1]

    text = notebook.replaced(cell, new)

    assert text[: cell.source_place.start] == notebook.text[: cell.source_place.start]
    assert text.endswith(notebook.text[cell.source_place.end :])
    assert sources(text)[-1].replace("\r\n", "\n") == new.replace("\r\n", "\n")
    assert sources(text)[:-1] == sources(notebook.text)[:-1]
