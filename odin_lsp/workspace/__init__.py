"""The text on the screen and on disk: everything that reads."""
