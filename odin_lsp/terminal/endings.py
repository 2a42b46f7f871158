"""How a turn ended, in words: without what draws them, which takes a tenth of a second to import."""

from odin_lsp.display import shown_line
from odin_lsp.records import Diagnostic, Outcome, Usage
from odin_lsp.workspace.uris import path_of


def placed(diagnostic: Diagnostic) -> str:
    """Where it is, and in words."""
    return shown_line(f"{path_of(diagnostic.uri) or diagnostic.uri}:{diagnostic.words}")


def ending(outcome: Outcome) -> str:
    reason = outcome.reason.replace("_", " ")
    return f"{reason}: {outcome.detail}" if outcome.detail else reason


def spent(usage: Usage, duration_ms: int) -> str:
    tokens = (
        f"{usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens:,} in · {usage.output_tokens:,} out"
    )
    cost = f" · ${usage.cost_usd:.4f}" if usage.cost_usd else ""
    return f"{tokens}{cost} · {duration_ms / 1000:.1f} s"
