"""What a shell command would do, decided from its text: nothing here runs anything."""

from odin_lsp.permissions.shell.judge import CommandVerdict, SimpleCommand, judge

__all__ = ["CommandVerdict", "SimpleCommand", "judge"]
