"""What a text defines and uses, by its grammar alone: names are not resolved, so two of one name look the same."""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from tree_sitter import Node, Parser, QueryCursor

from odin_lsp.intelligence.grammars import Grammar, grammar_of
from odin_lsp.workspace.text import whole_lines

MAX_CHARACTERS = 1 << 20
"""Of a text that is taken apart: more would take seconds, and is rarely written by people."""
MAX_TEXTS = 1024
"""Of which it is known what they define; more than a map is made of."""
DEFINITION, REFERENCE = "definition.", "reference."
_LONE_RETURN = re.compile(rb"\r(?!\n)")
"""An end of a line for editors, and for no grammar."""
_NO_CODE = ("comment", "string")
_CODE_AGAIN = ("interpolation", "substitution")
"""Parts of the names of nodes, in all grammars."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """Lines are counted from 1."""

    name: str
    kind: str
    """`class`, `function`, `method` …, as the language's grammar calls it."""
    line: int
    """Of the name."""
    first: int
    last: int
    container: str = ""
    """The symbols around it, outermost first: `Outer.Inner`."""

    @property
    def full_name(self) -> str:
        return f"{self.container}.{self.name}" if self.container else self.name

    def is_called(self, name: str) -> bool:
        """Whether that is its name, or its name and those of what is around it."""
        return f".{self.full_name}".endswith(f".{name}")


@dataclass(frozen=True, slots=True)
class Comment:
    """Lines are counted from 1."""

    first: int
    last: int
    text: str
    """As it is written, with its marks."""
    is_alone: bool
    """Nothing else is on its lines."""


@dataclass(frozen=True, slots=True)
class _Definition:
    """In bytes of the text."""

    first: int
    last: int
    name: str
    at: int
    kind: str


class Code:
    """A text as its grammar sees it."""

    def __init__(self, grammar: Grammar, text: str) -> None:
        self._grammar = grammar
        self._starts = list(accumulate((len(_bytes_of(it)) for it in whole_lines(text)), initial=0))
        self._data = _LONE_RETURN.sub(b"\n", _bytes_of(text))
        self._root = Parser(grammar.language).parse(self._data).root_node

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """What is defined, in the order of the text."""
        symbols: list[Symbol] = []
        around: list[tuple[_Definition, Symbol]] = []
        for it in sorted(self._definitions(), key=lambda it: (it.first, -it.last)):
            while around and around[-1][0].last < it.last:
                around.pop()
            within = around[-1][1] if around else None
            is_method = within is not None and within.kind == "class" and it.kind == "function"
            place = self._line(it.at), self._line(it.first), self._line(it.last)
            container = within.full_name if within else ""
            symbols.append(Symbol(it.name, "method" if is_method else it.kind, *place, container))
            around.append((it, symbols[-1]))
        return tuple(sorted(symbols, key=lambda it: it.line))

    def uses(self, name: str) -> list[int]:
        """The lines on which the name stands as a name: not in comments or strings."""
        word = _bytes_of(name)
        found = (match.start() for match in re.finditer(re.escape(word), self._data))
        return sorted({self._line(at) for at in found if self._is_name(at, at + len(word))})

    def calls(self, first: int, last: int) -> list[int]:
        """The lines among these on which something is called, or used as a type."""
        names = (it["name"][0] for _, it in self._tagged(REFERENCE) if "name" in it)
        return sorted({line for it in names if first <= (line := self._line(it.start_byte)) <= last})

    def has_name(self, text: str, start: int, name: str) -> bool:
        """Whether it stands there as a name, in characters of the text that this is the code of."""
        at = len(_bytes_of(text[:start]))
        return self._is_name(at, at + len(_bytes_of(name)))

    def comment_at(self, text: str, start: int) -> Comment | None:
        """The comment that this character is in, of the text that this is the code of."""
        at = len(_bytes_of(text[:start]))
        node, outermost = self._root.descendant_for_byte_range(at, at + 1), None
        while node is not None:
            outermost = node if "comment" in node.type else outermost
            node = node.parent
        if outermost is None:
            return None
        written = self._data[outermost.start_byte : outermost.end_byte].rstrip()
        end = outermost.start_byte + len(written)
        first, last = self._line(outermost.start_byte), self._line(end - 1)
        around = self._data[self._starts[first - 1] : outermost.start_byte], self._data[end : self._starts[last]]
        return Comment(first, last, written.decode("utf-8", "replace"), not b"".join(around).strip())

    def _is_name(self, start: int, end: int) -> bool:
        node = self._root.descendant_for_byte_range(start, end)
        if node is None or (node.start_byte, node.end_byte) != (start, end):
            return False
        while node is not None and not any(it in node.type for it in _CODE_AGAIN):
            if any(it in node.type for it in _NO_CODE):
                return False
            node = node.parent
        return True

    def _definitions(self) -> Iterable[_Definition]:
        found: dict[int, _Definition] = {}
        for tag, captures in self._tagged(DEFINITION):
            if "name" not in captures:
                continue
            name, node = captures["name"][0], captures[tag][0]
            spelled = self._data[name.start_byte : name.end_byte].decode("utf-8", "replace")
            last = max(node.start_byte, node.end_byte - 1)
            definition = _Definition(node.start_byte, last, spelled, name.start_byte, tag.removeprefix(DEFINITION))
            found.setdefault(name.start_byte, definition)
        return found.values()

    def _tagged(self, kind: str) -> Iterator[tuple[str, Mapping[str, list[Node]]]]:
        """What the grammar's tags of this kind have captured, each with its tag."""
        for _, captures in QueryCursor(self._grammar.tags).matches(self._root):
            tag = next((it for it in captures if it.startswith(kind)), None)
            if tag is not None:
                yield tag, captures

    def _line(self, byte: int) -> int:
        return bisect_right(self._starts, byte)


def around(symbols: Sequence[Symbol], line: int) -> str:
    """The full name of the innermost symbol that the line is part of, but for one that begins there."""
    inside = [it for it in symbols if it.first <= line <= it.last and it.line != line]
    return inside[-1].full_name if inside else ""


def symbols_in(path: Path, text: str) -> tuple[Symbol, ...]:
    """What the text defines; nothing if that cannot be told."""
    key = path.suffix.lower(), hashlib.sha256(_bytes_of(text)).digest()
    if (symbols := _symbols.get(key)) is None:
        code = code_of(path, text)
        symbols = _symbols[key] = code.symbols if code else ()
        if len(_symbols) > MAX_TEXTS:
            _symbols.pop(next(iter(_symbols)), None)
    return symbols


_symbols: dict[tuple[str, bytes], tuple[Symbol, ...]] = {}
"""By a text's language and digest, the last ones: the texts themselves are not kept for it."""


def code_of(path: Path, text: str) -> Code | None:
    """`None` if its language is not known, or it is too large."""
    if len(text) > MAX_CHARACTERS or (grammar := grammar_of(path)) is None:
        return None
    return Code(grammar, text)


def _bytes_of(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
