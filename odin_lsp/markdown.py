"""Markdown that may be shown: rendering it loads nothing, runs nothing, and no link hides where it leads.

Whether a text is so is decided by the parser that the renderers use, not by patterns: what these rewrite is parsed
again, and if it still is not harmless the whole text is shown as code."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from odin_lsp.display import shown

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_INVISIBLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)
"""Control characters that terminals obey, and those that reorder or hide text."""
_SPECIAL = re.compile(r"[<\[]|```|~~~")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_WEB = re.compile(r"https?://[^\s<>()\[\]\\`&]+", re.IGNORECASE)
_NOTABLE = re.compile(
    r"""(?P<kept>\\.|(?P<ticks>`++)(?!`)(?:(?!\n[ \t]*\n).)*?(?<!`)(?P=ticks)(?!`)|<https?://[^\s<>]*>)
    |(?P<image>!?)\[(?P<label>[^\[\]]*)\]\(\s*(?P<target><[^<>\n]*>|[^\s()]*)(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)
    |(?P<bracket>\[(?=[^\]]*\]:))
    |(?P<tag><(?=[a-z/!?]))""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_OPENING = re.compile(r"(?<!\\)((?:\\\\)*)([\[<])")


def harmless(text: str) -> str:
    """The text, changed only as far as it has to be. What follows it in a document stays outside of it."""
    text = _INVISIBLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    if not _SPECIAL.search(text):
        return text
    try:
        for rewrite in (_as_it_is, _rewritten, _escaped):
            candidate = _closed(rewrite(text))
            if _is_harmless(candidate):
                return candidate
    except RecursionError:
        pass
    return as_code(text)


def unlinked(text: str) -> str:
    """For messages: some editors make links, also such that run commands, of `[text](target)` there."""
    return shown(text).replace("](", "] (")


def _as_it_is(text: str) -> str:
    return text


def _rewritten(text: str) -> str:
    """Links and images as text with the address beside it; tags as text."""
    return _outside_of_code(text, lambda part: _NOTABLE.sub(_shown, part))


def _escaped(text: str) -> str:
    """Nothing can begin a link, an image or a tag."""
    return _outside_of_code(text, lambda part: _OPENING.sub(r"\1\\\2", part))


def as_code(text: str) -> str:
    """As it is, whatever it is; what is invisible is left out."""
    text = _INVISIBLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}\n{text}\n{fence}"


def _closed(text: str) -> str:
    """With the end of a code block that the text leaves open."""
    tokens = _parser().parse(f"{text}\n\nend", {})
    if tokens and tokens[-1].type == "fence" and tokens[-1].level == 0:
        return f"{text}\n{tokens[-1].markup}"
    return text


def _is_harmless(text: str) -> bool:
    found: dict[str, Any] = {}
    tokens = _parser().parse(text, found)
    return not found.get("references") and all(map(_is_fine, _flat(tokens)))


def _is_fine(token: "Token") -> bool:
    match token.type:
        case "html_block" | "html_inline":
            return False
        case "image":
            return _is_local(str(token.attrs.get("src", "")))
        case "link_open":
            target = str(token.attrs.get("href", ""))
            return _is_local(target) or (token.markup == "autolink" and _WEB.match(target) is not None)
        case _:
            return True


def _is_local(target: str) -> bool:
    """A place in this document or a file beside it."""
    flat = target.replace("%5C", "/").replace("\\", "/")
    return flat.startswith("file:///") or not (flat.startswith("//") or _SCHEME.match(flat))


def _shown(found: re.Match[str]) -> str:
    if found["kept"]:
        return found["kept"]
    if found["bracket"] or found["tag"]:
        return f"\\{found[0]}"
    label, target = found["label"], found["target"].removeprefix("<").removesuffix(">")
    if _is_local(target):
        return found[0]
    about = f"image: {label}" if found["image"] else label
    where = target if _WEB.fullmatch(target) else "link removed"
    return f"({about}: {where})" if found["image"] else f"{about} ({where})"


def _outside_of_code(text: str, change: Callable[[str], str]) -> str:
    """The text with all its lines changed that are in no code block."""
    lines = text.split("\n")
    code = {
        line
        for token in _parser().parse(text, {})
        if token.type in ("fence", "code_block") and token.map
        for line in range(*token.map)
    }
    parts: list[str] = []
    start = 0
    for at in range(1, len(lines) + 1):
        if at == len(lines) or (at in code) != (start in code):
            part = "\n".join(lines[start:at])
            parts.append(part if start in code else change(part))
            start = at
    return "\n".join(parts)


def _flat(tokens: Sequence["Token"]) -> Iterator["Token"]:
    for token in tokens:
        yield token
        yield from _flat(token.children or ())


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # a terminal or a transcript needs it, starting does not

    parser = MarkdownIt("commonmark", {"maxNesting": 1000}).enable(["table", "strikethrough"])
    parser.validateLink = _leads_anywhere
    return parser


def _leads_anywhere(url: str) -> bool:
    """Not every renderer is as careful as this parser is by itself."""
    return bool(url)
