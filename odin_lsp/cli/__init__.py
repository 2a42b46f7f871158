"""`odin-lsp`, the program: what each of its commands does."""
