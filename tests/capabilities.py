"""Does Odin do what it was asked for? The tests of `tests/capabilities.txt` are run, and its rows printed with what
came of each: `python -m tests.capabilities [WORDS]`. With words: the rows of these names (`C-036`) or kinds (`P`)."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "tests" / "capabilities.txt"
AT_ONCE = 4
FEW = 20
"""Tests that are done before other processes have begun."""
Standing = Literal["shown", "design", "open", "failed"]
STANDINGS: tuple[Standing, ...] = ("shown", "design", "open", "failed")


@dataclass(slots=True)
class Row:
    name: str
    title: str
    tests: list[str] = field(default_factory=list[str])
    """As pytest names them, without parameters."""
    designs: list[str] = field(default_factory=list[str])
    """Headings of docs/design.md that say why another behavior serves the user better."""
    missing: list[str] = field(default_factory=list[str])

    @property
    def kind(self) -> str:
        return self.name.partition("-")[0]


# --- the table


def rows(table: Path = TABLE) -> list[Row]:
    found: list[Row] = []
    for line in table.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            _add(found[-1], line.strip())
        elif line and not line.startswith("#"):
            name, _, title = line.partition(" ")
            found.append(Row(name, title))
    return found


def _add(row: Row, shown_by: str) -> None:
    kind, _, what = shown_by.partition(": ")
    match kind:
        case "design":
            row.designs.append(what)
        case "open":
            row.missing.append(what)
        case _:
            row.tests.append(shown_by)


def named(found: Sequence[Row], words: Iterable[str]) -> list[Row]:
    """The rows that are meant by the words, or all; a `ValueError` names a word that means none."""
    meant: set[str] = set()
    for word in words:
        its = {row.name for row in found if word in (row.name, row.kind)}
        if not its:
            raise ValueError(f"no row and no kind is named {word!r}")
        meant |= its
    return [row for row in found if row.name in meant] if meant else list(found)


# --- what came of it


class Results:
    """A plugin of the run: what has passed, and what has not. All cases of a test have to pass."""

    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call" and report.passed:
            return
        test = report.nodeid.partition("[")[0]
        if self.outcomes.get(test, "passed") == "passed":
            self.outcomes[test] = report.outcome


def standing(row: Row, outcomes: Mapping[str, str]) -> Standing:
    if any(outcomes.get(test) != "passed" for test in row.tests):
        return "failed"
    if row.missing:
        return "open"
    return "shown" if row.tests else "design"


def report(found: Sequence[Row], outcomes: Mapping[str, str]) -> Iterator[str]:
    """Line by line: each row and what shows it, and at the end how many stand how."""
    for row in found:
        yield f"{row.name} {row.title}: {standing(row, outcomes)}"
        yield from (f"    {outcomes.get(test, 'not run')}: {test}" for test in row.tests)
        yield from (f"    design: {it}" for it in row.designs)
        yield from (f"    open: {it}" for it in row.missing)
    counts = Counter(standing(row, outcomes) for row in found)
    yield f"{len(found)} rows: {', '.join(f'{counts[it]} {it}' for it in STANDINGS)}"


def run(tests: Sequence[str]) -> dict[str, str]:
    results = Results()
    options = ["-q", "--tb=short", "--rootdir", str(ROOT)]
    if len(tests) > FEW:
        options += ["-n", str(AT_ONCE), "--dist", "worksteal"]
    if tests:
        pytest.main([*options, *(f"{ROOT / test}" for test in tests)], plugins=[results])
    return results.outcomes


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.capabilities")
    parser.add_argument("words", nargs="*")
    try:
        found = named(rows(), parser.parse_args().words)
    except ValueError as error:
        parser.error(str(error))
    outcomes = run(sorted({test for row in found for test in row.tests}))
    sys.stdout.writelines(f"{line}\n" for line in report(found, outcomes))
    return int(any(standing(row, outcomes) == "failed" for row in found))


if __name__ == "__main__":
    sys.exit(main())
