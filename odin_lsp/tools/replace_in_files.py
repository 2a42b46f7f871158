"""Replace a text wherever it occurs."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from odin_lsp.errors import ToolError
from odin_lsp.loop_share import LoopShare
from odin_lsp.permissions.protected import protection
from odin_lsp.permissions.rules import Effect
from odin_lsp.permissions.subagent_rights import may_edit
from odin_lsp.review.proposals import FileProposal, Wish, edit_of
from odin_lsp.tools.base import NonEmpty, Params, Tool, ToolContext, ToolOutput
from odin_lsp.tools.edit_tool import EditTool
from odin_lsp.tools.editing import LATER, is_made, number_of, planned, report_files, report_receipts
from odin_lsp.workspace.globs import MAX_PATTERN_CHARS, as_text, braces, compiled
from odin_lsp.workspace.hits import Hit
from odin_lsp.workspace.search import Query
from odin_lsp.workspace.text import usual_line_end, whole_lines
from odin_lsp.workspace.uris import printable

MAX_FILES = 200
MAX_NAMED = 20
_LIKE_A_REGEX = re.compile(r"\\[bBdDsSwW]|\.[*+]|\(\?|\\[().|\[\]*+?]")


class ReplaceInFilesParams(Params):
    pattern: NonEmpty
    """Literal text within a line; not a regular expression."""
    replacement: str
    glob: str
    """Files to change: `**/*.py`, `src/**`."""
    whole_word: bool = False
    """Not inside longer names."""
    exclude: str | None = None
    """Glob of files to leave alone."""


class ReplaceInFiles(Tool[ReplaceInFilesParams]):
    """Replace a text, such as a name, in up to 200 files at once. They need not be read; the user reviews one
    proposal."""

    name = "ReplaceInFiles"
    effect = Effect.MUTATING
    params = ReplaceInFilesParams

    def describe(self, params: ReplaceInFilesParams) -> str:
        return f"replace {params.pattern} in {params.glob}"

    async def prepare(self, params: ReplaceInFilesParams, context: ToolContext) -> None:
        if re.search(r"[\0\r\n]", params.pattern):
            raise ToolError("pattern has to be a text within one line; for passages of several lines use MultiEditTool")
        if params.pattern == params.replacement:
            raise ToolError("pattern and replacement are the same; nothing would change")

    async def execute(self, params: ReplaceInFilesParams, context: ToolContext) -> ToolOutput:
        found = await _found(params, context)
        plan = await _planned(params, found, context)
        if not plan.files:
            raise ToolError("\n".join(["no file can be changed", *plan.left_out_told]))
        before = {it.path: it.base for it in plan.files}
        after = {it.path: it.proposed for it in plan.files}
        decided = await context.draft.propose_all(plan.files, context.call_id)
        if decided is None:
            return report_files(before, after, [plan.told(before), LATER, *plan.left_out_told], context)
        whole = [it.file.path for it in decided if all(receipt.state == "accepted" for receipt in it.receipts)]
        others = [it for it in decided if it.file.path not in whole]
        told = [f"Accepted: {plan.told(whole)}"] if whole else []
        told += [report_receipts(others, context.files.shown)] if others else []
        if not any(is_made(it) for it in decided):
            raise ToolError("\n".join(told))
        made = [it.file.path for it in decided if is_made(it)]
        now = {path: await context.draft.desk.applier.text_beside_loop(path) or "" for path in made}
        return report_files(before, now, [*told, *plan.left_out_told], context, partly=bool(others))


@dataclass(frozen=True, slots=True)
class _Plan:
    context: ToolContext
    files: list[FileProposal] = field(default_factory=list[FileProposal])
    places: dict[Path, int] = field(default_factory=dict[Path, int])
    """How often the text occurs in each."""
    left_out: dict[str, list[Path]] = field(default_factory=dict[str, list[Path]])
    """By the reason."""

    def told(self, paths: Sequence[Path] | Mapping[Path, str]) -> str:
        places = sum(self.places[path] for path in paths)
        named = [f"{self.context.files.shown(path)} {self.places[path]}" for path in list(paths)[:MAX_NAMED]]
        more = [f"{len(paths) - MAX_NAMED} more files"] if len(paths) > MAX_NAMED else []
        return f"{number_of(places, 'place')} in {number_of(len(paths), 'file')} ({', '.join([*named, *more])})."

    @property
    def left_out_told(self) -> list[str]:
        return [
            f"Left out ({reason}): {', '.join(map(self.context.files.shown, paths[:MAX_NAMED]))}"
            + (f" and {len(paths) - MAX_NAMED} more" if len(paths) > MAX_NAMED else "")
            for reason, paths in self.left_out.items()
        ]


async def _planned(params: ReplaceInFilesParams, found: Sequence[Path], context: ToolContext) -> _Plan:
    """What is on the screen counts, as for every edit; each match is all that has to be known of its file."""
    plan = _Plan(context)
    text = re.escape(params.pattern)
    pattern = re.compile(rf"(?<!\w){text}(?!\w)" if params.whole_word else text)
    wish = Wish(context.call_id, f"{params.pattern} → {params.replacement}")
    share = LoopShare()
    for path in found:
        await share.pass_on()
        try:
            if reason := _why_not(path, context):
                raise ToolError(reason)
            replaced = await planned(path, context, partial(_replaced, path, pattern, params.replacement, wish))
        except ToolError as error:
            plan.left_out.setdefault(str(error), []).append(path)
            continue
        if replaced.places:
            plan.files.append(replaced.proposal)
            plan.places[path] = replaced.places
    return plan


@dataclass(frozen=True, slots=True)
class _Replaced:
    proposal: FileProposal
    places: int
    """How often the text occurs."""


def _replaced(path: Path, pattern: re.Pattern[str], replacement: str, wish: Wish, text: str, _: str) -> _Replaced:
    ended = _with_ends_of(text, replacement)
    new, count = pattern.subn(lambda _: ended, text)
    return _Replaced(edit_of(path, text, new, wish), count)


async def _found(params: ReplaceInFilesParams, context: ToolContext) -> list[Path]:
    """The files with the text in them that are wanted, or why there are none or too many."""
    query = Query(pattern=params.pattern, literal=True, whole_word=params.whole_word)
    wanted, unwanted = _matching(params.glob), _matching(params.exclude or "")
    found, elsewhere = list[Path](), list[Path]()
    for folder in await context.folders(None):
        hits, complete = await context.search.grep(query, folder, context.draft.texts)
        if not complete:
            raise ToolError("the text occurs in more files than can be listed; choose a longer one")
        inside = await asyncio.to_thread(_inside, hits, folder, lambda name: wanted(name) and not unwanted(name))
        found += inside
        elsewhere += [hit.path for hit in hits[:1]]
    if len(found) > MAX_FILES:
        raise ToolError(f"{len(found)} files would be changed, and {MAX_FILES} can be at once; narrow the glob")
    if not found:
        raise ToolError(_nothing(params, elsewhere, context))
    return found


def _inside(hits: Sequence[Hit], folder: Path, is_wanted: Callable[[str], bool]) -> list[Path]:
    start = len(folder.as_posix().rstrip("/")) + 1
    return [hit.path for hit in hits if is_wanted(as_text(hit.path.as_posix()[start:]))]


def _matching(glob: str) -> Callable[[str], bool]:
    try:
        return compiled(braces(glob[:MAX_PATTERN_CHARS])).match_file
    except ValueError as error:
        raise ToolError(f"{printable(glob)} is not a glob: {error}") from None


def _nothing(params: ReplaceInFilesParams, elsewhere: Sequence[Path], context: ToolContext) -> str:
    if elsewhere:
        other = context.files.shown(elsewhere[0])
        return f"the text is only in files that are not wanted, such as {other}; choose another glob"
    hint = "; it is taken literally, not as a regular expression" if _LIKE_A_REGEX.search(params.pattern) else ""
    return f"{params.pattern} occurs in no file{hint}"


def _why_not(path: Path, context: ToolContext) -> str:
    """Why this file is none for a change that nobody has looked at file by file; empty if it may be one."""
    if not may_edit(path, context.write_scope):
        return "outside of what you were asked to edit"
    if protection(path):
        return "protected; use EditTool"
    rules = context.gate.rules(context.mode)
    said = [rules.on(tool, context.mode, path=path) for tool in (ReplaceInFiles.name, EditTool.name)]
    refusing = ("deny",) if context.granted else ("deny", "ask")
    return next((it.reason for it in said if it and it.decision in refusing), "")


def _with_ends_of(text: str, replacement: str) -> str:
    if "\n" not in replacement or "\r" in replacement or "\r" not in text:
        return replacement
    return replacement.replace("\n", usual_line_end(whole_lines(text)))
