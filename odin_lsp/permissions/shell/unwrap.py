"""Commands within commands: what wrappers, shells and `find -exec` would run, as far as their words tell.

It finds too much rather than too little, for it only serves to recognise what is forbidden."""

import re
from collections.abc import Iterator, Sequence

from odin_lsp.patterns import program_name
from odin_lsp.permissions.shell.parse import CANNOT_PARSE, Script, parse
from odin_lsp.permissions.shell.programs import CODE, SHELLS, is_wrapper

MAX_DEPTH = 4
MAX_INNER = 400
FIND_ACTIONS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
SHELL_CODE = re.compile(r"[\s;|&$`(]")
_TOKEN = re.compile(r"[^\s;|&()<>`\"'${}=]+")


def look_inside(script: Script) -> tuple[list[Script], list[tuple[str, ...]]]:
    """The script and those that are written in its words; and every command of them, with what these would run."""
    inside = _Inside()
    inside.add(script, 0)
    return inside.scripts, inside.commands


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


class _Inside:
    def __init__(self) -> None:
        self.scripts: list[Script] = []
        self.commands: list[tuple[str, ...]] = []

    def add(self, script: Script, depth: int) -> None:
        self.scripts.append(script)
        for command in script.commands:
            self._add_command(command.guess, depth)
        if script.texts and any(_runs_its_input(command.guess) for command in script.commands):
            for text in script.texts:
                self._add_code(text, depth)
        if CANNOT_PARSE in script.problem:
            words = _TOKEN.findall(script.text)[:MAX_INNER]
            self.commands += (tuple(words[start:]) for start in range(len(words)))

    def _add_command(self, argv: tuple[str, ...], depth: int) -> None:
        if not argv:
            return
        self.commands.append(argv)
        name = program_name(argv[0])
        if depth >= MAX_DEPTH:
            return
        if name == "find":
            for place, word in enumerate(argv):
                if word in FIND_ACTIONS:
                    self._add_command(argv[place + 1 :], depth + 1)
        if not is_wrapper(name) and name not in SHELLS:
            return
        for start in range(1, min(len(argv), MAX_INNER)):
            if argv[start] in FIND_ACTIONS or not argv[start].startswith("-"):
                self.commands.append(argv[start:])
        for code in {" ".join(argv[1:]) if name in CODE else "", *argv[1:]}:
            if SHELL_CODE.search(code):
                self._add_code(code, depth)

    def _add_code(self, text: str, depth: int) -> None:
        if depth < MAX_DEPTH:
            self.add(parse(text), depth + 1)


def _runs_its_input(argv: Sequence[str]) -> bool:
    return any(program_name(word) in SHELLS or is_wrapper(program_name(word)) for word in argv)
