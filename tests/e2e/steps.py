"""What the model does in a turn, in Anthropic's wire format, and what it is told."""

import json
from typing import Any

from tests.support import wire as kit


def play_calls(wire: kit.Wire, *calls: tuple[str, dict[str, Any]]) -> None:
    """One step of the model: these calls."""
    blocks = [
        block
        for index, (name, arguments) in enumerate(calls)
        for block in kit.anthropic_call(index, f"toolu_{index}_{len(wire.answers)}", name, json.dumps(arguments))
    ]
    wire.play(kit.Answer([kit.anthropic_sse(kit.anthropic_start(), *blocks, *kit.anthropic_end("tool_use"))]))


def says(text: str = "done") -> kit.Answer:
    """The last step: only words."""
    return kit.Answer(
        [kit.anthropic_sse(kit.anthropic_start(), *kit.anthropic_text(0, text), *kit.anthropic_end("end_turn"))]
    )


def results(wire: kit.Wire) -> list[str]:
    return results_of(wire.request)


def results_of(request: dict[str, Any]) -> list[str]:
    """Of the last calls."""
    message = next(it for it in reversed(request["messages"]) if any(_is_result(block) for block in it["content"]))
    blocks = [block for block in message["content"] if _is_result(block)]
    return [block["content"] if isinstance(block["content"], str) else block["content"][0]["text"] for block in blocks]


def said(wire: kit.Wire) -> list[str]:
    """The user's messages, as the last request has them."""
    last = [it["content"][-1] for it in wire.request["messages"] if it["role"] == "user"]
    return [block["text"] for block in last if block["type"] == "text"]


def _is_result(block: Any) -> bool:
    return isinstance(block, dict) and block["type"] == "tool_result"
