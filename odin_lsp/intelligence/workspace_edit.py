"""What a language server wants to change, read strictly: an edit that does not fit its text is worse than none."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from odin_lsp.intelligence.lsp import Malformed, Span, each, span_of
from odin_lsp.values import is_object
from odin_lsp.workspace.text import Lines, Position, PositionEncoding


@dataclass(frozen=True, slots=True)
class TextEdit:
    span: Span
    new: str


@dataclass(frozen=True, slots=True)
class Edited:
    uri: str
    edits: tuple[TextEdit, ...]
    version: int | None = None
    """The one that they are for, if the server says so."""


@dataclass(frozen=True, slots=True)
class Created:
    uri: str
    is_optional: bool
    """It may be there already, and stays as it is then."""


@dataclass(frozen=True, slots=True)
class Moved:
    uri: str
    new_uri: str


@dataclass(frozen=True, slots=True)
class Deleted:
    uri: str
    recursive: bool
    is_optional: bool
    """It may be gone already."""


Step = Edited | Created | Moved | Deleted


def steps_of(edit: object) -> list[Step]:
    """A `WorkspaceEdit` of either form, in order."""
    if edit is None:
        return []
    if not is_object(edit):
        raise Malformed("the edit is none")
    if edit.get("documentChanges") is not None:
        return [_step(it) for it in each(edit["documentChanges"])]
    changes = edit.get("changes")
    if changes is not None and not is_object(changes):
        raise Malformed("the changes of the edit are none")
    return [Edited(uri, edits_of(edits)) for uri, edits in (changes or {}).items()]


def edits_of(edits: object) -> tuple[TextEdit, ...]:
    return tuple(_text_edit(it) for it in each(edits))


def edited(text: str, edits: Sequence[TextEdit], encoding: PositionEncoding) -> str:
    """The text with all of them made, each at its place in the text as it was."""
    lines = Lines(text)
    placed = sorted(_placed(lines, edits, encoding), key=lambda it: it[:2])
    if any(one[1] > two[0] for one, two in pairwise(placed)):
        raise Malformed("edits overlap")
    pieces: list[str] = []
    at = 0
    for start, end, new in placed:
        pieces += [text[at:start], new]
        at = end
    return "".join([*pieces, text[at:]])


def _placed(lines: Lines, edits: Sequence[TextEdit], encoding: PositionEncoding) -> Iterator[tuple[int, int, str]]:
    for it in edits:
        start, end = (lines.offset(at, encoding) for at in (it.span.start, it.span.end))
        is_all = it.span.start == Position(0, 0) and end == len(lines.text)  # who replaces all need not count lines
        for at, position in ((start, it.span.start), (end, it.span.end)):
            if Position(*lines.position(at, encoding)) != position and not (is_all and at == end):
                place = f"line {position.line + 1}, column {position.character + 1}"
                raise Malformed(f"an edit is at {place}, and there is no such place in the text")
        yield start, end, it.new


def _step(value: object) -> Step:
    if not is_object(value):
        raise Malformed("a change is none")
    options: dict[str, Any] = it if is_object(it := value.get("options")) else {}
    match value.get("kind"):
        case None if is_object(document := value.get("textDocument")):
            return Edited(_uri(document, "uri"), edits_of(value.get("edits")), document.get("version"))
        case "create":
            return Created(_uri(value, "uri"), is_optional=bool(options.get("ignoreIfExists")))
        case "rename":
            return Moved(_uri(value, "oldUri"), _uri(value, "newUri"))
        case "delete":
            is_optional = bool(options.get("ignoreIfNotExists"))
            return Deleted(_uri(value, "uri"), bool(options.get("recursive")), is_optional)
        case kind:
            raise Malformed(f"a change is of the unknown kind {kind}")


def _text_edit(value: object) -> TextEdit:
    if is_object(value) and isinstance(new := value.get("newText"), str) and value.get("insertTextFormat", 1) == 1:
        return TextEdit(span_of(value.get("range")), new)
    raise Malformed("an edit is no plain text")


def _uri(value: dict[str, Any], key: str) -> str:
    if isinstance(uri := value.get(key), str):
        return uri
    raise Malformed("a change names no file")
