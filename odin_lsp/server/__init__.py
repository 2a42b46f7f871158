"""Odin over the Language Server Protocol."""
