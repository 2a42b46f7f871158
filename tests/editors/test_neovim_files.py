"""The plugin's files by themselves: an old Neovim refuses them kindly, their own tests pass, the help is up to date."""

import subprocess
from pathlib import Path

import pytest

from tests.editors.conftest import PLUGIN, program
from tests.editors.debian import NEOVIM_0_7

RUNNER = PLUGIN / "test" / "run.lua"
LUA_TESTS = sorted(file for file in RUNNER.parent.glob("*.lua") if file != RUNNER)


def test_an_old_neovim_is_told_what_odin_needs() -> None:
    commands = ("-c", "runtime plugin/odin.lua", "-c", "quit")
    command = [program(NEOVIM_0_7), "--headless", "-u", "NONE", "--cmd", f"set runtimepath^={PLUGIN}", *commands]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert (said.stdout + said.stderr).strip() == "Odin needs Neovim 0.10 or newer; please update Neovim."


def test_the_help_says_what_the_code_does(nvim: Path) -> None:
    command = [nvim, "-l", PLUGIN / "doc" / "generate.lua", "--check"]
    subprocess.run(command, timeout=60, check=True)


@pytest.mark.parametrize("file", LUA_TESTS, ids=lambda file: file.stem)
def test_the_parts_pass_their_own_tests(nvim: Path, file: Path) -> None:
    subprocess.run([nvim, "-l", RUNNER, file], timeout=60, check=True)
