"""A session as one file to keep or to give away: Markdown, HTML or JSON. Whoever opens it, it does nothing."""

import html
import json
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from odin_lsp import private_files, system
from odin_lsp.errors import SessionError
from odin_lsp.events import MAIN
from odin_lsp.markdown import as_code, harmless
from odin_lsp.modes import Mode
from odin_lsp.ports import Answer, Question
from odin_lsp.records import Diagnostic
from odin_lsp.sessions import attachments, listing, reader, replay
from odin_lsp.sessions.loading import MAX_TURNS
from odin_lsp.sessions.session import Session
from odin_lsp.sessions.store import log_path, open_log
from odin_lsp.sessions.telling import (
    Asked,
    Checked,
    Helped,
    Item,
    Noted,
    Planned,
    Reviewed,
    Said,
    Spoken,
    ToldTurn,
    Used,
    told,
)
from odin_lsp.sessions.titles import cleaned
from odin_lsp.values import to_wire

MAX_HANDED_OVER = 300
"""Characters of what a helper handed over; the model was told all of it, and exports to JSON have it."""
MAX_LAST_LINES = 10
UNBEGUN = "not begun: Odin was ended before"
Format = Literal["markdown", "html", "json"]
SUFFIXES: dict[Format, str] = {"markdown": ".md", "html": ".html", "json": ".json"}
FOLDED: dict[type[Item], str] = {
    Used: "tool",
    Helped: "subagent",
    Noted: "notice",
    Planned: "todo",
    Asked: "question",
    Reviewed: "reviewed file",
    Checked: "diagnostic",
}
"""What is unfolded by whoever wants to see it, and how it is counted."""
MODE_NAMES = {"ask_mode": "Ask", "plan_mode": "Plan", "edit_mode": "Edit"}
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }}
h2 {{ font-size: 1rem; border-top: 1px solid; padding-top: 1rem; margin-top: 2rem }}
pre {{ font: inherit; white-space: pre-wrap; overflow-wrap: anywhere }}
.asked {{ border-left: 3px solid; padding-left: 1rem }}
</style>
</head>
<body>
<h1>{title}</h1>
"""


def exported(folder: Path, session_id: str, format: Format) -> Iterator[str]:
    """The whole session in pieces, however long it is."""
    summary = listing.summary(folder, session_id)
    match format:
        case "markdown":
            yield from markdown(summary.title, stored_turns(folder, session_id))
        case "html":
            yield from _html(summary.title, stored_turns(folder, session_id))
        case "json":
            yield from _json(folder, summary)


def exported_path(folder: Path, session_id: str, format: Format) -> Path:
    """Where an export is if nobody says otherwise: beside the session, and deleted with it."""
    return log_path(folder, session_id).with_suffix(SUFFIXES[format])


def export_to(folder: Path, session_id: str, format: Format, path: Path, *, is_own: bool) -> None:
    """Write the export. A file that is not Odin's own is made, never replaced."""
    pieces = (piece.encode("utf-8", "replace") for piece in exported(folder, session_id, format))
    try:
        if is_own:
            private_files.write_file(path, pieces, durable=False)
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.OWN
        with open(os.open(path, flags, 0o600), "wb") as file:  # noqa: PTH123 - a descriptor, no path
            file.writelines(pieces)
    except FileExistsError:
        raise SessionError(f"{path} exists already; name a new file") from None
    except OSError as error:
        raise SessionError(f"{path} cannot be written: {error.strerror}") from error


def stored_turns(folder: Path, session_id: str, last: int | None = None) -> Iterator[ToldTurn]:
    return map(told, replay.turns(folder, session_id, last))


def transcript(session: Session) -> str:
    """The session as a Markdown document: as many of its last turns as are in memory."""
    unbegun = (f"\n{_asked(it.body, it.mode, it.timestamp)}\n*{UNBEGUN}*\n" for it in session.unbegun)
    return "".join((*_transcript(session, _last_turns(session)), *unbegun))


def line_in_transcript(session: Session, turn_id: str) -> int:
    """Where the turn begins, counted from 0; the first line if it is not there."""
    turns = list(_last_turns(session))
    pieces = list(_transcript(session, turns))
    for index, turn in enumerate(turns, len(pieces) - len(turns)):
        if turn.turn_id == turn_id:
            return "".join(pieces[:index]).count("\n") + 1
    return 0


def _transcript(session: Session, turns: Iterable[ToldTurn]) -> Iterator[str]:
    return markdown(session.title, turns, session.earlier_turns, blocks=False)


def _last_turns(session: Session) -> Iterable[ToldTurn]:
    return stored_turns(session.log.path.parent, session.id, MAX_TURNS) if session.log.path.exists() else ()


def markdown(title: str, turns: Iterable[ToldTurn], earlier: int = 0, *, blocks: bool = True) -> Iterator[str]:
    """What models, pages and files said stands in it, and whoever opens it may have a preview: it must do nothing.
    Without `blocks`, for those who read along: no diffs, and only the last lines of what programs printed."""
    yield f"# {harmless(title)}\n"
    if earlier:
        yield f"\n*{earlier} earlier turns are left out here; an export has them.*\n"
    for turn in turns:
        yield f"\n{_markdown_turn(turn, blocks=blocks)}"


def _markdown_turn(turn: ToldTurn, *, blocks: bool) -> str:
    parts = [_asked(turn.said, turn.mode, turn.began, turn.model)]
    for summary, lines in _sections(turn):
        if not summary:
            parts += [f"{harmless(line.text)}\n" for line in lines]
            continue
        shown = harmless("".join(f"- {_flat(it.text)}\n{_indented(it.block if blocks else it.end)}" for it in lines))
        parts.append(f"<details><summary>{summary}</summary>\n\n{shown}\n</details>\n")
    parts += [harmless(f"*{_flat(it)}*\n") for it in _endings(turn)]
    return "\n".join(parts)


def _indented(block: str) -> str:
    """A block of code that belongs to an item of a list."""
    return "".join(f"  {it}\n" for it in as_code(block).splitlines()) if block else ""


def _asked(said: str, mode: Mode, at: float, model: str = "") -> str:
    quoted = "\n".join(f"> {line}" for line in harmless(said).splitlines())
    return f"{harmless(f'## {_heading(mode, at, model)}')}\n\n{quoted}\n"


def _html(title: str, turns: Iterable[ToldTurn]) -> Iterator[str]:
    yield PAGE.format(title=html.escape(title))
    for turn in turns:
        heading = html.escape(_heading(turn.mode, turn.began, turn.model))
        yield f'<h2>{heading}</h2>\n<pre class="asked">{html.escape(turn.said)}</pre>\n'
        for summary, lines in _sections(turn):
            if not summary:
                yield from (f"<pre>{html.escape(line.text)}</pre>\n" for line in lines)
                continue
            shown = "".join(f"<li>{html.escape(line.text)}{_block(line)}</li>" for line in lines)
            yield f"<details><summary>{summary}</summary><ul>{shown}</ul></details>\n"
        yield from (f"<p><em>{html.escape(it)}</em></p>\n" for it in _endings(turn))
    yield "</body>\n</html>\n"


def _block(line: "Line") -> str:
    return f"<pre>{html.escape(line.block)}</pre>" if line.block else ""


@dataclass(frozen=True, slots=True)
class Line:
    text: str
    block: str = ""
    """What a program printed, or a diff."""
    end: str = ""
    """The last lines of what a program printed."""


def _sections(turn: ToldTurn) -> Iterator[tuple[str, list[Line]]]:
    """In order: what Odin said, and between it what was done, which can be unfolded; several of a kind together."""
    of_main = (item for agent, item in turn.items.values() if agent == MAIN)
    for kind, items in groupby(of_main, type):
        lines = [line for it in items for line in _lines(it)]
        if lines:
            yield (_counted(len(lines), FOLDED[kind]) if kind in FOLDED else ""), lines


def _lines(item: Item) -> Iterator[Line]:
    match item:
        case Said(text):
            yield from [Line(text)] if text else []
        case Spoken(text):
            yield Line(f"> {text}")
        case Noted(level, message):
            yield Line(f"{level}: {message}")
        case Used():
            status = {"error": " (failed)", "cancelled": " (canceled)", "running": " (not ended)"}.get(item.status, "")
            is_said = f"+{item.added} -{item.removed}" in item.result
            counts = f"+{item.added} −{item.removed}" if (item.added or item.removed) and not is_said else ""
            changed = ", ".join(filter(None, ("new file" if item.created else "", counts)))
            what = ": ".join(filter(None, (item.command, item.result or item.title)))
            end = "".join(item.output.splitlines(keepends=True)[-MAX_LAST_LINES:]) if item.command else ""
            yield Line(f"{item.name}{status}: {what}{changed and f' ({changed})'}", item.diff or item.output, end)
        case Helped(agent_id, description, mode, status, summary):
            ended = "did not end" if status == "running" else status
            about = f"{agent_id} ({MODE_NAMES[mode]}, {ended}): {cleaned(description)}"
            yield Line(f"{about}: {cleaned(summary, MAX_HANDED_OVER)}" if summary else about)
        case Planned(todos):
            yield from (Line(f"[{'x' if it.status == 'completed' else ' '}] {it.content}") for it in todos)
        case Asked(question, answer):
            yield Line(f"{question.title}: {_answered(question, answer)}")
        case Reviewed():
            yield from _reviewed(item)
        case Checked(found):
            for what, diagnostics in (
                ("introduced", found.introduced),
                ("fixed", found.fixed),
                ("found", found.unsure),
            ):
                yield from (Line(f"{what}: {_placed(it)}") for it in diagnostics)


def _answered(question: Question, answer: Answer | None) -> str:
    chosen = [it.label for it in question.options if answer and it.id in answer.option_ids]
    return "; ".join([*chosen, *([answer.text] if answer and answer.text else [])]) or "no answer"


def _reviewed(review: Reviewed) -> Iterator[Line]:
    for uri in dict.fromkeys(uri for uri, _ in review.hunks.values()):
        states = Counter(state for of, state in review.hunks.values() if of == uri)
        told = ", ".join(f"{count} {state}" for state, count in states.items())
        yield Line(f"{_name(uri)}: {told}")


def _placed(diagnostic: Diagnostic) -> str:
    return f"{_name(diagnostic.uri)}:{diagnostic.words}"


def _name(uri: str) -> str:
    return Path(unquote(urlsplit(uri).path)).name


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _heading(mode: Mode, at: float, model: str = "") -> str:
    try:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
    except (OverflowError, ValueError, OSError):
        when = "at an unknown time"
    return " · ".join(filter(None, (MODE_NAMES[mode], when, _flat(model))))


def _flat(text: str) -> str:
    return " ".join(text.split())


def _endings(turn: ToldTurn) -> Iterator[str]:
    outcome = turn.outcome
    if outcome is None:
        yield "this turn has not ended"
    elif outcome.reason == "aborted":
        yield "cut off: Odin was ended"
    elif outcome.reason != "end_turn":
        yield ": ".join(filter(None, (outcome.reason.replace("_", " "), outcome.detail)))
    if outcome is not None:
        yield from (f"left by this turn: {_placed(it)}" for it in outcome.diagnostics)
    if turn.undone:
        kept = ", ".join(it.uri for it in turn.undone.kept)
        yield f"undone, except in {kept}" if kept else "undone"


def _json(folder: Path, summary: listing.SessionSummary) -> Iterator[str]:
    """All records as they are stored, unknown ones too, with what is stored beside them."""
    about = json.dumps(to_wire(summary))
    yield f'{{"version":{reader.SCHEMA_VERSION},"session":{about},"records":['
    separator = "\n"
    log = log_path(folder, summary.session_id)
    with open_log(log) as file:
        for line in reader.index(file).lines:
            for record in reader.read(file, line):
                yield separator + json.dumps(attachments.filled(log, record))
                separator = ",\n"
    yield "\n]}\n"
