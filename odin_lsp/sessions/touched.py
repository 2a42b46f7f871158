"""Which files a conversation has changed, as its records tell."""

from collections.abc import Iterable

from odin_lsp.records import ToolRecord

CHANGING = frozenset({"WriteFile", "EditTool", "MultiEditTool", "MoveFile", "AgentTool"})
DELETING = "DeleteFile"


def touched_files(records: Iterable[ToolRecord]) -> list[str]:
    """In the order of their last change; what was deleted since is not among them, and what was only read neither."""
    touched: dict[str, None] = {}
    for record in records:
        for path in record.affected_files if record.status == "success" else ():
            if record.name in CHANGING or record.name == DELETING:
                touched.pop(path, None)
            if record.name in CHANGING:
                touched[path] = None
    return list(touched)
