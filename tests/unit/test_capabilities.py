"""What Odin was asked for, row by row: `tests/capabilities.txt` says which tests show it."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "tests" / "capabilities.txt"
DESIGN = ROOT / "docs" / "design.md"
ASKED_FOR = {
    "N": "01-58",
    "O": "001-018 020-028 030-038 040-047 050-080 090-105",
    "L": "001-046",
    "C": "001-017 020-022 030-040 045-049 055-061 065-069 075-088 090-096 100-105 110-124",
    "D": "001-024",
    "P": "001-029",
    "K": "01-38 40-48 50-57 60-67 70-75",
}


def test_every_row_is_there_and_says_where_it_is_shown():
    assert list(rows()) == list(asked_for())
    assert [row for row, shown in rows().items() if not shown] == []


def test_whatever_a_row_names_is_there():
    named = {(row, it) for row, shown in rows().items() for it in shown}

    assert sorted(f"{row} names {it}" for row, it in named if not is_there(it)) == []


def asked_for() -> Iterator[str]:
    for kind, spans in ASKED_FOR.items():
        for first, last in (span.split("-") for span in spans.split()):
            yield from (f"{kind}-{number:0{len(first)}}" for number in range(int(first), int(last) + 1))


@cache
def rows() -> dict[str, list[str]]:
    """What stands indented below each row."""
    found: dict[str, list[str]] = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            found[next(reversed(found))].append(line.strip())
        elif line and not line.startswith("#"):
            row, _, name = line.partition(" ")
            assert name, f"{row} has no name"
            assert row not in found, f"{row} stands there twice"
            found[row] = []
    return found


def is_there(named: str) -> bool:
    kind, _, what = named.partition(": ")
    match kind:
        case "open":
            return bool(what)
        case "design":
            return what in headings()
        case _:
            file, _, test = named.partition("::")
            return test in collected_from(ROOT / file)


@cache
def headings() -> set[str]:
    lines = DESIGN.read_text(encoding="utf-8").splitlines()
    return {line.lstrip("#").strip() for line in lines if line.startswith("#")}


@cache
def collected_from(path: Path) -> set[str]:
    """Their names, as pytest would collect them; nothing is imported for it."""
    if not path.is_file():
        return set()
    return set(_names(ast.parse(path.read_text(encoding="utf-8")), ""))


def _names(of: ast.Module | ast.ClassDef, prefix: str) -> Iterator[str]:
    for node in of.body:
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from _names(node, f"{node.name}::")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            yield f"{prefix}{node.name}"
