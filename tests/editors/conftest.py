"""Real editors with the real server, in front of a model on loopback.

Editor and server take their time to start: the tests of a file share them, and each has files of its own.
"""

import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from tests.editors import code_server, wheels
from tests.editors.debian import CHROMIUM, NEOVIM, NEOVIM_0_10, TMUX, Program, Unavailable, fetched
from tests.editors.neovim import NOTE_EVENTS, READY, Neovim
from tests.editors.terminal import Terminal
from tests.editors.vscode import VSCode, start
from tests.support.forking import make_program
from tests.support.held_loop import (  # noqa: F401 - hooks
    pytest_runtest_protocol,
    pytest_runtest_setup,
    pytest_runtest_teardown,
)
from tests.support.sampling import sampled
from tests.support.wire import KEY, Wire, serving

HERE = Path(__file__).parent
PLUGIN = HERE.parents[1] / "editors" / "neovim"
VERSIONS: dict[str, Program] = {"0.10": NEOVIM_0_10, "newest": NEOVIM}
OLDEST = {"nvim": "0.10", "code": "1.100"}
FIRST = {HERE / "test_neovim.py", HERE / "test_vscode.py"}
FAILED: set[Path | None] = set()
"""Folders of tests."""
FOLDERS = {
    "HOME": "home",
    "XDG_CACHE_HOME": "home/.cache",
    "XDG_CONFIG_HOME": "home/.config",
    "XDG_DATA_HOME": "home/.local/share",
    "XDG_STATE_HOME": "home/.local/state",
    "XDG_RUNTIME_DIR": "run",
}

CHROMIUM_FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)

LOCALE = "C.UTF-8"

StartNeovim = Callable[..., Awaitable[Neovim]]
Write = Callable[..., Path]
StartVSCode = Callable[..., Awaitable[VSCode]]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With an editor's oldest version a sample has its first file and some of the others: whole ones, as their tests
    may go on from each other. Files begin in the order in which they are named; pytest would go by versions first."""
    named = {Path(it).absolute(): number for number, it in enumerate(config.args)}
    items.sort(key=lambda it: (named[it.path], not _is_of_the_oldest(it)) if it.path in named else (-1, False))
    old = [it for it in items if it.path.parent == HERE and _is_of_the_oldest(it)]
    chosen = {*FIRST, *sampled(sorted({it.path for it in old} - FIRST), 3)}
    others = [it for it in old if it.path not in chosen]
    dropped = set(others)
    items[:] = [it for it in items if it not in dropped]
    config.hook.pytest_deselected(items=others)


def _is_of_the_oldest(item: Any) -> bool:
    params = item.callspec.params if hasattr(item, "callspec") else {}
    return any(params.get(name) == version for name, version in OLDEST.items())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report = yield
    if report.failed and isinstance(item, pytest.Function):
        FAILED.add(item.funcargs.get("tmp_path"))
    return report


@contextmanager
def skipped_if_unavailable() -> Iterator[None]:
    """What cannot be had here; with `CI` set that fails."""
    try:
        yield
    except Unavailable as error:
        pytest.skip(str(error))


def program(wanted: Program) -> Path:
    with skipped_if_unavailable():
        return fetched(wanted)


@pytest.fixture(scope="session", params=list(VERSIONS))
def nvim(request: pytest.FixtureRequest) -> Path:
    """Neovim's oldest version that is supported, and the newest that can be had."""
    found = shutil.which("nvim")
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout if found else ""
    version = re.search(r"NVIM v0\.(\d+)", said)
    fits = version and int(version[1]) >= 10 and (int(version[1]) == 10) == (request.param == "0.10")
    return Path(found) if found and fits else program(VERSIONS[request.param])


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def wire() -> AsyncIterator[Wire]:
    async with serving() as wire:
        yield wire


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For a workspace, and a home that nobody else has."""
    place = tmp_path_factory.mktemp("place")
    furnish(place)
    return place


def furnish(place: Path) -> None:
    """As if nobody had been there."""
    for folder in place.iterdir():
        shutil.rmtree(folder, ignore_errors=True)
    for folder in FOLDERS.values():
        (place / folder).mkdir(parents=True, exist_ok=True, mode=0o700)
    (place / "workspace" / ".git").mkdir(parents=True, exist_ok=True)


def at_home(place: Path) -> dict[str, str]:
    """Where programs keep what is theirs."""
    return {name: str(place / folder) for name, folder in FOLDERS.items()}


@pytest.fixture(scope="module")
def root(place: Path) -> Path:
    return place / "workspace"


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the server as its users have it, and nothing else: beside it there are language servers, which
    every turn that edits would start."""
    folder = tmp_path_factory.mktemp("installed")
    (folder / "odin-lsp").symlink_to(Path(sys.executable).with_name("odin-lsp"))
    return folder


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Most of the time that an editor's first turn takes Python would import: here the server is forked from one that
    has. Files that are about the server itself or a terminal, that kill it, or that are the first of their editor have
    the one that is `installed`."""
    folder = tmp_path_factory.mktemp("programs")
    make_program(folder / "odin-lsp", [sys.executable, "-m", "odin_lsp"], LC_ALL=LOCALE)
    return folder


@pytest.fixture(scope="module")
def env(place: Path, wire: Wire, programs: Path) -> dict[str, str]:
    """The server is on the path."""
    return {
        **os.environ,
        **at_home(place),
        "PATH": f"{programs}:{os.environ['PATH']}",
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": wire.url,
        "LC_ALL": LOCALE,
        "TERM": "xterm-256color",
    }


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def start_neovim(nvim: Path, place: Path, env: dict[str, str]) -> AsyncIterator[StartNeovim]:
    """Start Neovim, with the plugin if nothing else is said; what is started is ended."""
    started: list[Neovim] = []

    async def start(*arguments: str, plugin: bool = True, cwd: Path = place / "workspace", **more: str) -> Neovim:
        with_plugin = ("--cmd", f"set runtimepath^={PLUGIN}") if plugin else ()
        process = await asyncio.create_subprocess_exec(
            *(nvim, "--embed", "--headless", "-i", "NONE", *with_plugin, *arguments),
            cwd=cwd,
            env={**env, **more},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        neovim = Neovim(process)
        started.append(neovim)
        await neovim.until("vim.v.vim_did_enter == 1")
        return neovim

    yield start
    for neovim in started:
        await neovim.close()


@pytest.fixture
def own_root(tmp_path: Path) -> Path:
    """In a place that only one test is at home in: what waits for a review outlives Neovim, and so do sessions."""
    furnish(tmp_path)
    return tmp_path / "workspace"


@pytest.fixture
def start_own_neovim(start_neovim: StartNeovim, own_root: Path) -> StartNeovim:
    return partial(start_neovim, cwd=own_root, **at_home(own_root.parent))


@pytest_asyncio.fixture(loop_scope="module")
async def neovim(start_own_neovim: StartNeovim, wire: Wire, own_root: Path) -> AsyncIterator[Neovim]:
    """One that only one test has; and no test leaves an error behind."""
    (own_root / "first.py").write_text("first = 1\n")
    neovim = await start_own_neovim("first.py")
    await neovim.command("set nomore")  # what goes wrong is to be read, not to be waited for
    await neovim.lua(NOTE_EVENTS)
    await neovim.until(READY)
    wire.answers.clear()
    yield neovim
    said = await neovim.messages() if neovim.process.returncode is None else ""
    await neovim.close()
    assert "traceback" not in said, said
    assert not wire.answers


@pytest.fixture
def write(own_root: Path) -> Write:
    def write(name: str, *lines: str) -> Path:
        path = own_root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    return write


@pytest_asyncio.fixture(loop_scope="module")
async def terminal(place: Path, env: dict[str, str]) -> AsyncIterator[Terminal]:
    terminal = Terminal(shutil.which("tmux") or str(program(TMUX)), place / "run", env)
    yield terminal
    await terminal.close()


@pytest.fixture(scope="session", params=list(code_server.BUILDS))
def code(request: pytest.FixtureRequest) -> Path:
    """VS Code's oldest version that is supported, and the newest that can be had."""
    with skipped_if_unavailable():
        return code_server.installed(code_server.BUILDS[request.param])


@pytest.fixture(scope="session")
def vsix() -> Path:
    """The extension, as its users install it, without the server."""
    with skipped_if_unavailable():
        return code_server.packaged()


@pytest.fixture(scope="session")
def wheelhouse() -> Path:
    """What the server needs, for a pip that asks nobody."""
    with skipped_if_unavailable():
        return wheels.kept()


@pytest.fixture(scope="session")
def whole_vsix(wheelhouse: Path) -> Path:
    """The extension, as its users install it, with the server in it: the one of a release, or built here."""
    if released := os.environ.get("RELEASED_VSIX"):
        return Path(released)
    with skipped_if_unavailable():
        return code_server.packaged(whole=True)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def browser() -> AsyncIterator[Browser]:
    chromium = shutil.which("chromium") or program(CHROMIUM)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def start_vscode(
    code: Path, browser: Browser, place: Path, env: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[StartVSCode]:
    """Start VS Code with a folder or a workspace; what is started is ended."""
    started: list[VSCode] = []

    async def start_it(
        *extensions: Path,
        folder: Path = place / "workspace",
        settings: Mapping[str, Any] | None = None,
        trust: bool = True,
        script: str = "",
        **more: str,
    ) -> VSCode:
        vscode = await start(
            *(code, browser, tmp_path_factory.mktemp("code"), folder),
            env={**env, **more},
            extensions=extensions,
            settings=settings or {},
            trust=trust,
            script=script,
        )
        started.append(vscode)
        return vscode

    yield start_it
    for vscode in started:
        await vscode.close()
    furnish(place)


@asynccontextmanager
async def lent(vscode: VSCode, wire: Wire, tmp_path: Path) -> AsyncGenerator[VSCode]:
    """A VS Code that tests share, for one of them: of one that fails a picture is kept, and nothing is left behind."""
    wire.answers.clear()
    yield vscode
    if tmp_path in FAILED:
        await vscode.screenshot(tmp_path / "end.png")
    await vscode.tidy()
    assert not wire.answers
