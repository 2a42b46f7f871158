"""Which rows of the security catalogue were tried and held, by the names of the tests: `test_path_10_…`, `TestExec07…`.

A pytest plugin (`-p tests.adversarial.table`): it runs the tests of this folder and those elsewhere that name a row,
and prints the table at the end. A row that no test names was not tried."""

import re
from collections import defaultdict
from collections.abc import Iterator

import pytest

ROWS = {
    "EXEC": 15, "PATH": 24, "TXT": 15, "EDIT": 22, "CFG": 12, "TRUST": 4, "APPR": 7, "MODE": 6, "NET": 16, "INJ": 12,
    "SEC": 7, "SES": 12, "PROV": 20, "RPC": 12, "MCP": 9, "AGT": 2, "RED": 3,
}  # fmt: skip
"""Areas of the catalogue, and how many rows each has."""
IN_FUNCTION = re.compile(r"test_([a-z]+)_(\d\d(?!\d)(?:_\d\d(?!\d|_\d{3}))*)")
"""Several rows may follow each other; a number in the words after them, such as `10_000`, is none."""
IN_CLASS = re.compile(r"Test([A-Z][a-z]+)(\d\d)")
HERE = "tests/adversarial/"

tried: dict[str, list[str]] = defaultdict(list)
"""How the tests of each row ended."""


def rows_of(nodeid: str) -> Iterator[str]:
    for area, numbers in (*IN_FUNCTION.findall(nodeid), *IN_CLASS.findall(nodeid)):
        for number in numbers.split("_"):
            if 1 <= int(number) <= ROWS.get(area.upper(), 0):
                yield f"{area.upper()}-{number}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    others = [item for item in items if HERE not in item.nodeid and not any(rows_of(item.nodeid))]
    items[:] = [item for item in items if item not in others]
    config.hook.pytest_deselected(items=others)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or report.outcome != "passed":
        for row in set(rows_of(report.nodeid)):
            tried[row].append(report.outcome)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.section("rows of the catalogue")
    for area, count in ROWS.items():
        for row in (f"{area}-{number:02}" for number in range(1, count + 1)):
            terminalreporter.write_line(f"{row:9} {_said(tried[row])}")
    all_tried = [outcomes for outcomes in tried.values() if outcomes]
    held = sum(set(outcomes) == {"passed"} for outcomes in all_tried)
    terminalreporter.write_line(f"{held} held of {len(all_tried)} tried; the catalogue has {sum(ROWS.values())}")


def _said(outcomes: list[str]) -> str:
    if not outcomes:
        return "not tried"
    failed = sum(outcome != "passed" for outcome in outcomes)
    number = f"{len(outcomes)} test{'s' if len(outcomes) > 1 else ''}"
    return f"DID NOT HOLD ({failed} of {number})" if failed else f"held ({number})"
