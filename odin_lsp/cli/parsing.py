"""The parser of what is typed behind `odin-lsp`."""

from argparse import ArgumentParser
from typing import Any, NoReturn

from odin_lsp.display import shown


class Parser(ArgumentParser):
    def __init__(self, *args: Any, **options: Any) -> None:
        """What is no option is not taken for another one: `--mode` would be `--model`."""
        super().__init__(*args, allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """What was typed is quoted, and may have been pasted."""
        super().error(shown(message))
