"""`odin-lsp completion`: a script with which a shell completes commands and options, made from the parser itself."""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from odin_lsp.printing import print_exactly

if TYPE_CHECKING:
    from argparse import Action, ArgumentParser, Namespace

INSTALL = (
    "in ~/.bashrc: source <(odin-lsp completion bash) · in ~/.zshrc, after compinit: source <(odin-lsp completion zsh) "
    "· for fish: odin-lsp completion fish > ~/.config/fish/completions/odin-lsp.fish"
)


@dataclass(frozen=True, slots=True)
class Word:
    """One that can be typed, and what it does."""

    text: str
    about: str


@dataclass(frozen=True, slots=True)
class Option:
    names: tuple[str, ...]
    about: str
    takes_value: bool
    values: tuple[str, ...] = ()
    """All that it takes, if these are few."""
    takes_path: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """What can be typed behind these commands."""

    commands: str
    words: tuple[Word, ...]
    options: tuple[Option, ...]

    @property
    def all(self) -> list[Word]:
        return [*self.words, *(Word(name, it.about) for it in self.options for name in it.names)]


def add_arguments(parser: "ArgumentParser") -> None:
    parser.description = INSTALL
    parser.add_argument("shell", choices=tuple(SCRIPTS))


def run(parser: "ArgumentParser", options: "Namespace") -> int:
    print_exactly(SCRIPTS[options.shell](list(places(parser))))
    return 0


def places(parser: "ArgumentParser", commands: str = "") -> Iterator[Place]:
    """The program's, and those of all its commands."""
    actions = _actions(parser)
    below = {name: it for action in actions for name, it in _commands(action).items()}
    positional = [it for it in actions if not it.option_strings]
    known = {it.dest: it.help or "" for action in positional for it in vars(action).get("_choices_actions", ())}
    words = [Word(name, known.get(name, "")) for name in below]
    words += [Word(str(value), "") for action in positional if not below for value in action.choices or ()]
    yield Place(commands, tuple(words), tuple(_option(it) for it in actions if it.option_strings))
    for name, it in below.items():
        yield from places(it, f"{commands} {name}".strip())


def _actions(parser: "ArgumentParser") -> "Sequence[Action]":
    """argparse offers no way to ask for them."""
    return vars(parser)["_actions"]


def _commands(action: "Action") -> "Mapping[str, ArgumentParser]":
    choices = cast("object", action.choices)
    return cast("Mapping[str, ArgumentParser]", choices) if isinstance(choices, Mapping) else {}


def _option(action: "Action") -> Option:
    return Option(
        names=tuple(action.option_strings),
        about=action.help or "",
        takes_value=action.nargs != 0,
        values=tuple(map(str, action.choices or ())),
        takes_path=action.type is Path or action.dest == "cwd",
    )


def _for_bash(found: Sequence[Place]) -> str:
    return f"""\
_odin_lsp() {{
    local place="" previous="${{COMP_WORDS[COMP_CWORD-1]}}" current="${{COMP_WORDS[COMP_CWORD]}}" words="" i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$place ${{COMP_WORDS[i]}}" in
            {_commands_pattern(found)}) place="${{place:+$place }}${{COMP_WORDS[i]}}" ;;
        esac
    done
    case "$place $previous" in
{_values(found, 'COMPREPLY=($(compgen -W {} -- "$current"))', "COMPREPLY=()", "COMPREPLY=()")}
    esac
    case "$place" in
{_lines(found, lambda it: f"words={shlex.quote(' '.join(word.text for word in it.all))}")}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _odin_lsp odin-lsp
"""


def _for_zsh(found: Sequence[Place]) -> str:
    return f"""\
#compdef odin-lsp
_odin_lsp() {{
    local place="" i
    local -a known
    for ((i = 2; i < CURRENT; i++)); do
        case "$place ${{words[i]}}" in
            {_commands_pattern(found)}) place="${{place:+$place }}${{words[i]}}" ;;
        esac
    done
    case "$place ${{words[CURRENT-1]}}" in
{_values(found, "compadd -- {}", "_files", "_message value", joined=False)}
    esac
    case "$place" in
{_lines(found, lambda it: f"known=({' '.join(shlex.quote(_described(word)) for word in it.all)})")}
    esac
    _describe -t commands odin-lsp known || _files
}}
compdef _odin_lsp odin-lsp
"""


def _for_fish(found: Sequence[Place]) -> str:
    commands = " ".join(_fish(it.commands) for it in found if it.commands)
    lines = [
        "function __odin_lsp_place",
        '    set -l place ""',
        "    for word in (commandline -opc)[2..]",
        '        set -l below (string trim -- "$place $word")',
        f'        contains -- "$below" {commands}; and set place "$below"',
        "    end",
        '    echo "$place"',
        "end",
    ]
    for place in found:
        here = f"-c odin-lsp -n {_fish(f'test (__odin_lsp_place) = {_fish(place.commands)}')}"
        lines += [f"complete {here} -f -a {_fish(it.text)} -d {_fish(it.about)}" for it in place.words]
        lines += [f"complete {here} {_fish_option(it)} -d {_fish(it.about)}" for it in place.options]
    return "\n".join([*lines, ""])


def _fish_option(option: Option) -> str:
    names = [f"-l {it.removeprefix('--')}" if it.startswith("--") else f"-s {it[1:]}" for it in option.names]
    values = [f"-a {_fish(' '.join(option.values))}"] if option.values else []
    takes = ["-r", *([] if option.takes_path else ["-f"])] if option.takes_value else ["-f"]
    return " ".join([*names, *takes, *values])


def _fish(text: str) -> str:
    return "'" + re.sub(r"(['\\])", r"\\\1", text) + "'"


def _described(word: Word) -> str:
    return f"{word.text}:{word.about}".replace(":", r"\:", word.text.count(":"))


def _commands_pattern(found: Sequence[Place]) -> str:
    """Each command behind those before it."""
    patterns = (it.commands.rpartition(" ") for it in found if it.commands)
    return " | ".join(shlex.quote(f"{before} {name}") for before, _, name in patterns)


def _values(found: Sequence[Place], few: str, path: str, other: str, *, joined: bool = True) -> str:
    """What follows an option that takes something."""
    lines: list[str] = []
    for place, option in ((it, option) for it in found for option in it.options if option.takes_value):
        quoted = shlex.quote(" ".join(option.values)) if joined else shlex.join(option.values)
        then = few.format(quoted) if option.values else path if option.takes_path else other
        pattern = " | ".join(shlex.quote(f"{place.commands} {name}") for name in option.names)
        lines.append(f"        {pattern}) {then}; return ;;")
    return "\n".join(lines)


def _lines(found: Sequence[Place], line: Callable[[Place], str]) -> str:
    return "\n".join(f"        {shlex.quote(it.commands)}) {line(it)} ;;" for it in found)


SCRIPTS: Mapping[str, Callable[[Sequence[Place]], str]] = {"bash": _for_bash, "zsh": _for_zsh, "fish": _for_fish}
