"""Edits that other agents make with their own tools, on their way through Odin's review."""
