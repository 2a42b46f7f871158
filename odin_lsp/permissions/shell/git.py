"""Git: commands that only read, and how they are run so that the repository's own settings run nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from odin_lsp.permissions.shell.git_config import harmless, stays_local
from odin_lsp.permissions.shell.grammar import Grammar, NotUnderstood, Reading, names
from odin_lsp.permissions.shell.readers import Use
from odin_lsp.workspace.ignore import SECRET_FOLDERS, SECRET_NAMES

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
DIFF = ("--no-ext-diff", "--no-textconv")
SPARED = (
    *(f":(top,exclude,icase,glob)**/{name}" for name in SECRET_NAMES),
    *(f":(top,exclude,icase,glob)**/{name}/**" for name in SECRET_FOLDERS),
)
"""For the commands that print files: all but the secrets among them."""
SHARP_OPTIONS = (
    "-c", "--config-env", "--exec-path", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--upload-pack",
    "--receive-pack", "--exec", "-x", "--output", "-O", "--open-files-in-pager", "--ext-diff", "--textconv",
    "--template", "--no-index", "--show-signature", "--gpg-sign", "--edit-description", "--exec-batch",
)  # fmt: skip
"""They run programs or write elsewhere; a rule has to spell them out."""
FORMATS = names("oneline short medium full fuller reference email mboxrd raw")

_SHOWN = (
    "--oneline --format= --pretty=? --date= --abbrev-commit --no-abbrev-commit --abbrev=? --decorate=? --no-decorate"
    " --color=? --no-color -z --no-notes --encoding="
)
_WALK = (
    " -n= --max-count= --skip= --since= --after= --until= --before= --author= --committer= --grep= --all --branches=?"
    " --tags=? --remotes=? --merges --no-merges --first-parent --reverse --topo-order --date-order --author-date-order"
    " --graph --follow --simplify-by-decoration --full-history --ancestry-path --left-right --cherry-pick --cherry"
    " --no-walk -i --regexp-ignore-case -E --extended-regexp -F --fixed-strings -P --perl-regexp --invert-grep"
    " --all-match --min-parents= --max-parents= --boundary --relative-date --parents --children --count --no-patch -s"
    " --source --no-mailmap --use-mailmap --mailmap --exclude="
)
_PATCH = (
    " -p -u --patch --stat=? --numstat --shortstat --dirstat=? --summary --name-only --name-status --raw"
    " --patch-with-stat"
    " -U= --unified= -w -b --ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines"
    " --word-diff=? --word-diff-regex= --color-words=? --color-moved=? -M -C -B -D -R --find-renames=? --find-copies=?"
    " --no-renames --diff-filter= -S= -G= --pickaxe-regex --pickaxe-all --minimal --patience --histogram"
    " --diff-algorithm= --function-context -W --inter-hunk-context= --full-index --binary -a --text --no-prefix"
    " --src-prefix= --dst-prefix= --relative=? --exit-code --quiet -q --compact-summary --no-ext-diff --no-textconv"
    " --ignore-submodules=? -L= -c --cc -m --check --no-color-moved --merge-base --cached --staged"
)


@dataclass(frozen=True, slots=True)
class Subcommand:
    grammar: Grammar
    contents: bool = False
    """It looks into files: only in a repository whose settings are harmless."""
    extra: tuple[str, ...] = ()
    """Options to run it with."""
    sweeps: bool = False
    """It may print what is in files that nobody has named."""


def _lists(options: str) -> Grammar:
    return Grammar(options, "text")


LOG = Subcommand(Grammar(_SHOWN + _WALK + _PATCH, "text", digits=True), extra=DIFF, sweeps=True)
SUBCOMMANDS: Mapping[str, Subcommand] = {
    "log": LOG,
    "whatchanged": LOG,
    "reflog": LOG,
    "show": Subcommand(LOG.grammar, contents=True, extra=DIFF, sweeps=True),
    "diff": Subcommand(
        Grammar(_SHOWN + _PATCH, "text"), contents=True, extra=(*DIFF, "--ignore-submodules=all"), sweeps=True
    ),
    "status": Subcommand(
        Grammar("-s --short -b --branch --show-stash --porcelain=? --long -v --verbose -u=? --untracked-files=? -z"
                " --ignored=? --no-renames --renames --column=? --no-column --ahead-behind --no-ahead-behind", "text"),
        contents=True,
        extra=("--ignore-submodules=all",),
    ),
    "blame": Subcommand(
        Grammar("-L= -w -e -s -l -t -f -n -p -c -b -M -C --porcelain --line-porcelain --date= --since= --abbrev= --root"
                " --show-stats --show-name --show-number --show-email --first-parent", "text"),
        contents=True,
        extra=("--no-textconv",),
    ),
    "grep": Subcommand(
        Grammar("-i -v -n -c -l -L -o -w -h -H -E -F -G -P -I -a -q -z -p -W -e= -A= -B= -C= -m= --and --or --not"
                " --ignore-case --invert-match --line-number --column --count --files-with-matches --name-only"
                " --files-without-match --only-matching --word-regexp --extended-regexp --fixed-strings --perl-regexp"
                " --basic-regexp --all-match --break --heading --show-function --function-context --max-depth= --cached"
                " --untracked --color=? --no-color --text --full-name --context= --after-context= --before-context="
                " --max-count=", "text", digits=True),
        contents=True,
        extra=("--no-textconv",),
        sweeps=True,
    ),
    "branch": Subcommand(
        _lists("-a -r -v -l --list --all --remotes --verbose --show-current --merged=? --no-merged=? --contains="
               " --no-contains= --points-at= --sort= --format= --column=? --no-column --color=? --no-color --abbrev="
               " --no-abbrev -i --ignore-case")
    ),
    "tag": Subcommand(
        _lists("-l --list -n=? --sort= --format= --contains= --no-contains= --merged=? --no-merged=? --points-at="
               " --column=? --color=? -i --ignore-case")
    ),
    "remote": Subcommand(_lists("-v --verbose --all --push")),
    "worktree": Subcommand(_lists("--porcelain -z -v")),
    "rev-parse": Subcommand(
        _lists("--abbrev-ref=? --show-toplevel --git-dir --git-common-dir --absolute-git-dir --is-inside-work-tree"
               " --is-inside-git-dir --is-bare-repository --is-shallow-repository --short=? --verify -q --quiet"
               " --show-prefix --show-cdup --symbolic-full-name --symbolic --all --branches=? --tags=? --remotes=?"
               " --show-object-format --revs-only --no-revs --flags --no-flags")
    ),
    "rev-list": Subcommand(
        Grammar(_SHOWN + _WALK + " --objects --timestamp --header --disk-usage", "text", digits=True)
    ),
    "shortlog": Subcommand(Grammar("-s -n -e -c --summary --numbered --email --committer --group= --no-merges --all"
                                   " --since= --until= --author= --format=", "text")),
    "describe": Subcommand(_lists("--all --tags --contains --abbrev= --candidates= --exact-match --long --match="
                                  " --exclude= --always --first-parent")),
    "merge-base": Subcommand(_lists("-a --all --octopus --independent --is-ancestor --fork-point")),
    "name-rev": Subcommand(_lists("--tags --refs= --all --name-only --always")),
    "show-ref": Subcommand(_lists("--head --heads --branches --tags -d --dereference -s --hash=? --verify --abbrev=?"
                                  " -q --quiet")),
    "for-each-ref": Subcommand(_lists("--count= --sort= --format= --points-at= --merged=? --no-merged=? --contains="
                                      " --no-contains= --ignore-case --exclude=")),
    "cat-file": Subcommand(_lists("-t -s -p -e")),
    "ls-tree": Subcommand(_lists("-r -t -d -l -z --long --name-only --name-status --object-only --full-name --full-tree"
                                 " --abbrev=?")),
    "ls-files": Subcommand(_lists("-c -s -t -v -z -k -u --cached --stage --unmerged --full-name --error-unmatch"
                                  " --abbrev=? --eol --exclude-standard --deduplicate")),
    "count-objects": Subcommand(_lists("-v --verbose -H --human-readable")),
    "version": Subcommand(Grammar("--build-options", "none")),
}  # fmt: skip
PATCHES = names(
    "-p -u --patch --stat --numstat --shortstat --dirstat --patch-with-stat -S -G -L --word-diff --color-words -c --cc"
    " --check --summary --compact-summary --binary -U --unified -W --function-context"
)


def judge_git(argv: Sequence[str], cwd: Path) -> tuple[Use, Path]:
    """What a git command would read, and from which folder."""
    words = list(argv[1:])
    folder, paths = cwd, list[str]()
    if words == ["--version"]:
        return Use(tuple(argv), ()), cwd
    while words and words[0] in ("-C", "--no-pager", "-P"):
        if words.pop(0) == "-C":
            if not words:
                raise NotUnderstood("`-C` without its folder")
            folder /= words.pop(0)
            paths.append(str(folder))
    name = words[0] if words else ""
    subcommand = SUBCOMMANDS.get(name)
    if subcommand is None:
        raise NotUnderstood(f"`git {name}`" if name else "git without a command")
    reading = subcommand.grammar.read(words[1:])
    _check(name, reading)
    contents = subcommand.contents or (subcommand is LOG and bool(PATCHES.intersection(reading.options)))
    if contents:
        if not harmless(folder):
            raise NotUnderstood(f"`git {name}` where no repository is, or one whose settings could run programs,")
    elif not stays_local(folder):
        raise NotUnderstood(f"`git {name}` in a repository whose settings could fetch or include something")
    for operand in reading.operands:
        paths += [str(folder / part) for part in _paths(operand)]
    before = ("-C", str(folder)) if folder != cwd else ()
    after = SPARED if contents and subcommand.sweeps else ()
    hardened = (argv[0], *HARDENED, *before, name, *subcommand.extra, *words[1:], *after)
    return Use(hardened, tuple(paths), sweeps=bool(after)), folder


def hardened(argv: Sequence[str]) -> tuple[str, ...]:
    """A command that a rule allows: what reads is still run as always, what changes something with its hooks."""
    subcommand = SUBCOMMANDS.get(argv[1])
    if subcommand is None:
        return (argv[0], "--no-pager", "-c", "core.fsmonitor=false", *argv[1:])
    return (argv[0], *HARDENED, argv[1], *subcommand.extra, *argv[2:])


def sharp_option(argv: Sequence[str]) -> str | None:
    """The first option that runs a program or leads elsewhere, also if it is cut short."""
    for word in argv[1:]:
        name = word.partition("=")[0]
        if name in SHARP_OPTIONS or (
            len(name) > 3 and name.startswith("--") and any(it.startswith(name) for it in SHARP_OPTIONS)
        ):
            return word
        if len(word) > 2 and word.startswith(("-c", "-O")) and not word.startswith("--"):
            return word
    return None


def _check(name: str, reading: Reading) -> None:
    operands = reading.operands
    match name:
        case "branch" | "tag":
            if operands and not reading.has("-l", "--list"):
                raise NotUnderstood(f"`git {name} {operands[0]}`")
        case "remote":
            if operands and (operands[0] != "get-url" or len(operands) > 2):
                raise NotUnderstood(f"`git remote {operands[0]}`")
        case "worktree":
            if operands != ["list"]:
                raise NotUnderstood("`git worktree`, other than `list`,")
        case "reflog":
            if operands and operands[0] != "show":
                raise NotUnderstood(f"`git reflog {operands[0]}`")
        case _:
            pass
    for option, value in reading.values:
        if option in ("--format", "--pretty"):
            _check_format(name, value)
        elif option == "--sort" and ("signature" in value or "describe" in value):
            raise NotUnderstood(f"sorting by `{value}`")


def _check_format(name: str, value: str) -> None:
    """Some places of a format run gpg; a name may stand for a format that the repository defines."""
    fixed = name in ("branch", "tag", "for-each-ref")
    text = value.removeprefix("format:").removeprefix("tformat:")
    if "%G" in text or "signature" in text or "describe" in text:
        raise NotUnderstood(f"the format `{value}`")
    if not fixed and "%" not in text and text not in FORMATS and text == value:
        raise NotUnderstood(f"the format `{value}`")


def _paths(operand: str) -> list[str]:
    """What may be a path in a word that names a revision, a path, or both."""
    if operand.startswith(":"):
        raise NotUnderstood(f"the word `{operand}`")
    _, colon, path = operand.partition(":")
    return [operand, path] if colon and path else [operand]
