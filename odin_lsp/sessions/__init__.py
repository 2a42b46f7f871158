"""Conversations that outlive a turn."""
