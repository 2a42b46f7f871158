"""What shells complete is what the parser knows."""

from argparse import ArgumentParser
from pathlib import Path

from odin_lsp.cli.completion import SCRIPTS, places


def test_every_command_and_option_is_known():
    parser = ArgumentParser()
    parser.add_argument("--level", choices=("low", "high"), help="how loud")
    commands = parser.add_subparsers()
    greet = commands.add_parser("greet", help="say hello")
    greet.add_argument("--card", type=Path)
    greet.add_argument("--loud", "-l", action="store_true", help="it's loud")

    top, below = places(parser)

    assert [(it.text, it.about) for it in top.words] == [("greet", "say hello")]
    assert [it.values for it in top.options if it.names == ("--level",)] == [("low", "high")]
    assert below.commands == "greet"
    assert [(it.names, it.takes_value, it.takes_path) for it in below.options] == [
        (("-h", "--help"), False, False),
        (("--card",), True, True),
        (("--loud", "-l"), False, False),
    ]
    assert all("greet" in script([top, below]) for script in SCRIPTS.values())
