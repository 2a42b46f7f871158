"""Which client decides where; and what it is shown there."""

import pytest
from lsprotocol import types
from lsprotocol.converters import get_converter

from odin_lsp.ports import Position, Range, Review, ReviewFile, ReviewHunk
from odin_lsp.server.client import Abilities
from odin_lsp.server.surfaces import MAX_LINES, file_question, surface, whole_question
from odin_lsp.server.workspace_edits import annotated_edit

PREVIEW = {
    "workspace": {
        "applyEdit": True,
        "workspaceEdit": {"documentChanges": True, "changeAnnotationSupport": {"groupsOnLabel": True}},
    }
}
HINTS = {"textDocument": {"publishDiagnostics": {}, "codeAction": {}}}
SHOWING = {"window": {"showDocument": {"support": True}}}
ODIN = {"experimental": {"odin": {"version": 1, "review": True}}}
NEOVIM_0_10 = {"workspace": {"applyEdit": True, "workspaceEdit": {"resourceOperations": ["create"]}}}


@pytest.mark.parametrize(
    ("capabilities", "operation", "is_open", "expected"),
    [
        ({**PREVIEW, **HINTS, **SHOWING, **ODIN}, "edit", True, "review"),
        (ODIN, "delete", False, "review"),
        ({**PREVIEW, **HINTS}, "edit", True, "preview"),
        (PREVIEW, "edit", False, "preview"),
        (PREVIEW, "create", False, "question"),
        (PREVIEW, "rename", True, "question"),
        ({**PREVIEW, **HINTS}, "rename", True, "hints"),
        (HINTS, "edit", True, "hints"),
        (HINTS, "delete", True, "hints"),
        (HINTS, "edit", False, "question"),
        ({**HINTS, **SHOWING}, "edit", False, "hints"),
        ({**HINTS, **SHOWING}, "create", False, "question"),
        ({**HINTS, **SHOWING}, "delete", False, "question"),
        ({**HINTS, **NEOVIM_0_10}, "edit", True, "hints"),
        (NEOVIM_0_10, "edit", True, "question"),
        ({"textDocument": {"publishDiagnostics": {}}}, "edit", True, "question"),
        ({"textDocument": {"codeAction": {}}}, "edit", True, "question"),
        ({"workspace": {**PREVIEW["workspace"], "applyEdit": False}}, "edit", True, "question"),
        ({}, "edit", True, "question"),
    ],
)
def test_the_surface_is_the_best_that_the_client_has(capabilities, operation, is_open, expected):
    abilities = Abilities.of(get_converter().structure(capabilities, types.ClientCapabilities))

    assert surface(abilities, operation, is_open=is_open) == expected


def hunk(id, line, old, new, column=0, state="pending", reason="why"):
    return ReviewHunk(
        id, Range(Position(line, column), Position(line, column + len(old))), old, new, reason, state=state
    )


def file(*hunks, proposed="", **kwargs):
    return ReviewFile(
        **{"uri": "file:///a.py", "version": 3, "operation": "edit", **kwargs},
        base_hash="",
        proposed_text=proposed,
        hunks=hunks,
    )


def question(shown):
    return file_question(Review("p", "t", "why", (shown,)), shown, "utf-16")


def test_a_question_shows_whole_lines_where_a_part_of_one_changes():
    shown = file(hunk("1", 0, "", "zero\n"), hunk("2", 0, "", "0", 9), proposed="zero\nalpha = 10\n")

    asked = question(shown)

    assert asked.title == "Change /a.py?"
    assert asked.detail.splitlines() == ["why", "@@ line 1", "+ zero", "@@ line 1", "- alpha = 1", "+ alpha = 10"]


def test_a_question_counts_lines_that_end_with_a_carriage_return_alone():
    shown = file(hunk("1", 0, "", "zero\r"), hunk("2", 0, "", "0", 9), proposed="zero\ralpha = 10\r")

    assert question(shown).detail.splitlines()[-2:] == ["- alpha = 1", "+ alpha = 10"]


def test_a_long_question_is_cut_with_a_note():
    asked = question(file(hunk("1", 0, "", "x\n" * 100), operation="create", note="it runs"))

    lines = asked.detail.splitlines()
    assert lines[:3] == ["why", "it runs", "+ x"]
    assert len(lines) == MAX_LINES + 3
    assert lines[-1] == "… and 60 more lines"


def test_a_file_that_moves_is_named_on_both_sides():
    assert question(file(hunk("1", 0, "", ""), operation="rename", new_uri="file:///b.py")).title == (
        "Rename /a.py to /b.py?"
    )


def test_files_that_are_decided_as_one_are_one_question():
    files = (file(hunk("1", 0, "a", "b"), proposed="b\n"), file(hunk("2", 0, "c", "d"), uri="file:///b.py"))

    asked = whole_question(Review("p", "t", "why", files, atomic=True), files, "utf-16")

    assert asked.title == "Change 2 files together?"
    assert asked.detail.splitlines()[:4] == ["why", "Change /a.py", "@@ line 1", "- a"]
    assert "Change /b.py" in asked.detail


def test_an_annotated_edit_has_an_annotation_per_reason_and_only_what_is_pending():
    edit = annotated_edit(
        file(
            hunk("1", 0, "a", "b"),
            hunk("2", 1, "c", "d", reason="other"),
            hunk("3", 2, "e", "f", state="accepted"),
            hunk("4", 3, "g", "h"),
        ),
        7,
    )

    [document] = edit.document_changes
    assert document.text_document.version == 7
    assert [it.new_text for it in document.edits] == ["b", "d", "h"]
    labels = [edit.change_annotations[it.annotation_id].label for it in document.edits]
    assert labels == ["why", "other", "why"]
    assert len(edit.change_annotations) == 2
    assert all(it.needs_confirmation for it in edit.change_annotations.values())
