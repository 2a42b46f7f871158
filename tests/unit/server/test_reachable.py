"""Every command of the server is there for people in each editor, as the table in docs/protocol.intro.md says."""

import json
import re
from pathlib import Path

import pytest

from odin_lsp.cli.main import main
from odin_lsp.server.commands.base import all_commands

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/protocol.intro.md").read_text().partition("### Where people find them\n")[2].partition("\n###")[0]
TABLE, _, OTHERS = PAGE.partition("\n\nNot for people")
ROWS = [[cell.strip() for cell in row.strip("|").split("|")] for row in TABLE.strip().splitlines()[2:]]
NAMES = re.compile(r"`(odin\.[\w.]+)`")


def test_every_command_is_in_the_table_or_named_as_one_for_programs() -> None:
    listed = [name for command, *_ in ROWS for name in NAMES.findall(command)]
    assert sorted([*listed, *NAMES.findall(OTHERS)]) == sorted(all_commands())
    assert all(vscode and neovim and terminal and "–" not in (vscode, neovim) for _, vscode, neovim, terminal in ROWS)


def test_what_the_table_names_is_in_the_palette_of_vs_code() -> None:
    manifest = json.loads((ROOT / "editors/vscode/package.json").read_text())
    names = json.loads((ROOT / "editors/vscode/package.nls.json").read_text())
    titles = {names[it["title"].strip("%")] for it in manifest["contributes"]["commands"]}
    named = {title for _, vscode, *_ in ROWS if ":" not in vscode for title in re.findall(r"\*([^*]+)\*", vscode)}
    assert named - titles == set()


def test_what_the_table_names_is_a_command_of_neovim() -> None:
    help_page = (ROOT / "editors/neovim/doc/odin.txt").read_text()
    known = dict(re.findall(r"^:(?:\[range\])?(Odin\w+)(.*?)\s+\*:", help_page, re.M))
    named = [name.split() for _, _, neovim, _ in ROWS for name in re.findall(r"`:([^`]+)`", neovim)]
    assert [name for name, *words in named if name not in known or any(it not in known[name] for it in words)] == []


@pytest.mark.parametrize("command", sorted({it for *_, cell in ROWS for it in re.findall(r"`odin-lsp ([^`]+)`", cell)}))
def test_what_the_table_names_is_a_command_of_the_terminal(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = command.split()
    options = [word for word in words if word.startswith("--")]
    with pytest.raises(SystemExit) as ended:
        main([*(word for word in words if word not in options), "--help"])
    assert ended.value.code == 0
    assert all(option in capsys.readouterr().out for option in options)
