"""The editor's side of a turn, on a terminal that works by itself: what was accepted is changed on disk."""

from odin_lsp.library.disk_editor import DiskEditor
from odin_lsp.terminal.answering import Answering


class TerminalEditor(Answering, DiskEditor):
    pass
