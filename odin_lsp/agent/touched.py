"""Which files a conversation has changed, as its records tell."""

from collections.abc import Iterable

from odin_lsp.agent.history import Conversation
from odin_lsp.records import ToolRecord
from odin_lsp.sessions.session import Session
from odin_lsp.tools.base import all_tools


def edited_in(conversation: Conversation, records: Iterable[ToolRecord] = ()) -> list[str]:
    """By its turns, with the records of the one that runs."""
    turns = conversation.turns if isinstance(conversation, Session) else ()
    return touched_files([*(record for turn in turns for record in turn.tool_history), *records])


def touched_files(records: Iterable[ToolRecord]) -> list[str]:
    """In the order of their last change; what was deleted since is not among them, and what was only read neither."""
    touched: dict[str, None] = {}
    for record in records:
        tool = all_tools().get(record.name)
        if tool is None or not tool.changes_files or record.status != "success":
            continue
        for path in record.affected_files:
            touched.pop(path, None)
            if not tool.deletes_files:
                touched[path] = None
    return list(touched)
