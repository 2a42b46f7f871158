"""The plugin installed in each way that its page names, in a real Neovim: its help opens, its commands are there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.editors.conftest import PLUGIN, StartNeovim, at_home
from tests.editors.neovim import NEWEST, Neovim

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGE = PLUGIN.parents[1] / "docs" / "neovim.md"
AS_LAZY = """
vim.go.loadplugins = false
local spec = {}
vim.opt.runtimepath:prepend(spec.dir)
vim.cmd.runtime("plugin/odin.lua")
"""
"""What lazy.nvim does with a folder that it is given; itself it would have to be fetched."""


def way(about: str) -> str:
    """The block of the page that begins so."""
    found = re.search(rf"```(?:lua|sh)\n(?:--|#) {about}.*?\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    assert found, about
    return found[1]


@pytest.fixture
def clone(own_root: Path) -> Path:
    """A clone of Odin, as far as Neovim looks at it."""
    clone = own_root.parent / "odin"
    shutil.copytree(PLUGIN, clone / "editors" / "neovim")
    who = ("-c", "user.name=Odin", "-c", "user.email=odin@example.com")
    for command in (("init", "--quiet"), ("add", "--all"), (*who, "commit", "--quiet", "--message", "Odin")):
        subprocess.run(["git", "-C", str(clone), *command], check=True, timeout=60)
    return clone


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the server's wheel installs."""
    built, folder = tmp_path_factory.mktemp("built"), tmp_path_factory.mktemp("wheel")
    build = ("hatchling", "build", "--target", "wheel", "--directory", str(built))
    subprocess.run([sys.executable, "-m", *build], cwd=PLUGIN.parents[1], check=True, timeout=60, capture_output=True)
    install = ("pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(folder))
    subprocess.run([sys.executable, "-m", *install, *built.iterdir()], check=True, timeout=60)
    return folder


@pytest.fixture
def linked(wheel: Path, own_root: Path) -> Path:
    """The plugin that came with the server is a package; its folder."""
    command = way("without a plugin manager, as a package")
    path = f"{wheel / 'bin'}:{os.environ['PATH']}"
    env = {"HOME": str(own_root.parent / "home"), "PATH": path, "PYTHONPATH": str(wheel)}
    subprocess.run(["bash", "-euc", command], env=env, check=True, timeout=60)
    return wheel / "odin_lsp" / "editors" / "neovim"


async def started(start: StartNeovim, own_root: Path, init: str) -> Neovim:
    config = own_root.parent / "home" / ".config" / "nvim" / "init.lua"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(init)
    return await start(plugin=False, **at_home(own_root.parent))


async def helps(neovim: Neovim, plugin: Path) -> None:
    for topic in ("odin", ":OdinAsk", "odin-review", "odin-plans", "odin-troubleshooting", "odin.status()"):
        await neovim.command(f"help {topic}")
        shown = await neovim.lua("return vim.uv.fs_realpath(vim.api.nvim_buf_get_name(0))")
        assert Path(shown) == plugin.resolve() / "doc" / "odin.txt"
    assert await neovim.lua("return vim.fn.exists(':OdinAsk')") == 2


async def test_the_help_opens_with_lazy_nvim(start_neovim: StartNeovim, own_root: Path, clone: Path) -> None:
    spec = way("lazy.nvim").replace("/path/to/odin", str(clone))
    await helps(await started(start_neovim, own_root, AS_LAZY.replace("{}", spec)), clone / "editors" / "neovim")


async def test_the_help_opens_with_a_line_in_the_settings(
    start_neovim: StartNeovim, own_root: Path, clone: Path
) -> None:
    line = way("without a plugin manager, in init.lua").replace("/path/to/odin", str(clone))
    await helps(await started(start_neovim, own_root, line), clone / "editors" / "neovim")


async def test_the_help_opens_with_a_package_of_the_servers_wheel(
    start_neovim: StartNeovim, own_root: Path, linked: Path
) -> None:
    await helps(await started(start_neovim, own_root, ""), linked)
    assert not (linked / "test").exists()


@NEWEST
async def test_the_help_opens_with_vim_pack(start_neovim: StartNeovim, own_root: Path, clone: Path) -> None:
    call = way("vim.pack").replace("/path/to/odin", str(clone)).replace("load =", "confirm = false, load =")
    neovim = await started(start_neovim, own_root, call)
    cloned = await neovim.lua("return vim.pack.get()[1].path")
    await helps(neovim, Path(cloned) / "editors" / "neovim")
