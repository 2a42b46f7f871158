"""Other agents' settings: what Odin puts into them, and takes out again."""
