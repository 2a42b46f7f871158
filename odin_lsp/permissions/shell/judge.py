"""The verdict on a command: allow what is understood and only reads, deny what is forbidden, ask about the rest."""

import glob
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Literal

from odin_lsp.modes import Mode
from odin_lsp.patterns import CommandPattern, program_name
from odin_lsp.permissions import sandbox
from odin_lsp.permissions.program_search import Program, ProgramSearch
from odin_lsp.permissions.reader import Reads
from odin_lsp.permissions.rules import Rules
from odin_lsp.permissions.shell import floor, git, programs, readers
from odin_lsp.permissions.shell.grammar import NotUnderstood
from odin_lsp.permissions.shell.parse import Command, Script, parse
from odin_lsp.permissions.shell.places import Places
from odin_lsp.permissions.shell.readers import Use
from odin_lsp.permissions.shell.unwrap import Inside, likely_commands
from odin_lsp.workspace.uris import printable

MAX_MATCHES = 200
MAX_GLOBS = 3
LONGEST = 20_000
LONGEST_OFFER = 120
OPTION_LETTERS = re.compile(r"-[^-][A-Za-z0-9]*")
PROGRAM = re.compile(r"[A-Za-z0-9_./+-]+")
PLAIN = "write plain commands joined by `;`, `&&` or `|`, with values in place of variables and substitutions"
READERS = "cat, diff, find, git diff, git log, grep, head, ls, rg, sort, tail and wc are some that do"
SHOWS_HIDDEN = "it would also print files that your settings hide; the Grep tool spares them"
PRIVILEGED = "`{}` runs commands as another user; it is refused unless a rule allows it, and then Odin asks each time"
SWITCH = "the user can switch to Edit for anything else"

Decision = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    program: str
    """Where it is, if that is known; else as it is written."""
    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommandVerdict:
    decision: Decision
    reason: str
    commands: tuple[SimpleCommand, ...]
    """All that would run, at any depth, as far as the text tells."""
    hardened: str
    """The text to run if it is allowed: means what was judged, and nothing else."""
    background: bool
    offer_rule: str | None
    """The beginning of commands that may be offered as "always allow"."""
    reads: Reads | None = None
    """What it may open, if it is allowed because it only reads; then it is held to that."""
    programs: tuple[Program, ...] = ()
    """What the names mean of all that is more than reading; what they mean later must be the same."""


def judge(
    command: str,
    *,
    mode: Mode,
    cwd: Path,
    roots: Sequence[Path],
    rules: Rules,
    held: bool | None = None,
    search: ProgramSearch | None = None,
) -> CommandVerdict:
    """`held`: what only reads is held to reading by the system; left out, the system is asked whether it can.
    `search`: where programs are looked for; left out, on Odin's own `PATH`, and no folder is trusted."""
    if len(command) > LONGEST:
        reason = f"it has more than {LONGEST:,} characters; put what it needs into a file"
        return CommandVerdict("deny", reason, (), command, background=False, offer_rule=None)
    script = parse(command)
    inside = Inside(script)
    places = Places(roots, rules.files)
    search = search or ProgramSearch(os.environ.get("PATH", os.defpath), places.roots)
    row = _Row(places, cwd, mode, rules, search, held=sandbox.available() if held is None else held)
    shown = tuple(row.shown(argv) for argv in likely_commands(script))

    def verdict(
        decision: Decision,
        reason: str,
        hardened: str = command,
        offer: str | None = None,
        reads: Reads | None = None,
        used: Iterable[Program] = (),
    ) -> CommandVerdict:
        return CommandVerdict(decision, reason, shown, hardened, script.background, offer, reads, tuple(used))

    if reason := _never(inside, cwd):
        return verdict("deny", f"{reason}; this never runs")
    if reason := next(filter(None, (rules.forbids(argv, mode, cwd) for argv in inside.commands)), ""):
        return verdict("deny", reason)
    for argv in likely_commands(script):
        if program_name(argv[0]) in programs.PRIVILEGE and not rules.allowing(argv, mode, cwd):
            return verdict("deny", PRIVILEGED.format(argv[0]))
    try:
        text = row.hardened(script)
    except _Asks as reason:
        if mode == "edit_mode":
            used = _programs_of(script, search)
            why = "; ".join(dict.fromkeys(filter(None, (str(reason), *map(search.remark_on, used)))))
            can_be_offered = all(program.can_be_meant_by_rule for program in used)
            return verdict("ask", why, offer=_offer(script) if can_be_offered else None, used=used)
        only = f"in {mode.replace('_', ' ')} only what surely just reads may run"
        return verdict("deny", "; ".join(filter(None, (str(reason), only, reason.instead, SWITCH))))
    if row.only_reads:
        return verdict("allow", "it only reads", text, reads=row.reads)
    return verdict("allow", "your rules allow it", text, used=row.allowed_by_rules)


class _Asks(Exception):
    """Says why, and what could be run instead."""

    def __init__(self, why: str, instead: str = "") -> None:
        super().__init__(why)
        self.instead = instead


class _Row:
    """The commands one after the other: where each would run, and whether it may."""

    def __init__(
        self, places: Places, cwd: Path, mode: Mode, rules: Rules, search: ProgramSearch, *, held: bool
    ) -> None:
        self._places = places
        self._search = search
        self._held = held
        self._cwd = cwd
        self._mode: Mode = mode
        self._rules = rules
        self._found: dict[str, Path | None] = {}
        self._uses: list[tuple[Use, Path]] = []
        self._needs_hold = ""
        """Why the row runs unasked only if the system holds it to reading."""
        self.only_reads = True
        self.allowed_by_rules: list[Program] = []

    @property
    def reads(self) -> Reads:
        """What the row may open, as far as it is judged."""
        paths = [Path(os.path.realpath(folder / name)) for use, folder in self._uses for name in use.paths]
        is_swept = any(use.sweeps or use.looks_around for use, _ in self._uses)
        return Reads(
            files=None if is_swept else tuple(filter(Path.is_file, paths)),
            needs=tuple(Path(it) for use, _ in self._uses for it in use.needs),
            programs=tuple(it for it in self._found.values() if it is not None),
        )

    def hardened(self, script: Script) -> str:
        """The text to run, or `_Asks`."""
        if script.problem:
            raise _Asks(script.problem, PLAIN)
        if reason := self._places.problem(str(self._cwd), self._cwd):
            raise _Asks(f"it would run where it should not: {reason}")
        text = "".join(self._judged_steps(script))
        if self._needs_hold and not (self._held and self.only_reads):  # a row that a rule allows is not held
            raise _Asks(self._needs_hold)
        return text

    def _judged_steps(self, script: Script) -> Iterator[str]:
        joiners = [step.joiner for step in script.steps]
        for number, step in enumerate(script.steps, 1):
            later = joiners[number:]
            # Whether `cd` has worked counts for what follows, so that must not run otherwise.
            may_move = step.joiner not in ("|", "||") and later[:1] in ([], ["&&"]) and {*later} <= {"&&", "|"}
            yield step.text(self._judged(step.command, may_move=may_move))

    def _judged(self, command: Command, *, may_move: bool) -> tuple[str, ...]:
        """The words to run, or `_Asks`."""
        if not command.words[0].plain:
            raise _Asks(f"the program is written as `{command.words[0].raw}`")
        argv = self._expanded(command)
        name = argv[0]
        match self._rules.word_on(argv, self._mode, self._cwd):
            case ("ask", reason):
                raise _Asks(reason)
            case ("allow", pattern):
                rule = pattern
            case None:
                rule = None
        try:
            return self._reading(name, argv, may_move=may_move)
        except NotUnderstood as reason:
            problem, instead = f"{reason} may be more than reading", ""
        except _Asks as reason:
            problem, instead = str(reason), reason.instead
        except OSError as error:
            problem, instead = f"what it names cannot be looked up: {error.strerror}", ""
        if rule is None or self._mode != "edit_mode":
            raise _Asks(f"`{printable(name)}`: {problem}", instead)
        self._check_rule(rule, argv)
        self.only_reads = False
        program, *words = git.hardened(argv) if name == "git" else argv
        return (self._allowed_program(program), *words)

    def _allowed_program(self, name: str) -> str:
        """The file to run where a rule allows the name; `_Asks` if that is the file of a folder nobody trusts."""
        program = self._search.find(name, self._cwd)
        if not program.can_be_meant_by_rule:
            raise _Asks(self._search.remark_on(program))
        self.allowed_by_rules.append(program)
        is_settled = program.path is not None and not self._search.trusted
        return str(program.path) if is_settled and "/" not in name else name

    def _reading(self, name: str, argv: tuple[str, ...], *, may_move: bool) -> tuple[str, ...]:
        if name == "cd":
            return self._changed_folder(argv, may_move=may_move)
        if name == "git":
            use, folder = git.judge_git(argv, self._cwd, self._places.roots)
        elif (judge := readers.JUDGES.get(name)) is not None:
            use, folder = judge(argv), self._cwd
        elif name == "command" and argv[1:2] in (("-v",), ("-V",)) and len(argv) == 3:
            return argv
        elif programs.tells_its_version(argv):
            use, folder = readers.Use(argv, ()), self._cwd
        else:
            raise _Asks("not one of the programs that only read", READERS)
        for path in use.paths:
            if reason := self._places.problem(path, folder):
                raise _Asks(reason)
            if use.files_only and (folder / path).is_dir():
                raise _Asks(f"{printable(path)} is a folder, and what is in it could lead anywhere")
        if use.sweeps and self._places.hides_more(folder):
            if use.needs:  # what git has stored can be hidden from nobody who reads the repository
                raise _Asks(SHOWS_HIDDEN)
            self._needs_hold = self._needs_hold or SHOWS_HIDDEN
        if name not in readers.STARTS_NO_OTHER:
            self._needs_hold = (
                self._needs_hold or f"`{name}` could start other programs, and nothing here would hold it"
            )
        self._uses.append((use, folder))
        return (self._program(use.argv[0]), *use.argv[1:])

    def _program(self, name: str) -> str:
        if name in readers.BUILTINS:
            return name
        found = self._find(name)
        if found is None:
            raise _Asks("it is not installed outside of the workspace")
        return str(found)

    def _find(self, name: str) -> Path | None:
        if name not in self._found:
            self._found[name] = programs.find_program(name, self._places.roots)
        return self._found[name]

    def _changed_folder(self, argv: tuple[str, ...], *, may_move: bool) -> tuple[str, ...]:
        if len(argv) != 2 or argv[1].startswith("-") or not argv[1] or not may_move:
            raise NotUnderstood("changing the folder like this")
        if reason := self._places.problem(argv[1], self._cwd):
            raise _Asks(reason)
        folder = Path(os.path.realpath(self._cwd / argv[1]))
        if not folder.is_dir():
            raise _Asks(f"{printable(argv[1])} is no folder")
        self._cwd = folder
        return ("cd", str(folder))

    def _expanded(self, command: Command) -> tuple[str, ...]:
        """The words with file names in place of globs, so that what is checked is what runs."""
        argv: list[str] = []
        for word in command.words:
            if word.pattern is None:
                argv.append(word.value or "")
                continue
            if sum(glob.has_magic(part) for part in word.pattern.split("/")) > MAX_GLOBS:
                raise _Asks(f"`{word.raw}` stands for files in too many folders")
            found = glob.iglob(word.pattern, root_dir=self._cwd)  # noqa: PTH207 - as bash, not as pathlib does it
            names = sorted(islice(found, MAX_MATCHES + 1))
            if len(names) > MAX_MATCHES:
                raise _Asks(f"`{word.raw}` stands for more than {MAX_MATCHES} files")
            argv += [f"./{name}" if name.startswith("-") else name for name in names] or [word.value or ""]
        return tuple(argv)

    def _check_rule(self, rule: CommandPattern, argv: tuple[str, ...]) -> None:
        """A rule means the ordinary use of a program: `_Asks` for what the user has hardly thought of."""
        name, said = program_name(argv[0]), len(rule.words)
        if not said:
            raise _Asks(f"a rule for all programs is none for `{printable(argv[0])}`")
        if not PROGRAM.fullmatch(argv[0]):
            raise _Asks(f"`{printable(argv[0])}` is an odd name for a program")
        if "/" in argv[0] and said < 2:
            raise _Asks("a rule for a file has to say more than its name")
        if name in programs.BUILTINS or programs.is_wrapper(name):
            raise _Asks(f"`{argv[0]}` could run anything; no rule allows it")
        if name == "git":
            if said < 2:
                raise _Asks("a rule for git has to name the git command")
            if option := git.sharp_option(argv[1], argv[said:]):
                raise _Asks(f"`{option}` could run a program or lead elsewhere; the rule does not name it")
        elif name in readers.JUDGES:
            if said < len(argv):
                raise _Asks(f"a rule for this use of `{name}` has to spell out the whole command")
        elif said < 2 and name in programs.SHARP:
            raise _Asks(f"a rule for `{name}` has to say more than its name")
        for word in argv[said:]:
            for part in _parts(word):
                if reason := self._places.problem(part, self._cwd, writing=True):
                    raise _Asks(reason)

    def shown(self, argv: tuple[str, ...]) -> SimpleCommand:
        name = argv[0]
        if name in readers.BUILTINS or "/" in name:
            return SimpleCommand(name, argv)
        known = name in readers.JUDGES or name == "git" or programs.tells_its_version(argv)
        found = self._find(name) if known else None
        return SimpleCommand(str(found or name), argv)


def _programs_of(script: Script, search: ProgramSearch) -> list[Program]:
    """What the names in a command mean that is run as it is written."""
    names = dict.fromkeys(argv[0] for argv in likely_commands(script))
    return [
        search.find(name) for name in names if PROGRAM.fullmatch(name) and "/" not in name and not _is_builtin(name)
    ]


def _is_builtin(name: str) -> bool:
    return name in readers.BUILTINS or name in programs.BUILTINS


def _never(inside: Inside, cwd: Path) -> str:
    text = inside.scripts[0].text
    if "\0" in text:
        return "it has a NUL character"
    if any("\ud800" <= character <= "\udfff" for character in text):
        return "it is not valid Unicode"
    if inside.too_deep:
        return "it hides commands in too many others"
    if any(floor.is_fork_bomb(name, body) for script in inside.scripts for name, body in script.functions):
        return "it starts itself again and again"
    at = floor.Floor(cwd)
    commands = filter(None, map(at.catastrophe, inside.commands))
    targets = filter(None, (at.destroys(target) for script in inside.scripts for target in script.targets))
    return next(chain(commands, targets), "")


def _parts(word: str) -> Iterator[str]:
    """What in a word may be a file: itself, what follows a `=`, what follows the letter of an option, also if that
    stands behind others."""
    if not word.startswith("-"):
        yield word
    elif letters := OPTION_LETTERS.match(word):
        yield from (word[at:] for at in range(2, letters.end() + 1) if word[at:])
    if "=" in word:
        yield word.partition("=")[2]


def _offer(script: Script) -> str | None:
    """Only for one command of a program that does always the same; for one that runs others, just this command."""
    if script.problem or len(script.steps) != 1:
        return None
    command = script.steps[0].command
    argv = command.argv
    if argv is None or not command.words[0].plain or any(word.pattern for word in command.words):
        return None
    name = program_name(argv[0])
    if (
        name != argv[0]
        or name in programs.PROJECT | programs.BUILTINS | programs.SHARP | {"git"}
        or name in readers.JUDGES
        or programs.is_wrapper(name)
        or programs.is_interpreter(name)
    ):
        return None
    pattern = CommandPattern(argv, exact=name in programs.RUNNERS)
    offer = pattern.text
    readable = len(offer) <= LONGEST_OFFER and offer.isprintable() and "*" not in offer
    return offer if readable and CommandPattern.of(offer) == pattern else None
