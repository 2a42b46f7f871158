import asyncio

import pytest

from odin_lsp.errors import ToolError
from odin_lsp.intelligence import by_name
from odin_lsp.review.proposals import Wish, edit_of
from odin_lsp.tools.base import all_tools
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from tests.support.context import tool_context

CART = """\
class Cart:
    def total(self):
        return sum(self.prices)

    def tax(self):
        return self.total() * 0.2
"""
SHOP = """\
from cart import Cart


def checkout(cart):
    # the total, in words
    print("total:", cart.total())


class Till:
    def total(self):
        return 0
"""


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "ws"
    root.mkdir()
    (root / "cart.py").write_text(CART)
    (root / "shop.py").write_text(SHOP)
    (root / "notes.md").write_text("total\n")
    (root / ".env").write_text("total=1\n")
    return root


@pytest.fixture
def context(root, person):
    return tool_context(Files([root], Buffers(), FileCache()), person, root.parent)


@pytest.fixture
def look(context):
    async def look(**arguments):
        tool = all_tools()["Lookup"]
        return (await tool.run(tool.parse(arguments), context)).data

    return look


async def test_a_definition_is_told_with_its_line_and_what_it_is_part_of(look):
    assert await look(what="definition", symbol="total") == (
        "cart.py\n2:    def total(self):  [in Cart]\nshop.py\n10:    def total(self):  [in Till]\n"
        "(by name only; others of the same name are not told apart)"
    )
    assert "shop.py" not in await look(what="definition", symbol="Cart.total")


async def test_references_are_names_and_no_words(look):
    lines = (await look(what="references", symbol="total")).splitlines()
    assert lines == [
        "cart.py",
        "2:    def total(self):  [in Cart]",
        "6:        return self.total() * 0.2  [in Cart.tax]",
        "shop.py",
        '6:    print("total:", cart.total())  [in checkout]',
        "10:    def total(self):  [in Till]",
        "(by name only; others of the same name are not told apart)",
    ]


async def test_callers_are_without_the_definitions(look):
    lines = (await look(what="callers", symbol="total")).splitlines()
    assert [it for it in lines if "[in" in it] == [
        "6:        return self.total() * 0.2  [in Cart.tax]",
        '6:    print("total:", cart.total())  [in checkout]',
    ]


async def test_an_outline_has_every_symbol_of_a_file(look, root):
    outline = await look(what="outline", file_path=str(root / "cart.py"))
    assert outline == "cart.py\n1:class Cart:\n2:    def total(self):\n5:    def tax(self):\n(by name only)"
    with pytest.raises(ToolError, match="no language that Odin can outline"):
        await look(what="outline", file_path=str(root / "notes.md"))


async def test_symbols_are_found_by_a_part_of_their_name(look):
    assert "4:def checkout(cart):" in await look(what="symbols", symbol="CHECK")


async def test_what_is_not_saved_counts(look, context, root):
    context.files.buffers.open((root / "shop.py").as_uri(), 1, "def renamed():\n    return total()\n")
    lines = (await look(what="callers", symbol="total")).splitlines()
    assert lines[2:4] == ["shop.py", "2:    return total()  [in renamed]"]


async def test_the_models_own_edits_count(look, context, root):
    draft = edit_of(root / "shop.py", SHOP, "def drafted():\n    return total()\n", Wish("call", ""))
    waiting = asyncio.create_task(context.draft.propose(draft, "call"))
    await asyncio.sleep(0)
    assert "[in drafted]" in await look(what="callers", symbol="total")
    waiting.cancel()


async def test_lines_that_were_told_may_be_edited(look, context, root):
    await look(what="definition", symbol="Cart.total")
    assert context.shown.covers(root / "cart.py", 2, ["    def total(self):"])
    assert not context.shown.covers(root / "cart.py", 3, ["        return sum(self.prices)"])


async def test_what_is_hidden_is_not_told_of(look, root):
    (root / ".env.py").write_text("def total(): ...\n")
    assert ".env" not in await look(what="references", symbol="total")


async def test_it_says_that_nothing_was_found_and_what_else_to_do(look):
    assert "no definition of nowhere found; Grep searches all text" in await look(what="definition", symbol="nowhere")


async def test_it_says_what_was_not_looked_into(look, root, monkeypatch):
    monkeypatch.setattr(by_name, "MAX_FILES", 1)
    assert "2 more files have the name and were not looked into" in await look(what="references", symbol="total")


@pytest.mark.parametrize("arguments", [{"what": "outline"}, {"what": "callers"}, {"what": "references", "symbol": "."}])
async def test_a_question_without_its_object_says_what_is_missing(look, arguments):
    with pytest.raises(ToolError, match=r"file_path|symbol"):
        await look(**arguments)


async def test_the_outline_of_a_file_of_5000_lines_is_told_page_by_page(look, root):
    (root / "long.py").write_text("".join(f"def f{n}():\n    x = {n}\n\n    return x\n\n" for n in range(1000)))
    found, line = [], 1
    while line:
        page = (await look(what="outline", file_path="long.py", line=line)).splitlines()[1:]
        found += [it.partition(":")[2] for it in page if it[0].isdigit()]
        line = int(page[-3].partition(":")[0]) + 1 if "more;" in page[-2] else 0

    assert found == [f"def f{n}():" for n in range(1000)]
