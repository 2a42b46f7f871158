"""What a search shows is held like what was read, and what is held is not read again where that is faster."""

import pytest

from odin_lsp.workspace.search import MAX_COLUMNS, MAX_HELD_BYTES, Query, Search
from odin_lsp.workspace.text import Change


@pytest.fixture
def main(root):
    return root / "src" / "main.py"


def keys(context, path):
    return sorted(segment.key for segment in context.files.cache.peek(path).segments)


def forbid(monkeypatch, *names):
    for name in names:
        monkeypatch.setattr(name, lambda *_, **__: pytest.fail("it is read again"))


@pytest.mark.parametrize("tick", [-(10**18), 10**18], ids=["as it was for long", "as it has just become"])
async def test_what_a_search_shows_is_held_with_its_context_as_bounds(use, context, root, main, monkeypatch, tick):
    monkeypatch.setattr("odin_lsp.workspace.files.CLOCK_TICK_NS", tick)
    main.write_text("".join(f"line {number}\n" for number in range(1, 31)))
    await use("Grep", pattern="line [12]0", output_mode="content", glob="*.py", **{"-B": 1, "-A": 2})

    assert (keys(context, main), context.files.cache.peek(main).is_partial) == (["19-22", "9-12"], True)
    assert (context.files.cache.peek(main).total_lines, context.files.cache.peek(main).access_count) == (None, 1)
    assert root / "notes.md" not in context.files.cache


async def test_lines_that_were_found_are_not_read_again(use, main, monkeypatch):
    await use("Grep", pattern="TODO", output_mode="content", glob="*.py", **{"-C": 1})
    forbid(monkeypatch, "odin_lsp.workspace.loading.decode")

    output = await use("Read", file_path=str(main), offset=3, limit=3)

    assert output.data.splitlines()[:3] == [
        "     3\tdef main():",
        "     4\t    print('TODO: greet')",
        "     5\t    return 0",
    ]


async def test_files_that_are_only_counted_or_named_are_not_held(use, context):
    await use("Grep", pattern="TODO", output_mode="files_with_matches")
    await use("Grep", pattern="TODO", output_mode="count")

    assert list(context.files.cache) == []


async def test_a_file_that_is_searched_by_name_is_held_as_a_whole(use, context, main):
    await use("Grep", pattern="r[e]turn", path=str(main), output_mode="content")

    assert context.files.cache.peek(main).full_content.text == main.read_text()
    assert context.files.cache.peek(main).access_count == 1


async def test_a_second_search_of_an_unchanged_file_reads_nothing(use, context, main, monkeypatch):
    first = await use("Grep", pattern="TODO|os", path=str(main), output_mode="content")
    forbid(monkeypatch, "odin_lsp.workspace.loading.decode", "odin_lsp.workspace.search._output")

    assert (await use("Grep", pattern="TODO|os", path=str(main), output_mode="content")).data == first.data
    assert context.files.cache.peek(main).access_count == 2
    monkeypatch.undo()
    main.write_text("TODO otherwise\n")
    assert (
        await use("Grep", pattern="TODO", path=str(main), output_mode="content")
    ).data == "src/main.py\n1:TODO otherwise"


async def test_what_is_typed_is_found_and_held_as_it_is_on_the_screen(use, context, main):
    context.files.buffers.open(main.as_uri(), 1, main.read_text())
    context.files.buffers.change(main.as_uri(), 2, [Change("typed\nTODO typed\n")])

    for pattern in ("TODO", "T[O]DO"):
        assert (
            await use("Grep", pattern=pattern, path=str(main), output_mode="content")
        ).data == "src/main.py\n2:TODO typed"
    assert context.files.cache.peek(main).full_content.text == "typed\nTODO typed\n"


async def test_a_line_that_cannot_be_read_exactly_is_shown_but_not_held(use, context, root):
    path = root / "latin.txt"
    path.write_bytes("TODO fällt\nTODO plain\n".encode("latin-1"))
    await use("Grep", pattern="TODO", glob="latin.txt", output_mode="content")

    assert keys(context, path) == ["2-2"]


TEXTS = [
    "one\ntwo\nthree two\n",
    "one\r\ntwo\r\n\r\ntwo",
    "one\rtwo\rtwo\n",
    "\n\ntwo\n\n",
    "",
    "a.b a|b (two) [x] $ ^\n",
    "Zwei zwo TWO ſ K ß\n",
    f"two {'x' * MAX_COLUMNS}\ntwo\n",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(
    "pattern",
    ["two", "one|three", r"a\.b", r"a\|b", r"\(two\)|\[x\]", r"\$", "t.o", "TWO", "ss|k", "(?i)two", "", "a||b"],
)
@pytest.mark.parametrize("options", [{}, {"ignore_case": True}, {"before": 1, "after": 1}])
async def test_a_text_that_is_held_is_searched_as_ripgrep_would(context, root, monkeypatch, text, pattern, options):
    path = root / "a.txt"
    path.write_bytes(text.encode())
    query = Query(pattern=pattern, output_mode="content", **options)
    hits = await context.search.grep(query, path)
    monkeypatch.setattr(Search, "_in_held", lambda *_: None)

    assert hits == await context.search.grep(query, path)


async def test_a_longer_file_is_left_to_ripgrep(use, context, root):
    path = root / "long.txt"
    path.write_text("x" * 80 + "\nneedle\n" + ("x" * 80 + "\n") * (MAX_HELD_BYTES // 80))
    await use("Grep", pattern="needle", path=str(path), output_mode="content")

    assert keys(context, path) == ["2-2"]
