"""Would it be noticed if it came back? What was once wrong is put back into a copy of the repository, one thing at a
time, and the tests that should notice are run: `python -m tests.defects [WORDS]`. With words: what has one of them in
its name.

`tests/defects.txt` is the table. `tests/unit/test_defects.py` checks that it still fits the code. This module is also
a plugin of those runs: an example that fails is not made smaller."""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue

import pytest
from hypothesis import Phase, settings

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "tests" / "defects.txt"
LEFT_OUT = shutil.ignore_patterns(".git", ".nox", ".venv", "node_modules", "__pycache__", ".hypothesis")
AT_ONCE = os.cpu_count() or 1
PATIENCE_SECONDS = 120
"""Tests that take longer hang: that is noticed, too."""
NOTICED, HANGS = "noticed", "hangs"


@dataclass(frozen=True, slots=True)
class Change:
    file: str
    now: str
    """Whole lines, as they are."""
    then: str
    """And as they were."""

    def is_possible(self, root: Path) -> bool:
        file = root / self.file
        return file.is_file() and file.read_text(encoding="utf-8").count(self.now) == 1

    def make(self, root: Path) -> None:
        file = root / self.file
        file.write_text(file.read_text(encoding="utf-8").replace(self.now, self.then), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Defect:
    name: str
    changes: tuple[Change, ...]
    tests: tuple[str, ...]
    """Each of them fails with it."""


# --- the table


def defects() -> tuple[Defect, ...]:
    return tuple(_defect(name, lines) for name, lines in _entries(TABLE.read_text(encoding="utf-8")))


def _entries(table: str) -> Iterator[tuple[str, list[str]]]:
    """What stands indented below each name."""
    name, lines = "", list[str]()
    for line in (it for it in table.splitlines() if it and not it.startswith("#")):
        if line.startswith("    "):
            lines.append(line.removeprefix("    "))
            continue
        if name:
            yield name, lines
        name, lines = line, []
    if name:
        yield name, lines


def _defect(name: str, lines: Sequence[str]) -> Defect:
    changes: list[Change] = []
    tests: list[str] = []
    for line in lines:
        match line[0]:
            case "-":
                changes[-1] = replace(changes[-1], now=f"{changes[-1].now}{line[1:]}\n")
            case "+":
                changes[-1] = replace(changes[-1], then=f"{changes[-1].then}{line[1:]}\n")
            case _ if "::" in line:
                tests.append(line)
            case _:
                changes.append(Change(line, "", ""))
    return Defect(name, tuple(changes), tuple(tests))


# --- trying them

FAILED = ("FAILED ", "ERROR ")
"""How pytest tells of a test that failed, itself or at its end."""


def attempt(defect: Defect, copy: Path) -> str:
    """How it goes with the defect in the copy, which is as before afterwards."""
    if not all(it.is_possible(copy) for it in defect.changes):
        return "the code is another one now"
    with _as_before(copy / it.file for it in defect.changes):
        for change in defect.changes:
            change.make(copy)
        try:
            failed = run(defect.tests, copy)
        except RuntimeError as error:
            return str(error)
    if failed is None:
        return HANGS
    missed = [test for test in defect.tests if test not in failed]
    return f"not noticed by {', '.join(missed)}" if missed else NOTICED


def run(tests: Iterable[str], copy: Path, patience: float | None = PATIENCE_SECONDS) -> set[str] | None:
    """The tests that fail, without their parameters; `None` if they do not come to an end."""
    options = ("-q", "-rfE", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "tests.defects")
    own = copy.with_suffix(".tmp")
    own.mkdir(exist_ok=True)
    places = {"PYTHONPATH": str(copy), "TMPDIR": str(own), "PYTEST_DEBUG_TEMPROOT": str(own)}
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=copy,
        env={**os.environ, **places, "PYTHONDONTWRITEBYTECODE": ""},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            told, _ = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None
    if process.returncode not in (0, 1):
        raise RuntimeError(f"pytest could not run:\n{told}")
    lines = (line.split(maxsplit=1)[1] for line in told.splitlines() if line.startswith(FAILED))
    return {line.partition(" - ")[0].partition("[")[0] for line in lines}


@contextmanager
def _as_before(files: Iterable[Path]) -> Generator[None]:
    """With their times: Python has compiled them as they were then."""
    before = [(file, file.read_bytes(), file.stat()) for file in dict.fromkeys(files)]
    try:
        yield
    finally:
        for file, content, status in before:
            file.write_bytes(content)
            os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    of_tests = settings.get_profile("odin")
    settings.register_profile("defects", of_tests, phases=(Phase.generate,), derandomize=True, database=None)
    settings.load_profile("defects")


def _try_all(chosen: Sequence[Defect], folder: Path) -> Iterator[tuple[Defect, str]]:
    numbers = range(AT_ONCE)
    copies = [Path(shutil.copytree(ROOT, folder / str(it), ignore=LEFT_OUT, symlinks=True)) for it in numbers]
    tests = sorted({test for it in chosen for test in it.tests})
    free: SimpleQueue[Path] = SimpleQueue()
    for copy in copies:
        free.put(copy)

    def in_a_copy(defect: Defect) -> str:
        copy = free.get()
        try:
            return attempt(defect, copy)
        finally:
            free.put(copy)

    def share(number: int) -> set[str]:
        return run(tests[number::AT_ONCE], copies[number], patience=None) or set()

    with ThreadPoolExecutor(AT_ONCE) as threads:
        try:
            anyway = {test for failed in threads.map(share, numbers[: len(tests)]) for test in failed}
            for defect, end in zip(chosen, threads.map(in_a_copy, chosen), strict=True):
                fails = [test for test in defect.tests if test in anyway]
                yield defect, f"fails without it: {', '.join(fails)}" if fails else end
        finally:
            threads.shutdown(wait=False, cancel_futures=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.defects")
    parser.add_argument("words", nargs="*")
    words = parser.parse_args().words
    chosen = [it for it in defects() if not words or any(word in it.name for word in words)]
    ends: Counter[bool] = Counter()
    with tempfile.TemporaryDirectory(prefix="odin-defects-") as folder:
        for defect, end in _try_all(chosen, Path(folder)):
            ends[end in (NOTICED, HANGS)] += 1
            sys.stdout.write(f"{defect.name}: {end}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{ends[True]} of {len(chosen)} are noticed\n")
    return int(not chosen or bool(ends[False]))


if __name__ == "__main__":
    sys.exit(main())
