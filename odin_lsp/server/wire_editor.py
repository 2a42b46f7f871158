"""What Odin asks the editor about code. A client says in `experimental.odin.editor` what of it it answers. And what the
editor tells of the cursor."""

from dataclasses import dataclass
from typing import Any

from odin_lsp.ports import Range
from odin_lsp.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorRequest(Value):
    """`odin/editor/request`: a request of LSP, for all of the editor's other language servers that serve a document."""

    method: str
    """As LSP names it: `textDocument/references`."""
    uri: str
    """The document. For `workspace/symbol`: one of the language."""
    params: dict[str, Any]
    """As LSP has them. Positions here and in results are in the encoding that Odin and the client agreed on; the client
    converts them for servers that use another one."""
    timeout_ms: int
    """A server that has not answered by then is left out, and named in `late`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorAnswer(Value):
    server: str
    """For people and models: `pyright in Neovim`."""
    ready: bool
    """False if it may still be loading: its answer may be incomplete."""
    result: Any = None
    """As LSP has it. Code actions come with their `edit`; a `command` is never run."""


@dataclass(frozen=True, slots=True)
class EditorFailure(Value):
    server: str
    reason: str
    """In the server's own words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorAnswers(Value):
    """The answer to `odin/editor/request`."""

    answers: tuple[EditorAnswer, ...]
    """Empty, as `late` and `failed`, if no server offers the method for this document."""
    late: tuple[str, ...] = ()
    """Servers that did not answer in time."""
    failed: tuple[EditorFailure, ...] = ()
    """Servers that answered with an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorDiagnosticsParams(Value):
    """`odin/editor/diagnostics`: what is wrong with documents as they stand now."""

    uris: tuple[str, ...]
    """Empty: all diagnostics that the editor knows, at once."""
    patience_ms: int
    """How long the client may wait for servers to settle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentDiagnostics(Value):
    uri: str
    diagnostics: tuple[dict[str, Any], ...]
    """As LSP has them, without Odin's own."""
    current: bool
    """False if they may be older than the text, or if nobody knows."""
    version: int | None = None
    """Of the document that they are for, as Odin has been told it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorDiagnostics(Value):
    """The answer to `odin/editor/diagnostics`."""

    items: tuple[DocumentDiagnostics, ...]


@dataclass(frozen=True, slots=True)
class SelectionParams(Value):
    """`odin/selection`: what is selected, or where the cursor is. `odin.mention`: have connected agents look there."""

    uri: str
    range: Range


@dataclass(frozen=True, slots=True)
class Mentioned(Value):
    agents: int
    """How many were told."""
