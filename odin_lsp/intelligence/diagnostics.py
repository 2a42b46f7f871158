"""Diagnostics of LSP as Odin's own values, by the text that they are for."""

from collections.abc import Mapping
from typing import Any

from odin_lsp.intelligence.servers import Problem, Severity
from odin_lsp.workspace.text import Lines, Position, PositionEncoding

SEVERITIES: dict[str, Severity] = {"1": "error", "2": "warning", "3": "information", "4": "hint"}


def problem_of(diagnostic: Mapping[str, Any], lines: Lines, encoding: PositionEncoding) -> Problem | None:
    """`None` if it has no place or says nothing. What is past the end of a line or of the text is at that end."""
    message = diagnostic.get("message")
    match diagnostic.get("range"):
        case {
            "start": {"line": int(line), "character": int(character)},
            "end": {"line": int(end_line), "character": int(end_character)},
        } if isinstance(message, str):
            start = lines.offset(Position(line, character), encoding)
            end = max(start, lines.offset(Position(end_line, end_character), encoding))
            (line, character), (end_line, end_character) = (lines.position(it, "utf-32") for it in (start, end))
            return Problem(
                line=line,
                character=character,
                end_line=end_line,
                end_character=end_character,
                severity=severity_of(diagnostic),
                message=message,
                code=_word(diagnostic.get("code")),
                source=_word(diagnostic.get("source")),
            )
        case _:
            return None


def severity_of(diagnostic: Mapping[str, Any]) -> Severity:
    """One that has none is an error, as for most editors."""
    return SEVERITIES.get(_word(diagnostic.get("severity")), "error")


def _word(value: object) -> str:
    return str(value) if isinstance(value, str | int) else ""
