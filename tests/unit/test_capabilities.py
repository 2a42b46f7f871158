"""What Odin was asked for, row by row: `tests/capabilities.txt` says which tests show it, and
`python -m tests.capabilities` runs them."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.capabilities import ROOT, Row, named, report, rows, standing

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
    found = rows()

    assert [it.name for it in found] == list(asked_for())
    assert [it.name for it in found if not (it.title and [*it.tests, *it.designs, *it.missing])] == []


def test_whatever_a_row_names_is_there():
    shown_by = {(row.name, test) for row in rows() for test in row.tests}
    explained_by = {(row.name, it) for row in rows() for it in row.designs}

    assert sorted(f"{row} names {test}" for row, test in shown_by if not is_there(test)) == []
    assert sorted(f"{row} names {it}" for row, it in explained_by if it not in headings()) == []


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ((), ["C-001", "C-002", "P-001"]),
        (("C",), ["C-001", "C-002"]),
        (("P", "C-002"), ["C-002", "P-001"]),
    ],
)
def test_rows_are_chosen_by_their_names_and_kinds(words, meant):
    found = [Row("C-001", "a"), Row("C-002", "b"), Row("P-001", "c")]

    assert [it.name for it in named(found, words)] == meant


def test_a_word_that_means_no_row_is_said():
    with pytest.raises(ValueError, match="'C-01'"):
        named([Row("C-001", "a")], ["C-01"])


def test_a_row_is_shown_if_all_its_tests_have_passed():
    outcomes = {"good": "passed", "bad": "failed", "left out": "skipped"}
    found = [
        Row("A-1", "shown", ["good"], ["Why it is otherwise in part"]),
        Row("A-2", "design", designs=["Why it is otherwise"]),
        Row("A-3", "open", ["good"], missing=["the rest"]),
        *(Row(f"A-{number}", "failed", ["good", it]) for number, it in enumerate(("bad", "left out", "gone"), 4)),
    ]

    assert [standing(it, outcomes) for it in found] == [it.title for it in found]
    *lines, last = report(found, outcomes)
    assert lines[:3] == ["A-1 shown: shown", "    passed: good", "    design: Why it is otherwise in part"]
    assert lines[-1] == "    not run: gone"
    assert last == "6 rows: 1 shown, 1 design, 1 open, 3 failed"


def test_what_shows_a_row_is_run_and_told():
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "tests.capabilities"]

    ran = subprocess.run([*command, "N-10"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    unknown = subprocess.run([*command, "N-1"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    [row] = named(rows(), ["N-10"])
    told = [f"N-10 {row.title}: shown", *(f"    passed: {it}" for it in row.tests)]
    assert ran.stdout.splitlines()[-len(told) - 1 :] == [*told, "1 rows: 1 shown, 0 design, 0 open, 0 failed"]
    assert (ran.returncode, unknown.returncode) == (0, 2)
    assert "'N-1'" in unknown.stderr


def asked_for() -> Iterator[str]:
    for kind, spans in ASKED_FOR.items():
        for first, last in (span.split("-") for span in spans.split()):
            yield from (f"{kind}-{number:0{len(first)}}" for number in range(int(first), int(last) + 1))


def is_there(test: str) -> bool:
    file, _, name = test.partition("::")
    return name in collected_from(ROOT / file)


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
