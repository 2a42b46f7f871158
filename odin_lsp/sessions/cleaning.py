"""What is written of a session: no keys, whoever has said them."""

from typing import Any

from odin_lsp.redaction import without_keys
from odin_lsp.values import is_list, is_object

AS_THEY_ARE = frozenset({"id", "callId", "turnId", "signature", "data"})
"""Fields that nobody has said, and that mean nothing if they are changed."""
SAID = ("arguments", "opaque")
"""Fields in which all is what a model has said, whatever it is called."""


def cleaned_record(value: Any, kept: frozenset[str] = AS_THEY_ARE) -> Any:
    if isinstance(value, str):
        return without_keys(value)
    if is_list(value):
        return [cleaned_record(it, kept) for it in value]
    if is_object(value):
        return {
            name: it if name in kept else cleaned_record(it, frozenset() if name in SAID else kept)
            for name, it in value.items()
        }
    return value
