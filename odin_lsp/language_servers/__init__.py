"""Language servers that Odin starts by itself, where no editor lends its own."""
