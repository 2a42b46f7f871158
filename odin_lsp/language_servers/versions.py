"""Versions in the edits of a server: those that it was told by Odin, which count otherwise than the editor's."""

from collections.abc import Callable
from typing import Any

from odin_lsp.intelligence.servers import Unavailable
from odin_lsp.values import is_list, is_object

AROUND = ("edit", "documentChanges")
"""What edits are below."""
OLD = "its edit is for an older text; try again"


def without_versions(result: Any, is_known: Callable[[str, int], bool]) -> Any:
    """The same without them, wherever edits are in it; `Unavailable` if one is not the version that is known."""
    if is_list(result):
        return [without_versions(it, is_known) for it in result]
    if not is_object(result):
        return result
    if is_object(document := result.get("textDocument")) and "edits" in result:
        uri, version = document.get("uri"), document.get("version")
        if isinstance(version, int) and not (isinstance(uri, str) and is_known(uri, version)):
            raise Unavailable(OLD)
        return {**result, "textDocument": {**document, "version": None}}
    return {key: without_versions(it, is_known) if key in AROUND else it for key, it in result.items()}
