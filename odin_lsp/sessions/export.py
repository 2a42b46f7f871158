"""A session as one file to keep or to give away: Markdown, HTML or JSON. Whoever opens it, it does nothing."""

import html
import json
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from odin_lsp.errors import SessionError
from odin_lsp.markdown import harmless
from odin_lsp.sessions import listing, private, reader
from odin_lsp.sessions.session import Session, TurnRecord
from odin_lsp.sessions.store import log_path, open_log
from odin_lsp.values import to_wire

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
            private.write_file(path, pieces, durable=False)
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(path, flags, 0o600), "wb") as file:  # noqa: PTH123 - a descriptor, no path
            file.writelines(pieces)
    except FileExistsError:
        raise SessionError(f"{path} exists already; name a new file") from None
    except OSError as error:
        raise SessionError(f"{path} cannot be written: {error.strerror}") from error


def stored_turns(folder: Path, session_id: str) -> Iterator[TurnRecord]:
    with open_log(log_path(folder, session_id)) as file:
        for record in reader.every(file, "turn"):
            try:
                yield reader.value(TurnRecord, record.get("turn"))
            except SessionError:
                continue


def transcript(session: Session) -> str:
    """The session as a Markdown document, as far as it is in memory."""
    return "".join(markdown(session.title, session.turns, session.earlier_turns))


def markdown(title: str, turns: Iterable[TurnRecord], earlier: int = 0) -> Iterator[str]:
    """What models, pages and files said stands in it, and whoever opens it may have a preview: it must do nothing."""
    yield f"# {harmless(title)}\n"
    if earlier:
        yield f"\n*{earlier} earlier turns are left out here; an export has them.*\n"
    for turn in turns:
        yield f"\n{_markdown_turn(turn)}"


def _markdown_turn(turn: TurnRecord) -> str:
    quoted = "\n".join(f"> {line}" for line in harmless(turn.body).splitlines())
    tools = harmless("".join(f"- {tool.name}: {tool.description}\n" for tool in turn.tool_history))
    ended = f"*{_ending(turn)}*\n\n" if _ending(turn) else ""
    details = f"<details><summary>{len(turn.tool_history)} tools</summary>\n\n{tools}\n</details>\n\n" if tools else ""
    return f"## {_heading(turn)}\n\n{quoted}\n\n{details}{ended}{harmless(turn.answer_summary)}\n"


def _html(title: str, turns: Iterable[TurnRecord]) -> Iterator[str]:
    yield PAGE.format(title=html.escape(title))
    for turn in turns:
        yield f'<h2>{_heading(turn)}</h2>\n<pre class="asked">{html.escape(turn.body)}</pre>\n'
        if turn.tool_history:
            tools = "".join(f"<li>{html.escape(f'{it.name}: {it.description}')}</li>" for it in turn.tool_history)
            yield f"<details><summary>{len(turn.tool_history)} tools</summary><ul>{tools}</ul></details>\n"
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


def _heading(turn: TurnRecord) -> str:
    try:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(turn.timestamp))
    except (OverflowError, ValueError, OSError):
        when = "at an unknown time"
    return f"{MODE_NAMES[turn.mode]} · {when}"


def _ending(turn: TurnRecord) -> str:
    return "" if turn.reason == "end_turn" else turn.reason.replace("_", " ")
