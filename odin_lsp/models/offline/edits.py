"""Literal edits: asked for word by word, made through the edit tool, reported from what it said."""

import re
from collections.abc import Iterator, Sequence
from glob import escape

from odin_lsp.messages import ToolResult
from odin_lsp.models.offline.answers import code, fenced, page
from odin_lsp.models.offline.changes import Change, Edit, Insert, Replace, draft
from odin_lsp.models.offline.evidence import numbered, paths
from odin_lsp.models.offline.terms import literal
from odin_lsp.models.offline.turn import Call, Move, Turn

ONLY_LITERAL = (
    "Offline, Odin can only make literal edits, asked for in one of three ways:\n\n"
    '- `replace "A" with "B" in FILE`\n'
    "- `rename X to Y`, everywhere or `in FILE`\n"
    '- `insert "TEXT" after "ANCHOR" in FILE`, also `before`, also `line 12` for the anchor\n\n'
    "For anything else it shows what the search finds."
)


def parse(prompt: str) -> Edit | None:
    if match := _REPLACE.fullmatch(prompt):
        old, new, file = map(_unquoted, match.group("old", "new", "file"))
        bare_word = old == match["old"] and old.isidentifier()
        return Replace(old, new, file, words=bare_word) if old and old != new else None
    if match := _RENAME.fullmatch(prompt):
        old, new = map(_unquoted, match.group("old", "new"))
        file = _unquoted(match["file"]) if match["file"] else None
        named = old.isidentifier() and new.isidentifier() and old != new
        return Replace(old, new, file, words=True) if named else None
    if match := _INSERT.fullmatch(prompt):
        text, file = map(_unquoted, match.group("text", "file"))
        anchor = int(match["line"]) if match["line"] else _unquoted(match["anchor"])
        return Insert(text, match["side"].lower() == "before", anchor, file) if text and anchor else None
    return None


def carry_out(edit: Edit, turn: Turn) -> Move:
    """Find the files, read them, change each with one call, say what came of it."""
    if not turn.done and (calls := turn.offered(_locate(edit))):
        return calls
    targets = _targets(edit, turn)
    if isinstance(targets, str):
        return page(f"Nothing was changed: {targets}")
    reads = (Call("Read", {"file_path": path, "offset": 1}) for path in targets)
    if not turn.results("Read") and (calls := turn.offered(reads)):
        return calls
    drafts = {path: _draft(edit, path, turn) for path in targets}
    changes = [change for change in drafts.values() if isinstance(change, Change)]
    tried = turn.results(_EDIT_TOOL)
    if not tried and (calls := turn.offered(map(_call, changes))):
        return calls
    problems = [f"- {code(turn.shown(path))}: {why}" for path, why in drafts.items() if isinstance(why, str)]
    return _report(edit, turn, changes, problems) if tried else _preview(edit, turn, changes, problems)


_EDIT_TOOL = "EditTool"
_MOST = 20
"""Files that one edit may touch, and places that are shown of one that may not."""

_QUOTES = r"```(?:\w*\n)?.+?```|`[^`]+`|\"[^\"]*\"|'[^']*'"
_IN_FILE = rf"\s+in\s+(?:the\s+)?(?:file\s+)?(?P<file>{_QUOTES}|\S+?)"
_EVERYWHERE = (
    r"\s+(?:everywhere|(?:in|across)\s+(?:(?:all|every|each)\s+(?:of\s+)?(?:the\s+)?files?"
    r"|the\s+(?:whole\s+)?(?:project|workspace|repository|codebase)))"
)
_START, _END = r"\s*(?:please\s+)?", r"\s*[.!]?\s*"
_FLAGS = re.IGNORECASE | re.DOTALL
_REPLACE = re.compile(
    rf"{_START}replace\s+(?:(?:all|every|each)\s+)?(?:occurrences?\s+of\s+)?(?P<old>{_QUOTES}|[^\n]+?)"
    rf"\s+(?:with|by)\s+(?P<new>{_QUOTES}|[^\n]+?){_IN_FILE}{_END}",
    _FLAGS,
)
_RENAME = re.compile(
    rf"{_START}rename\s+(?:the\s+)?(?:(?:function|class|method|variable|constant|field|type)\s+)?"
    rf"(?P<old>{_QUOTES}|\S+)\s+(?:to|into|as)\s+(?P<new>{_QUOTES}|\S+?)(?:{_EVERYWHERE}|{_IN_FILE})?{_END}",
    _FLAGS,
)
# The text must be quoted: "insert a docstring before ..." asks for more than its words.
_INSERT = re.compile(
    rf"{_START}insert\s+(?P<text>{_QUOTES})\s+(?P<side>after|before)\s+"
    rf"(?:line\s+(?P<line>\d+)|(?P<anchor>{_QUOTES}|[^\n]+?)){_IN_FILE}{_END}",
    _FLAGS,
)
_UNQUOTED = re.compile(r"```(?:\w*\n)?(.+?)\n?```|`([^`]+)`|\"([^\"]*)\"|'([^']*)'", re.DOTALL)


def _unquoted(text: str) -> str:
    match = _UNQUOTED.fullmatch(text)
    return next(group for group in match.groups() if group is not None) if match else text


def _locate(edit: Edit) -> Iterator[Call]:
    if edit.file is not None:
        if not edit.file.startswith("/"):
            yield Call("Glob", {"pattern": f"**/{escape(edit.file.removeprefix('./'))}"})
    elif isinstance(edit, Replace):
        options = {"output_mode": "files_with_matches", "limit": _MOST + 1}
        yield Call("Grep", {"pattern": rf"\b{literal(edit.old)}\b", **options})


def _targets(edit: Edit, turn: Turn) -> tuple[str, ...] | str:
    """The files to change, or why there are none."""
    searches = turn.results("Grep", "Glob")
    for done in searches:
        if done.result.failed:
            return f"{done.call.name} said {_first_line(done.result.content)}"
    found = tuple(sorted({path for done in searches for path in paths(done.result.content)}))
    if edit.file is None:
        if not searches:
            return "the workspace cannot be searched now. Name the file."
        if len(found) > _MOST:
            return f"more than {_MOST} files are concerned. Name one."
        return found or f"there is nothing to {edit} in."
    if not searches:
        return (edit.file if edit.file.startswith("/") else "/".join((*turn.roots[:1], edit.file)),)
    exact = tuple(path for path in found if turn.shown(path) == edit.file.removeprefix("./"))
    match exact or found:
        case ():
            return f"there is no file {code(edit.file)} in the workspace."
        case (path,):
            return (path,)
        case several:
            listed = ", ".join(code(turn.shown(path)) for path in several[:_MOST])
            return f"{code(edit.file)} could be any of {listed}. Say which."


def _draft(edit: Edit, path: str, turn: Turn) -> Change | str:
    for done in turn.results("Read"):
        if done.call.arguments.get("file_path") == path:
            if done.result.failed:
                return f"could not be read. Read said {_first_line(done.result.content)}"
            lines = [text for _, text in numbered(done.result.content)]
            if _CUT.search(done.result.content) or any(len(text) > _LONGEST for text in lines):
                return "too long to be read as a whole."
            return draft(edit, path, lines)
    return "not read."


_CUT = re.compile(r"^\(lines \d", re.MULTILINE)
_DECIDED = re.compile(r": (?P<how>.*\b(?:rejected|modified)\b.*)\.$", re.MULTILINE)
"""What a review says of a file that was not accepted as it was proposed."""
"""A file's own lines are numbered, so this is the tool's note that it did not show them all."""
_LONGEST = 2000
"""The tool cuts longer lines."""


def _call(change: Change) -> Call:
    strings = {"old_string": change.old, "new_string": change.new}
    return Call(_EDIT_TOOL, {"file_path": change.path, **strings, "replace_all": change.everywhere})


def _report(edit: Edit, turn: Turn, changes: Sequence[Change], problems: Sequence[str]) -> str:
    results = {done.call.arguments.get("file_path"): done.result for done in turn.results(_EDIT_TOOL)}
    items = list(problems)
    made = 0
    for change in changes:
        shown = code(turn.shown(change.path))
        match results.get(change.path):
            case None:
                items.append(f"- {shown}: not changed.")
            case ToolResult(failed=True, content=content):
                items.append(f"- {shown}: not changed. {_EDIT_TOOL} said {_first_line(content)}")
            case ToolResult(content=content) if decided := _DECIDED.search(content):
                made += 1
                items.append(f"- {shown}: {decided['how']}")
            case ToolResult():
                made += 1
                lines = ", ".join(str(hunk.line) for hunk in change.hunks[:_MOST])
                more = ", ..." if len(change.hunks) > _MOST else ""
                word = "line" if len(change.hunks) == 1 else "lines"
                items.append(f"- {shown}: changed at {word} {lines}{more}")
    return page(f"Asked to {edit}. Files changed: {made} of {len(items)}.", "\n".join(items))


def _preview(edit: Edit, turn: Turn, changes: Sequence[Change], problems: Sequence[str]) -> str:
    hunks = [(turn.shown(change.path), hunk) for change in changes for hunk in change.hunks]
    lead = f"Nothing was changed: editing is not available in this mode or version. To {edit}"
    if not hunks:
        return page(f"{lead} would change nothing.", *problems)
    items = [
        f"**{code(f'{shown}:{hunk.line}')}**\n\n"
        + fenced([*(f"-{text}" for text in hunk.removed), *(f"+{text}" for text in hunk.added)], "diff")
        for shown, hunk in hunks[:_MOST]
    ]
    if len(hunks) > _MOST:
        items.append(f"({len(hunks) - _MOST} more)")
    return page(f"{lead} would change this:", *items, *problems)


def _first_line(content: str) -> str:
    return code(content.strip().split("\n")[0][:200] or "nothing")
