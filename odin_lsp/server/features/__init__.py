"""One file, one LSP feature; each has a `register(server)`."""
