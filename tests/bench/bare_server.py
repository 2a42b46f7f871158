"""A language server that does nothing, started as Odin is: what pygls costs by itself."""

from pygls.lsp.server import LanguageServer

if __name__ == "__main__":
    LanguageServer("bare", "1").start_io()
