"""What a strict provider checks before it answers: pairing, ordering, and nothing that cannot be sent."""

import json
from typing import Any

MAX_IMAGE = 7_000_000


def problems(request: dict[str, Any]) -> list[str]:
    """What Anthropic's API would refuse of a request's messages."""
    messages = request["messages"]
    found = [] if messages and messages[0]["role"] == "user" else ["the first message is not the user's"]
    found += [] if messages and messages[-1]["role"] == "user" else ["the last message is not the user's"]
    seen: set[str] = set()
    waiting: list[str] = []
    for index, message in enumerate(messages):
        blocks = message["content"]
        if not blocks:
            found.append(f"message {index} is empty")
        if index and messages[index - 1]["role"] == message["role"]:
            found.append(f"message {index} has the role of the one before it")
        found += [it for block in blocks for it in _block_problems(index, block)]
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(results) != sorted(waiting):
            found.append(f"message {index} has the results {results} for the calls {waiting}")
        if any(block["type"] == "tool_result" for block in blocks[len(results) :]):
            found.append(f"message {index} has a result behind other blocks")
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if waiting if message["role"] == "user" else results:
            found.append(f"message {index} has blocks of the other role")
        found += [f"call {it} occurs twice" for it in waiting if it in seen or waiting.count(it) > 1]
        seen.update(waiting)
    return found + ([f"calls without results: {waiting}"] if waiting else [])


def _block_problems(index: int, block: dict[str, Any]) -> list[str]:
    text = json.dumps(block, ensure_ascii=False)
    found: list[str] = []
    if block["type"] not in ("text", "image", "tool_use", "tool_result", "thinking", "redacted_thinking"):
        found.append(f"message {index} has a block of the unknown type {block['type']}")
    if block["type"] == "text" and not block["text"].strip():
        found.append(f"message {index} has an empty text")
    if block["type"] == "image" and len(block["source"]["data"]) > MAX_IMAGE:
        found.append(f"message {index} has an image that is too large")
    if "\\u0000" in text or any(0xD800 <= ord(it) < 0xE000 for it in text):
        found.append(f"message {index} has a character that cannot be sent")
    return found
