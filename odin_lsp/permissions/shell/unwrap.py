"""Commands within commands: what wrappers, shells and `find -exec` would run, as far as their words tell.

It finds too much rather than too little, for it only serves to recognise what is forbidden."""

import re
from collections.abc import Iterator, Sequence

from odin_lsp.patterns import program_name
from odin_lsp.permissions.shell.parse import CANNOT_PARSE, Script, parse
from odin_lsp.permissions.shell.programs import CODE, SHELLS, is_wrapper, runs_others

MAX_DEPTH = 4
MAX_WORDS = 40
"""Of an inner command: enough to recognise it."""
MAX_WRAPPERS = 10
FIND_ACTIONS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
SHELL_CODE = re.compile(r"[\s;|&$`(]")
_TOKEN = re.compile(r"[^\s;|&()<>`\"'${}=]+")


def likely_commands(script: Script) -> Iterator[tuple[str, ...]]:
    """The commands of the script, each followed by what it most likely wraps: good enough to be shown."""
    for command in script.commands:
        argv = command.guess
        for _ in range(MAX_WRAPPERS):
            if argv:
                yield argv
                argv = _likely_inner(argv) if is_wrapper(program_name(argv[0])) else ()


def _likely_inner(argv: Sequence[str]) -> tuple[str, ...]:
    for start, word in enumerate(argv[1:], 1):
        if not word.startswith(("-", "+")) and "=" not in word and not re.fullmatch(r"[\d.]+[a-z]?", word):
            return tuple(argv[start:])
    return ()


class Inside:
    """The script and those that are written in its words; and every command of them, with what these would run."""

    def __init__(self, script: Script) -> None:
        self.scripts: list[Script] = []
        self.commands: list[tuple[str, ...]] = []
        self.too_deep = False
        self._add(script, 0)

    def _add(self, script: Script, depth: int) -> None:
        self.scripts.append(script)
        for command in script.commands:
            self._add_command(command.guess, depth)
        if script.texts and any(_runs_its_input(command.guess) for command in script.commands):
            for text in script.texts:
                self._add_code(text, depth)
        if CANNOT_PARSE in script.problem:
            words = tuple(_TOKEN.findall(script.text))
            self.commands += (words[start : start + MAX_WORDS] for start in range(len(words)))

    def _add_command(self, argv: tuple[str, ...], depth: int) -> None:
        if not argv:
            return
        self.commands.append(argv)
        name = program_name(argv[0])
        if name == "find":
            for place, word in enumerate(argv):
                if word in FIND_ACTIONS and not self._is_too_deep(depth):
                    self._add_command(argv[place + 1 :], depth + 1)
        if not runs_others(argv):
            return
        self.commands += (argv[start : start + MAX_WORDS] for start in range(1, len(argv)))
        for code in {" ".join(argv[1:]) if name in CODE else "", *argv[1:], *map(_attached, argv[1:])}:
            if SHELL_CODE.search(code):
                self._add_code(code, depth)

    def _add_code(self, text: str, depth: int) -> None:
        if not self._is_too_deep(depth):
            self._add(parse(text), depth + 1)

    def _is_too_deep(self, depth: int) -> bool:
        self.too_deep = self.too_deep or depth == MAX_DEPTH
        return depth == MAX_DEPTH


def _attached(word: str) -> str:
    """The value that is written into an option."""
    if not word.startswith("-"):
        return ""
    return word.partition("=")[2] if word.startswith("--") else word[2:].removeprefix("=")


def _runs_its_input(argv: Sequence[str]) -> bool:
    return any(program_name(word) in SHELLS or is_wrapper(program_name(word)) for word in argv)
