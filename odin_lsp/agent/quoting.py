"""What others have written, between tags that it can neither close nor open."""

import re
from collections.abc import Mapping

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}


def quoted(tag: str, about: Mapping[str, str | None], content: str) -> str:
    """The content, all but as it is: where it has such a tag itself, a backslash comes between `<` and the rest. One
    that was there already gets one more, so what is read is never in doubt."""
    attributes = "".join(f' {name}="{_escaped(value)}"' for name, value in about.items() if value)
    harmless = re.sub(rf"<(?=\\*[\s/]*{tag})", r"<\\", content, flags=re.IGNORECASE)
    return f"<{tag}{attributes}>\n{harmless}\n</{tag}>"


def _escaped(value: str) -> str:
    return "".join(_ENTITIES.get(it) or (it if it.isprintable() else f"&#{ord(it)};") for it in value)
