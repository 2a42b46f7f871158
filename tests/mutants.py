"""Would the tests notice? Small changes to the code, drawn by a seed from all that could be made, each tried with the
tests that reach it: `python -m tests.mutants [--count 300] [--seed 1]`. Code that stays as it is keeps its mutants.

pytest collects the tests once. A forked process runs all of them, to learn which reach what; then each mutant gets a
process of its own, in which the code of one function is exchanged in memory. No file changes, no state is shared.

What runs at import is not changed, nor is wording: sentences and f-strings. A test that starts Odin as a process sees
it as it is, and notices nothing."""

import argparse
import ast
import difflib
import gc
import hashlib
import importlib
import json
import math
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

import odin_lsp

FOLDERS = ("agent", "permissions", "review", "workspace")
ELSEWHERE = (
    *("permissions/landlock.py", "permissions/namespaces.py", "permissions/seccomp.py"),
    "workspace/fallback_search.py",
)
"""They run in processes of their own."""
TESTS = (
    "tests/unit",
    "tests/providers/test_turn_faults.py",
    *(
        f"tests/adversarial/test_{name}.py"
        for name in (
            *("agents", "config", "edits", "fidelity", "git", "paths", "protected", "review_approvals"),
            *("search_safety", "shell", "text_fidelity", "then_and_now"),
        )
    ),
)
WITHOUT = (
    "tests/adversarial/test_paths.py::test_path_12",
    "tests/adversarial/test_shell.py::test_mutated_commands_that_are_allowed_do_no_harm",
    "tests/adversarial/test_shell.py::test_readers_do_not_notice_that_they_are_held",
    "tests/adversarial/test_shell.py::test_what_is_allowed_starts_nothing_that_was_not_predicted",
    "tests/unit/agent/test_growth.py",
    "tests/unit/workspace/test_text.py::test_after_any_edits_server_and_editor_hold_the_same_bytes",
)
"""The other tests, and these, start a whole server or many programs, or take long."""
ENOUGH = 0.9
EXAMPLES = "10"
"""Of each property: it is tried for many mutants."""
AT_ONCE = os.cpu_count() or 1
SURVIVED, KILLED, BROKEN = 0, 1, 2
ENDS = {SURVIVED: "survived", KILLED: "killed", -signal.SIGKILL: "timeout"}
"""How the process of a mutant ended."""
PATIENCE_SECONDS, PATIENCE = 20, 5
"""A mutant may take so long, and so many times what its tests take without it."""
ROOT = Path(odin_lsp.__file__).parent
OTHERWISE: dict[type[ast.AST], type[Any]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
    ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip

Place = tuple[str, str, int]
"""Of a function: its file, its name, and the line where it begins."""
Functions = dict[Place, list[FunctionType]]


@dataclass(frozen=True, slots=True)
class Mutant:
    function: Place
    start: int
    end: int
    instead: str
    statement: ast.stmt
    """What has to be reached for the change to be noticed."""
    named: str
    """By where it is and what it does, whatever the lines around it."""

    @property
    def folder(self) -> str:
        return Path(self.function[0]).relative_to(ROOT).parts[0]

    def source(self) -> bytes:
        source = Path(self.function[0]).read_bytes()
        return source[: self.start] + self.instead.encode() + source[self.end :]

    def diff(self) -> Iterator[str]:
        file, name, _ = self.function
        shown = f"{Path(file).relative_to(ROOT.parent)} {name}"
        before, after = (text.decode().splitlines() for text in (Path(file).read_bytes(), self.source()))
        return difflib.unified_diff(before, after, shown, shown, n=2, lineterm="")


# --- what could be changed


def mutants_of(file: Path) -> Iterator[Mutant]:
    source = file.read_bytes()
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    alike: Counter[str] = Counter()
    for name, function in _outermost(ast.parse(source), file.relative_to(ROOT).as_posix()):
        place = (str(file), function.name, _first_line(function))
        for statement, node, instead in _within(function, function):
            start = lines[node.lineno - 1] + node.col_offset
            end = lines[node.end_lineno - 1] + node.end_col_offset
            change = f"{name}: {ast.unparse(node)} -> {instead}"
            alike[change] += 1
            yield Mutant(place, start, end, instead, statement, f"{change} ({alike[change]})")


def _outermost(node: ast.AST, name: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield f"{name}.{child.name}", child
            case ast.ClassDef():
                yield from _outermost(child, f"{name}.{child.name}")
            case _:
                yield from _outermost(child, name)


def _first_line(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min(node.lineno for node in (function, *function.decorator_list))


def _within(node: ast.AST, statement: ast.stmt) -> Iterator[tuple[ast.stmt, Any, str]]:
    for child in _children(node):
        around = child if isinstance(child, ast.stmt) else statement
        yield from ((around, changed, instead) for changed, instead in _changes(child))
        yield from _within(child, around)


def _children(node: ast.AST) -> list[ast.AST]:
    """Without types, wording, and what runs when a function is made."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return [*node.body]
        case ast.AnnAssign():
            return [node.value] if node.value else []
        case ast.Call(func=ast.Name("cast")):
            return [*node.args[1:]]
        case ast.JoinedStr() | ast.Expr(value=ast.Constant()) | ast.ClassDef():
            return []
        case _:
            return list(ast.iter_child_nodes(node))


def _changes(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    match node:
        case ast.Compare(left, [op], [right]):
            yield node, ast.unparse(ast.Compare(left, [OTHERWISE[type(op)]()], [right]))
        case ast.BoolOp(op, values):
            yield node, ast.unparse(ast.BoolOp(OTHERWISE[type(op)](), values))
        case ast.BinOp(left, op, right) if type(op) in OTHERWISE:
            yield node, ast.unparse(ast.BinOp(left, OTHERWISE[type(op)](), right))
        case ast.UnaryOp(ast.Not(), operand):
            yield node, ast.unparse(operand)
        case ast.Constant(bool(value)):
            yield node, str(not value)
        case ast.Constant(int(value)):
            yield node, str(value + 1)
        case ast.Constant(str(value)) if " " not in value:
            yield node, repr(f"{value}X")
        case ast.Call(func, arguments, keywords):
            for left_out in keywords:
                rest = [keyword for keyword in keywords if keyword is not left_out]
                yield node, ast.unparse(ast.Call(func, arguments, rest))
        case ast.Expr(ast.Call() | ast.Await()) | ast.Raise() | ast.Delete():
            yield node, "pass"
        case ast.Assign([ast.Name() | ast.Attribute() as target], value) if not _is_none(value):
            yield node, f"{ast.unparse(target)} = None"
        case ast.AugAssign(target, _, value):
            yield node, f"{ast.unparse(target)} = {ast.unparse(value)}"
        case ast.Return(ast.expr() as value) if not _is_none(value):
            yield node, "return None"
        case ast.Continue():
            yield node, "break"
        case ast.Break():
            yield node, "continue"
        case _:
            pass
    if isinstance(node, ast.If | ast.While | ast.IfExp) and not isinstance(node.test, ast.Compare | ast.UnaryOp):
        yield node.test, f"not ({ast.unparse(node.test)})"


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def draw(count: int, seed: int) -> list[Mutant]:
    """As many of each folder: those whose names, hashed with the seed, come first."""

    def order(mutant: Mutant) -> bytes:
        return hashlib.sha256(f"{seed} {mutant.named}".encode()).digest()

    drawn: list[Mutant] = []
    for folder in FOLDERS:
        files = {*(ROOT / folder).rglob("*.py")} - {ROOT / file for file in ELSEWHERE}
        possible = [mutant for file in files for mutant in mutants_of(file)]
        drawn += sorted(possible, key=order)[: count // len(FOLDERS)]
    return drawn


# --- exchanging code


def _functions() -> Functions:
    for folder in FOLDERS:
        for file in (ROOT / folder).rglob("*.py"):
            importlib.import_module(".".join(file.relative_to(ROOT.parent).with_suffix("").parts))
    functions: Functions = {}
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and thing.__code__.co_filename.startswith(str(ROOT)):
            functions.setdefault(_place(thing.__code__), []).append(thing)
    return functions


def _place(code: CodeType) -> Place:
    return code.co_filename, code.co_name, code.co_firstlineno


def _exchange(functions: Functions, place: Place, module: ast.Module | bytes) -> None:
    """Also the code of those that it has made at import."""
    for code in _codes(compile(module, place[0], "exec")):
        if _place(code) == place:
            for it in (code, *_codes(code)):
                for function in functions.get(_place(it), ()):
                    function.__code__ = it


def _codes(code: CodeType) -> Iterator[CodeType]:
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner
            yield from _codes(inner)


def _watch(functions: Functions, mutants: Sequence[Mutant], reached: set[int]) -> None:
    """Have every function that a mutant changes note when it gets to that statement."""
    sys.modules["builtins"].mutant_reached = reached.add
    for file in {mutant.function[0] for mutant in mutants}:
        module = ast.parse(Path(file).read_bytes())
        here = [(number, mutant) for number, mutant in enumerate(mutants) if mutant.function[0] == file]
        for node in [*ast.walk(module)]:
            for field, body in [*ast.iter_fields(node)]:
                if isinstance(body, list) and any(isinstance(it, ast.stmt) for it in body):
                    setattr(node, field, [noted for it in body for noted in (*_notes(it, here), it)])
        for place in {mutant.function for _, mutant in here}:
            _exchange(functions, place, ast.fix_missing_locations(module))


def _notes(statement: ast.stmt, mutants: Sequence[tuple[int, Mutant]]) -> Iterator[ast.stmt]:
    for number, mutant in mutants:
        if (mutant.statement.lineno, mutant.statement.col_offset) == (statement.lineno, statement.col_offset):
            [note] = ast.parse(f"mutant_reached({number})").body
            yield ast.copy_location(note, statement)


# --- trying them


Job = tuple[str, Callable[[], int], float]
"""Its name, its work, and how many seconds it may take."""


class Trials:
    """A plugin of pytest, in place of its loop."""

    def __init__(self, mutants: Sequence[Mutant], folder: Path) -> None:
        self.ends: dict[int, str] = {}
        self.failed: list[str] = []
        """These fail without any change, and are left out."""
        self._mutants = mutants
        self._folder = folder
        self._functions: Functions = {}
        self._items: dict[str, pytest.Item] = {}
        self._reaching: dict[int, list[str]] = {number: [] for number in range(len(mutants))}
        self._seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._items = {item.nodeid: item for item in session.items}
        self._functions = _functions()
        gc.freeze()
        self._learn()
        self._try_all()
        return True

    def _learn(self) -> None:
        files = sorted({item.path for item in self._items.values()})
        parts = {f"part-{number}": files[number::AT_ONCE] for number in range(AT_ONCE)}
        for part, _ in self._run((part, partial(self._note, part, of), math.inf) for part, of in parts.items()):
            failed, found = json.loads((self._folder / f"{part}.json").read_text())
            self.failed += failed
            for test, (seconds, reached) in found.items():
                self._seconds[test] = seconds
                for number in reached if test not in failed else ():
                    self._reaching[number].append(test)
        for tests in self._reaching.values():
            tests.sort(key=lambda test: self._seconds[test])

    def _note(self, part: str, files: list[Path]) -> int:
        reached: set[int] = set()
        found: dict[str, tuple[float, list[int]]] = {}
        _watch(self._functions, self._mutants, reached)
        began = time.monotonic()
        for test in self._tests([item for item in self._items.values() if item.path in files]):
            found[test] = time.monotonic() - began, sorted(reached)
            reached.clear()
            began = time.monotonic()
        (self._folder / f"{part}.json").write_text(json.dumps([self.failed, found]))
        return SURVIVED

    def _try_all(self) -> None:
        jobs = [
            (
                str(number),
                partial(self._try, number),
                PATIENCE_SECONDS + PATIENCE * sum(self._seconds[it] for it in tests),
            )
            for number, tests in self._reaching.items()
            if tests
        ]
        self.ends = {number: "no tests" for number, tests in self._reaching.items() if not tests}
        for name, end in self._run(jobs):
            self.ends[int(name)] = ENDS.get(end, "broken")
            sys.stdout.write(f"\r{len(self.ends)} of {len(self._mutants)}")
            sys.stdout.flush()

    def _try(self, number: int) -> int:
        mutant = self._mutants[number]
        _exchange(self._functions, mutant.function, mutant.source())
        self.failed.clear()
        for _ in self._tests([self._items[test] for test in self._reaching[number]]):
            if self.failed:
                return KILLED
        return SURVIVED

    def _tests(self, items: Sequence[pytest.Item]) -> Iterator[str]:
        """Run them; each is named when it has ended."""
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            yield item.nodeid

    def _run(self, jobs: Iterable[Job]) -> Iterator[tuple[str, int]]:
        """Each in a process of its own, a few at once; how they end. Those that take too long are ended."""
        waiting = list(jobs)
        running: dict[int, tuple[str, float]] = {}
        try:
            while waiting or running:
                while waiting and len(running) < AT_ONCE:
                    name, work, patience = waiting.pop(0)
                    running[self._fork(name, work)] = name, time.monotonic() + patience
                time.sleep(0.02)
                for process, (name, deadline) in list(running.items()):
                    if time.monotonic() > deadline:
                        os.killpg(process, signal.SIGKILL)
                    done, status = os.waitpid(process, os.WNOHANG)
                    if done:
                        del running[process]
                        shutil.rmtree(self._folder / name, ignore_errors=True)
                        yield name, os.waitstatus_to_exitcode(status)
        finally:
            for process in running:
                os.killpg(process, signal.SIGKILL)

    def _fork(self, name: str, work: Callable[[], int]) -> int:
        """A process with a home of its own, of which nothing is heard."""
        process = os.fork()
        if process:
            return process
        end = BROKEN
        try:
            os.setpgid(0, 0)
            nothing = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(nothing, descriptor)
            own = self._folder / name
            own.mkdir()
            os.environ["TMPDIR"] = os.environ["PYTEST_DEBUG_TEMPROOT"] = tempfile.tempdir = str(own)
            sys.modules["tests.conftest"]._forget_the_person()
            end = work()
        finally:
            os._exit(end)


# --- telling of it


def table(mutants: Sequence[Mutant], ends: dict[int, str]) -> Iterator[str]:
    columns = ("killed", "survived", "timeout", "no tests", "broken")
    yield f"{'folder':12} {'drawn':>8} {' '.join(f'{column:>8}' for column in columns)} {'score':>7}"
    for folder in (*FOLDERS, "all"):
        here = [end for number, end in ends.items() if folder in (mutants[number].folder, "all")]
        counted = Counter(here)
        figures = " ".join(f"{counted[column]:8}" for column in columns)
        yield f"{folder:12} {len(here):8} {figures} {score(here):7.1%}"


def score(ends: Sequence[str]) -> float:
    """Tests that never end are noticed too."""
    return sum(end in ("killed", "timeout") for end in ends) / len(ends)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    mutants = draw(wanted.count, wanted.seed)
    with tempfile.TemporaryDirectory(prefix="odin-mutants-") as folder:
        trials = Trials(mutants, Path(folder))
        os.environ |= {"FUZZ_EXAMPLES": EXAMPLES, "HYPOTHESIS_STORAGE_DIRECTORY": folder}
        options = ("-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed", "0")
        without = (f"--deselect={test}" for test in WITHOUT)
        if code := pytest.main([*options, *without, *TESTS], plugins=[trials]):
            return int(code)
    for test in trials.failed:
        sys.stdout.write(f"\nfails without any change, and was left out: {test}\n")
    for number in sorted(trials.ends):
        if trials.ends[number] != "killed":
            sys.stdout.write("\n".join([f"\n{trials.ends[number]}:", *mutants[number].diff(), ""]))
    sys.stdout.write("\n".join([f"\nseed {wanted.seed}", *table(mutants, trials.ends), ""]))
    return int(score([*trials.ends.values()]) < ENOUGH)


if __name__ == "__main__":
    sys.exit(main())
