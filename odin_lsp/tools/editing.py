"""What all tools that change files share: seen first, proposed as hunks, told afterwards what became of them."""

from collections.abc import Sequence
from pathlib import Path

from odin_lsp.errors import ToolError
from odin_lsp.ports import Receipt
from odin_lsp.review.hunks import hunks_between, unified
from odin_lsp.review.proposals import FileProposal, edit_of, propose
from odin_lsp.tools.base import ToolContext, ToolOutput
from odin_lsp.workspace.buffers import moved
from odin_lsp.workspace.files import FileText
from odin_lsp.workspace.text import split_lines, whole_lines
from odin_lsp.workspace.uris import printable

MAX_SNIPPET_LINES = 60
MAX_DIFF_CHARS = 100_000
MARGIN = 3


def readable(path: Path, context: ToolContext) -> FileText:
    """The text to edit. Where the disk has moved on under an open document an edit would end in a clobbered file."""
    buffer = context.files.buffers.of_path(path)
    if buffer is not None and not buffer.synchronised:
        raise ToolError(f"{path} is open, but its text on the screen is not known; the user has to open it again")
    if buffer is not None and moved(buffer):
        raise ToolError(f"{path} has changed on disk under the editor; the user has to reload or save it first")
    return context.files.read(path)


def require_seen(path: Path, text: str, lines: Sequence[tuple[int, int]], context: ToolContext) -> None:
    """Refuse to change lines (from 1, both included) that the model has not been shown as they are now."""
    if context.shown.of(path) is None:
        raise ToolError(f"Must read file first: {path} has not been shown to you")
    current = split_lines(text)
    missing = [gap for first, last in lines for gap in context.shown.missing(path, first, current[first - 1 : last])]
    if missing:
        ranges = ", ".join(
            f"{max(1, first - MARGIN)}-{min(len(current), last + MARGIN)}" for first, last in missing[:5]
        )
        raise ToolError(f"Insufficient cache. Please read lines {ranges} first: they are not as you were shown them")


async def change_text(
    path: Path, old: FileText, new: str, reason: str, context: ToolContext, notes: Sequence[str]
) -> ToolOutput:
    """Propose the difference, and report."""
    if not hunks_between(old.text, new):
        return ToolOutput(data="Nothing to change: the text is already so.", description=f"{path.name}: no change")
    return await carry_out([edit_of(path, old.text, new)], reason, context, notes)


async def carry_out(
    files: list[FileProposal], reason: str, context: ToolContext, notes: Sequence[str] = ()
) -> ToolOutput:
    before = {file.path: file.base for file in files}
    receipts = await context.desk.submit(propose(context.turn.turn_id, reason, files), context.turn)
    accepted = [it for it in receipts if it.state in ("accepted", "modified")]
    parts = [_summary(receipts), *notes, *(_receipt_line(it) for it in receipts if it.state != "accepted")]
    diffs, added, removed = list[str](), 0, 0
    for file in files:
        now = _now(file, context)
        if now is None or file.operation != "edit":
            continue
        context.shown.follow(file.path, split_lines(before[file.path]), split_lines(now))
        if accepted:
            parts.append(_snippet(file.path, before[file.path], now))
        diff = unified(before[file.path], now, context.files.shown(file.path))
        diffs, added, removed = [*diffs, diff.text], added + diff.added, removed + diff.removed
    if not accepted:
        raise ToolError("\n".join(filter(None, parts)))
    names = ", ".join(context.files.shown(file.path) for file in files)
    return ToolOutput(
        data="\n".join(filter(None, parts)),
        description=f"{names} +{added} -{removed}" + ("" if len(accepted) == len(receipts) else " (in part)"),
        files=tuple(printable(str(file.new_path or file.path)) for file in files),
        added=added,
        removed=removed,
        diff="".join(diffs)[:MAX_DIFF_CHARS] or None,
    )


def _now(file: FileProposal, context: ToolContext) -> str | None:
    try:
        return context.files.read(file.path).text
    except ToolError:
        return None


def _summary(receipts: Sequence[Receipt]) -> str:
    states = [it.state for it in receipts]
    if set(states) == {"accepted"}:
        return "The user accepted the edit." if len(states) == 1 else f"The user accepted all {len(states)} hunks."
    counts = [f"{states.count(state)} {state}" for state in dict.fromkeys(states)]
    return f"Of {len(states)} hunks: {', '.join(counts)}."


def _receipt_line(receipt: Receipt) -> str:
    match receipt.state:
        case "modified":
            return f"- modified by the user to:\n{receipt.text}"
        case "rejected":
            why = f": {receipt.reason}" if receipt.reason else " without a reason"
            return f"- rejected{why}; do not make the same edit again"
        case _:
            return f"- {receipt.state}: {receipt.reason or 'it is no longer what was shown'}; read the file again"


def _snippet(path: Path, old: str, new: str) -> str:
    """What is on the screen now, around what changed."""
    lines = split_lines(new)
    shown: set[int] = set()
    for hunk in hunks_between(new, old):
        first = len(whole_lines(new[: hunk.start] + "."))
        last = first + max(1, len(whole_lines(hunk.old))) - 1
        shown.update(range(max(1, first - MARGIN), min(len(lines), last + MARGIN) + 1))
    numbers = sorted(shown)[:MAX_SNIPPET_LINES]
    body = "\n".join(f"{number:6}\t{lines[number - 1]}" for number in numbers)
    return f"{path} now:\n{body}" if body else ""
