"""MCP servers: found by `extensions`, started, spoken to and ended here."""
