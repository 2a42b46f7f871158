"""What a command gets to know of Odin's environment: no secrets, nothing that makes programs run other programs."""

import ctypes
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from odin_lsp.permissions.program_search import ProgramSearch, is_within
from odin_lsp.redaction import SECRET_NAME, SECRET_VALUE

SHELLS = (
    "/bin/bash",
    "/usr/bin/bash",
    "/usr/local/bin/bash",
    "/opt/homebrew/bin/bash",
    "/run/current-system/sw/bin/bash",
)
VIRTUAL_ENVIRONMENTS = (".venv", "venv", "env", ".env")
SET_DUMPABLE = 4

_STEERING_NAME = re.compile(
    r"BASH.*|ENV|SHELLOPTS|PS[0-4]|PROMPT_COMMAND|CDPATH|GLOBIGNORE|IFS|FPATH|ZDOTDIR|INPUTRC|HIST.*|EXECIGNORE|TIMEFORMAT"
    r"|LD_.*|DYLD_.*|GCONV_PATH|LOCPATH|NLSPATH|MALLOC_.*|GLIBC_.*|HOSTALIASES|LOCALDOMAIN|RES_OPTIONS"
    r"|GIT_.*|PAGER|.*_PAGER|MANPAGER|LESS.*|EDITOR|VISUAL|.*_EDITOR|BROWSER|.*_ASKPASS|TERM.*|NCURSES_.*"
    r"|NODE_.*|NPM_CONFIG_.*|PYTHON.*|VIRTUAL_ENV.*|CONDA_.*|PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|LUA_.*|PHP.*|TCL.*"
    r"|_?JAVA_.*OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|MAKEFLAGS|MAKEFILES|MFLAGS|GNUMAKEFLAGS|RUSTC.*|CARGO_BUILD_.*"
    r"|RIPGREP_CONFIG_PATH|GREP_.*|TAR_OPTIONS|GZIP|XZ_OPT|ZIPOPT|UNZIP|WGETRC|CURL_HOME|ACK_.*|AG_.*|FZF_.*|RSYNC_.*"
    r"|POSIXLY_CORRECT|GTK_.*|QT_.*|COLUMNS|LINES|ODIN_.*|CLAUDE.*|OPENAI_.*|ANTHROPIC_.*|GEMINI_.*|GOOGLE_.*"
    r"|AWS_.*|AZURE_.*|CLOUDSDK_.*|CLOUD_ML_.*",
    re.IGNORECASE,
)
"""Variables by which a program is told to run, load or read something else."""
QUIET = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_EDITOR": "true",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PIP_NO_INPUT": "1",
    "DEBIAN_FRONTEND": "noninteractive",
    "PYTHONUNBUFFERED": "1",
}
"""Nobody is there to page, to type or to choose."""


_SOCKET_SCHEME = re.compile(r"unix:(?:path=|//)?")
PLAIN_NAME = re.compile(r"HOME|USER|LOGNAME|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|XDG_[A-Z_]+")
"""Variables that say who somebody is and where, and nothing besides."""


def find_shell() -> str | None:
    """Bash, by its absolute path: commands are judged as bash, so nothing else runs them."""
    return next((shell for shell in SHELLS if os.access(shell, os.X_OK)), None)


def child_environment(
    environ: Mapping[str, str],
    roots: Sequence[Path],
    *,
    secret_names: Collection[str] = (),
    passed: Collection[str] = (),
    virtual_environment: Path | None = None,
    temporary: Path | None = None,
) -> dict[str, str]:
    """`passed` are variables that the user wants commands to have, whatever they look like."""
    kept = {
        name: value
        for name, value in environ.items()
        if name in passed
        or not (
            name in secret_names
            or SECRET_NAME.search(name)
            or SECRET_VALUE.search(value)
            or _STEERING_NAME.fullmatch(name)
        )
    }
    kept |= QUIET | {"PATH": _path(environ, roots, virtual_environment), "SHELL": find_shell() or "/bin/sh"}
    kept.setdefault("LANG", "C.UTF-8")
    if virtual_environment is not None:
        kept["VIRTUAL_ENV"] = str(virtual_environment)
    if temporary is not None:
        kept["TMPDIR"] = str(temporary)
    return kept


def named_sockets(environ: Mapping[str, str], passed: Iterable[str]) -> Iterator[Path]:
    """The unix sockets that variables which the user wants commands to have lead to: of agents for keys, of buses."""
    for name in passed:
        path = Path(os.path.realpath(_SOCKET_SCHEME.sub("", environ.get(name, ""), count=1).split(",")[0] or "/"))
        if path.is_socket():
            yield path


def program_search(
    environ: Mapping[str, str], cwd: Path, roots: Sequence[Path], trusted: Sequence[Path]
) -> ProgramSearch:
    """Where the programs of a command in `cwd` are. The virtual environment of a folder counts if that is trusted."""
    environment = find_virtual_environment(cwd, roots)
    is_used = environment is not None and is_within(environment, trusted)
    return ProgramSearch(
        path=_path(environ, roots, environment if is_used else None),
        roots=tuple(Path(os.path.realpath(root)) for root in roots),
        trusted=tuple(Path(os.path.realpath(folder)) for folder in trusted),
        environment=environment if is_used else None,
        unused_environment=None if is_used else environment,
        left_out=_split_path(environ.get("PATH", os.defpath), roots)[1],
    )


def plain_environment(environ: Mapping[str, str], roots: Sequence[Path], given: Mapping[str, str]) -> dict[str, str]:
    """For a program that is told by name what it gets: `given`, and what every program needs."""
    plain = {
        name: value for name, value in environ.items() if PLAIN_NAME.fullmatch(name) and not SECRET_NAME.search(name)
    }
    path = trusted_path(environ.get("PATH", os.defpath), roots)
    return {"LANG": "C.UTF-8", **plain, "PATH": path, "SHELL": find_shell() or "/bin/sh", "TERM": "dumb", **given}


def _path(environ: Mapping[str, str], roots: Sequence[Path], virtual_environment: Path | None) -> str:
    path = trusted_path(environ.get("PATH", os.defpath), roots)
    return path if virtual_environment is None else f"{virtual_environment / 'bin'}{os.pathsep}{path}"


def trusted_path(path: str, roots: Sequence[Path]) -> str:
    """Without relative entries and without folders of the workspace, which could hold a `git` of their own."""
    return os.pathsep.join(map(str, _split_path(path, roots)[0])) or os.defpath


def _split_path(path: str, roots: Sequence[Path]) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Its folders outside of the workspace, and those inside."""
    folders = dict.fromkeys(Path(entry) for entry in path.split(os.pathsep) if entry.startswith("/"))
    real = [Path(os.path.realpath(root)) for root in roots]
    inside = {folder for folder in folders if is_within(Path(os.path.realpath(folder)), real)}
    return tuple(it for it in folders if it not in inside), tuple(it for it in folders if it in inside)


def find_virtual_environment(cwd: Path, roots: Sequence[Path]) -> Path | None:
    """The nearest one, from `cwd` up to the workspace folder."""
    for folder in (cwd, *cwd.parents):
        if not any(folder.is_relative_to(root) for root in roots):
            return None
        for name in VIRTUAL_ENVIRONMENTS:
            found = folder / name
            if (found / "pyvenv.cfg").is_file() and (found / "bin" / "python").exists():
                return found
    return None


def hide_own_environment() -> None:
    """Keep commands, which run as the same user, from reading Odin's memory and environment in `/proc`."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(SET_DUMPABLE, 0, 0, 0, 0)
