"""Where a person decides on what Odin proposes, by what the client can do."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from odin_lsp.ports import FileOperation, Option, Question, Review, ReviewFile
from odin_lsp.server.client import Abilities
from odin_lsp.workspace.text import Lines, Position, PositionEncoding, ends_in, line_end, split_lines, whole_lines
from odin_lsp.workspace.uris import path_of, printable

Surface = Literal["review", "preview", "hints", "question"]
MAX_LINES = 40
MAX_LINE = 200


def surface(abilities: Abilities, operation: FileOperation, *, is_open: bool) -> Surface:
    """The first row that fits. Only edits are previewed: some clients create files before they ask.

    | the client has | and the file is | surface |
    | --- | --- | --- |
    | `experimental.odin.review` | any | review: `odin/review` |
    | `applyEdit`, `documentChanges`, `changeAnnotationSupport` | edited | preview: an edit that needs confirmation |
    | `publishDiagnostics`, `codeAction` | open | hints: diagnostics with quick fixes, code lenses |
    | `publishDiagnostics`, `codeAction`, `showDocument` | edited | hints, once it is shown |
    | none of these | any | question: a message with buttons |
    """
    if abilities.review:
        return "review"
    edited = operation == "edit"
    if edited and abilities.apply_edit and abilities.document_changes and abilities.change_annotations:
        return "preview"
    if abilities.diagnostics and abilities.code_actions and (is_open or (edited and abilities.show_document)):
        return "hints"
    return "question"


def file_question(review: Review, file: ReviewFile, encoding: PositionEncoding) -> Question:
    """All that is pending in a file, as one question with the diff as its text."""
    verb = {"edit": "Change", "create": "Create", "delete": "Delete", "rename": "Rename"}[file.operation]
    return Question(
        question_id=review.proposal_id,
        kind="permission",
        title=f"{verb} {name_of(file.uri)}{f' to {name_of(file.new_uri)}' if file.new_uri else ''}?",
        detail="\n".join([*filter(None, (review.reason, file.note)), *cut(list(_diff(file, encoding)))]),
        options=(Option("allow_once", "Accept"), Option("deny", "Reject")),
    )


def whole_question(review: Review, files: Sequence[ReviewFile], encoding: PositionEncoding) -> Question:
    """The same for several files that are decided as one."""
    if len(files) == 1:
        return file_question(review, files[0], encoding)
    each = [file_question(replace(review, reason=""), file, encoding) for file in files]
    lines = [line for it in each for line in (it.title.removesuffix("?"), *it.detail.split("\n"))]
    title = f"Change {len(each)} files together?"
    return replace(each[0], title=title, detail="\n".join([*filter(None, [review.reason]), *cut(lines)]))


def whole_lines_of(lines: Lines, start: Position, here: str, other: str, encoding: PositionEncoding) -> tuple[str, str]:
    """`here`, which stands at `start`, and what would take its place, both with the rest of their lines."""
    head = lines.between(Position(start.line, 0), start, encoding)
    if not head and all(line_end(text) or not text for text in (here, other)):
        return here, other
    after = lines.between(start, Position(start.line + len(whole_lines(here)) + 1, 0), encoding)[len(here) :]
    tail = "".join(split_lines(after)[:1])
    return f"{head}{here}{tail}", f"{head}{other}{tail}"


def cut(lines: list[str], most: int = MAX_LINES) -> list[str]:
    """No more than fits on a screen, and a word on what is left out."""
    shown = [line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}…" for line in lines[:most]]
    return shown if len(lines) <= most else [*shown, f"… and {len(lines) - most} more lines"]


def marked(mark: str, text: str) -> list[str]:
    return [f"{mark} {line}" for line in split_lines(text)]


def name_of(uri: str) -> str:
    return printable(str(path_of(uri) or uri))


def _diff(file: ReviewFile, encoding: PositionEncoding) -> Iterator[str]:
    """Made from the proposed text, in which each hunk stands as many lines further down as those before it add."""
    proposed = Lines(file.proposed_text)
    added = 0
    for hunk in file.hunks:
        if hunk.state != "pending":
            continue
        old, new = hunk.old_text, hunk.new_text
        if file.operation == "edit":
            yield f"@@ line {hunk.range.start.line + 1}"
            start = Position(hunk.range.start.line + added, hunk.range.start.character)
            new, old = whole_lines_of(proposed, start, new, old, encoding)
            added += ends_in(hunk.new_text) - ends_in(hunk.old_text)
        yield from (*marked("-", old), *marked("+", new))
