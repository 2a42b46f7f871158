"""Changes that language servers make: one review over all files, right byte for byte, or a reason and nothing done."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from odin_lsp.config import Config, RuleSettings
from odin_lsp.intelligence.servers import Problem, Problems
from odin_lsp.permissions.approvals import Approvals
from odin_lsp.permissions.gate import Gate
from tests.support.reviewing import Bench, accept, reject
from tests.support.servers_in_memory import ScriptedServer, ScriptedServers, WordServer, gone, place, span

FILES = {
    "cart.py": "class Cart:\n    def total(self):\n        return 1\n",
    "shop.py": 'from cart import Cart\n\nprint("😀", Cart().total())\n',
    "till.py": "from cart import Cart\r\n\r\nCart().total(); Cart().total()\r\n",
    "sub/a.py": "# the total\n\tx = total\n",
    "sub/b.py": "totals = 1\ntotal",
}
RENAME, REFERENCES, ACTION = "textDocument/rename", "textDocument/references", "textDocument/codeAction"
FORMAT, RESOLVE = "textDocument/formatting", "codeAction/resolve"


def renamed(text):
    return text.replace("totals", "\0").replace("total", "sum_up").replace("\0", "totals")


@pytest.fixture
def bench(tmp_path):
    bench = Bench(tmp_path)
    for name, text in FILES.items():
        bench.write(name, text)
    return bench


def serve(bench, *servers):
    bench.context = replace(bench.context, servers=ScriptedServers(servers))
    bench.executor.context = bench.context
    return servers[0]


@pytest.fixture
def words(bench):
    return serve(bench, WordServer(bench.files))


@pytest.fixture
def server(bench):
    return serve(bench, ScriptedServer())


def rename(bench, **arguments):
    wanted = {"what": "rename", "file_path": "cart.py", "symbol": "total", "new_name": "sum_up"}
    return bench.use("Refactor", **wanted | arguments)


def texts(bench):
    return {name: bench.text(bench.root / name) for name in FILES}


def edit(line, start, end, new):
    return {"range": span(line, start, end), "newText": new}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@pytest.mark.parametrize("form", ["changes", "documentChanges"])
async def test_a_rename_over_five_files_one_of_them_not_saved_is_one_review(bench, encoding, form):
    serve(bench, WordServer(bench.files, encoding, form=form))
    unsaved = "# 😀\n" + FILES["shop.py"]
    bench.open(bench.root / "shop.py", unsaved)

    result = await rename(bench)

    assert not result.failed, result.content
    assert result.content == (
        "Accepted: 5 changes in 5 files (cart.py 1, shop.py 1, sub/a.py 1, sub/b.py 1, till.py 1). (pyright)"
    )
    [review] = bench.editor.reviews
    assert (review.atomic, len(review.files)) == (True, 5)
    assert {hunk.reason for file in review.files for hunk in file.hunks} == {"rename total to sum_up"}
    assert texts(bench) == {name: renamed(unsaved if name == "shop.py" else text) for name, text in FILES.items()}
    assert (bench.root / "shop.py").read_text() == FILES["shop.py"]
    assert (bench.root / "till.py").read_bytes() == renamed(FILES["till.py"]).encode()
    [ended] = bench.events_of("toolFinished")
    assert (len(ended.files), ended.added, ended.removed) == (5, 6, 6)


async def test_who_rejects_one_place_of_a_rename_rejects_it(bench, words):
    bench.editor.decide = lambda hunk: reject(hunk) if hunk.range.start.line == 0 else accept(hunk)

    result = await rename(bench)

    assert result.failed
    assert "rejected" in result.content
    assert texts(bench) == FILES


@pytest.mark.parametrize("name", ["1 x", "x y", "", "a.b", "a-b", "x\n", "9"])
async def test_a_new_name_has_to_be_a_name(bench, words, name):
    result = await rename(bench, new_name=name)

    assert result.failed
    assert not words.asked


async def test_a_rename_by_a_server_that_is_still_loading_is_refused(bench, words):
    words.is_ready = False

    result = await rename(bench)

    assert "pyright has not read the whole project yet and could miss places; try again" in result.content
    assert not bench.editor.reviews


async def test_a_rename_of_fewer_files_than_have_references_is_refused(bench, words):
    whole = words.rename
    words.answers[RENAME] = lambda params: {"changes": dict(list(whole(params)["changes"].items())[:3])}

    result = await rename(bench)

    assert result.failed
    assert "would rename total in 3 files, but 2 more use it (b.py, till.py), so nothing was changed" in result.content


async def test_what_refers_to_it_by_another_name_need_not_be_changed(bench, words):
    all_places = words.places
    alias = place((bench.root / "till.py").as_uri(), 0, 5, 9)
    words.answers[REFERENCES] = lambda params: [*all_places(params), alias]
    path = bench.write("till.py", "from cart import Cart as C\n")

    assert not (await rename(bench)).failed
    assert path.read_text() == "from cart import Cart as C\n"


async def test_a_name_that_is_defined_twice_in_the_file_needs_its_line(bench, words):
    bench.write("cart.py", "def total(): ...\n\n\nclass A:\n    def total(self): ...\n")

    assert "total is defined on lines 1, 5 of cart.py; say which is meant by `line`" in (await rename(bench)).content
    assert not (await rename(bench, line=5)).failed


async def test_where_no_server_can_rename_it_says_what_else_to_do(bench):
    assert "no language server is there for cart.py that can rename symbols" in (await rename(bench)).content


BAD = {
    "no edit": (None, "finds nothing there"),
    "an empty one": ({"documentChanges": []}, "finds nothing there"),
    "garbage": ("garbage", "cannot be made"),
    "not in time": (gone(), "is not available: it has not answered in time"),
    "edits that overlap": ({"changes": {"cart.py": [edit(1, 8, 13, "a"), edit(1, 9, 13, "b")]}}, "edits overlap"),
    "a place past the end": ({"changes": {"cart.py": [edit(1, 8, 99, "a")]}}, "no such place in the text"),
    "a line past the end": ({"changes": {"cart.py": [edit(99, 0, 0, "a")]}}, "would change line 100"),
    "a line without the name": ({"changes": {"cart.py": [edit(0, 0, 5, "a")]}}, "where total is not"),
    "a file that is not there": ({"changes": {"new.py": [edit(0, 0, 0, "a")]}}, "there is no such file"),
    "no file": ({"changes": {"untitled:1": [edit(0, 0, 0, "a")]}}, "it is no file"),
    "a hidden file": ({"changes": {".env": [edit(0, 0, 0, "total")]}}, "is hidden: it looks like a secret"),
    "another version": (
        {"documentChanges": [{"textDocument": {"uri": "shop.py", "version": 9}, "edits": [edit(2, 18, 23, "a")]}]},
        "the text has changed since the server knew it",
    ),
    "a file that is there already": ({"documentChanges": [{"kind": "create", "uri": "shop.py"}]}, "is there already"),
    "a file that goes where one is": (
        {"documentChanges": [{"kind": "rename", "oldUri": "cart.py", "newUri": "shop.py"}]}, "which is there already"
    ),
    "a file that is gone": ({"documentChanges": [{"kind": "delete", "uri": "gone.py"}]}, "and is not there"),
    "a folder that is not empty": ({"documentChanges": [{"kind": "delete", "uri": "sub"}]}, "that is not empty"),
    "an edit of what was moved away": (
        {
            "documentChanges": [
                {"kind": "rename", "oldUri": "cart.py", "newUri": "new.py"},
                {"textDocument": {"uri": "cart.py"}, "edits": [edit(1, 8, 13, "a")]},
            ]
        },
        "after it has been moved away",
    ),
    "too much": (
        {"changes": {f"{it}.py": [] for it in range(501)} | {"cart.py": [edit(1, 8, 13, "x")]}}, "can be at once"
    ),
}  # fmt: skip


def with_uris(bench, value):
    """The names of files as URIs."""
    match value:
        case dict():
            return {_uri(bench, key): with_uris(bench, it) for key, it in value.items()}
        case list():
            return [with_uris(bench, it) for it in value]
        case _:
            return _uri(bench, value)


def _uri(bench, name):
    is_file = str(name).endswith((".py", ".env")) or name == "sub"
    return (bench.root / name).as_uri() if is_file else name


@pytest.mark.parametrize(("answer", "reason"), BAD.values(), ids=BAD)
async def test_an_edit_that_cannot_be_made_says_why_and_nothing_is_lost(bench, server, answer, reason):
    bench.write(".env", "total\n")
    bench.open(bench.root / "shop.py")
    server.answers[RENAME] = with_uris(bench, answer)

    result = await rename(bench)

    assert result.failed
    assert reason in result.content
    assert texts(bench) == FILES
    assert not bench.editor.reviews


async def test_what_is_typed_while_the_server_thinks_makes_its_edit_void(bench, words):
    bench.open(bench.root / "shop.py")
    whole = words.rename

    def slowly(params):
        edit = whole(params)
        bench.type(bench.root / "shop.py", " ", 2)
        return edit

    words.answers = {RENAME: slowly}

    assert "the text has changed since the server knew it" in (await rename(bench)).content


async def test_what_is_outside_asks_first(bench, server, tmp_path):
    other = tmp_path / "other.py"
    other.write_text("total\n")
    server.answers[RENAME] = {"changes": {other.as_uri(): [edit(0, 0, 5, "sum_up")]}}
    bench.editor.says = None

    assert "the user did not allow it" in (await rename(bench)).content

    bench.editor.says = "allow_once"
    assert not (await rename(bench)).failed
    assert (len(bench.editor.questions), other.read_text()) == (2, "sum_up\n")


@pytest.mark.parametrize(("decision", "is_made"), [("deny", False), ("ask", True)])
async def test_rules_hold_for_every_file_of_the_edit(bench, words, decision, is_made):
    rule = RuleSettings(tool="EditTool", path="sub/**", decision=decision)
    config = Config(rules=(rule,))
    gate = Gate(bench.editor, lambda: config, lambda: bench.root, Approvals(bench.root.parent / "approvals"))
    bench.context = bench.executor.context = replace(bench.context, gate=gate)

    result = await rename(bench)

    assert result.failed != is_made
    assert len(bench.editor.questions) == is_made
    assert (texts(bench) == FILES) != is_made


async def test_who_may_edit_a_part_renames_nothing_beyond_it(bench, words):
    bench.context = bench.executor.context = replace(bench.context, write_scope=(bench.root / "sub",))

    assert "outside of what you were asked to edit" in (await rename(bench, file_path="sub/b.py")).content


async def test_files_are_created_moved_and_deleted_with_the_edit(bench, server):
    uri = {name: (bench.root / name).as_uri() for name in (*FILES, "basket.py", "new.py")}
    server.answers[RENAME] = {
        "documentChanges": [
            {"kind": "rename", "oldUri": uri["cart.py"], "newUri": uri["basket.py"]},
            {"textDocument": {"uri": uri["basket.py"]}, "edits": [edit(1, 8, 13, "sum_up")]},
            {"kind": "create", "uri": uri["new.py"]},
            {"textDocument": {"uri": uri["new.py"]}, "edits": [edit(0, 0, 0, "new\n")]},
            {"kind": "create", "uri": uri["shop.py"], "options": {"ignoreIfExists": True}},
            {"kind": "delete", "uri": uri["sub/b.py"]},
        ]
    }

    result = await rename(bench)

    assert result.content == (
        "Accepted: 1 change in 1 file (cart.py 1); new.py created; cart.py moved to basket.py; "
        "sub/b.py deleted. (pyright)"
    )
    assert [len(it.files) for it in bench.editor.reviews] == [4]
    assert (bench.root / "basket.py").read_text() == renamed(FILES["cart.py"])
    assert (bench.root / "new.py").read_text() == "new\n"
    assert [(bench.root / it).exists() for it in ("cart.py", "sub/b.py")] == [False, False]


async def test_what_waits_for_its_review_is_decided_before_a_server_is_asked(tmp_path):
    bench = Bench(tmp_path, policy="end")
    path = bench.write("a.py", "total = 1\n")
    serve(bench, WordServer(bench.files))
    await bench.read(path)
    await bench.edit(path, "1", "2")

    assert not (await rename(bench, file_path="a.py")).failed

    assert [it.atomic for it in bench.editor.reviews] == [False, True]
    assert path.read_text() == "sum_up = 2\n"


async def test_code_actions_are_listed_and_then_taken_by_their_title(bench, server):
    uri = (bench.root / "cart.py").as_uri()
    fix = {"title": "Return 2", "kind": "quickfix", "edit": {"changes": {uri: [edit(2, 15, 16, "2")]}}}
    server.answers = {
        "textDocument/diagnostic": {"items": [{"range": span(2), "message": "m"}, {"range": span(0), "message": "n"}]},
        ACTION: [
            {**fix, "command": {"title": "x", "command": "pyright.log"}},
            {"title": "Move", "command": "pyright.move"},
            {"title": "Off", "disabled": {"reason": "no"}},
        ],
    }

    listed = await bench.use("Refactor", what="action", file_path="cart.py", line=3)
    taken = await bench.use("Refactor", what="action", file_path="cart.py", line=3, action="return 2")
    unknown = await bench.use("Refactor", what="action", file_path="cart.py", line=3, action="Fly")
    commanded = await bench.use("Refactor", what="action", file_path="cart.py", line=3, action="Move")

    assert listed.content == "- Return 2\n- Move (only runs a command, which Odin does not)"
    params = server.asked[1][1]
    assert params["range"] == span(2, 8, 16)
    assert [it["message"] for it in params["context"]["diagnostics"]] == ["m"]
    assert taken.content == (
        "Accepted: 1 change in 1 file (cart.py 1). (pyright; its command pyright.log was not run)\n"
        "cart.py\n3:        return 2"
    )
    assert bench.editor.reviews[0].atomic
    assert "no code action is called Fly there; offered are: Return 2; Move" in unknown.content
    assert "Move only has pyright run pyright.move; Odin does not" in commanded.content
    assert bench.context.shown.covers(bench.root / "cart.py", 3, ["        return 2"])


async def test_a_server_is_told_the_problems_that_are_known_where_it_cannot_be_asked_for_them(bench, server):
    problem = Problem(line=2, character=8, end_line=2, end_character=14, severity="warning", message="m", code="F1")
    bench.context.servers.reported = {bench.root / "cart.py": Problems((problem,), is_current=True)}
    server.answers = {ACTION: [], "textDocument/diagnostic": gone()}

    await bench.use("Refactor", what="action", file_path="cart.py", line=3)

    [told] = server.asked[-1][1]["context"]["diagnostics"]
    assert told == {"range": span(2, 8, 14), "severity": 2, "message": "m", "code": "F1"}


async def test_an_action_is_resolved_before_it_is_made_and_not_by_who_is_loading(bench, server):
    uri = (bench.root / "cart.py").as_uri()
    server.answers = {
        ACTION: [{"title": "Fix", "data": 7}],
        RESOLVE: lambda it: {**it, "edit": {"changes": {uri: [edit(2, 15, 16, "2")]}}},
    }
    fix = {"what": "action", "file_path": "cart.py", "line": 3, "action": "Fix"}

    server.is_ready = False
    assert "has not read the whole project yet" in (await bench.use("Refactor", **fix)).content
    server.is_ready = True
    assert not (await bench.use("Refactor", **fix)).failed
    assert (bench.root / "cart.py").read_text().endswith("return 2\n")


async def test_a_file_is_formatted_hunk_by_hunk_and_its_new_lines_are_told(bench, server):
    path = bench.write("x.py", "a=1\n\nb=2\n\nc=3\n")
    await bench.read(path)
    server.answers[FORMAT] = [
        {"range": {**span(0), "end": {"line": 99, "character": 0}}, "newText": "a = 1\n\nb = 2\n\nc = 3\n"}
    ]
    bench.editor.decide = lambda hunk: reject(hunk) if hunk.range.start.line == 4 else accept(hunk)

    result = await bench.use("Refactor", what="format", file_path="x.py")

    assert not bench.editor.reviews[0].atomic
    assert "x.py: 2 accepted, 1 rejected" in result.content
    assert "x.py\n1:a = 1\n3:b = 2" in result.content
    assert path.read_text() == "a = 1\n\nb = 2\n\nc=3\n"
    assert server.asked[0][1]["options"] == {"tabSize": 4, "insertSpaces": True}


async def test_what_is_not_told_of_a_format_has_to_be_read_before_it_is_edited(bench, server):
    path = bench.write("x.py", "a=1\n" * 100)
    await bench.read(path)
    server.answers[FORMAT] = [edit(it, 0, 3, "a = 1") for it in range(100)]

    result = await bench.use("Refactor", what="format", file_path="x.py")

    assert "x.py: 100 lines changed; read it to edit it" in result.content
    assert bench.context.shown.of(path) is None


@pytest.mark.parametrize("answer", [None, [], [edit(0, 0, 0, "")]])
async def test_a_file_that_is_as_it_should_be_stays(bench, server, answer):
    server.answers[FORMAT] = answer

    assert (await bench.use("Refactor", what="format", file_path="cart.py")).content == "Nothing to change. (pyright)"


async def test_imports_are_organized_by_the_first_who_has_an_edit(bench):
    uri = (bench.root / "shop.py").as_uri()
    only_runs = ScriptedServer({ACTION: [{"title": "Organize", "command": {"command": "x"}}]})
    has_edit = {"title": "Organize", "edit": {"changes": {uri: [edit(0, 0, 4, "From")]}}}
    ruff = ScriptedServer({ACTION: [has_edit]}, name="ruff", encoding="utf-8")
    serve(bench, only_runs, ruff)

    result = await bench.use("Refactor", what="imports", file_path="shop.py")

    assert result.content == "Accepted: 1 change in 1 file (shop.py 1). (ruff)\nshop.py\n1:From cart import Cart"
    assert ruff.asked[0][1]["context"] == {"diagnostics": [], "only": ["source.organizeImports"]}


async def test_a_plan_cannot_refactor(tmp_path):
    bench = Bench(tmp_path, mode="plan_mode")
    bench.write("cart.py", FILES["cart.py"])
    serve(bench, WordServer(bench.files))

    assert (await rename(bench)).failed
    assert (bench.root / "cart.py").read_text() == FILES["cart.py"]


LINES = st.lists(st.sampled_from(["total", "é total", "😀total", "total😀 total", "x", ""]), min_size=1, max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(
    st.sampled_from(["utf-8", "utf-16", "utf-32"]),
    LINES,
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
)
async def test_a_rename_is_right_byte_for_byte_in_every_encoding(tmp_path_factory, encoding, lines, end, is_open):
    bench = Bench(tmp_path_factory.mktemp("w"))
    text = end.join(["total = 1", *lines])
    path = bench.write("a.py", "" if is_open else text)
    if is_open:
        bench.open(path, text)
    serve(bench, WordServer(bench.files, encoding))

    result = await rename(bench, file_path="a.py", line=1)

    assert not result.failed, result.content
    assert bench.text(path) == renamed(text)
