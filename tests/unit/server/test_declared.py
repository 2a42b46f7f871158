"""What the server says of itself before it has imported it."""

from odin_lsp.server.commands.base import all_commands
from odin_lsp.server.declared import command_names, tool_names
from odin_lsp.tools.base import all_tools


def test_the_names_read_off_the_files_are_those_of_the_tools():
    assert tool_names() == tuple(all_tools())


def test_the_names_read_off_the_files_are_those_of_the_commands():
    assert command_names() == tuple(all_commands())
