"""Revisions and paths among the words of a git command, as git tells them apart."""

import re

from odin_lsp.permissions.shell.grammar import NotUnderstood

_IS_COMMIT = re.compile(r".*(?:[~^]\d*|\^\{commit\})|HEAD|@", re.DOTALL)
_PARENTS = re.compile(r"\^(?:!|@|-\d*)$")
_BRACES = re.compile(r"\{[^{}]*\}")
_TREE = "^{tree}"


def path_in(word: str) -> tuple[str, str] | None:
    """The revision and the path of `revision:path`. A colon in braces belongs to the revision."""
    depth = 0
    for at, character in enumerate(word):
        if character == "{":
            depth += 1
        elif depth and character == "}":
            depth -= 1
        elif not depth and character == ":":
            return word[:at], word[at + 1 :]
    return None


def commits(word: str) -> str:
    """The same revisions, written so that they are commits, or their trees, or nothing at all."""
    if word.startswith("^"):
        return f"^{commits(word[1:])}"
    before, dots, after = word.partition("..")
    if dots:
        if before.count("{") != before.count("}") or ".." in after:
            raise NotUnderstood(f"the revision `{word}`")
        dots, after = ("...", after[1:]) if after.startswith(".") else (dots, after)
        return f"{commit(before) if before else ''}{dots}{commit(after) if after else ''}"
    if found := _PARENTS.search(word):
        return f"{commit(word[: found.start()])}{found[0]}"
    return commit(word)


def commit(name: str) -> str:
    """One revision, written so that it can be no blob and no tag of one."""
    if path_in(name) is not None:
        raise NotUnderstood(f"the object `{name}`")
    if name.endswith(_TREE):
        return f"{commit(name.removesuffix(_TREE))}{_TREE}"
    return name if _IS_COMMIT.fullmatch(name) else f"{name}^0"


def is_pattern(word: str) -> bool:
    """No revision has such characters, other than in braces."""
    return any(character in "*?[" for character in _BRACES.sub("", word))
