"""The git commands that only read, each with the options that keep it so. What is not here asks.

`tests/adversarial/test_git.py` asks git itself whether an option takes the next word."""

from collections.abc import Mapping
from dataclasses import dataclass

from odin_lsp.permissions.shell.grammar import Grammar, names

_SHOWN = (
    "--oneline --format== --pretty=? --date= --abbrev-commit --no-abbrev-commit --abbrev=? --color=? --no-color -z"
    " --no-notes --encoding="
)
_LIMITS = (
    " -n= --max-count= --skip= --since= --after= --until= --before= --author= --committer= --grep= --all --branches=?"
    " --tags=? --remotes=? --no-walk=? -i --regexp-ignore-case -E --extended-regexp -F --fixed-strings -P --perl-regexp"
    " --invert-grep --all-match"
)
_WALK = (
    " --merges --no-merges --first-parent --reverse --topo-order --date-order"
    " --author-date-order --graph --simplify-by-decoration --full-history --ancestry-path --left-right"
    " --cherry-pick --cherry --min-parents== --max-parents== --boundary --relative-date --parents --children --count"
    " --exclude="
)
_LOG = " --decorate=? --no-decorate --no-patch -s --source --no-mailmap --use-mailmap --mailmap"
_PATCH = (
    " -p -u --patch --stat=? --numstat --shortstat --dirstat=? --summary --name-only --name-status --raw"
    " --patch-with-stat"
    " -U=? --unified=? -w -b --ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines"
    " --word-diff=? --word-diff-regex= --color-words=? --color-moved=? -M=? -C=? -B=? -D -R --find-renames=?"
    " --find-copies=? --no-renames --diff-filter= -S= -G= --pickaxe-regex --pickaxe-all --minimal --patience"
    " --histogram --diff-algorithm= --function-context -W --inter-hunk-context= --full-index --binary -a --text"
    " --no-prefix --src-prefix= --dst-prefix= --relative=? --exit-code --quiet --compact-summary --no-ext-diff"
    " --no-textconv -c --cc -m --check --no-color-moved"
)
_REFS = " --merged= --no-merged= --contains= --no-contains= --points-at= --sort= --format= -i --ignore-case"


@dataclass(frozen=True, slots=True)
class Subcommand:
    grammar: Grammar
    contents: bool = False
    """It looks into files: only in a repository whose settings are harmless."""
    extra: tuple[str, ...] = ()
    """Options to run it with."""
    changes: bool = False
    """With other words it changes something; what a rule allows then runs with the hooks."""


def _lists(options: str) -> Subcommand:
    return Subcommand(Grammar(options, "text"))


def _walks(options: str) -> Grammar:
    return Grammar(options, "text", digits=True)


DIFF = ("--no-ext-diff", "--no-textconv")
SUBMODULES = "--ignore-submodules=dirty"
LOG = Subcommand(_walks(_SHOWN + _LIMITS + _WALK + _LOG + _PATCH + " -L= --follow"), extra=DIFF)
SUBCOMMANDS: Mapping[str, Subcommand] = {
    "log": LOG,
    "whatchanged": LOG,
    "show": Subcommand(
        _walks(_SHOWN + _LIMITS + _LOG + _PATCH + " --first-parent"),
        contents=True,
        extra=DIFF,
    ),
    "diff": Subcommand(
        Grammar(_SHOWN + _PATCH + " --merge-base --cached --staged", "text"), contents=True, extra=(*DIFF, SUBMODULES)
    ),
    "status": Subcommand(
        Grammar("-s --short -b --branch --show-stash --porcelain=? --long -u=? --untracked-files=? -z --ignored=?"
                " --no-renames --renames --column=? --no-column --ahead-behind --no-ahead-behind", "text"),
        contents=True,
        extra=(SUBMODULES,),
    ),
    "blame": Subcommand(
        Grammar("-L= -w -e -s -l -t -f -n -p -c -b -M=? -C=? --porcelain --line-porcelain --date= --since= --abbrev=?"
                " --root --show-stats --show-name --show-number --show-email --first-parent", "text"),
        contents=True,
        extra=("--no-textconv",),
    ),
    "grep": Subcommand(
        _walks("-i -v -n -c -l -L -o -w -h -H -E -F -G -P -I -a -q -z -p -W -e= -A= -B= -C= -m= --and --or --not"
               " --ignore-case --invert-match --line-number --column --count --files-with-matches --name-only"
               " --files-without-match --only-matching --word-regexp --extended-regexp --fixed-strings --perl-regexp"
               " --basic-regexp --all-match --break --heading --show-function --function-context --max-depth= --cached"
               " --untracked --color=? --no-color --text --full-name --context= --after-context= --before-context="
               " --max-count="),
        contents=True,
        extra=("--no-textconv", "--no-recurse-submodules"),
    ),
    "reflog": Subcommand(_walks(_SHOWN + _LIMITS + " --decorate=? --no-decorate --merges --no-merges")),
    "stash": Subcommand(Grammar("", "text"), changes=True),
    "config": Subcommand(Grammar("--get", "text"), changes=True),
    "branch": _lists("-a -r -v -l --list --all --remotes --verbose --show-current --column=? --no-column --color=?"
                     " --no-color --abbrev=? --no-abbrev" + _REFS),
    "tag": _lists("-l --list -n=? --column=? --color=?" + _REFS),
    "for-each-ref": _lists("--count= --ignore-case --exclude=" + _REFS.replace(" -i ", " ")),
    "remote": _lists("-v --verbose --all --push"),
    "worktree": _lists("--porcelain -z -v"),
    "rev-parse": _lists(
        "--abbrev-ref=? --show-toplevel --git-dir --git-common-dir --absolute-git-dir --is-inside-work-tree"
        " --is-inside-git-dir --is-bare-repository --is-shallow-repository --short=? --verify -q --quiet --show-prefix"
        " --show-cdup --symbolic-full-name --symbolic --all --branches=? --tags=? --remotes=? --show-object-format=?"
        " --revs-only --no-revs --flags --no-flags"
    ),
    "rev-list": Subcommand(_walks(_SHOWN + _LIMITS + _WALK + " --objects --timestamp --header --disk-usage=?")),
    "shortlog": _lists("-s -n -e -c --summary --numbered --email --committer --group= --no-merges --all --since="
                       " --until= --author= --format=="),
    "describe": _lists("--all --tags --contains --abbrev=? --candidates= --exact-match --long --match= --exclude="
                       " --always --first-parent"),
    "merge-base": _lists("-a --all --octopus --independent --is-ancestor --fork-point"),
    "name-rev": _lists("--tags --refs= --all --name-only --always"),
    "show-ref": _lists("--head --heads --branches --tags -d --dereference -s --hash=? --verify --abbrev=? -q --quiet"),
    "cat-file": _lists("-t -s -p -e"),
    "ls-tree": _lists("-r -t -d -l -z --long --name-only --name-status --object-only --full-name --full-tree"
                      " --abbrev=?"),
    "ls-files": _lists("-c -d -i -k -o -s -t -u -v -z --cached --deleted --ignored --others --stage --unmerged"
                       " --directory --full-name --error-unmatch --abbrev=? --eol --exclude-standard --deduplicate"),
    "count-objects": _lists("-v --verbose -H --human-readable"),
    "version": Subcommand(Grammar("--build-options", "none")),
}  # fmt: skip
PATCHES = names(
    "-p -u --patch --stat --numstat --shortstat --dirstat --patch-with-stat -S -G -L --word-diff --word-diff-regex"
    " --color-words -c --cc --check --summary --compact-summary --binary -U --unified -W --function-context"
)
"""With these the history shows what is in files."""
