"""What Odin says of itself to a language server, and what that says of itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from odin_lsp.values import is_list, is_object
from odin_lsp.workspace.text import PositionEncoding

PULL = "textDocument/diagnostic"
SAVES = "textDocument/didSave"
_PROVIDERS = {
    "textDocument/definition": "definitionProvider",
    "textDocument/references": "referencesProvider",
    "textDocument/implementation": "implementationProvider",
    "textDocument/typeDefinition": "typeDefinitionProvider",
    "textDocument/hover": "hoverProvider",
    "textDocument/documentSymbol": "documentSymbolProvider",
    "workspace/symbol": "workspaceSymbolProvider",
    "textDocument/prepareCallHierarchy": "callHierarchyProvider",
    "callHierarchy/incomingCalls": "callHierarchyProvider",
    "callHierarchy/outgoingCalls": "callHierarchyProvider",
    "textDocument/rename": "renameProvider",
    "textDocument/prepareRename": "renameProvider.prepareProvider",
    "textDocument/codeAction": "codeActionProvider",
    "codeAction/resolve": "codeActionProvider.resolveProvider",
    "textDocument/formatting": "documentFormattingProvider",
    PULL: "diagnosticProvider",
}
_DYNAMIC = {"dynamicRegistration": True}
OWN: Mapping[str, Any] = {
    "general": {"positionEncodings": ["utf-8", "utf-16", "utf-32"]},
    "window": {"workDoneProgress": True},
    "workspace": {
        "workspaceFolders": True,
        "configuration": True,
        "didChangeConfiguration": _DYNAMIC,
        "didChangeWatchedFiles": {**_DYNAMIC, "relativePatternSupport": True},
        "symbol": _DYNAMIC,
        "diagnostics": {"refreshSupport": True},
        "workspaceEdit": {"documentChanges": True, "resourceOperations": ["create", "rename", "delete"]},
    },
    "textDocument": {
        "synchronization": {**_DYNAMIC, "didSave": True},
        "publishDiagnostics": {"versionSupport": True},
        "diagnostic": {**_DYNAMIC, "relatedDocumentSupport": False},
        "definition": _DYNAMIC,
        "references": _DYNAMIC,
        "implementation": _DYNAMIC,
        "typeDefinition": _DYNAMIC,
        "hover": {**_DYNAMIC, "contentFormat": ["markdown", "plaintext"]},
        "documentSymbol": {**_DYNAMIC, "hierarchicalDocumentSymbolSupport": True},
        "callHierarchy": _DYNAMIC,
        "rename": {**_DYNAMIC, "prepareSupport": True},
        "formatting": _DYNAMIC,
        "codeAction": {
            **_DYNAMIC,
            "isPreferredSupport": True,
            "dataSupport": True,
            "resolveSupport": {"properties": ["edit"]},
            "codeActionLiteralSupport": {
                "codeActionKind": {
                    "valueSet": ["", "quickfix", "refactor", "source", "source.organizeImports", "source.fixAll"]
                }
            },
        },
    },
    "experimental": {"serverStatusNotification": True},
}


@dataclass(slots=True)
class Offered:
    """What a server can be asked. Some say a part of it only after a while."""

    said: Mapping[str, Any] = field(default_factory=dict[str, Any])
    registered: dict[str, str] = field(default_factory=dict[str, str])
    """Methods, by the ids of their registrations."""

    def has(self, method: str) -> bool:
        provider, _, part = _PROVIDERS.get(method, "").partition(".")
        value = self.said.get(provider)
        said = value.get(part) if part and is_object(value) else value if not part else None
        return (said is not None and said is not False) or method in self.registered.values()

    def register(self, params: Any) -> None:
        for it in _listed(params, "registrations"):
            self.registered[str(it.get("id"))] = str(it.get("method"))

    def unregister(self, params: Any) -> None:
        for it in _listed(params, "unregisterations"):  # LSP's own spelling
            self.registered.pop(str(it.get("id")), None)

    @property
    def encoding(self) -> PositionEncoding:
        said = self.said.get("positionEncoding")
        return next((it for it in get_args(PositionEncoding) if it == said), "utf-16")

    @property
    def wants_changes(self) -> bool:
        sync = self.said.get("textDocumentSync")
        return bool(sync.get("change") if is_object(sync) else sync)

    @property
    def wants_saves(self) -> bool:
        sync = self.said.get("textDocumentSync")
        return (is_object(sync) and bool(sync.get("save"))) or SAVES in self.registered.values()


def _listed(params: Any, key: str) -> list[dict[str, Any]]:
    items = params.get(key) if is_object(params) else None
    return [it for it in items if is_object(it)] if is_list(items) else []
