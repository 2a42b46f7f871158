"""What the client at the other end can do."""

from dataclasses import dataclass

from lsprotocol import types
from pygls.capabilities import get_capability

from odin_lsp.values import is_object


@dataclass(frozen=True, slots=True)
class Abilities:
    events: bool = False
    """It shows `odin/event`."""
    question: bool = False
    """It answers `odin/question`."""
    reload: bool = False
    """It answers `odin/reload`."""
    watched_files: bool = False
    """It tells of files that change on disk, if asked."""
    progress: bool = False
    show_document: bool = False
    code_action_literals: bool = False

    @classmethod
    def of(cls, capabilities: types.ClientCapabilities) -> "Abilities":
        experimental = capabilities.experimental
        declared = experimental.get("odin") if is_object(experimental) else None
        odin = declared if is_object(declared) else {}
        return cls(
            events=odin.get("events") is True,
            question=odin.get("question") is True,
            reload=odin.get("reload") is True,
            watched_files=bool(
                get_capability(capabilities, "workspace.did_change_watched_files.dynamic_registration", False)
            ),
            progress=bool(get_capability(capabilities, "window.work_done_progress", False)),
            show_document=bool(get_capability(capabilities, "window.show_document.support", False)),
            code_action_literals=bool(
                get_capability(capabilities, "text_document.code_action.code_action_literal_support", None)
            ),
        )
