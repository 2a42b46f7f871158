"""What all tools that change files share: seen first, proposed as hunks, told afterwards what became of them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from odin_lsp.errors import PermissionDenied, ToolError
from odin_lsp.ports import Receipt
from odin_lsp.review.drafts import FileReceipts
from odin_lsp.review.hunks import hunks_between, unified
from odin_lsp.review.proposals import FileProposal, Wish, edit_of
from odin_lsp.tools.base import ToolContext, ToolOutput
from odin_lsp.workspace.buffers import moved
from odin_lsp.workspace.files import FileText
from odin_lsp.workspace.text import split_lines, whole_lines
from odin_lsp.workspace.uris import printable

MAX_SNIPPET_LINES = 60
MAX_DIFF_CHARS = 100_000
MARGIN = 3
LATER = "Proposed; the user reviews it when you are done, and you read the file as if it were accepted."


def readable(path: Path, context: ToolContext) -> FileText:
    """The text to edit. Where the disk has moved on under an open document an edit would end in a clobbered file."""
    buffer = context.files.buffers.of_path(path)
    if buffer is not None and buffer.is_notebook:
        raise ToolError(f"{path} is open as a notebook, which cannot be edited; the user has to close it first")
    if buffer is not None and not buffer.synchronised:
        raise ToolError(f"{path} is open, but its text on the screen is not known; the user has to open it again")
    if buffer is not None and moved(buffer):
        raise ToolError(f"{path} has changed on disk under the editor; the user has to reload or save it first")
    drafted = context.draft.texts.get(path)
    if drafted is not None:
        return FileText(path, drafted)
    return context.files.read(path)


def lines_of(text: str, start: int, end: int) -> tuple[int, int]:
    """The lines, from 1, that these characters are in."""
    first = len(whole_lines(text[:start] + "."))
    return first, first + max(1, len(whole_lines(text[start:end]))) - 1


async def change_text(
    path: Path, old: FileText, new: str, reason: str, context: ToolContext, notes: Sequence[str]
) -> ToolOutput:
    """Propose the difference, and report."""
    if not hunks_between(old.text, new):
        return ToolOutput(data="Nothing to change: the text is already so.", description=f"{path.name}: no change")
    return await carry_out(edit_of(path, old.text, new, Wish(context.call_id, reason)), context, notes)


async def carry_out(file: FileProposal, context: ToolContext, notes: Sequence[str] = ()) -> ToolOutput:
    _check_scope(file, context)
    before, proposed = file.base, file.proposed
    decided = await context.draft.propose(file, context.call_id)
    if decided is None:
        return _report(file, before, proposed, [LATER, *notes], context)
    receipts = [it for told in decided for it in told.receipts]
    told = [_summary(receipts), *notes, *(_receipt_line(it) for it in receipts if it.state != "accepted")]
    if receipts and not any(it.state in ("accepted", "modified") for it in receipts):
        raise ToolError("\n".join(filter(None, told)))
    now = _now(file, context)
    output = _report(file, before, now if now is not None else before, told, context)
    if now is not None and file.operation == "edit":
        _note_snippet(file.path, before, now, context)
    partly = any(it.state not in ("accepted", "modified") for it in receipts)
    return replace(output, description=f"{output.description} (in part)") if partly else output


def _check_scope(file: FileProposal, context: ToolContext) -> None:
    for path in filter(None, (file.path, file.new_path)):
        if context.write_scope and not any(path.is_relative_to(place) for place in context.write_scope):
            raise PermissionDenied(f"{path} is outside of what you were asked to edit")


def report_receipts(decided: Sequence[FileReceipts], context: ToolContext) -> str:
    """What became of a whole turn's edits, for the model."""
    parts = ["The user has reviewed your edits."]
    for told in decided:
        name = context.files.shown(told.file.path)
        parts.append(f"{name}: {_summary(told.receipts)}")
        parts += [_receipt_line(it) for it in told.receipts if it.state != "accepted"]
    return "\n".join(parts)


def _report(file: FileProposal, before: str, now: str, told: Sequence[str], context: ToolContext) -> ToolOutput:
    name = context.files.shown(file.path)
    diff = unified(before, now, name) if file.operation == "edit" else unified("", file.proposed, name)
    snippet = _snippet(file.path, before, now) if file.operation == "edit" else ""
    return ToolOutput(
        data="\n".join(filter(None, (*told, snippet))),
        description=f"{name} +{diff.added} -{diff.removed}",
        files=(printable(str(file.new_path or file.path)),),
        added=diff.added,
        removed=diff.removed,
        diff=diff.text[:MAX_DIFF_CHARS] or None,
    )


def _now(file: FileProposal, context: ToolContext) -> str | None:
    try:
        return context.files.read(file.path).text
    except ToolError:
        return None


def _summary(receipts: Sequence[Receipt]) -> str:
    states = [it.state for it in receipts]
    if set(states) <= {"accepted"}:
        return f"The user accepted all {len(states)} hunks." if len(states) > 1 else "The user accepted the edit."
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
    body = "\n".join(f"{number:6}\t{line}" for number, line in _changed_lines(old, new))
    return f"{path} now:\n{body}" if body else ""


def _note_snippet(path: Path, old: str, new: str, context: ToolContext) -> None:
    """What is in the snippet the model has seen."""
    for number, line in _changed_lines(old, new):
        context.shown.note(path, number, [line])


def _changed_lines(old: str, new: str) -> list[tuple[int, str]]:
    lines = split_lines(new)
    shown: set[int] = set()
    for hunk in hunks_between(new, old):
        first = len(whole_lines(new[: hunk.start] + "."))
        last = first + max(1, len(whole_lines(hunk.old))) - 1
        shown.update(range(max(1, first - MARGIN), min(len(lines), last + MARGIN) + 1))
    return [(number, lines[number - 1]) for number in sorted(shown)[:MAX_SNIPPET_LINES]]
