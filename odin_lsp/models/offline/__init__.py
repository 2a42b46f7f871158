"""The embedded default when no key is set: a deterministic planner that searches, quotes and makes literal
edits through the same loop and tools as any language model. It is none, and says so."""

from odin_lsp.models.offline.model import connect

__all__ = ["connect"]
