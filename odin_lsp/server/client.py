"""What the client at the other end can do."""

from dataclasses import dataclass

from lsprotocol import types
from pygls.capabilities import get_capability

from odin_lsp.values import is_list, is_object

UNSHOWN = ("Neovim",)
"""Editors that ask about an annotated edit without showing it, and take Return for a yes."""


@dataclass(frozen=True, slots=True)
class Abilities:
    client: str = ""
    """What it calls itself."""
    events: bool = False
    """It shows `odin/event`."""
    question: bool = False
    """It answers `odin/question`."""
    review: bool = False
    """It answers `odin/review`."""
    agent: bool = False
    """It is an agent of others, and answers for itself only what no person is asked."""
    save: bool = False
    """It answers `odin/save`."""
    apply_edit: bool = False
    document_changes: bool = False
    resource_operations: frozenset[str] = frozenset()
    reload: bool = False
    """It answers `odin/reload`."""
    selection: bool = False
    """It tells of the selection by `odin/selection`, while that is wanted."""
    editor: frozenset[str] = frozenset()
    """Of `odin/editor/*` it answers these."""
    watched_files: bool = False
    """It tells of files that change on disk, if asked."""
    progress: bool = False
    show_document: bool = False
    code_action_literals: bool = False
    change_annotations: bool = False
    """It shows an edit that needs confirmation, and asks before it applies it."""
    diagnostics: bool = False
    code_actions: bool = False
    code_lens_refresh: bool = False
    markdown_hovers: bool = False
    links: bool = False
    """It runs commands by links in hovers, which `command:` begins."""

    @classmethod
    def of(cls, capabilities: types.ClientCapabilities, editor: str = "") -> "Abilities":
        experimental = capabilities.experimental
        declared = experimental.get("odin") if is_object(experimental) else None
        odin = declared if is_object(declared) else {}
        asked = odin.get("editor")

        def has(name: str) -> bool:
            return get_capability(capabilities, name, None) is not None

        return cls(
            client=editor,
            events=odin.get("events") is True,
            question=odin.get("question") is True,
            review=odin.get("review") is True,
            agent=odin.get("agent") is True,
            save=odin.get("save") is True,
            apply_edit=bool(get_capability(capabilities, "workspace.apply_edit", False)),
            document_changes=bool(get_capability(capabilities, "workspace.workspace_edit.document_changes", False)),
            resource_operations=frozenset(
                str(getattr(it, "value", it))
                for it in get_capability(capabilities, "workspace.workspace_edit.resource_operations", None) or ()
            ),
            reload=odin.get("reload") is True,
            selection=odin.get("selection") is True,
            editor=frozenset(it for it in (asked if is_list(asked) else ()) if isinstance(it, str)),
            watched_files=bool(
                get_capability(capabilities, "workspace.did_change_watched_files.dynamic_registration", False)
            ),
            progress=bool(get_capability(capabilities, "window.work_done_progress", False)),
            show_document=bool(get_capability(capabilities, "window.show_document.support", False)),
            code_action_literals=bool(
                get_capability(capabilities, "text_document.code_action.code_action_literal_support", None)
            ),
            change_annotations=has("workspace.workspace_edit.change_annotation_support") and editor not in UNSHOWN,
            diagnostics=has("text_document.publish_diagnostics"),
            code_actions=has("text_document.code_action"),
            markdown_hovers=types.MarkupKind.Markdown
            in (get_capability(capabilities, "text_document.hover.content_format", None) or ()),
            links=odin.get("links") is True,
            code_lens_refresh=bool(get_capability(capabilities, "workspace.code_lens.refresh_support", False)),
        )
