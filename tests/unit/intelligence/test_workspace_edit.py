import pytest
from hypothesis import given
from hypothesis import strategies as st

from odin_lsp.intelligence.lsp import Malformed, Span
from odin_lsp.intelligence.workspace_edit import Created, Deleted, Edited, Moved, TextEdit, edited, edits_of, steps_of
from odin_lsp.workspace.text import Lines, Position

TEXT = "one\ntwo 😀 two\r\nthree"


def edit(start, end, new=""):
    return {"range": {"start": _at(*start), "end": _at(*end)}, "newText": new}


def _at(line, character):
    return {"line": line, "character": character}


def test_both_forms_are_the_same_and_the_one_with_versions_counts():
    edits = [edit((0, 0), (0, 1), "O")]
    document = {"textDocument": {"uri": "file:///a", "version": 3}, "edits": edits}

    assert steps_of({"changes": {"file:///a": edits}}) == [Edited("file:///a", edits_of(edits))]
    assert steps_of({"documentChanges": [document], "changes": {"file:///b": edits}}) == [
        Edited("file:///a", edits_of(edits), 3)
    ]
    assert steps_of(None) == steps_of({}) == steps_of({"changes": {}}) == steps_of({"documentChanges": []}) == []


def test_files_are_created_moved_and_deleted_in_order():
    assert steps_of(
        {
            "documentChanges": [
                {"kind": "create", "uri": "file:///a", "options": {"ignoreIfExists": True}},
                {"kind": "rename", "oldUri": "file:///b", "newUri": "file:///c"},
                {"kind": "delete", "uri": "file:///d", "options": {"recursive": True}},
            ]
        }
    ) == [
        Created("file:///a", is_optional=True),
        Moved("file:///b", "file:///c"),
        Deleted("file:///d", recursive=True, is_optional=False),
    ]


BAD = {
    "no object": "garbage",
    "changes that are none": {"changes": [1]},
    "a change that is none": {"documentChanges": [None]},
    "an unknown kind": {"documentChanges": [{"kind": "explode", "uri": "file:///a"}]},
    "no document": {"documentChanges": [{"edits": []}]},
    "no name": {"documentChanges": [{"kind": "create"}]},
    "a snippet": {"changes": {"file:///a": [{**edit((0, 0), (0, 0), "$1"), "insertTextFormat": 2}]}},
    "no text": {"changes": {"file:///a": [{"range": edit((0, 0), (0, 0))["range"], "snippet": {"value": "x"}}]}},
    "a range backwards": {"changes": {"file:///a": [edit((1, 0), (0, 0))]}},
}


@pytest.mark.parametrize("given", BAD.values(), ids=BAD)
def test_what_is_no_edit_is_refused(given):
    with pytest.raises(Malformed):
        steps_of(given)


def test_edits_are_made_where_they_are_in_the_text_as_it_was():
    edits = edits_of([edit((1, 7), (1, 10), "2"), edit((0, 0), (0, 3), "1\n1"), edit((1, 0), (1, 0), "> ")])

    assert edited(TEXT, edits, "utf-16") == "1\n1\n> two 😀 2\r\nthree"
    assert edited(TEXT, edits_of([edit((0, 0), (0, 0), "a"), edit((0, 0), (0, 0), "b")]), "utf-8").startswith("abone")


@pytest.mark.parametrize("end", [(2, 5), (3, 0), (900, 0), (2, 99)])
def test_who_replaces_all_need_not_count_the_lines(end):
    assert edited(TEXT, edits_of([edit((0, 0), end, "new\n")]), "utf-16") == "new\n"


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        ([edit((0, 0), (0, 2)), edit((0, 1), (0, 3))], "overlap"),
        ([edit((0, 0), (0, 2)), edit((0, 1), (0, 1), "x")], "overlap"),
        ([edit((0, 1), (0, 9))], "line 1, column 10"),
        ([edit((0, 9), (0, 9), "x")], "line 1, column 10"),
        ([edit((9, 0), (9, 0), "x")], "line 10, column 1"),
        ([edit((1, 5), (1, 6), "x")], "line 2, column 6"),
        ([edit((1, 0), (9, 0), "x")], "line 10, column 1"),
    ],
)
def test_what_does_not_fit_the_text_is_refused(edits, reason):
    with pytest.raises(Malformed, match=reason):
        edited(TEXT, edits_of(edits), "utf-16")


TEXTS = st.text(st.sampled_from("ab é😀\n\r\t"), max_size=30)


@given(TEXTS, st.data(), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_an_edit_is_where_the_server_says_in_every_encoding(text, data, encoding):
    lines = Lines(text)
    ends = [at for at in range(len(text) + 1) if Position(*lines.position(at, "utf-32")) == _exact(lines, at)]
    cuts = sorted(data.draw(st.lists(st.sampled_from(ends), max_size=6)))
    pairs = list(zip(cuts[0::2], cuts[1::2], strict=False))
    spans = [Span(*(Position(*lines.position(it, encoding)) for it in pair)) for pair in pairs]
    expected, at = "", 0
    for start, end in pairs:
        expected += f"{text[at:start]}<>"
        at = end

    assert edited(text, [TextEdit(it, "<>") for it in spans], encoding) == expected + text[at:]


def _exact(lines, at):
    """The position of a character, if it has one of its own: within the end of a line there is none."""
    position = Position(*lines.position(at, "utf-32"))
    return position if lines.offset(position, "utf-32") == at else None
