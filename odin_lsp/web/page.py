"""HTML as Markdown: what a reader would see of a page, without what runs, loads or hides.

Run as a program it converts what comes on stdin. Odin does it so: hostile markup can cost time and memory, and a
process can be ended."""

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urljoin

from justhtml import JustHTML

MAX_DEPTH = 200
"""Of elements in each other; real pages have some dozens."""
MAX_PREFIXES = 10
"""Of lists and quotes in each other that are still indented."""
NOT_TEXT = frozenset({
    "script", "style", "template", "noscript", "iframe", "frame", "object", "embed", "applet", "svg", "math",
    "canvas", "audio", "video", "map", "link", "meta", "base", "head", "title", "input", "button", "select", "textarea",
    "dialog",
})  # fmt: skip
BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup",
    "hr", "html", "li", "main", "menu", "nav", "ol", "p", "pre", "search", "section", "summary", "table", "tbody",
    "td", "tfoot", "th", "thead", "tr", "ul",
})  # fmt: skip
MARKS = {"b": "**", "strong": "**", "i": "*", "em": "*", "del": "~~", "s": "~~"}
_INVISIBLE = re.compile(
    r"display:none|visibility:(hidden|collapse)|opacity:0?\.?0*(;|$)|font-size:0?\.?0*(px|pt|em|rem|%)?(;|$)"
    r"|(text-indent|left|right|top|bottom|margin-left|margin-top):-\d{3,}|clip:rect\(0|clip-path:inset\((50|100)%"
    r"|(^|;)(max-)?(height|width):0(px)?(;|$)|(^|;)color:transparent|transform:scale\(0\)"
)
_WHITE = frozenset({"white", "#fff", "#ffffff", "rgb(255,255,255)", "rgba(255,255,255,1)"})

Node = Any
"""justhtml's nodes: `name`, `attrs`, `children`, `data`."""


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    text: str
    notes: tuple[str, ...] = ()
    """What was left out, for the model to know."""


def to_markdown(html: str, url: str) -> Page:
    root = JustHTML(html, sanitize=False).root
    titles = root.query("title")
    refreshes = [target for it in root.query("meta[http-equiv]") if (target := _refresh(it.attrs or {}))]
    hidden, cut = _prune(root)
    text = "\n\n".join(_blocks(root, _Style(url)))
    notes = [f"{hidden} hidden element{'s' if hidden > 1 else ''} left out"] if hidden else []
    notes += [f"what is nested deeper than {MAX_DEPTH} elements was left out"] if cut else []
    notes += [f"it wants to be left for another page, which was not done: {it[:300]}" for it in refreshes[:1]]
    return Page(_collapsed(titles[0].to_text())[:300] if titles else "", text, tuple(notes))


@dataclass(frozen=True, slots=True)
class _Style:
    base: str
    prefixes: int = 0

    def deeper(self) -> "_Style":
        return _Style(self.base, self.prefixes + 1)


def _prune(root: Node) -> tuple[int, bool]:
    """Take out what is no text, what is hidden and what is too deep: how many were hidden, whether any was too deep."""
    hidden, cut = 0, False
    waiting: list[tuple[Node, int]] = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        kept: list[Node] = []
        for child in node.children or ():
            if child.name in NOT_TEXT or child.name in ("#comment", "!doctype", "#processing-instruction"):
                continue
            if child.name != "#text" and _is_hidden(child.attrs or {}):
                hidden += 1
            elif depth >= MAX_DEPTH:
                cut = True
            else:
                kept.append(child)
                waiting.append((child, depth + 1))
        if node.children:
            node.children[:] = kept
    return hidden, cut


def _is_hidden(attrs: dict[str, str | None]) -> bool:
    if "hidden" in attrs:
        return True
    style = re.sub(r"\s|!important", "", attrs.get("style") or "").lower()
    if not style:
        return False
    values = dict(part.split(":", 1) for part in style.split(";") if ":" in part)
    color, behind = values.get("color"), values.get("background-color") or values.get("background")
    same = color is not None and (color == behind or (color in _WHITE and (behind is None or behind in _WHITE)))
    return same or _INVISIBLE.search(style) is not None


def _refresh(attrs: dict[str, str | None]) -> str:
    is_one = (attrs.get("http-equiv") or "").strip().lower() == "refresh"
    return (attrs.get("content") or "") if is_one else ""


def _blocks(node: Node, style: _Style) -> Iterator[str]:
    """The blocks below a node; text and inline elements in a row are one paragraph."""
    inline: list[str] = []
    for child in node.children or ():
        if child.name in BLOCKS or (child.name != "#text" and _has_blocks(child)):
            yield from _paragraph(inline)
            inline.clear()
            yield from _block(child, style)
        else:
            inline.append(_inline(child, style))
    yield from _paragraph(inline)


def _block(node: Node, style: _Style) -> Iterator[str]:
    match node.name:
        case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
            if text := _line(node, style):
                yield f"{'#' * int(node.name[1])} {text}"
        case "pre":
            code = node.to_text(separator="", strip=False).strip("\n")
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
            yield f"{fence}\n{code}\n{fence}"
        case "hr":
            yield "---"
        case "table":
            yield from _table(node, style)
        case "ul" | "ol" | "menu":
            yield from _list(node, style)
        case "blockquote" if style.prefixes < MAX_PREFIXES:
            if text := "\n\n".join(_blocks(node, style.deeper())):
                yield _prefixed(text, "> ", "> ")
        case _:
            yield from _blocks(node, style)


def _list(node: Node, style: _Style) -> Iterator[str]:
    items: list[str] = []
    for child in node.children or ():
        if text := "\n".join(
            _blocks(child, style.deeper()) if child.name != "#text" else _paragraph([child.data or ""])
        ):
            marker = f"{len(items) + 1}. " if node.name == "ol" else "- "
            indent = " " * len(marker) if style.prefixes < MAX_PREFIXES else ""
            items.append(_prefixed(text, marker, indent))
    if items:
        yield "\n".join(items)


def _table(node: Node, style: _Style) -> Iterator[str]:
    rows = [row for row in _rows(node, style) if any(row)]
    for caption in (it for it in node.children or () if it.name == "caption"):
        yield from _blocks(caption, style)
    if rows and max(map(len, rows)) == 1:  # a table for the layout
        yield "\n\n".join(cell for [cell] in rows)
    elif rows:
        lines = [f"| {' | '.join(row)} |" for row in rows]
        yield "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])


def _rows(node: Node, style: _Style) -> Iterator[list[str]]:
    for child in node.children or ():
        if child.name == "tr":
            cells = [it for it in child.children or () if it.name in ("td", "th")]
            yield [_line(cell, style).replace("|", "\\|") for cell in cells]
        elif child.name in ("tbody", "thead", "tfoot"):
            yield from _rows(child, style)


def _inline(node: Node, style: _Style) -> str:
    match node.name:
        case "#text":
            return node.data or ""
        case "br":
            return "\v"
        case "img":
            alt = _collapsed(node.attrs.get("alt") or "")
            return f"(image: {alt})" if alt else ""
        case "code" | "kbd" | "samp" | "tt":
            code = _collapsed(node.to_text(separator="", strip=False))
            return f"`{code}`" if code and "`" not in code else code
        case "a":
            return _link(_children(node, style), node.attrs.get("href"), style)
        case name if name in MARKS:
            text = _children(node, style)
            inner = text.strip()
            return text.replace(inner, f"{MARKS[name]}{inner}{MARKS[name]}", 1) if inner and "*" not in inner else text
        case _:
            return _children(node, style)


def _link(text: str, href: str | None, style: _Style) -> str:
    """The address stands beside the text, where nothing turns it into something to click."""
    if not href or href.startswith("#"):
        return text
    try:
        address = urljoin(style.base, href.strip())
    except ValueError:
        return text
    is_news = address.startswith(("http://", "https://")) and address not in text and not re.search(r"\s", address)
    return f"{text} ({address})" if is_news else text


def _children(node: Node, style: _Style) -> str:
    return "".join(_inline(child, style) for child in node.children or ())


def _line(node: Node, style: _Style) -> str:
    """All of it on one line."""
    return _collapsed(" ".join(_blocks(node, style)))


def _has_blocks(node: Node) -> bool:
    """Whether a block stands in an inline element, as in a link around a heading."""
    waiting = list(node.children or ())
    while waiting:
        child = waiting.pop()
        if child.name in BLOCKS:
            return True
        waiting += child.children or ()
    return False


def _paragraph(inline: list[str]) -> Iterator[str]:
    lines = (_collapsed(line) for line in "".join(inline).split("\v"))
    if text := "\n".join(line for line in lines if line):
        yield text


def _prefixed(text: str, first: str, others: str) -> str:
    return first + text.replace("\n", f"\n{others}")


def _collapsed(text: str) -> str:
    return " ".join(text.split())


def main() -> None:

    if sys.platform != "win32":
        import resource

        for limit, most in ((resource.RLIMIT_AS, 1024**3), (resource.RLIMIT_CPU, 60)):
            _, hard = resource.getrlimit(limit)
            resource.setrlimit(limit, (most, hard))
    request = json.load(sys.stdin)
    json.dump(asdict(to_markdown(request["html"], request["url"])), sys.stdout)


if __name__ == "__main__":
    main()
