"""What answers Odin's commands: one function each, imported with the first that is used."""
