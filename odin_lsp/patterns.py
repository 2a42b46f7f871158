"""What permission rules match: commands by their words, paths by globs, hosts by their labels. Never by regular
expressions, so that no rule takes long."""

import posixpath
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_SUFFIXES = (".exe", ".cmd", ".bat", ".com")
END = "$"
"""As the last word of a pattern: nothing may follow."""


def program_name(word: str) -> str:
    """The same for all spellings of a program: `/bin/rm`, `\\rm`, `RM`, `rm.exe`, zsh's `=rm`."""
    name = posixpath.basename(word.lstrip("=\\").replace("\\", "/")).casefold()
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return name


@dataclass(frozen=True, slots=True)
class CommandPattern:
    """`npm test` is every command that starts so, `npm test $` is that command alone; `*` in a word is any text."""

    words: tuple[str, ...]
    exact: bool = False

    @classmethod
    def of(cls, text: str) -> "CommandPattern":
        """`ValueError` if it is empty or its quotes do not match."""
        words = shlex.split(text)
        exact = words[-1:] == [END]
        if exact:
            words.pop()
        if not words or not words[0]:
            raise ValueError("the pattern is empty")
        while not exact and words and words[-1] == "*":
            words.pop()
        return cls(tuple(words), exact)

    @property
    def text(self) -> str:
        """What `of` reads as this pattern."""
        return f"{shlex.join(self.words)} {END}" if self.exact else shlex.join(self.words)

    def covers(self, argv: Sequence[str]) -> bool:
        """To allow: the words as they are written, from the first one on, none left out."""
        fits = len(argv) == len(self.words) if self.exact else len(argv) >= len(self.words)
        return fits and all(map(_matches, self.words, argv))

    def reaches(self, argv: Sequence[str]) -> bool:
        """To ask or to forbid: the program under any of its names; options in any order, short or long, and whatever
        else in between and behind."""
        if not self.words:
            return bool(argv)
        if not argv or not _matches(program_name(self.words[0]), program_name(argv[0])):
            return False
        options = [word for word in self.words[1:] if _is_option(word)]
        return all(_has_option(option, argv) for option in options) and _in_order(
            [word for word in self.words[1:] if not _is_option(word)], argv[1:]
        )


def path_matches(pattern: str, path: str) -> bool:
    """`path` is relative to a workspace folder, or absolute; the pattern is one of a `.gitignore`."""
    return _spec(pattern).match_file(path.lstrip("/") if pattern.startswith("/") else path)


def host_matches(pattern: str, host: str) -> bool:
    """By whole labels: `*.example.com` is every host below it, `example.com` is that host alone."""
    wanted, given = (name.casefold().rstrip(".").split(".") for name in (pattern, host))
    if wanted[0] == "*":
        wanted = wanted[1:]
        return len(given) > len(wanted) and (not wanted or given[-len(wanted) :] == wanted)
    return given == wanted


def _spec(pattern: str) -> "GitIgnoreSpec":
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines([pattern])


def _is_option(word: str) -> bool:
    return len(word) > 1 and word.startswith("-")


def _has_option(option: str, argv: Sequence[str]) -> bool:
    """`-rf` is there in `-r -f`, `-fR` and `--recursive --force`; `--force` in `--forc` and `-f`."""
    if any(_matches(option, word) for word in argv):
        return True
    given = [word for word in argv if _is_option(word) and word != "--"]
    if option.startswith("--"):
        return option != "--" and any(_may_be(option, word) for word in given)
    letters = "".join(word[2] if word.startswith("--") else word[1:] for word in given).casefold()
    return all(letter in letters for letter in option[1:].casefold())


def _may_be(option: str, word: str) -> bool:
    """Whether the word may stand for this long option: it is cut short, or just the first letter."""
    name, _, value = option.partition("=")
    given, _, given_value = word.partition("=")
    if not word.startswith("--"):
        return name[2].casefold() in word[1:].casefold()
    return (_matches(name, given) or name.startswith(given)) and (not value or _matches(value, given_value))


def _in_order(wanted: Sequence[str], words: Sequence[str]) -> bool:
    """Whether these words come first when options are left out; what follows an option may be its value."""
    place, may_be_value = 0, False
    for word in words:
        if place == len(wanted):
            break
        if _is_option(word):
            may_be_value = "=" not in word
        elif _matches(wanted[place], word):
            place, may_be_value = place + 1, False
        elif not may_be_value:
            return False
        else:
            may_be_value = False
    return place == len(wanted)


def _matches(pattern: str, text: str) -> bool:
    """`*` is any text. The pieces between are found one after the other, each as early as possible."""
    first, *rest = pattern.split("*")
    if not rest:
        return pattern == text
    if not text.startswith(first):
        return False
    at = len(first)
    for piece in rest[:-1]:
        found = text.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return text.endswith(rest[-1]) and len(text) - len(rest[-1]) >= at
