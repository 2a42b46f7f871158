"""What language servers know, and what is made of answers that they should not have given."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odin_lsp.errors import ToolError
from odin_lsp.intelligence import by_servers
from odin_lsp.review.proposals import Wish, edit_of
from odin_lsp.tools.base import all_tools
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.text import Lines, Position
from tests.support.context import tool_context
from tests.support.reviewing import ScriptedEditor
from tests.support.servers_in_memory import ScriptedServer, ScriptedServers, WordServer, gone, place, span

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
    print("😀", cart.total())


class Till:
    def total(self):
        return 0
"""
DEFINITION, REFERENCES = "textDocument/definition", "textDocument/references"
PREPARE, INCOMING = "textDocument/prepareCallHierarchy", "callHierarchy/incomingCalls"


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "ws"
    root.mkdir()
    (root / "cart.py").write_text(CART)
    (root / "shop.py").write_text(SHOP)
    return root


@pytest.fixture
def server():
    return ScriptedServer()


@pytest.fixture
def context(root, person, server):
    context = tool_context(Files([root], Buffers(), FileCache()), person, root.parent)
    return replace(context, servers=ScriptedServers([server]))


@pytest.fixture
def look(context):
    async def look(**arguments):
        tool = all_tools()["Lookup"]
        return (await tool.run(tool.parse(arguments), context)).data

    return look


@pytest.fixture
def cart(root):
    return (root / "cart.py").as_uri()


@pytest.fixture
def shop(root):
    return (root / "shop.py").as_uri()


def item(uri, name, line):
    return {"name": name, "kind": 12, "uri": uri, "range": span(line), "selectionRange": span(line)}


async def test_a_place_is_a_file_a_line_and_a_name_on_it(look, server, cart, shop):
    server.answers[DEFINITION] = [place(cart, 1, 8, 13)]

    told = await look(what="definition", symbol="total", file_path="shop.py", line=5)

    assert told == "cart.py\n2:    def total(self):  [in Cart]\n(pyright)"
    [(_, params)] = server.asked
    assert params == {"textDocument": {"uri": shop}, "position": {"line": 4, "character": 21}}


async def test_a_name_alone_is_asked_about_where_it_is_defined(look, server, cart):
    server.answers[REFERENCES] = [place(cart, 5)]

    told = await look(what="references", symbol="Cart.total")

    assert told == "cart.py\n6:        return self.total() * 0.2  [in Cart.tax]\n(pyright)"
    [(_, params)] = server.asked
    assert params["position"] == {"line": 1, "character": 8}
    assert params["context"] == {"includeDeclaration": True}


async def test_of_several_of_one_name_all_are_meant_and_that_is_said(look, server, cart, shop):
    server.answers[REFERENCES] = lambda params: [place(params["textDocument"]["uri"], 0)]

    told = await look(what="references", symbol="total")

    assert told.splitlines()[0::2] == ["cart.py", "shop.py", told.splitlines()[-1]]
    assert "(pyright; 2 have this name, and all are meant; to tell them apart, name a file and line)" in told


async def test_what_is_defined_elsewhere_is_asked_about_where_it_is_used(look, server, root):
    server.answers[DEFINITION] = [place("file:///usr/lib/python3/builtins.pyi", 99)]

    assert await look(what="definition", symbol="print") == (
        "/usr/lib/python3/builtins.pyi\n100: (outside of the workspace)\n(pyright)"
    )


async def test_a_name_that_is_not_on_the_line_is_said_to_be_elsewhere(look):
    with pytest.raises(ToolError, match=r"total is not on line 1 of shop\.py; it is on line 5, 9"):
        await look(what="definition", symbol="total", file_path="shop.py", line=1)


@pytest.mark.parametrize("what", ["implementations", "type"])
async def test_what_only_servers_know_is_theirs_to_tell(look, server, shop, what):
    with pytest.raises(ToolError, match=f"no language server can tell {what} of Cart here"):
        await look(what=what, symbol="Cart")
    server.answers[by_servers.METHODS[what]] = {
        "targetUri": shop, "targetRange": span(0), "targetSelectionRange": span(7)
    }  # fmt: skip

    assert "8:class Till:" in await look(what=what, symbol="Cart")


@pytest.mark.parametrize(
    "contents",
    ["a cart", {"kind": "markdown", "value": "a cart"}, ["a", {"language": "python", "value": "cart"}], ["a cart", 1]],
)
async def test_a_hover_is_told_in_each_of_its_forms(look, server, contents):
    server.answers["textDocument/hover"] = {"contents": contents}

    assert (await look(what="hover", symbol="Cart")).split() == ["a", "cart", "(pyright)"]


async def test_callers_and_callees_follow_the_call_hierarchy(look, server, cart, shop):
    server.answers = {
        PREPARE: [item(cart, "total", 1)],
        INCOMING: [{"from": item(shop, "checkout", 3), "fromRanges": [span(4)]}],
        "callHierarchy/outgoingCalls": [{"to": item(shop, "total", 8), "fromRanges": [span(2)]}],
    }

    assert '5:    print("😀", cart.total())  [in checkout]' in await look(what="callers", symbol="Cart.total")
    assert "9:    def total(self):  [in Till]" in await look(what="callees", symbol="Cart.total")
    assert server.asked[1] == (INCOMING, {"item": item(cart, "total", 1)})


@pytest.mark.parametrize("prepared", [{}, {PREPARE: gone()}], ids=["not offered", "not answered"])
async def test_callers_are_uses_where_there_is_no_call_hierarchy(look, server, shop, prepared):
    server.answers = {REFERENCES: [place(shop, 4)], **prepared}

    told = await look(what="callers", symbol="Cart.total")

    assert "[in checkout]\n" in told
    assert "all uses are told, calls or not" in told
    assert server.asked[-1][1]["context"] == {"includeDeclaration": False}


async def test_that_nobody_calls_it_is_said_by_who_knows(look, server, cart):
    server.answers = {PREPARE: [item(cart, "total", 1)], INCOMING: []}

    assert "no callers of Cart.total found" in await look(what="callers", symbol="Cart.total")


async def test_callees_are_told_by_name_where_nobody_knows_more(look):
    assert await look(what="callees", symbol="checkout") == (
        'shop.py\n5:    print("😀", cart.total())  [in checkout]\n'
        "(by name only; others of the same name are not told apart)"
    )


async def test_an_outline_is_the_servers_without_what_is_local_to_functions(look, server):
    local = {"name": "x", "kind": 13, "range": span(2), "selectionRange": span(2)}
    method = {"name": "total", "kind": 6, "range": span(1), "selectionRange": span(1), "children": [local]}
    server.answers["textDocument/documentSymbol"] = [
        {"name": "Cart", "kind": 5, "range": span(0), "selectionRange": span(0), "children": [method]}
    ]

    assert (
        await look(what="outline", file_path="cart.py") == "cart.py\n1:class Cart:\n2:    def total(self):\n(pyright)"
    )


@pytest.mark.parametrize("is_ready", [True, False])
@pytest.mark.parametrize("answer", [None, [], [7], [{"name": "x", "range": "y"}], gone()])
async def test_an_outline_that_a_server_cannot_give_is_the_grammars(look, server, answer, is_ready):
    server.answers["textDocument/documentSymbol"], server.is_ready = answer, is_ready

    assert "5:    def tax(self):\n(by name only)" in await look(what="outline", file_path="cart.py")


async def test_a_long_outline_goes_on_from_a_line(look):
    assert await look(what="outline", file_path="cart.py", line=3) == "cart.py\n5:    def tax(self):\n(by name only)"


async def test_symbols_are_what_servers_and_grammars_know_of(look, server, shop):
    named = [{"name": it, "kind": 12, "location": place(shop, 3)} for it in ("checkout", "fuzzy")]
    server.answers["workspace/symbol"] = [*named, {"name": "CHECKED", "kind": 13, "location": place(shop, 0)}]

    told = await look(what="symbols", symbol="check")

    assert told == "shop.py\n1:from cart import Cart\n4:def checkout(cart):\n(pyright)"


async def test_who_is_still_loading_is_joined_with_what_has_the_name(look, server, cart):
    server.answers[REFERENCES], server.is_ready = [place(cart, 1)], False

    lines = (await look(what="references", symbol="Cart.total")).splitlines()

    assert lines == [
        "cart.py",
        "2:    def total(self):  [in Cart]",
        "6:        return self.total() * 0.2  [in Cart.tax]  [by name]",
        "shop.py",
        '5:    print("😀", cart.total())  [in checkout]  [by name]',
        "9:    def total(self):  [in Till]  [by name]",
        "(pyright, and by name; pyright has not read the whole project yet, so there may be more; "
        "others of the same name are not told apart)",
    ]


@pytest.mark.parametrize(
    ("what", "method"), [("implementations", "textDocument/implementation"), ("callers", REFERENCES)]
)
async def test_who_is_still_loading_never_says_that_there_is_none(look, server, root, what, method):
    (root / "shop.py").write_text("")
    server.answers[method], server.is_ready = [], False

    told = await look(what=what, symbol="tax")

    assert f"no {what}" not in told
    assert "nothing is known yet" in told
    assert "pyright has not read the whole project yet" in told


async def test_who_is_still_loading_is_not_asked_about_each_of_many(look, server, cart):
    server.answers[REFERENCES], server.is_ready = [place(cart, 1)], False

    await look(what="references", symbol="total")

    assert len(server.asked) == 1


async def test_what_is_nowhere_is_said_to_be(look, server):
    server.answers["textDocument/hover"] = {"contents": "x"}

    with pytest.raises(ToolError, match="nowhere was not found; name a file and a line with it on"):
        await look(what="hover", symbol="nowhere")


BAD = {
    "not in time": gone(),
    "no list": "garbage",
    "no object": [None, 3],
    "no uri": [{"range": span(1)}],
    "no range": [{"uri": "file:///x"}],
    "a range backwards": [{"uri": "file:///x", "range": {"start": span(2)["end"], "end": span(1)["end"]}}],
    "a negative line": [place("file:///x", -1)],
    "a line that is no number": [place("file:///x", True)],
}


@pytest.mark.parametrize("answer", BAD.values(), ids=BAD)
async def test_what_cannot_be_read_is_told_by_name_and_said_to_be_so(look, server, answer):
    server.answers[REFERENCES] = answer

    told = await look(what="references", symbol="tax")

    assert "5:    def tax(self):" in told
    assert "(by name only; " in told
    assert "is not available: it has not answered in time" in told or "that pyright has said can be read" in told


async def test_a_line_past_the_end_is_left_out_and_said_to_be(look, server, cart):
    server.answers[REFERENCES] = [place(cart, 1), place(cart, 600)]

    told = await look(what="references", symbol="tax")

    assert "1 place left out: the lines are not there any more" in told


async def test_what_is_hidden_is_left_out_and_counted_and_what_is_no_file_as_well(look, server, root, cart):
    (root / ".env").write_text("total=1\n")
    found = [place(cart, 1), place((root / ".env").as_uri(), 0), place("jdt://x", 3), place("untitled:1", 0)]
    server.answers[REFERENCES] = found

    told = await look(what="references", symbol="tax")

    assert ".env" not in told
    assert "(pyright; 1 place left out: their files are hidden; 2 places left out: they are in" in told


async def test_a_link_to_what_is_hidden_is_hidden(look, server, root, cart):
    (root / ".env").write_text("total=1\n")
    (root / "plain.py").symlink_to(root / ".env")
    server.answers[REFERENCES] = [place(cart, 1), place((root / "plain.py").as_uri(), 0)]

    assert "plain.py" not in await look(what="references", symbol="tax")


async def test_what_is_outside_is_named_but_not_read(look, server, context, tmp_path):
    other = tmp_path / "other.py"
    other.write_text("secret = 1\n")
    server.answers[DEFINITION] = [place(other.as_uri(), 0)]

    told = await look(what="definition", symbol="tax")

    assert f"{other}\n1: (outside of the workspace)" in told
    assert context.shown.of(other) is None


async def test_a_folder_narrows_what_is_told_and_the_rest_is_counted(look, server, root, cart, shop):
    (root / "sub").mkdir()
    (root / "sub" / "a.py").write_text("tax = 1\n")
    server.answers[REFERENCES] = [place((root / "sub" / "a.py").as_uri(), 0), place(cart, 4), place(shop, 0)]

    told = await look(what="references", symbol="tax", file_path="sub")

    assert told == "sub/a.py\n1:tax = 1\n(pyright; 2 more elsewhere)"


async def test_a_huge_answer_is_bounded_and_counted(look, server, root):
    (root / "big.py").write_text("x = tax\n" * 3_000)
    server.answers[REFERENCES] = [place((root / "big.py").as_uri(), it) for it in range(3_000)]

    told = await look(what="references", symbol="tax", file_path="cart.py")

    assert told.count("\n") == 202
    assert "(2800 more; name a folder as file_path)" in told


async def test_the_first_server_that_has_an_answer_gives_it(look, context, server, cart):
    silent = ScriptedServer({REFERENCES: None}, name="ruff")
    hung = ScriptedServer({REFERENCES: gone()}, name="hung")
    server.answers[REFERENCES] = [place(cart, 4)]
    other = ScriptedServer({REFERENCES: [place(cart, 0)]}, name="other")
    context.servers.servers = [ScriptedServer(), silent, server, other]

    assert await look(what="references", symbol="tax") == "cart.py\n5:    def tax(self):  [in Cart]\n(ruff and pyright)"

    context.servers.servers = [hung, server]
    assert "hung is not available: it has not answered in time" in await look(what="references", symbol="total")
    assert len(hung.asked) == 1


async def test_a_server_that_does_not_know_what_is_meant_leaves_it_to_the_names(look, server):
    server.answers[REFERENCES] = []

    told = await look(what="references", symbol="tax")

    assert "5:    def tax(self):" in told
    assert "pyright does not know what is meant" in told


async def test_what_the_model_has_edited_is_mapped_and_said_not_to_be_known(look, server, context, root, cart):
    new = "# new\n" + CART.replace("self.total()", "self.all()")
    waiting = asyncio.create_task(context.draft.propose(edit_of(root / "cart.py", CART, new, Wish("c", "")), "c"))
    await asyncio.sleep(0)
    server.answers[REFERENCES] = [place(cart, 1), place(cart, 5)]

    told = await look(what="references", symbol="total", file_path="cart.py", line=3)

    assert server.asked[0][1]["position"]["line"] == 1
    assert "3:    def total(self):  [in Cart]\n" in told
    assert "self.all" not in told
    assert "pyright does not know your edits that wait for a review" in told
    assert "1 place left out: the lines are not there any more, or you have edited them" in told
    assert "[in checkout]  [by name]" in told
    assert "# new" not in await look(what="outline", file_path="cart.py")
    waiting.cancel()


async def test_lines_that_servers_have_found_may_be_edited(look, server, context, root, cart):
    server.answers[REFERENCES] = [place(cart, 4)]
    await look(what="references", symbol="tax")

    assert context.shown.covers(root / "cart.py", 5, ["    def tax(self):"])


LINE = st.text(st.sampled_from("a é😀\tß"), max_size=8)


@given(
    encoding=st.sampled_from(["utf-8", "utf-16", "utf-32"]),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    before=st.lists(LINE, max_size=3),
    head=LINE,
    is_open=st.booleans(),
)
def test_a_name_is_found_in_every_encoding_in_unsaved_and_in_closed_files(
    tmp_path_factory, encoding, end, before, head, is_open
):
    root = tmp_path_factory.mktemp("ws")
    line = f'{head}#name"x"'
    text = end.join([*before, line, "last"])
    path = root / "x.py"
    path.write_bytes(b"" if is_open else text.encode())
    files = Files([root], Buffers(), FileCache())
    if is_open:
        files.buffers.open(path.as_uri(), 1, text)
    server = WordServer(files, encoding)
    context = replace(tool_context(files, ScriptedEditor(files), root.parent), servers=ScriptedServers([server]))
    tool = all_tools()["Lookup"]
    number = len(before) + 1
    asked = tool.parse({"what": "references", "symbol": "name", "file_path": "x.py", "line": number})

    told = asyncio.run(tool.run(asked, context)).data

    at = server.asked[0][1]["position"]
    lines = Lines(text)
    assert lines.text[lines.offset(Position(**at), encoding) :].startswith('name"x"')
    assert told.split("\n")[1].startswith(f"{number}:{line}")
    assert "(pyright)" in told
