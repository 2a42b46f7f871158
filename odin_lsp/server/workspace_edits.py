"""An accepted change as the `WorkspaceEdit` that a client understands."""

from lsprotocol import types

from odin_lsp.display import shown_line
from odin_lsp.ports import FileChange, Range, ReviewFile
from odin_lsp.server.client import Abilities

NEW_FILE = types.Range(types.Position(0, 0), types.Position(1, 0))
"""Neovim takes an empty file for one empty line, which is not to stay behind the text."""


def workspace_edit(change: FileChange, abilities: Abilities) -> types.WorkspaceEdit | None:
    """One file each: not every client checks the versions of more. Versioned wherever the client knows versions; `None`
    if it cannot do that at all."""
    edits = [types.TextEdit(lsp_range(it.range), it.new_text) for it in change.edits]
    is_edit = change.operation == "edit"
    can_operate = abilities.document_changes and change.operation in abilities.resource_operations
    if not abilities.apply_edit or not (is_edit or can_operate):
        return None
    if not abilities.document_changes:
        return types.WorkspaceEdit(changes={change.uri: edits})
    document = types.OptionalVersionedTextDocumentIdentifier(change.uri, change.version)
    match change.operation:
        case "edit":
            return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, edits)])
        case "create":
            create = types.CreateFile(
                change.uri, options=types.CreateFileOptions(overwrite=False, ignore_if_exists=False)
            )
            edits = [types.TextEdit(NEW_FILE, it.new_text) for it in change.edits]
            return types.WorkspaceEdit(document_changes=[create, types.TextDocumentEdit(document, edits)])
        case "delete":
            options = types.DeleteFileOptions(recursive=change.recursive, ignore_if_not_exists=False)
            return types.WorkspaceEdit(document_changes=[types.DeleteFile(change.uri, options=options)])
        case "rename":
            options = types.RenameFileOptions(overwrite=False, ignore_if_exists=False)
            return types.WorkspaceEdit(
                document_changes=[types.RenameFile(change.uri, change.new_uri or change.uri, options=options)]
            )


def annotated_edit(file: ReviewFile, version: int | None) -> types.WorkspaceEdit:
    """What is pending in a file, for the client to ask about before it applies it: one annotation per reason."""
    pending = [hunk for hunk in file.hunks if hunk.state == "pending"]
    reasons = {reason: f"odin-{index}" for index, reason in enumerate(dict.fromkeys(it.reason for it in pending))}
    edits = [types.AnnotatedTextEdit(reasons[hunk.reason], lsp_range(hunk.range), hunk.new_text) for hunk in pending]
    annotations = {
        key: types.ChangeAnnotation(
            shown_line(reason) or "Odin", needs_confirmation=True, description=shown_line(file.note) or None
        )
        for reason, key in reasons.items()
    }
    document = types.OptionalVersionedTextDocumentIdentifier(file.uri, version)
    return types.WorkspaceEdit(
        document_changes=[types.TextDocumentEdit(document, edits)], change_annotations=annotations
    )


def lsp_range(value: Range) -> types.Range:
    start, end = value.start, value.end
    return types.Range(types.Position(start.line, start.character), types.Position(end.line, end.character))
