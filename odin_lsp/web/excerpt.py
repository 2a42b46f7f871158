"""The parts of a long text that a question is about, where there is no model to read it."""

import re

LEFT_OUT = "[…]"
_WORDS = re.compile(r"\w{3,}")


def excerpt(text: str, question: str, size: int) -> str:
    """At most `size` characters: the blocks that share the most words with the question, in their order."""
    if len(text) <= size:
        return text
    blocks = [block[:size] for block in re.split(r"\n\s*\n", text) if block.strip()]
    wanted = {word.lower() for word in _WORDS.findall(question)}
    ranked = sorted(range(len(blocks)), key=lambda index: (-_score(blocks[index], wanted), index))
    chosen: list[int] = []
    room = size
    for index in ranked:
        cost = len(blocks[index]) + len(LEFT_OUT) + 4
        if cost > room:
            break
        room -= cost
        chosen.append(index)
    chosen.sort()
    parts: list[str] = []
    for before, index in zip([-1, *chosen], chosen, strict=False):
        parts += [blocks[index]] if index == before + 1 else [LEFT_OUT, blocks[index]]
    return "\n\n".join(parts) if parts else text[:size]


def _score(block: str, wanted: set[str]) -> int:
    return len(wanted & {word.lower() for word in _WORDS.findall(block)})
