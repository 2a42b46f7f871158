"""What all tools that change files share: seen first, proposed as hunks, told afterwards what became of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from odin_lsp.errors import PermissionDenied, ToolError
from odin_lsp.permissions.subagent_rights import may_edit
from odin_lsp.ports import NO_REVIEWER, UNASKED, Receipt
from odin_lsp.review.drafts import FileReceipts
from odin_lsp.review.hunks import Difference, difference
from odin_lsp.review.proposals import CHOSEN, FileProposal
from odin_lsp.tasks import COMPARED, beside_loop
from odin_lsp.tools.base import ToolContext, ToolOutput
from odin_lsp.workspace.buffers import moved
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.text import split_lines
from odin_lsp.workspace.uris import printable
from odin_lsp.workspace.views import FileText

V = TypeVar("V")
MAX_DIFF_CHARS = 100_000
MAX_TRIES = 5
LATER = "Proposed. The user reviews it when you are done; until then files read as if it were accepted."


async def readable(path: Path, context: ToolContext, *, in_cell: bool = False) -> FileText:
    """The text to edit. Where the disk has moved on under an open document an edit would end in a clobbered file.
    `in_cell`: of a notebook, and no more than what is in a cell."""
    check_screen(path, context.files, in_cell=in_cell)
    drafted = context.draft.texts.get(path)
    if drafted is not None:
        return FileText(path, drafted)
    return await context.files.read_beside_loop(path, to_edit=True)


@dataclass(frozen=True, slots=True)
class PlannedEdit:
    """What an edit makes of a text."""

    proposal: FileProposal
    touched: Sequence[tuple[int, int]]
    """The lines that have to be known for it."""
    notes: Sequence[str] = ()
    """What the model should know of it."""


async def planned(path: Path, context: ToolContext, plan: Callable[[str, str], V], *, in_cell: bool = False) -> V:
    """What `plan` makes of the text, and of the text without the edits that nobody has reviewed yet.

    Where that takes long the user can go on typing meanwhile: then it is made anew of what is there now."""
    for _ in range(MAX_TRIES):
        stamp = context.files.stamp(path)
        text = (await readable(path, context, in_cell=in_cell)).text
        made = await beside_loop(COMPARED * len(text), plan, text, await _undrafted(path, context))
        if context.files.stamp(path) == stamp:
            return made
    raise ToolError(f"{context.files.shown(path)} changes while it is looked at; try again")


def check_screen(path: Path, files: Files, *, in_cell: bool = False) -> None:
    """`ToolError` if what is on the screen cannot be edited without a loss."""
    buffer = files.buffers.of_path(path)
    if buffer is not None and buffer.is_notebook and not in_cell:
        raise ToolError(
            f"{path} is open as a notebook: NotebookEdit can replace the source of its cells; for all other edits the "
            "user has to close it first"
        )
    if buffer is not None and not buffer.synchronised:
        raise ToolError(f"{path} is open, but its text on the screen is not known; the user has to open it again")
    if buffer is not None and moved(buffer):
        raise ToolError(f"{path} has changed on disk under the editor; the user has to reload or save it first")


async def _undrafted(path: Path, context: ToolContext) -> str:
    """The text without the edits that nobody has reviewed yet; empty if there are none."""
    return (await _now(path, context) or "") if path in context.draft.texts else ""


async def carry_out(file: FileProposal, context: ToolContext, notes: Sequence[str] = ()) -> ToolOutput:
    """Propose it, and report."""
    if not file.hunks:
        return ToolOutput(data="Nothing to change: the text is already so.", description=f"{file.path.name}: no change")
    _check_scope(file, context)
    before, proposed = file.base, file.proposed
    decided = await context.draft.propose(file, context.call_id)
    if decided is None:
        return await _report(file, before, proposed, [LATER, *notes], context)
    receipts = [it for told in decided for it in told.receipts]
    told = [*(line for it in decided for line in _became(it, context.files.shown)), *notes]
    if receipts and not any(it.state in ("accepted", "modified") for it in receipts):
        raise ToolError("\n".join(filter(None, told)))
    now = await _now(file.path, context)
    output = await _report(file, before, now if now is not None else before, told, context)
    for reviewed in decided:
        for it in reviewed.receipts:
            if it.state == "modified" and reviewed.file.operation == "edit":
                context.shown.note(reviewed.file.path, *_now_there(reviewed.file, it))
    partly = any(it.state not in ("accepted", "modified") for it in receipts)
    return replace(output, description=f"{output.description} (in part)") if partly else output


def _check_scope(file: FileProposal, context: ToolContext) -> None:
    for path in filter(None, (file.path, file.new_path)):
        if not may_edit(path, context.write_scope):
            raise PermissionDenied(f"{path} is outside of what you were asked to edit")


def report_receipts(decided: Sequence[FileReceipts], name: Callable[[Path], str]) -> str:
    """What became of several edits, for the model."""
    receipts = [it for told in decided for it in told.receipts]
    head = "The user has reviewed your edits."
    if any(it.state == "pending" for it in receipts):
        head = "Your edits are still in review."
    elif all(it.reason == UNASKED for it in receipts):
        head = "Nobody has reviewed your edits."
    return "\n".join([head, *(line for told in decided for line in _became(told, name))])


def counted(decided: Sequence[FileReceipts]) -> tuple[int, int]:
    """Lines that the accepted hunks have added and removed."""
    made = {it.hunk_id for told in decided for it in told.receipts if it.state in CHOSEN}
    hunks = [it for told in decided for it in told.file.hunks if it.id in made]
    diffs = [difference(it.hunk.old, it.result.new).unified("") for it in hunks]
    return sum(it.added for it in diffs), sum(it.removed for it in diffs)


def is_made(told: FileReceipts) -> bool:
    return any(it.state in CHOSEN for it in told.receipts)


def number_of(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def report_files(
    before: Mapping[Path, str],
    now: Mapping[Path, str],
    told: Sequence[str],
    context: ToolContext,
    *,
    partly: bool = False,
) -> ToolOutput:
    """Of a change of many files: those that have another text now, with that text."""
    diffs = [difference(before[path], text).unified(context.files.shown(path)) for path, text in now.items()]
    added, removed = sum(it.added for it in diffs), sum(it.removed for it in diffs)
    return ToolOutput(
        data="\n".join(told),
        description=f"{number_of(len(now), 'file')} +{added} -{removed}{' (in part)' if partly else ''}",
        files=tuple(printable(str(path)) for path in now),
        added=added,
        removed=removed,
        diff="".join(it.text for it in diffs)[:MAX_DIFF_CHARS] or None,
    )


async def length(path: Path, context: ToolContext) -> str:
    """Of a file as the model knows it now."""
    drafted = context.draft.texts.get(path)
    text = drafted if drafted is not None else await _now(path, context) or ""
    count = len(await beside_loop(len(text), split_lines, text))
    return f"It has {count} line{'' if count == 1 else 's'} now."


def _made(file: FileProposal, before: str, now: str) -> Difference:
    match file.operation:
        case "edit":
            return difference(before, now)
        case "delete":
            return difference(before, "")
        case _:
            return difference("", file.proposed)


async def _report(file: FileProposal, before: str, now: str, told: Sequence[str], context: ToolContext) -> ToolOutput:
    name = context.files.shown(file.path)
    diff = (await beside_loop(COMPARED * len(before), _made, file, before, now)).unified(name)
    return ToolOutput(
        data="\n".join(told),
        description=f"{name} +{diff.added} -{diff.removed}",
        files=(printable(str(file.new_path or file.path)),),
        added=diff.added,
        removed=diff.removed,
        created=file.operation == "create",
        diff=diff.text[:MAX_DIFF_CHARS] or None,
    )


async def _now(path: Path, context: ToolContext) -> str | None:
    try:
        return (await context.files.read_beside_loop(path, to_edit=True)).text
    except ToolError:
        return None


def _became(told: FileReceipts, name: Callable[[Path], str]) -> list[str]:
    """All of what happened, with the lines where it did. Only what differs from what was proposed is quoted."""
    file, of_state = told.file, dict[tuple[str, str], list[Receipt]]()
    states = [it.state for it in told.receipts]
    for it in told.receipts:
        of_state.setdefault((it.state, _said(it, file)), []).append(it)
    if len(of_state) == 1 and states[0] == "accepted":
        how = UNASKED if told.receipts[0].reason == UNASKED else "accepted"
        return [f"{name(file.path)}: {how}{_places(file, told.receipts)}."]
    counts = [f"{states.count(state)} {state}" for state in dict.fromkeys(states)]
    lines = [f"{name(file.path)}: {', '.join(counts)}."]
    lines += [
        f"- {state}{_places(file, receipts)}{said}"
        for (state, said), receipts in of_state.items()
        if said or state == "accepted"
    ]
    return lines


def _places(file: FileProposal, receipts: Sequence[Receipt]) -> str:
    """The lines at which these hunks are now."""
    if file.operation != "edit":
        return ""
    ids = {it.hunk_id for it in receipts}
    lines = [file.lines.numbers(it.standing.start, it.standing.end) for it in file.hunks if it.id in ids]
    ranges = ", ".join(str(first) if first >= last else f"{first}-{last}" for first, last in dict.fromkeys(lines))
    return f" (line{'s' if ',' in ranges or '-' in ranges else ''} {ranges})" if ranges else ""


def _now_there(file: FileProposal, receipt: Receipt) -> tuple[int, list[str]]:
    """The lines at which a hunk is, as they are now, and the number of the first."""
    [here] = [it.standing for it in file.hunks if it.id == receipt.hunk_id]
    first, last = file.lines.numbers(here.start, here.end)
    return first, split_lines(file.base)[first - 1 : last]


def _said(receipt: Receipt, file: FileProposal) -> str:
    """What the model has to know of it besides."""
    match receipt.state:
        case "accepted":
            return f": {UNASKED}" if receipt.reason == UNASKED else ""
        case "modified":
            there = "\n".join(_now_there(file, receipt)[1]) if file.operation == "edit" else receipt.text
            return f": the user changed it to:\n{there}"
        case "rejected":
            reason = receipt.reason or "without a reason"
            return f": {reason}" if reason.startswith(NO_REVIEWER) else f": {reason}; do not make the same edit again"
        case "pending":
            return ": it waits for the user's decision; you will be told of it"
        case "superseded":
            return f": {receipt.reason or 'it is no longer what was shown'}; read the file again"
