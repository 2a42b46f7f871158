"""Odin in a terminal."""
