"""Programs that only read and print, each with the options that keep it so. What is not here asks."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from odin_lsp.permissions.shell.grammar import Grammar, NotUnderstood, Reading, names
from odin_lsp.workspace.secret_names import SECRET_FILES, SECRET_FOLDERS, SECRET_NAMES, SECRET_PATHS

BUILTINS = frozenset({"pwd", "true", "false", ":", "echo", "printf", "test", "type"})
"""They run in bash itself."""


@dataclass(frozen=True, slots=True)
class Use:
    """What a command that is understood comes down to."""

    argv: tuple[str, ...]
    """To run, where it is not just what was written."""
    paths: tuple[str, ...]
    """To be in the workspace."""
    sweeps: bool = False
    """It opens files of the workspace that nobody has named."""
    files_only: bool = False
    """Given a folder it would open what is in there, and links lead anywhere."""
    looks_around: bool = False
    """It opens such files too, but prints nothing of what is in them: git's lists of what to ignore."""
    needs: tuple[str, ...] = ()
    """What it opens besides, of folders with all that is in them: a repository's. Real paths."""


Judge = Callable[[Sequence[str]], Use]
"""Of the whole command; `NotUnderstood` if it is more than reading."""


def _plainly(grammar: Grammar, check: Callable[[Reading], None] | None = None, *, files_only: bool = False) -> Judge:
    def judge(argv: Sequence[str]) -> Use:
        reading = grammar.read(argv[1:])
        if check is not None:
            check(reading)
        return Use(tuple(argv), tuple(reading.paths), files_only=files_only)

    return judge


# --- find, grep, ripgrep, sed

FIND_TESTS = names(
    "-empty -readable -writable -executable -true -false -print -print0 -ls -prune -quit -depth -mount -xdev -not -a"
    " -and -o -or ! ( ) , -nouser -nogroup -daystart -noleaf -ignore_readdir_race -nowarn"
)
FIND_TESTS_OF = names(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -maxdepth -mindepth -size"
    " -mtime -mmin -atime -amin -ctime -cmin -perm -user -group -uid -gid -links -lname -ilname -printf -inum -newermt"
    " -used"
)
FIND_FILES = frozenset({"-newer", "-anewer", "-cnewer", "-samefile"})


def _find(argv: Sequence[str]) -> Use:
    words = iter(argv[1:])
    paths: list[str] = []
    in_expression = False
    for word in words:
        if not in_expression and not word.startswith("-") and word not in ("!", "(", ")", ","):
            paths.append(word)
            continue
        in_expression = True
        if word in FIND_TESTS_OF or word in FIND_FILES:
            value = next(words, None)
            if value is None:
                raise NotUnderstood(f"`{word}` without its value")
            if word in FIND_FILES:
                paths.append(value)
        elif word not in FIND_TESTS:
            raise NotUnderstood(f"`{word}`")
    return Use(tuple(argv), tuple(paths))


GREP = Grammar(
    "-i -y -v -n -c -l -L -o -q -s -w -x -r -H -h -a -E -F -G -P -I -U -z -Z -b -T -e= -f=path -A= -B= -C= -m="
    " --ignore-case --no-ignore-case --invert-match --line-number --count --files-with-matches --files-without-match"
    " --only-matching --quiet --silent --no-messages --word-regexp --line-regexp --recursive --with-filename"
    " --no-filename --text --extended-regexp --fixed-strings --basic-regexp --perl-regexp --null --null-data"
    " --byte-offset --initial-tab --regexp= --file=path --after-context= --before-context= --context== --max-count="
    " --include= --exclude= --exclude-dir= --exclude-from=path --color=? --colour=? --binary-files= --line-buffered",
    "pattern",
    digits=True,
)


def _grep(argv: Sequence[str]) -> Use:
    reading = GREP.read(argv[1:])
    paths = tuple(reading.paths)
    if not reading.has("-r", "--recursive"):
        return Use(tuple(argv), paths)
    spared = [f"--exclude={_in_any_case(name)}" for name in (*SECRET_NAMES, *SECRET_FILES)]
    spared += [f"--exclude-dir={_in_any_case(name)}" for name in SECRET_FOLDERS]
    return Use(_with_options(argv, reading, spared), paths, sweeps=True)


def _in_any_case(name: str) -> str:
    return "".join(f"[{it}{it.upper()}]" if it.isalpha() else it for it in name)


RIPGREP = Grammar(
    "-i -S -s -n -N -v -w -x -c -l -o -q -H -I -a -F -P -U -p -. -0 -u -b -e= -f=path -A= -B= -C= -m= -g= -t= -T= -r="
    " -M= -j= -d= -E= --ignore-case --smart-case --case-sensitive --line-number --no-line-number --invert-match"
    " --word-regexp --line-regexp --count --count-matches --files-with-matches --files-without-match --only-matching"
    " --quiet --with-filename --no-filename --text --fixed-strings --pcre2 --multiline --multiline-dotall --pretty"
    " --hidden --no-hidden --null --unrestricted --byte-offset --regexp= --file=path --after-context= --before-context="
    " --context= --max-count= --glob= --iglob= --type= --type-not= --replace= --max-columns= --max-columns-preview"
    " --threads= --max-depth= --maxdepth= --max-filesize= --encoding= --engine= --sort= --sortr= --color= --colors="
    " --column --heading --no-heading --trim --vimgrep --json --stats --files --type-list --type-add= --no-ignore"
    " --no-ignore-vcs --no-ignore-parent --no-ignore-dot --no-messages --no-config --ignore-file=path --crlf"
    " --one-file-system --passthru --context-separator= --glob-case-insensitive --no-unicode --include-zero",
    "pattern",
)


def _ripgrep(argv: Sequence[str]) -> Use:
    reading = RIPGREP.read(argv[1:])
    # A glob means folders, too, so `SECRET_FILES` are left to the kernel, without which ripgrep does not run unasked.
    spared = [f"--iglob=!{name}" for name in (*SECRET_NAMES, *SECRET_FOLDERS, *(f"**/{it}" for it in SECRET_PATHS))]
    return Use(_with_options(argv, reading, ["--no-config", *spared]), tuple(reading.paths), sweeps=True)


def _with_options(argv: Sequence[str], reading: Reading, options: Sequence[str]) -> tuple[str, ...]:
    """Behind the given ones, so that these have the last word."""
    return (*argv[: 1 + reading.end], *options, *argv[1 + reading.end :])


SED = Grammar("-n -E -r -e= --quiet --silent --regexp-extended --expression=", "text")
SED_SCRIPT = re.compile(r"\s*((\d+|\$)(,[ ]*([+~]?\d+|\$))?\s*!?\s*)?[pdq=]\s*")


def _sed(argv: Sequence[str]) -> Use:
    reading = SED.read(argv[1:])
    scripts = [value for name, value in reading.values if name in ("-e", "--expression")]
    operands = reading.operands
    if not scripts:
        scripts, operands = operands[:1], operands[1:]
    for script in scripts:
        if not script.isascii() or not all(SED_SCRIPT.fullmatch(part) for part in script.split(";")):
            raise NotUnderstood(f"the script `{script}`")
    return Use(tuple(argv), tuple(it for it in operands if it != "-"))


# --- what bash does itself


def _text(argv: Sequence[str]) -> Use:
    return Use(tuple(argv), ())


def _printf(argv: Sequence[str]) -> Use:
    if len(argv) < 2 or argv[1].startswith("-") or re.search(r"%[-+ #'0-9.*hjlLqtz]*[n(]", argv[1]):
        raise NotUnderstood("what it prints to a variable")
    return Use(tuple(argv), ())


def _test(argv: Sequence[str]) -> Use:
    words = argv[2:] if argv[1:2] == ("!",) else argv[1:]
    match words:
        case ["-e" | "-f" | "-d" | "-r" | "-w" | "-x" | "-s" | "-L" | "-h", path]:
            return Use(tuple(argv), (path,))
        case ["-n" | "-z", _] | [_, "=" | "!=", _]:
            return Use(tuple(argv), ())
        case _:
            raise NotUnderstood("this test")


def _which(argv: Sequence[str]) -> Use:
    """On many systems it is a script; bash knows the answer as well."""
    reading = Grammar("-a", "text").read(argv[1:])
    return Use(("type", "-aP" if reading.has("-a") else "-P", "--", *reading.operands), ())


# --- small languages

_FIELD = r"(\$(\d+|NF)|NR|NF)"
_ITEM = rf'({_FIELD}|"([\w :;,.=+-]|\\[nt])*")'
_COMPARED = rf"{_FIELD} *([=!<>]=|[<>]) *\d+"
_SUM = r"([a-z]|sum|total|count)"
AWK_PROGRAM = re.compile(
    rf" *(/[^/\\\n]*/|{_COMPARED}|NF|END)? *\{{ *print( +{_ITEM}([, ]*{_ITEM})*)? *\}} *"
    rf"| *{_COMPARED} *"
    r"| *!seen\[\$\d+\]\+\+ *"
    rf"| *\{{ *{_SUM} *\+= *\$\d+ *;? *\}} *END *\{{ *print +{_SUM} *\}} *",
    re.ASCII,
)
"""Fields and lines, and what is between them: neither files nor commands can be written in this."""


def _awk(argv: Sequence[str]) -> Use:
    """Behind the program no option is one any more."""
    words = list(argv[1:])
    while words and words[0].startswith("-F"):
        words = words[2 if words[0] == "-F" else 1 :]
    program, *files = words or [""]
    if not AWK_PROGRAM.fullmatch(program):
        raise NotUnderstood(f"the program `{program}`")
    return Use(tuple(argv), tuple(it for it in files if it != "-"))


JQ = Grammar(
    "-r -c -S -e -M -C -a -j -s -n -R --raw-output --compact-output --sort-keys --exit-status --monochrome-output"
    " --color-output --ascii-output --join-output --slurp --null-input --raw-input --tab",
    "text",
)
_JQ_PATH = r'(\.|(\.[A-Za-z_]\w*\??|\.?\[-?\d*\]\??|\.?\["[\w @/.-]*"\]\??)+)'
_JQ_STEP = rf"({_JQ_PATH}|keys|length|type|add|sort|unique|reverse|first|last|to_entries)"
JQ_FILTER = re.compile(rf"\s*{_JQ_PATH}(\s*[|,]\s*{_JQ_STEP})*\s*", re.ASCII)


def _jq(argv: Sequence[str]) -> Use:
    reading = JQ.read(argv[1:])
    program, *files = reading.operands or [""]
    if not JQ_FILTER.fullmatch(program):
        raise NotUnderstood(f"the filter `{program}`")
    return Use(tuple(argv), tuple(files))


# --- the rest


def _one_date(reading: Reading) -> None:
    """A word that is no format sets the clock, and a time zone in a date is a file."""
    if any(not operand.startswith("+") for operand in reading.operands):
        raise NotUnderstood("setting the clock")
    if any("TZ" in value for name, value in reading.values if name in ("-d", "--date")):
        raise NotUnderstood("the time zone")


def _few_numbers(reading: Reading) -> None:
    if not all(re.fullmatch(r"-?\d{1,6}", operand) for operand in reading.operands):
        raise NotUnderstood("what it counts")


LS = (
    "-a -A -l -h -1 -t -r -S -R -d -F -p -i -s -n -g -o -G -m -x -C -c -u -X -v -B -k -N -q -Q -b --all"
    " --almost-all --human-readable --recursive --reverse --size --inode --directory --classify=? --file-type"
    " --full-time --group-directories-first --no-group --numeric-uid-gid --si --color=? --sort= --time= --time-style="
    " --format= --indicator-style= --ignore= --hide= --width= --zero"
)
DIGEST = "-b -t --binary --text --tag --zero"

GRAMMARS: Mapping[str, Grammar] = {
    "grep": GREP,
    "rg": RIPGREP,
    "sed": SED,
    "pwd": Grammar("-L -P", "none"),
    "true": Grammar("", "none"),
    "false": Grammar("", "none"),
    ":": Grammar("", "none"),
    "type": Grammar("-t -a -p -P", "text"),
    "ls": Grammar(LS),
    "cat": Grammar(
        "-n -b -s -A -E -T -v -e -t -u --number --number-nonblank --squeeze-blank --show-all --show-ends"
        " --show-tabs --show-nonprinting"
    ),
    "head": Grammar("-n= -c= -q -v -z --lines= --bytes= --quiet --silent --verbose", digits=True),
    "tail": Grammar("-n= -c= -q -v -z --lines= --bytes= --quiet --silent --verbose", digits=True),
    "wc": Grammar("-l -w -c -m -L --lines --words --bytes --chars --max-line-length"),
    "stat": Grammar("-c= -L -f -t --format= --printf= --file-system --terse --dereference"),
    "cut": Grammar(
        "-b= -c= -d= -f= -n -s -z --bytes= --characters= --delimiter= --fields= --only-delimited --complement"
        " --output-delimiter="
    ),
    "nl": Grammar("-b= -d= -f= -h= -i= -l= -n= -p -s= -v= -w="),
    "tac": Grammar("-b -s= --before --separator="),
    "rev": Grammar(""),
    "fold": Grammar("-b -s -w= --bytes --spaces --width="),
    "paste": Grammar("-d= -s -z --delimiters= --serial"),
    "comm": Grammar("-1 -2 -3 --check-order --nocheck-order --output-delimiter= --total"),
    "tr": Grammar("-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1", "text"),
    "uniq": Grammar(
        "-c -d -D -i -u -z -f= -s= -w= --count --repeated --unique --ignore-case --skip-fields= --skip-chars="
        " --check-chars=",
        "path",
    ),
    "sort": Grammar(
        "-b -d -f -g -h -i -M -n -r -R -V -c -C -s -u -z -k= -t= --ignore-leading-blanks --dictionary-order"
        " --ignore-case --general-numeric-sort --human-numeric-sort --month-sort --numeric-sort --reverse"
        " --version-sort --check --stable --unique --zero-terminated --key= --field-separator="
    ),
    "du": Grammar(
        "-a -b -c -d= -h -k -m -s -S -x -0 --all --apparent-size --bytes --total --max-depth= --human-readable"
        " --summarize --separate-dirs --one-file-system --exclude= --threshold= --si --time"
    ),
    "df": Grammar("-a -h -H -i -k -l -T --all --human-readable --inodes --local --print-type --total --si"),
    "basename": Grammar("-a -s= -z --multiple --suffix= --zero", "text"),
    "dirname": Grammar("-z --zero", "text"),
    "realpath": Grammar("-e -m -L -P -q -s -z --relative-to=path --canonicalize-existing --no-symlinks"),
    "readlink": Grammar("-f -e -m -n -q -s -v -z"),
    "file": Grammar("-b -i -h -k -n -N -r -0 -F= --brief --mime --mime-type --mime-encoding"),
    "diff": Grammar(
        "-u -c -y -q -s -i -w -b -B -E -Z -a -d -e -n -p -t -T -U= -C= -W= -I= -L= --unified=? --context=?"
        " --side-by-side --brief --report-identical-files --ignore-case --ignore-all-space"
        " --ignore-space-change --ignore-blank-lines --text --minimal --width= --label= --color=?"
        " --suppress-common-lines --strip-trailing-cr --normal"
    ),
    "cmp": Grammar("-b -l -s -n= -i= --print-bytes --verbose --quiet --silent --bytes= --ignore-initial="),
    "md5sum": Grammar(DIGEST),
    "sha1sum": Grammar(DIGEST),
    "sha256sum": Grammar(DIGEST),
    "sha512sum": Grammar(DIGEST),
    "cksum": Grammar(""),
    "od": Grammar(
        "-a -b -c -d -f -i -l -o -s -x -v -A= -j= -N= -t= -w=? --address-radix= --skip-bytes="
        " --read-bytes= --format= --output-duplicates"
    ),
    "date": Grammar(
        "-u -R -I=? -d= -r=path --utc --universal --rfc-email --rfc-3339= --iso-8601=? --date= --reference=path", "text"
    ),
    "seq": Grammar("-w -s= -f= --equal-width --separator= --format=", "text"),
    "whoami": Grammar("", "none"),
    "id": Grammar("-u -g -G -n -r", "none"),
    "uname": Grammar("-a -s -n -r -v -m -p -i -o --all", "none"),
    "arch": Grammar("", "none"),
    "nproc": Grammar("--all", "none"),
    "free": Grammar("-b -k -m -g -h -w -t -l --human --wide --total", "none"),
    "uptime": Grammar("-p --pretty", "none"),
    "jq": JQ,
    "tree": Grammar(
        "-a -d -f -i -s -h -D -F -r -t -v -C -n -L= -P= -I= --dirsfirst --noreport --prune --gitignore --du"
        " --filelimit== --si --sort==",
        clusters=False,
    ),
}
"""By name. `ls -L` and its like are left out: links lead anywhere."""
_CHECKS = {"date": _one_date, "seq": _few_numbers}
_FILES_ONLY = frozenset({"diff"})
JUDGES: Mapping[str, Judge] = {
    **{name: _plainly(it, _CHECKS.get(name), files_only=name in _FILES_ONLY) for name, it in GRAMMARS.items()},
    "find": _find,
    "grep": _grep,
    "rg": _ripgrep,
    "sed": _sed,
    "echo": _text,
    "printf": _printf,
    "test": _test,
    "which": _which,
    "awk": _awk,
    "jq": _jq,
}
STARTS_NO_OTHER = BUILTINS | names(
    "cd which cat head tail wc stat cut nl tac rev fold paste comm tr uniq ls grep du df basename dirname realpath"
    " readlink cmp md5sum sha1sum sha256sum sha512sum cksum od date seq whoami id uname nproc free uptime sort"
)
"""With all the options that are understood here. Where the system cannot hold a command, only these run unasked."""
