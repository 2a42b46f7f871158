"""Who wrote a line: what editors ask for and get, and how it is shown at the line."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lsprotocol import types

from odin_lsp.agent.authorship import ODIN, TurnStory, WrittenRange
from odin_lsp.markdown import harmless
from odin_lsp.server.client import Abilities
from odin_lsp.server.host import Host
from odin_lsp.sessions.titles import cleaned
from odin_lsp.values import Value

OPEN, UNDO = "odin.provenance.open", "odin.undoTurn"
KIND = "odin.written"
MAX_SAID = 300


@dataclass(frozen=True, slots=True)
class ProvenanceParams(Value):
    """`odin.provenance`: the lines of a file that Odin wrote, as they are now; none with the setting `provenance` off.
    Only accepted changes count, as long as they can be undone."""

    uri: str


@dataclass(frozen=True, slots=True)
class WrittenRanges(Value):
    ranges: tuple[WrittenRange, ...]
    """In the order of the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTurnParams(Value):
    """`odin.provenance.open`: show the transcript of a session where the turn begins."""

    session_id: str
    turn_id: str


@dataclass(frozen=True, slots=True)
class OpenedTurn(Value):
    uri: str
    line: int
    """Counted from 0."""


async def written_at(server: Host, uri: str, line: int) -> tuple[WrittenRange, TurnStory] | None:
    """Who wrote that line of an open document; `None` if it is not Odin's, or nobody wants to know."""
    path = _path(server, uri)
    return await server.core.authorship.at(path, line) if path is not None else None


def shown(written: WrittenRange, story: TurnStory, abilities: Abilities) -> types.MarkupContent:
    """For a hover: the request, then when, by which model and at what cost, then what can be done with it."""
    is_markdown = abilities.markdown_hovers
    state = {"accepted": "accepted", "modified": "changed by you"}[written.state]
    said = cleaned(story.said, MAX_SAID)
    is_own = written.origin == ODIN
    who, model = ("Odin", written.model or "") if is_own else (harmless(written.origin), "")
    cost = f"turn cost ${story.cost_usd:.4f}" if is_own and story.cost_usd is not None else ""
    paragraphs = [
        f"**{who}** wrote this line · {state}" if is_markdown else f"{who} wrote this line · {state}",
        (f"> {harmless(said)}" if is_markdown else f"“{said}”") if said else "",
        " · ".join(filter(None, (_time(written.at), harmless(model), cost))),
        " · ".join(_links(written)) if is_markdown and abilities.links else "",
    ]
    kind = types.MarkupKind.Markdown if is_markdown else types.MarkupKind.PlainText
    return types.MarkupContent(kind, "\n\n".join(filter(None, paragraphs)))


async def actions_at(server: Host, params: types.CodeActionParams) -> list[types.CodeAction]:
    """The same for editors whose hovers run no commands; only if the user has asked what can be done here."""
    if server.abilities.links or params.context.trigger_kind == types.CodeActionTriggerKind.Automatic:
        return []
    found = await written_at(server, params.text_document.uri, params.range.start.line)
    return [
        types.CodeAction(title, kind=KIND, command=types.Command(title, command, arguments=[argument]))
        for title, command, argument in (_commands(found[0]) if found else ())
    ]


def _path(server: Host, uri: str) -> Path | None:
    buffer = server.buffers.of_uri(uri)
    if buffer is None or not buffer.synchronised or not server.project.now.config.provenance:
        return None
    return buffer.path


def _commands(written: WrittenRange) -> Iterator[tuple[str, str, dict[str, Any]]]:
    if written.session_id is not None and written.model is not None:  # the session is still there
        about = {"sessionId": written.session_id, "turnId": written.turn_id}
        yield "Odin: Open the session that wrote this line", OPEN, about
    yield "Odin: Undo the change that wrote this line", UNDO, {"turnId": written.turn_id, "hunkIds": [written.hunk_id]}


def _links(written: WrittenRange) -> Iterator[str]:
    titles = {OPEN: "Open Session", UNDO: "Undo Change"}
    for _, command, argument in _commands(written):
        yield f"[{titles[command]}](command:{command}?{quote(json.dumps([argument]))})"


def _time(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
