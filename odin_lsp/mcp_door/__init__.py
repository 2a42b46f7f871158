"""Odin's text and its review for agents of others: an MCP server over the library."""
