"""Commands within commands: what wrappers, shells and `find -exec` would run, as far as their words tell.

It finds too much rather than too little, for it only serves to recognise what is forbidden."""

import re
from collections.abc import Iterator, Sequence

from odin_lsp.patterns import program_name
from odin_lsp.permissions.shell.parse import Script, parse
from odin_lsp.permissions.shell.programs import CODE, SHELLS, is_wrapper

MAX_DEPTH = 4
MAX_INNER = 400
FIND_ACTIONS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
SHELL_CODE = re.compile(r"[\s;|&$`(]")
_TOKEN = re.compile(r"[^\s;|&()<>`\"'${}=]+")


def all_commands(script: Script, depth: int = 0) -> Iterator[tuple[str, ...]]:
    """Every command of the script, and every one that these would run."""
    for command in script.commands:
        yield from _with_inner(command.guess, depth)
    if script.texts and any(_runs_its_input(command.guess) for command in script.commands):
        for text in script.texts:
            yield from _in_code(text, depth)
    if "cannot parse" in script.problem:
        words = _TOKEN.findall(script.text)[:MAX_INNER]
        yield from (tuple(words[start:]) for start in range(len(words)))


def likely_commands(script: Script) -> Iterator[tuple[str, ...]]:
    """The commands of the script, each followed by what it most likely wraps: good enough to be shown."""
    for command in script.commands:
        argv = command.guess
        while argv:
            yield argv
            argv = _likely_inner(argv) if is_wrapper(program_name(argv[0])) else ()


def _likely_inner(argv: Sequence[str]) -> tuple[str, ...]:
    for start, word in enumerate(argv[1:], 1):
        if not word.startswith(("-", "+")) and "=" not in word and not re.fullmatch(r"[\d.]+[a-z]?", word):
            return tuple(argv[start:])
    return ()


def _with_inner(argv: tuple[str, ...], depth: int) -> Iterator[tuple[str, ...]]:
    if not argv:
        return
    yield argv
    name = program_name(argv[0])
    if depth >= MAX_DEPTH:
        return
    if is_wrapper(name) or name in SHELLS:
        for start in range(1, min(len(argv), MAX_INNER)):
            if not argv[start].startswith("-"):
                yield from _suffix(argv[start:], depth)
    elif name == "find":
        for place, word in enumerate(argv):
            if word in FIND_ACTIONS:
                yield from _with_inner(argv[place + 1 :], depth + 1)
    if name in CODE:
        yield from _in_code(" ".join(argv[1:]), depth)
    if name in CODE or name in SHELLS or is_wrapper(name):
        for word in argv[1:]:
            if SHELL_CODE.search(word):
                yield from _in_code(word, depth)


def _suffix(argv: tuple[str, ...], depth: int) -> Iterator[tuple[str, ...]]:
    """A wrapper in a wrapper is seen by its own suffixes already; only `find` and code need another look."""
    yield argv
    if program_name(argv[0]) == "find":
        yield from _with_inner(argv, depth + 1)


def _in_code(text: str, depth: int) -> Iterator[tuple[str, ...]]:
    if depth < MAX_DEPTH:
        yield from all_commands(parse(text), depth + 1)


def _runs_its_input(argv: Sequence[str]) -> bool:
    return any(program_name(word) in SHELLS or is_wrapper(program_name(word)) for word in argv)
