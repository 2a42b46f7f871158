"""What all tools that change files share: seen first, proposed as hunks, told afterwards what became of them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from odin_lsp.errors import PermissionDenied, ToolError
from odin_lsp.permissions.subagent_rights import may_edit
from odin_lsp.ports import Receipt
from odin_lsp.review.drafts import FileReceipts
from odin_lsp.review.hunks import Difference, difference
from odin_lsp.review.proposals import FileProposal
from odin_lsp.tools.base import ToolContext, ToolOutput
from odin_lsp.workspace.buffers import moved
from odin_lsp.workspace.files import FileText
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
    return context.files.read(path, to_edit=True)


async def carry_out(file: FileProposal, context: ToolContext, notes: Sequence[str] = ()) -> ToolOutput:
    """Propose it, and report."""
    if not file.hunks:
        return ToolOutput(data="Nothing to change: the text is already so.", description=f"{file.path.name}: no change")
    _check_scope(file, context)
    before, proposed = file.base, file.proposed
    decided = await context.draft.propose(file, context.call_id)
    if decided is None:
        return _report(file, _made(file, before, proposed), [LATER, *notes], context)
    receipts = [it for told in decided for it in told.receipts]
    told = [_summary(receipts), *notes, *(_receipt_line(it) for it in receipts if it.state != "accepted")]
    if receipts and not any(it.state in ("accepted", "modified") for it in receipts):
        raise ToolError("\n".join(filter(None, told)))
    now = _now(file, context)
    made = _made(file, before, now if now is not None else before)
    output = _report(file, made, told, context)
    if now is not None and file.operation == "edit":
        for number, line in _around(made):
            context.shown.note(file.path, number, [line])
    partly = any(it.state not in ("accepted", "modified") for it in receipts)
    return replace(output, description=f"{output.description} (in part)") if partly else output


def _check_scope(file: FileProposal, context: ToolContext) -> None:
    for path in filter(None, (file.path, file.new_path)):
        if not may_edit(path, context.write_scope):
            raise PermissionDenied(f"{path} is outside of what you were asked to edit")


def report_receipts(decided: Sequence[FileReceipts], name: Callable[[Path], str]) -> str:
    """What became of several edits, for the model."""
    is_over = not any(it.state == "pending" for told in decided for it in told.receipts)
    parts = ["The user has reviewed your edits." if is_over else "Your edits are still in review."]
    for told in decided:
        parts.append(f"{name(told.file.path)}: {_summary(told.receipts)}")
        parts += [_receipt_line(it) for it in told.receipts if it.state != "accepted"]
    return "\n".join(parts)


def _made(file: FileProposal, before: str, now: str) -> Difference:
    return difference(before, now) if file.operation == "edit" else difference("", file.proposed)


def _report(file: FileProposal, made: Difference, told: Sequence[str], context: ToolContext) -> ToolOutput:
    name = context.files.shown(file.path)
    diff = made.unified(name)
    snippet = _snippet(file.path, made) if file.operation == "edit" else ""
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
        return context.files.read(file.path, to_edit=True).text
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
        case "pending":
            return "- waits for the user's decision; you will be told of it"
        case _:
            return f"- {receipt.state}: {receipt.reason or 'it is no longer what was shown'}; read the file again"


def _snippet(path: Path, made: Difference) -> str:
    """What is on the screen now, around what changed."""
    body = "\n".join(f"{number:6}\t{line}" for number, line in _around(made))
    return f"{path} now:\n{body}" if body else ""


def _around(made: Difference) -> list[tuple[int, str]]:
    """The lines that the model sees of the new text, numbered."""
    shown: dict[int, str] = {}
    for _, _, first, last in made.steps:
        start, end = max(0, first - MARGIN), max(first + 1, last) + MARGIN
        shown.update(enumerate(made.new[start:end], start + 1))
        if len(shown) >= MAX_SNIPPET_LINES:
            break
    return [(number, line.rstrip("\r\n")) for number, line in [*shown.items()][:MAX_SNIPPET_LINES]]
