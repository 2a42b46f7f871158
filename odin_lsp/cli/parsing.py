"""The parser of what is typed behind `odin-lsp`."""

from argparse import ArgumentParser
from typing import NoReturn

from odin_lsp.display import shown


class Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """What was typed is quoted, and may have been pasted."""
        super().error(shown(message))
