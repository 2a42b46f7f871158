"""A session as one file to keep or to give away: Markdown, HTML or JSON. Whoever opens it, it does nothing."""

import html
import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from odin_lsp import private_files
from odin_lsp.errors import SessionError
from odin_lsp.markdown import harmless
from odin_lsp.records import QueuedMessage, SubagentRecord
from odin_lsp.sessions import listing, reader
from odin_lsp.sessions.session import Session
from odin_lsp.sessions.store import log_path, open_log
from odin_lsp.sessions.titles import cleaned
from odin_lsp.sessions.turn_record import TurnRecord
from odin_lsp.values import to_wire

Helpers = Sequence[SubagentRecord]
Told = tuple[TurnRecord, Helpers]
"""A turn, and who helped with it."""
MAX_HANDED_OVER = 300
"""Characters of what a helper handed over; the model was told all of it, and exports to JSON have it."""
UNBEGUN = "not begun: Odin was ended before"
Format = Literal["markdown", "html", "json"]
SUFFIXES: dict[Format, str] = {"markdown": ".md", "html": ".html", "json": ".json"}
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
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(path, flags, 0o600), "wb") as file:  # noqa: PTH123 - a descriptor, no path
            file.writelines(pieces)
    except FileExistsError:
        raise SessionError(f"{path} exists already; name a new file") from None
    except OSError as error:
        raise SessionError(f"{path} cannot be written: {error.strerror}") from error


def stored_turns(folder: Path, session_id: str) -> Iterator[Told]:
    helpers: dict[str, SubagentRecord] = {}
    with open_log(log_path(folder, session_id)) as file:
        for record in reader.every(file, "turn", "subagent"):
            try:
                if record["type"] == "subagent":
                    helper = reader.value(SubagentRecord, record.get("subagent"))
                    helpers[helper.agent_id] = helper
                    continue
                turn = reader.value(TurnRecord, record.get("turn"))
            except SessionError:
                continue
            yield turn, _helpers_of(turn, helpers.values())
            helpers.clear()


def transcript(session: Session) -> str:
    """The session as a Markdown document, as far as it is in memory."""
    told = [(turn, _helpers_of(turn, session.subagents.values())) for turn in session.turns]
    unbegun = (f"\n{_asked(it)}\n*{UNBEGUN}*\n" for it in session.unbegun)
    return "".join((*markdown(session.title, told, session.earlier_turns), *unbegun))


def markdown(title: str, turns: Iterable[Told], earlier: int = 0) -> Iterator[str]:
    """What models, pages and files said stands in it, and whoever opens it may have a preview: it must do nothing."""
    yield f"# {harmless(title)}\n"
    if earlier:
        yield f"\n*{earlier} earlier turns are left out here; an export has them.*\n"
    for turn, helpers in turns:
        yield f"\n{_markdown_turn(turn, helpers)}"


def _markdown_turn(turn: TurnRecord, helpers: Helpers) -> str:
    ended = f"*{_ending(turn)}*\n\n" if _ending(turn) else ""
    details = ""
    for summary, items in _details(turn, helpers):
        told = harmless("".join(f"- {item}\n" for item in items))
        details += f"<details><summary>{summary}</summary>\n\n{told}\n</details>\n\n"
    return f"{_asked(turn)}\n{details}{ended}{harmless(turn.answer_summary)}\n"


def _asked(message: TurnRecord | QueuedMessage) -> str:
    quoted = "\n".join(f"> {line}" for line in harmless(message.body).splitlines())
    return f"## {_heading(message)}\n\n{quoted}\n"


def _html(title: str, turns: Iterable[Told]) -> Iterator[str]:
    yield PAGE.format(title=html.escape(title))
    for turn, helpers in turns:
        yield f'<h2>{_heading(turn)}</h2>\n<pre class="asked">{html.escape(turn.body)}</pre>\n'
        for summary, items in _details(turn, helpers):
            told = "".join(f"<li>{html.escape(item)}</li>" for item in items)
            yield f"<details><summary>{summary}</summary><ul>{told}</ul></details>\n"
        if _ending(turn):
            yield f"<p><em>{_ending(turn)}</em></p>\n"
        yield f"<pre>{html.escape(turn.answer_summary)}</pre>\n"
    yield "</body>\n</html>\n"


def _json(folder: Path, summary: listing.SessionSummary) -> Iterator[str]:
    """All records as they are stored, unknown ones too."""
    about = json.dumps(to_wire(summary))
    yield f'{{"version":{reader.SCHEMA_VERSION},"session":{about},"records":['
    separator = "\n"
    with open_log(log_path(folder, summary.session_id)) as file:
        for line in reader.index(file).lines:
            for record in reader.read(file, line):
                yield separator + json.dumps(record)
                separator = ",\n"
    yield "\n]}\n"


def _helpers_of(turn: TurnRecord, helpers: Iterable[SubagentRecord]) -> Helpers:
    return [helper for helper in helpers if helper.turn_id == turn.turn_id]


def _details(turn: TurnRecord, helpers: Helpers) -> Iterator[tuple[str, list[str]]]:
    """What can be unfolded, one line for each."""
    if turn.tool_history:
        tools = [f"{tool.name}: {tool.description}" for tool in turn.tool_history]
        yield f"{len(tools)} tools", tools
    if helpers:
        yield f"{len(helpers)} helpers", [_helper(it) for it in helpers]


def _helper(helper: SubagentRecord) -> str:
    ended = "did not end" if helper.status == "running" else helper.status
    handed_over = cleaned(helper.summary or "; ".join(helper.remaining_limitations), MAX_HANDED_OVER)
    about = f"{helper.agent_id} ({MODE_NAMES[helper.mode]}, {ended}): {cleaned(helper.description)}"
    return f"{about}: {handed_over}" if handed_over else about


def _heading(message: TurnRecord | QueuedMessage) -> str:
    try:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(message.timestamp))
    except (OverflowError, ValueError, OSError):
        when = "at an unknown time"
    return f"{MODE_NAMES[message.mode]} · {when}"


def _ending(turn: TurnRecord) -> str:
    match turn.reason:
        case "end_turn":
            return ""
        case "aborted":
            return "cut off: Odin was ended"
        case reason:
            return reason.replace("_", " ")
