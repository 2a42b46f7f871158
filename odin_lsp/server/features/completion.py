"""What `/` and `@` may stand for, in plans and where messages are written. Other documents get no answer."""

from lsprotocol import types

from odin_lsp.server.host import Host

SIGNS = types.CompletionOptions(trigger_characters=["/", "@"])


def register(server: Host) -> None:
    @server.feature(types.TEXT_DOCUMENT_COMPLETION, SIGNS)
    async def completion(params: types.CompletionParams) -> types.CompletionList | None:
        from odin_lsp.server.completing import completions

        return await completions(server, params.text_document.uri, params.position)
