"""`@name` in a message: the definition of a symbol goes along."""

import pytest

from odin_lsp.agent import symbol_words
from odin_lsp.config import FileRules
from odin_lsp.messages import Text
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Search
from odin_lsp.workspace.text import Change

SHOP = 'class Shop:\n    def sell(self):\n        return "sold"\n\n\ndef sell_all():\n    pass\n'


@pytest.fixture
def files(tmp_path):
    (tmp_path / "shop.py").write_text(SHOP)
    return Files([tmp_path], Buffers(), FileCache())


@pytest.fixture
def told(files):
    async def told(text):
        return await symbol_words.definitions(text, files, Search(files))

    return told


async def test_the_definition_is_told_with_its_lines(told):
    assert await told("why does @Shop.sell fail?") == [
        '<context kind="symbol" name="Shop.sell" file="shop.py">\n'
        '     2\t    def sell(self):\n     3\t        return "sold"\n</context>'
    ]


async def test_what_is_on_the_screen_counts(told, files):
    uri = (files.roots[0] / "shop.py").as_uri()
    files.buffers.open(uri, 1, SHOP)
    files.buffers.change(uri, 2, [Change(SHOP.replace("sold", "typed"))])

    assert "typed" in (await told("@sell."))[0]


@pytest.mark.parametrize(
    "text", ["ask @nobody", "@shop.py", "me@Shop", "@Shop/other", "@sell:uri", "an @ alone", "@sel"]
)
async def test_other_words_are_just_words(told, text):
    assert await told(text) == []


async def test_of_many_definitions_some_are_told_and_the_others_named(told, files):
    for number in range(5):
        (files.roots[0] / f"more_{number}.py").write_text("def twin():\n    pass\n")

    texts = await told("@twin")

    assert len(texts) == symbol_words.MAX_DEFINITIONS + 1
    assert "more_3.py:1\nmore_4.py:1" in texts[-1]


async def test_a_long_definition_is_cut(told, files):
    (files.roots[0] / "long.py").write_text("def endless():\n" + "    pass\n" * 300)

    [text] = await told("@endless")

    assert text.endswith("(101 more lines)\n</context>")


async def test_what_is_hidden_stays_so(told, files):
    (files.roots[0] / "hidden.py").write_text("def secret():\n    pass\n")
    files.configure(files.roots, FileRules(deny=("hidden.py",)))

    assert await told("@secret") == []


@pytest.mark.parametrize(
    ("typed", "names"),
    [("sell", ["Shop.sell", "sell_all"]), ("shop.s", ["Shop.sell"]), ("ell", []), ("se", []), ("(((", [])],
)
async def test_names_are_completed_by_how_they_begin(files, typed, names):
    found = await symbol_words.completed(typed, files, Search(files))

    assert sorted(found) == [(it, "shop.py") for it in names]


async def test_the_model_gets_it_beside_the_words(odin):
    (odin.root / "shop.py").write_text(SHOP)
    odin.script({"text": "done"})
    odin.start()

    await odin.take("what is @Shop?")

    texts = [part.text for part in odin.session.messages[0].parts if isinstance(part, Text)]
    assert texts[-1] == "what is @Shop?"
    assert '<context kind="symbol" name="Shop" file="shop.py">' in texts[-2]
