"""Questions about code: what is defined where, and who uses it."""
