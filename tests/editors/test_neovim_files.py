"""The plugin's files by themselves: an old Neovim refuses them kindly, and the help is up to date."""

import subprocess
from pathlib import Path

from tests.editors.conftest import PLUGIN, program
from tests.editors.debian import NEOVIM_0_7


def test_an_old_neovim_is_told_what_odin_needs() -> None:
    commands = ("-c", "runtime plugin/odin.lua", "-c", "quit")
    command = [program(NEOVIM_0_7), "--headless", "-u", "NONE", "--cmd", f"set runtimepath^={PLUGIN}", *commands]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert (said.stdout + said.stderr).strip() == "Odin needs Neovim 0.10 or newer; please update Neovim."


def test_the_help_says_what_the_code_does(nvim: Path) -> None:
    command = [nvim, "-l", PLUGIN / "doc" / "generate.lua", "--check"]
    subprocess.run(command, timeout=60, check=True)
