"""What would be sent to the model now, and what it would cost."""

import asyncio
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from odin_lsp.agent.instructions import Instructions
from odin_lsp.mcp.offered import Offered, cost
from odin_lsp.models import catalog
from odin_lsp.models.base import Request
from odin_lsp.modes import Mode
from odin_lsp.records import Stretch, Usage
from odin_lsp.sessions.history import CHARS_PER_TOKEN, estimate
from odin_lsp.values import Value, to_wire
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.shown import Shown


@dataclass(frozen=True, slots=True)
class ContextPart(Value):
    kind: Literal["system", "tool", "message"]
    name: str
    """Of a tool its name, of a message its role."""
    tokens: int
    """An estimate."""
    content: str
    """Word for word; of a tool and a message as JSON."""


@dataclass(frozen=True, slots=True)
class ContextInstructions(Value):
    """A file of instructions that holds for the whole session; the text is among the parts."""

    path: str
    of: Literal["user", "project"]
    tokens: int
    """An estimate."""


@dataclass(frozen=True, slots=True)
class LineSpan(Value):
    """Counted from 1, the last one included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenFile(Value):
    """What the model has seen of a file in this session, and what has changed since."""

    path: str
    at: float
    """When it last saw some of it, in seconds since 1970."""
    seen: tuple[Stretch, ...]
    """The lines, with a digest of their text as it was then."""
    is_whole: bool
    is_current: bool
    """All of these lines are there as they were seen. If not, the model is told that others have changed the file."""
    changed: tuple[LineSpan, ...] = ()
    """Of the lines that it has seen, as they were counted then: those that were rewritten or removed since. None if
    lines have only moved."""


@dataclass(frozen=True, slots=True)
class ContextServer(Value):
    """What the tools of an MCP server cost."""

    name: str
    tools: int
    listed: bool
    """Whether each request has them; otherwise the model finds them with FindTool."""
    tokens: int
    """An estimate, of all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPreview(Value):
    session_id: str
    mode: Mode
    model: str
    tokens: int
    """An estimate of the whole request."""
    counted: int | None = None
    """The same as its provider counts it, if that was asked for and it does."""
    not_counted: str | None = None
    """Why it does not, if that was asked for."""
    context_limit: int
    """Tokens that fit into the model's window."""
    cost_usd: float
    """Of the request, without the answer, if no part of it is in the provider's cache."""
    cached_cost_usd: float
    """The same if all but the last message is."""
    switched_cost_usd: float
    """The same if the message before was in a mode with other tools: of the cache only those that all modes have are
    of use, and the conversation is read anew."""
    spent: Usage
    """By the session so far."""
    parts: tuple[ContextPart, ...]
    """In the order in which they are sent."""
    instructions: tuple[ContextInstructions, ...] = ()
    """In the order in which they count."""
    files: tuple[SeenFile, ...] = ()
    """The last one that the model has seen comes last. Empty for a session that is not open."""
    servers: tuple[ContextServer, ...] = ()
    """MCP servers whose tools are known."""


def preview(
    request: Request,
    ref: str,
    instructions: Instructions,
    *,
    session_id: str,
    mode: Mode,
    spent: Usage,
    files: tuple[SeenFile, ...] = (),
    servers: tuple[ContextServer, ...] = (),
    counted: tuple[int | None, str | None] = (None, None),
) -> ContextPreview:
    """`counted`: by the provider, or why it does not."""
    parts = tuple(_parts(request))
    tokens = sum(part.tokens for part in parts)
    fresh = parts[-1].tokens if parts else 0
    shared = sum(part.tokens for part in parts[: request.shared_tools])
    return ContextPreview(
        session_id=session_id,
        mode=mode,
        model=ref,
        tokens=tokens,
        counted=counted[0],
        not_counted=counted[1],
        context_limit=catalog.find(ref).context,
        cost_usd=catalog.cost(ref, Usage(input_tokens=tokens)),
        cached_cost_usd=catalog.cost(ref, Usage(input_tokens=fresh, cache_read_tokens=tokens - fresh)),
        switched_cost_usd=catalog.cost(ref, Usage(input_tokens=tokens - shared, cache_read_tokens=shared)),
        spent=spent,
        parts=parts,
        instructions=tuple(ContextInstructions(it.path, it.of, _tokens(it.block)) for it in instructions.files),
        files=files,
        servers=servers,
    )


def seen_servers(offered: Iterable[Offered], listed: Collection[Offered]) -> tuple[ContextServer, ...]:
    """`listed`: those that the conversation lists, by server."""
    tools: dict[str, list[Offered]] = {}
    for it in offered:
        tools.setdefault(it.server, []).append(it)
    names = {it.server for it in listed}
    return tuple(
        ContextServer(name, len(its), name in names, round(cost(its) / CHARS_PER_TOKEN)) for name, its in tools.items()
    )


async def seen_files(shown: Shown, files: Files) -> tuple[SeenFile, ...]:
    await shown.compare(files)
    outdated = [(path, files.reader(path)) for path, file in shown if file.is_outdated]
    changed = await asyncio.to_thread(lambda: {path: _changed(shown, path, read() or ()) for path, read in outdated})
    return tuple(
        SeenFile(
            path=str(path),
            at=file.at,
            seen=shown.stretches(path),
            is_whole=file.is_whole,
            is_current=not file.is_outdated,
            changed=changed.get(path, ()) if file.is_outdated else (),
        )
        for path, file in shown
    )


def _changed(shown: Shown, path: Path, now: Sequence[str]) -> tuple[LineSpan, ...]:
    return tuple(LineSpan(first, last) for first, last in shown.rewritten(path, now))


def _parts(request: Request) -> Iterator[ContextPart]:
    for tool in request.tools:
        content = json.dumps({"description": tool.description, "schema": tool.schema}, ensure_ascii=False)
        yield ContextPart("tool", tool.name, _tokens(content), content)
    for text in request.system:
        yield ContextPart("system", "system", _tokens(text), text)
    for message in request.messages:
        content = json.dumps(_without_bytes(to_wire(replace(message, origin=None))["parts"]), ensure_ascii=False)
        yield ContextPart("message", message.role, estimate([message]), content)


def _without_bytes(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Nobody reads the base64 of an image."""
    for part in parts:
        for it in (part, *part.get("attached", ())):
            if it["kind"] in ("image", "document"):
                it["data"] = f"({len(it['data']) * 3 // 4:,} bytes)"
    return parts


def _tokens(text: str) -> int:
    return round(len(text) / CHARS_PER_TOKEN)
