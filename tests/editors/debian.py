"""Programs of Debian's releases, unpacked into a folder of the user's cache: nothing is installed, root is not needed.

`python -m tests.editors.debian` fetches all that the tests use; `… luacheck FILE…` fetches one program and runs it.
"""

import fcntl
import os
import pwd
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

_HOME = Path(pwd.getpwuid(os.getuid()).pw_dir)
CACHE = (_HOME / ".cache" if _HOME.is_dir() else Path(tempfile.gettempdir())) / "odin-tests"
"""Tests have a home of their own, made anew each time; this is to stay. Not everybody has a home at all."""
PATIENCE = 600
MAY_FETCH = bool(os.environ.get("FETCH_PROGRAMS"))
"""Whether tests that can do without some program are to have it all the same: `nox -s programs` sees to it."""


class Unavailable(Exception):
    """There is no such program here, and no Debian mirror to take it from."""


@dataclass(frozen=True)
class Program:
    release: str
    package: str
    binary: str
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """`{root}` is the folder with the unpacked packages, `{lib}` that of its libraries; a `*` is looked up."""
    arguments: tuple[str, ...] = ()
    """Before all others, with the same meaning of `{root}`, `{lib}` and `*`."""
    starts_itself: bool = False
    """Then no loader can be put before it: it is made to name its own, and its libraries."""

    @property
    def folder(self) -> Path:
        return CACHE / self.release / self.package


def _neovim(release: str) -> Program:
    return Program(
        *(release, "neovim", "usr/bin/nvim"),
        {"VIMRUNTIME": "{root}/usr/share/nvim/runtime"},
        ("--cmd", "set runtimepath+={root}/usr/lib/nvim"),
    )


NEOVIM_0_7, NEOVIM_0_10, NEOVIM = _neovim("bookworm"), _neovim("trixie"), _neovim("sid")
HELIX = Program("sid", "hx", "usr/lib/hx/hx", {"HELIX_RUNTIME": "{root}/usr/lib/hx/runtime"})
EMACS = Program(
    "trixie",
    "emacs-nox",
    "usr/bin/emacs-nox",
    {
        "EMACSLOADPATH": "{root}/usr/share/emacs/*/lisp",
        "EMACSDATA": "{root}/usr/share/emacs/*/etc",
        "EMACSDOC": "{root}/usr/share/emacs/*/etc",
        "EMACSPATH": "{root}/usr/libexec/emacs/*/*",
    },
    ("--dump-file={root}/usr/libexec/emacs/*/*/emacs*.pdmp",),
)
LUACHECK = Program(
    "trixie",
    "lua-check",
    "usr/bin/lua5.1",
    {
        "LUA_PATH": "{root}/usr/share/lua/5.1/?.lua;{root}/usr/share/lua/5.1/?/init.lua",
        "LUA_CPATH": "{lib}/lua/5.1/?.so",
    },
    ("{root}/usr/bin/luacheck",),
)
ZSH = Program(
    "trixie", "zsh", "usr/bin/zsh", {"FPATH": "{root}/usr/share/zsh/functions/*", "MODULE_PATH": "{lib}/zsh/*"}
)
FISH = Program("trixie", "fish", "usr/bin/fish")
TMUX = Program("trixie", "tmux", "usr/bin/tmux")
PATCHELF = Program("trixie", "patchelf", "usr/bin/patchelf")
CHROMIUM = Program(
    "trixie",
    "chromium-headless-shell",
    "usr/lib/chromium/chromium-headless-shell",
    {"LD_LIBRARY_PATH": "{lib}:{lib}/pulseaudio", "FONTCONFIG_SYSROOT": "{root}"},
    starts_itself=True,
)
PYTHON = Program("sid", "python3.14", "usr/bin/python3.14", starts_itself=True)
PROGRAMS = {
    "nvim-0.7": NEOVIM_0_7,
    "nvim-0.10": NEOVIM_0_10,
    "nvim": NEOVIM,
    "hx": HELIX,
    "emacs": EMACS,
    "luacheck": LUACHECK,
    "tmux": TMUX,
    "zsh": ZSH,
    "fish": FISH,
}
IF_NAMED = {"python3.14": PYTHON}


def fetched(program: Program) -> Path:
    """A script that starts the program, which is fetched if it is not here yet."""
    script = program.folder / "run"
    patchelf = fetched(PATCHELF) if program.starts_itself else None
    with alone(program.folder.parent):
        if not (program.folder / "root").exists():
            shutil.rmtree(program.folder, ignore_errors=True)
            _unpack(program, patchelf)
        text = _script(program)
        if not script.exists() or script.read_text() != text:
            script.write_text(text)
            script.chmod(0o755)
    return script


@contextmanager
def alone(folder: Path) -> Generator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _unpack(program: Program, patchelf: Path | None) -> None:
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        raise Unavailable(f"{program.package} is fetched by apt-get and dpkg-deb, which are not here")
    options = _own_apt(program.folder.parent)
    if not any((program.folder.parent / "lists").glob("*Packages*")):
        run("apt-get", *options, "update")
    archives, unpacked, root = (program.folder / name for name in ("archives", "unpacking", "root"))
    (archives / "partial").mkdir(parents=True)
    options = (*options, "-o", f"Dir::Cache::archives={archives}")
    run("apt-get", *options, "--yes", "--download-only", "--no-install-recommends", "install", program.package)
    for package in sorted(archives.glob("*.deb")):
        run("dpkg-deb", "-x", str(package), str(unpacked))
    shutil.rmtree(archives)
    if patchelf:
        loader = root / _loader(unpacked).relative_to(unpacked)
        libraries = f"{root}/usr/lib/{loader.parent.name}:{loader.parent}"
        run(str(patchelf), "--set-interpreter", str(loader), str(unpacked / program.binary))
        run(str(patchelf), "--force-rpath", "--set-rpath", libraries, str(unpacked / program.binary))
    unpacked.rename(root)


def _own_apt(folder: Path) -> tuple[str, ...]:
    """Options for an apt that knows one release and nothing of the system, except where the system gets packages."""
    sites = run("apt-get", "indextargets", "--format", "$(SITE)").split()
    if not sites:
        raise Unavailable("apt-get knows no mirror")
    (folder / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    (folder / "sources.list").write_text(f"deb {sites[0]} {folder.name} main\n")
    settings = {
        "Dir::State": folder,
        "Dir::State::lists": folder / "lists",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder / "cache",
        "Dir::Etc::SourceList": folder / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "APT::Sandbox::User": pwd.getpwuid(os.getuid()).pw_name,
        "Acquire::Languages": "none",
        "Acquire::Retries": "3",
    }
    return tuple(part for name, value in settings.items() for part in ("-o", f"{name}={value}"))


def _script(program: Program) -> str:
    """Each program runs with the loader and the libraries of its own release."""
    root = program.folder / "root"
    loader = _loader(root)
    lib = root / "usr" / "lib" / loader.parent.name
    filled = partial(_filled, root=root, lib=lib)
    start = [str(loader), "--library-path", f"{lib}:{loader.parent}", "--argv0", str(root / program.binary)]
    command = [str(root / program.binary), *map(filled, program.arguments)]
    command = command if program.starts_itself else start + command
    variables = [f"export {name}={shlex.quote(filled(value))}" for name, value in program.env.items()]
    return "\n".join(["#!/bin/sh", *variables, f'exec {shlex.join(command)} "$@"', ""])


def _loader(root: Path) -> Path:
    return next(it for lib in ("usr/lib", "lib") for it in root.glob(f"{lib}/*-linux-gnu/ld-linux-*.so.*"))


def _filled(template: str, *, root: Path, lib: Path) -> str:
    before, _, pattern = template.partition("{root}/")
    if "*" in pattern:
        return f"{before}{next(root.glob(pattern))}"
    return template.format(root=root, lib=lib)


def run(*command: str) -> str:
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE).stdout
    except subprocess.CalledProcessError as error:
        raise Unavailable(f"{' '.join(command)}: {error.stderr.strip()[-2000:]}") from error


def main(arguments: Sequence[str]) -> int:
    try:
        scripts = [fetched({**PROGRAMS, **IF_NAMED}[name]) for name in arguments[:1] or PROGRAMS]
    except Unavailable as error:
        sys.stderr.write(f"{error}\n")
        return 1 if os.environ.get("CI") else 0
    return subprocess.run([scripts[0], *arguments[1:]], check=False).returncode if arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
