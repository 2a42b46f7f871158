"""The text: everything that changes it, hunk by hunk, by a person's decision."""
