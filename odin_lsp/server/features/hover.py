"""Who wrote this line, if Odin did. Where it did not there is no answer, and other servers' hovers stand alone."""

from lsprotocol import types

from odin_lsp.server.host import Host


def register(server: Host) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        from odin_lsp.server.provenance import shown, written_at

        found = await written_at(server, params.text_document.uri, params.position.line)
        return types.Hover(shown(*found, server.abilities)) if found else None
