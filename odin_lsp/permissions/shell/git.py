"""Git: commands that only read, and how they are run so that the repository's own settings run nothing."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from odin_lsp.permissions.shell.git_commands import LOG, PATCHES, SUBCOMMANDS, Subcommand
from odin_lsp.permissions.shell.git_config import HARMLESS_KEYS
from odin_lsp.permissions.shell.git_repository import Repository, find_repository
from odin_lsp.permissions.shell.git_words import commit, commits, is_pattern, path_in
from odin_lsp.permissions.shell.grammar import NotUnderstood, Reading, names
from odin_lsp.permissions.shell.readers import Use
from odin_lsp.workspace.secret_names import SECRET_FILES, SECRET_FOLDERS, SECRET_NAMES, SECRET_PATHS, is_public

HARDENED = (
    "--no-pager",
    "--no-optional-locks",
    *(
        part
        for setting in (
            "core.fsmonitor=false",
            "core.hooksPath=/dev/null",
            "core.pager=cat",
            "core.attributesFile=/dev/null",
            "diff.external=",
            "diff.submodule=short",
            "submodule.recurse=false",
            "status.submoduleSummary=false",
            "safe.bareRepository=explicit",
            "log.showSignature=false",
            "format.pretty=medium",
            "branch.sort=refname",
            "tag.sort=refname",
            "protocol.allow=never",
        )
        for part in ("-c", setting)
    ),
)
SPARED = (
    *(f":(top,exclude,icase,glob)**/{name}" for name in (*SECRET_NAMES, *SECRET_FILES)),
    *(f":(top,exclude,icase,glob)**/{name}/**" for name in (*SECRET_NAMES, *SECRET_FOLDERS)),
    *(f":(top,exclude,icase,glob)**/{path}" for path in SECRET_PATHS),
)
"""For the commands that print files: all but the secrets among them."""
SHARP_OPTIONS = (
    "-c", "--config-env", "--exec-path", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--upload-pack",
    "--receive-pack", "--exec", "-x", "--output", "-O", "--open-files-in-pager", "--ext-diff", "--textconv",
    "--template", "--no-index", "--show-signature", "--gpg-sign", "--edit-description", "--exec-batch", "--sign",
    "--signed", "--local-user", "--verify", "--verify-signatures",
)  # fmt: skip
"""They run programs or write elsewhere; a rule has to spell them out."""
PROGRAM_LETTERS = {
    "clone": "u",
    "rebase": "xS",
    "difftool": "x",
    "tag": "suv",
    **dict.fromkeys(("commit", "commit-tree", "merge", "pull", "cherry-pick", "revert", "am"), "S"),
}
"""Letters that a program follows, or that run gpg, which the repository's settings name; in other commands they are
harmless."""
ALL_COMMITS = ("--full-history", "--sparse")
"""With paths git leaves out the commits that do not touch them. These make it show what it shows without."""
EXCLUSIONS = (":!", ":^", ":(exclude)")
FORMATS = names("oneline short medium full fuller reference email mboxrd raw")
RUNS_GPG = re.compile(r"%[-+ ]*G")
TOLD = names("user.name user.email init.defaultbranch")
"""Settings that are no secrets."""
HASH = re.compile(r"[0-9a-f]{4,64}", re.IGNORECASE)
LISTS = (".mailmap", ".gitignore", ".gitattributes")
"""What git reads of the work tree for itself: who is who, what to ignore, what kinds of files there are."""
OF_THE_WORK_TREE = names("status ls-files blame diff show grep")
LAST_HEAD = names("--merged --no-merged --contains --no-contains")
"""At the end of the words they mean `HEAD`."""
LINES = re.compile(r"(?:\d+(?:,[+-]?\d+)?|,\d+|:[^:\\]+):(.+)", re.DOTALL)
"""The value of `git log -L`, with its file."""


@dataclass(frozen=True, slots=True)
class _Command:
    """A git command, read."""

    name: str
    words: Sequence[str]
    """All behind its name."""
    reading: Reading
    folder: Path
    """Where it runs."""
    repository: Repository | None
    roots: Sequence[Path]

    @property
    def subcommand(self) -> Subcommand:
        return SUBCOMMANDS[self.name]

    @property
    def shows_contents(self) -> bool:
        return self.subcommand.contents or (self.subcommand is LOG and not PATCHES.isdisjoint(self.reading.options))

    @property
    def before(self) -> list[str]:
        """Operands in front of `--`, or all."""
        behind = len(self.words) - self.reading.end - 1
        return self.reading.operands[: -behind if behind > 0 else None]

    def places(self, word: str) -> list[str]:
        """What a word would be as a path, and as `revision:path`, which begins at the top of the work tree."""
        found, parts = [str(self.folder / word)], path_in(word)
        if parts is not None:
            # In `a:b..c:d` there are two paths.
            if ".." in word or word[0] in ":^":
                raise NotUnderstood(f"the word `{word}`")
            top = self.folder if self.repository is None or parts[1].startswith("./") else self.repository.top
            found.append(str(top / parts[1]))
        return found


def judge_git(argv: Sequence[str], cwd: Path, roots: Sequence[Path]) -> tuple[Use, Path]:
    """What a git command would read, and from which folder. It is told which repository was looked at."""
    words = list(argv[1:])
    folder, named = cwd, list[str]()
    if words == ["--version"]:
        return Use(tuple(argv), ()), cwd
    while words and words[0] in ("-C", "--no-pager", "-P"):
        if words.pop(0) == "-C":
            if not words:
                raise NotUnderstood("`-C` without its folder")
            folder /= words.pop(0)
            named.append(str(folder))
    command = _read(words, folder, roots)
    repository = command.repository
    rest, paths, sweeps = _arranged(command)
    where = ("-C", str(folder)) if folder != cwd else ()
    if repository is None:
        told, needs = (f"--git-dir={os.devnull}",), ()
    else:
        told = (f"--git-dir={repository.folder}", f"--work-tree={repository.top}")
        needs = tuple(dict.fromkeys(map(str, (repository.folder, repository.common, *_lists(repository, folder)))))
    text = (argv[0], "--no-pager", *where, *told, command.name, *command.subcommand.extra, *rest)
    use = Use(text, (*named, *paths), sweeps=sweeps, needs=needs, looks_around=command.name in OF_THE_WORK_TREE)
    return use, folder


def hardened(argv: Sequence[str]) -> tuple[str, ...]:
    """A command that a rule allows: what reads is still run as always, what changes something with its hooks."""
    subcommand = SUBCOMMANDS.get(argv[1])
    if subcommand is None or subcommand.changes:
        return (argv[0], "--no-pager", "-c", "core.fsmonitor=false", *argv[1:])
    return (argv[0], *HARDENED, argv[1], *subcommand.extra, *argv[2:])


def sharp_option(command: str, words: Sequence[str]) -> str | None:
    """The first option that runs a program or leads elsewhere, also if it is cut short or stands behind others."""
    for word in words:
        name = word.partition("=")[0]
        if name.startswith("--"):
            if len(name) > 2 and any(it.startswith(name) for it in SHARP_OPTIONS):
                return word
        elif word in SHARP_OPTIONS or word.startswith(("-c", "-O")) or _names_program(command, word):
            return word
    return None


def _names_program(command: str, word: str) -> bool:
    """Also behind other letters, `-qu`, but not in a message: `-mSome`."""
    letters = PROGRAM_LETTERS.get(command)
    return letters is not None and re.match(rf"-(?:(?![mF])[A-Za-z0-9])*[{letters}]", word) is not None


def _read(words: Sequence[str], folder: Path, roots: Sequence[Path]) -> _Command:
    """`NotUnderstood` if it is more than reading."""
    name = words[0] if words else ""
    subcommand = SUBCOMMANDS.get(name)
    if subcommand is None:
        raise NotUnderstood(f"`git {name}`" if name else "git without a command")
    rest = list(words[1:])
    if name in ("branch", "tag", "for-each-ref") and rest and rest[-1] in LAST_HEAD:
        rest.append("HEAD")
    command = _Command(name, rest, subcommand.grammar.read(rest), folder, find_repository(folder), roots)
    _check(command)
    return command


def _check(command: _Command) -> None:
    name, reading, operands, repository = command.name, command.reading, command.reading.operands, command.repository
    match name:
        case "branch" | "tag":
            if operands and not reading.has("-l", "--list"):
                raise NotUnderstood(f"`git {name} {operands[0]}`")
        case "remote":
            if operands and (operands[0] != "get-url" or len(operands) > 2):
                raise NotUnderstood(f"`git remote {operands[0]}`")
        case "worktree" | "stash":
            if operands != ["list"]:
                raise NotUnderstood(f"`git {name}`, other than `list`,")
        case "reflog":
            if operands and operands[0] != "show":
                raise NotUnderstood(f"`git reflog {operands[0]}`")
        case "config":
            key = operands[0].lower() if len(operands) == 1 else ""
            told = key in TOLD or (key.startswith("core.") and key in HARMLESS_KEYS)
            # Of the user's own settings it would not know.
            if not told or repository is None or key not in repository.keys:
                raise NotUnderstood("`git config`, other than for a plain setting of the repository,")
        case "diff" | "grep":
            if repository is None:
                raise NotUnderstood(f"`git {name}` where no repository is")
        case _:
            pass
    for option, value in reading.values:
        if option in ("--format", "--pretty") or (option == "--group" and "%" in value):
            _check_format(name, value)
        elif option == "--sort" and ("signature" in value or "describe" in value):
            raise NotUnderstood(f"sorting by `{value}`")
    if command.shows_contents and repository is not None and not repository.harmless:
        raise NotUnderstood(f"`git {name}` in a repository whose settings could run programs")


def _check_format(name: str, value: str) -> None:
    """Some places of a format run gpg, or show all of an object; a name may stand for a format of the repository's."""
    fixed = name in ("branch", "tag", "for-each-ref")
    text = value.removeprefix("format:").removeprefix("tformat:")
    if RUNS_GPG.search(text) or "signature" in text or "describe" in text or (fixed and "raw" in text):
        raise NotUnderstood(f"the format `{value}`")
    if not fixed and "%" not in text and text not in FORMATS and text == value:
        raise NotUnderstood(f"the format `{value}`")


def _arranged(command: _Command) -> tuple[tuple[str, ...], list[str], bool]:
    """The words to run it with, the paths among them, and whether it looks into files that nobody has named."""
    match command.name:
        case "log" | "whatchanged" | "show" | "diff" | "grep" if command.shows_contents:
            return _sweeping(command)
        case "status":
            operands = command.reading.operands
            words = (*_options(command, command.before), "--", *operands, *_limits(command, operands))
            return words, _paths(command, operands), False
        case "cat-file":
            return _object(command)
        case _:
            return tuple(command.words), _paths(command, command.reading.operands), False


def _sweeping(command: _Command) -> tuple[tuple[str, ...], list[str], bool]:
    """It shows what is in commits and files: nothing else is shown, and of these no secrets."""
    name, reading = command.name, command.reading
    options = _options(command, command.before)
    before, paths = command.before, reading.operands[len(command.before) :]
    if name == "grep" and not reading.has("-e"):
        if not before:
            raise NotUnderstood("`git grep` without a pattern in front")
        options += ("-e", before.pop(0))
    if reading.end == len(command.words):
        # As in git: without `--` the first word that is a file begins the paths.
        files = next((at for at, word in enumerate(before) if _is_path(command, word)), len(before))
        before, paths = before[:files], before[files:]
    checked = _paths(command, paths)
    revisions = [_revision(command, word) for word in before]
    if name == "show":
        checked += _paths(command, [word for word in before if path_in(word)])
    lines = [value for option, value in reading.values if option == "-L"]
    if lines:
        if paths:
            raise NotUnderstood("`-L` with more paths")
        # Under another name the file may have been a secret.
        return (*options, "--no-renames", *revisions, "--"), checked + [_file_of(command, it) for it in lines], False
    if reading.has("--follow"):
        return (*options, *revisions, "--", f":(literal){_followed(command, paths)}"), checked, True
    if name not in ("diff", "grep") and not paths and not reading.has("--simplify-by-decoration"):
        options += ALL_COMMITS
    limits = () if name == "grep" else _limits(command, paths)
    return (*options, *revisions, "--", *paths, *limits, *SPARED), checked, True


def _revision(command: _Command, word: str) -> str:
    """Written so that it is no blob of nobody knows which path. The history shows commits alone."""
    if command.subcommand is LOG:
        return word
    if command.name == "grep" and HASH.fullmatch(word):
        raise NotUnderstood(f"the object `{word}`, of which nobody knows what it is,")
    parts = path_in(word) if command.name == "show" else None
    return commits(word) if parts is None else f"{commit(parts[0])}:{parts[1]}"


def _object(command: _Command) -> tuple[tuple[str, ...], list[str], bool]:
    """`git cat-file`: an object is shown if its path is known, or if it is no file."""
    operands = command.reading.operands
    checked = _paths(command, operands)
    if not operands or (operands[0] != "blob" and not command.reading.has("-p")):
        return tuple(command.words), checked, False
    *kind, word = operands
    parts = path_in(word)
    if parts is None and (kind or HASH.fullmatch(word)):
        raise NotUnderstood(f"the object `{word}`, of which nobody knows what it is,")
    shown = commit(word) if parts is None else f"{commit(parts[0])}:{parts[1]}"
    return (*_options(command, command.before), *kind, shown), checked, False


def _lists(repository: Repository, folder: Path) -> Iterator[Path]:
    """In the folder and in all above, which the workspace may not begin with."""
    real = Path(os.path.realpath(folder))
    for above in (real, *real.parents):
        if above.is_relative_to(repository.top):
            yield from (above / name for name in LISTS)


def _options(command: _Command, operands: Sequence[str]) -> tuple[str, ...]:
    """The words in front of `--` without the operands."""
    options = list(command.words[: command.reading.end])
    for operand in operands:
        options.remove(operand)
    again = command.subcommand.grammar.read(options)
    if again.operands or again.options != command.reading.options or again.values != command.reading.values:
        raise NotUnderstood("a word that is there twice, for an option and for itself,")
    return tuple(options)


def _paths(command: _Command, words: Sequence[str]) -> list[str]:
    """What is to be looked at, in words that may name revisions, paths, or both."""
    return [place for word in words if not word.startswith(EXCLUSIONS) for place in command.places(word)]


def _is_path(command: _Command, word: str) -> bool:
    return word.startswith(EXCLUSIONS) or is_pattern(word) or os.path.lexists(command.folder / word)


def _limits(command: _Command, paths: Sequence[str]) -> tuple[str, ...]:
    """Where more than the workspace is in the repository, and no paths are named, only what is in the workspace."""
    repository = command.repository
    named = any(not word.startswith(EXCLUSIONS) for word in paths)
    if named or repository is None or any(repository.top.is_relative_to(root) for root in command.roots):
        return ()
    inside = [root.relative_to(repository.top) for root in command.roots if root.is_relative_to(repository.top)]
    if not inside:
        raise NotUnderstood("git in a repository that is not around the workspace")
    return tuple(f":(top,literal){path}" for path in inside)


def _followed(command: _Command, paths: Sequence[str]) -> str:
    """The one file that `--follow` is about. A folder may hold secrets, and `.env.example` may have been one."""
    if len(paths) != 1 or not (command.folder / paths[0]).is_file() or is_public(Path(paths[0]).name):
        raise NotUnderstood("the history of anything but one file, under all its names,")
    return paths[0]


def _file_of(command: _Command, lines: str) -> str:
    found = LINES.fullmatch(lines)
    if found is None:
        raise NotUnderstood(f"`-L {lines}`")
    return str(command.folder / found[1])
