"""Events for others, by way of Redis: they are added to a stream, and nothing is ever read from there.

It goes on beside the work. What Redis does not take in time is dropped, the oldest first, and counted."""

import asyncio
import json
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import count
from typing import TYPE_CHECKING, Any

from odin_lsp.config import PublishSettings
from odin_lsp.events import PASSING, EventRecord
from odin_lsp.redaction import redacted
from odin_lsp.values import Value, is_list, is_object, to_wire

if TYPE_CHECKING:
    from redis.asyncio import Redis

log = logging.getLogger("odin.publish")
VERSION = 1
MAX_WAITING = 1000
"""Events; from here on the oldest are dropped."""
MAX_ENTRY = 64 * 1024
"""Characters of one event; of a longer one the details are left out."""
MAX_STREAM = 10_000
"""Entries that Redis keeps, roughly."""
BATCH = 100
TIMEOUT = 5.0
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 30.0
LAST_WORDS = 1.0
"""Seconds at the end, for what still waits, if Redis is there."""
PLAIN: Mapping[str, tuple[str, ...]] = {
    "turnQueued": ("position",),
    "turnStarted": ("mode", "model"),
    "activityChanged": ("activity",),
    "requestStarted": ("step", "attempt"),
    "thinkingFinished": ("elapsedMs",),
    "messageFinished": ("toolCalls", "thinkingMs"),
    "toolQueued": ("callId", "name"),
    "toolStarted": ("callId", "name"),
    "toolFinished": ("callId", "name", "status", "added", "removed", "durationMs", "audit"),
    "backgroundFinished": ("callId", "backgroundId", "status", "exitCode", "durationMs"),
    "reviewClosed": ("proposalId",),
    "diagnosticsCompared": ("remaining",),
    "questionAnswered": ("questionId",),
    "usageChanged": ("usage",),
    "subagentStarted": ("agentId", "mode"),
    "subagentFinished": ("agentId", "status"),
    "compacted": ("status", "before", "after"),
    "modelChanged": ("selected", "running"),
    "roleChanged": ("role",),
    "modelStatusChanged": ("status",),
    "notice": ("level",),
    "sessionBegun": ("how",),
    "sessionSwitchStarted": ("how",),
    "sessionRestored": ("messages", "how"),
    "turnEdited": ("mode",),
    "trustChanged": ("trusted",),
    "turnFinished": ("outcome",),
}
"""What is published of each event: nothing that anybody wrote, neither prompts nor files nor names of them."""
PLAIN_OUTCOME = ("mode", "reason", "steps", "durationMs", "modelMs", "usage")


@dataclass(frozen=True, slots=True, kw_only=True)
class Published(Value):
    version: int
    seq: int
    """Rises by one with each event, dropped or not."""
    at: float
    session_id: str
    turn_id: str
    agent_id: str
    kind: str
    details: Mapping[str, Any]
    dropped: int
    """Events that were dropped before this one."""


class Publisher:
    def __init__(
        self,
        settings: PublishSettings,
        secrets: Collection[str] = (),
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.settings = settings
        self.dropped = 0
        self._secrets = tuple(secrets)
        self._pause = pause
        self._seq = count(1)
        self._waiting: deque[str] = deque()
        self._filled = asyncio.Event()
        self._empty = asyncio.Event()
        self._is_connected = False
        self._is_stopped = False
        self._problem = ""
        self._task: asyncio.Task[None] | None = None

    def __call__(self, record: EventRecord) -> None:
        """Take an event; this waits for nobody."""
        if record.event.kind in PASSING or self._is_stopped:
            return
        self._waiting.append(self._entry(next(self._seq), record))
        self._shorten()
        self._empty.clear()
        self._filled.set()
        if self._task is None:
            self._task = asyncio.create_task(self._work(), name="publisher")
            self._task.add_done_callback(self._give_up)

    async def close(self) -> None:
        """Let go what still waits, if that takes no time."""
        if self._task is None:
            return
        try:
            async with asyncio.timeout(LAST_WORDS if self._is_connected else 0):
                await self._empty.wait()
        except TimeoutError:
            pass
        self.stop()
        await asyncio.gather(self._task, return_exceptions=True)

    def stop(self) -> None:
        self._is_stopped = True  # the client swallows a cancellation that comes while it gives a connection back
        if self._task is not None:
            self._task.cancel()

    def _give_up(self, task: "asyncio.Task[None]") -> None:
        """Nobody is left to publish: nothing is taken any more, and nobody waits."""
        self._is_stopped = True
        self._waiting.clear()
        self._empty.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("events are not published to Redis any more (%s)", type(error).__name__)

    def _shorten(self) -> None:
        while len(self._waiting) > MAX_WAITING:
            self._waiting.popleft()
            self.dropped += 1

    def _entry(self, seq: int, record: EventRecord) -> str:
        """As it is stored, with every secret hidden that can be recognised."""
        event = to_wire(record.event)
        details = event if self.settings.content else plain(record.event.kind, event)
        entry = self._published(seq, record, details)
        return entry if len(entry) <= MAX_ENTRY else self._published(seq, record, {})

    def _published(self, seq: int, record: EventRecord, details: Mapping[str, Any]) -> str:
        published = Published(
            version=VERSION,
            seq=seq,
            at=time.time(),
            session_id=record.session_id,
            turn_id=record.turn_id,
            agent_id=record.agent_id,
            kind=record.event.kind,
            details=self._hidden({key: value for key, value in details.items() if key != "kind"}),
            dropped=self.dropped,
        )
        return json.dumps(to_wire(published), separators=(",", ":"))

    def _hidden(self, value: Any) -> Any:
        if isinstance(value, str):
            return redacted(value, self._secrets)
        if is_object(value):
            return {key: self._hidden(inner) for key, inner in value.items()}
        return [self._hidden(inner) for inner in value] if is_list(value) else value

    async def _work(self) -> None:
        try:
            redis = await asyncio.to_thread(import_module, "redis.asyncio")
            errors = (import_module("redis.exceptions").RedisError, OSError, TimeoutError)
            client = _client(redis, self.settings.redis or "")
        except (ImportError, ValueError) as error:
            why = (
                "install odin-lsp[redis]" if isinstance(error, ImportError) else "`publish.redis` is no address of one"
            )
            log.warning("events are not published to Redis: %s", why)
            return
        wait = FIRST_PAUSE
        try:
            while not self._is_stopped:
                try:
                    await self._send(client)
                    wait = FIRST_PAUSE
                    continue
                except Exception as error:  # noqa: BLE001 - whatever it is, the next try may do better
                    self._complain(error)
                with suppress(*errors):
                    await client.connection_pool.disconnect()
                if not self._is_stopped:
                    await self._pause(wait)
                    wait = min(2 * wait, LONGEST_PAUSE)
        finally:
            await client.aclose()

    async def _send(self, client: "Redis") -> None:
        """The next events; those that Redis did not take wait again."""
        await self._filled.wait()
        batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
        try:
            async with asyncio.timeout(TIMEOUT):
                pipeline = client.pipeline(transaction=False)
                for entry in batch:
                    pipeline.xadd(self.settings.stream, {"event": entry}, maxlen=MAX_STREAM, approximate=True)
                await pipeline.execute()
        except BaseException:
            self._waiting.extendleft(reversed(batch))
            self._shorten()
            raise
        self._is_connected, self._problem = True, ""
        if not self._waiting:
            self._filled.clear()
            self._empty.set()

    def _complain(self, error: BaseException) -> None:
        """Once for each trouble, and never with the address: it may hold a password."""
        self._is_connected = False
        problem = type(error).__name__
        if problem != self._problem:
            log.warning("events are not published to Redis (%s); it is tried again", problem)
        self._problem = problem


def _client(redis: Any, url: str) -> "Redis":
    """The old protocol: in the new one a server may send what nobody has asked for."""
    retry = import_module("redis.asyncio.retry").Retry(import_module("redis.backoff").NoBackoff(), 0)
    timeouts = {"socket_timeout": TIMEOUT, "socket_connect_timeout": TIMEOUT}
    return redis.Redis.from_url(url, protocol=2, retry=retry, **timeouts)


def plain(kind: str, event: Mapping[str, Any]) -> dict[str, Any]:
    """What of an event nobody wrote."""
    details = {key: event[key] for key in PLAIN.get(kind, ()) if key in event}
    match event:
        case {"kind": "todosChanged", "todos": [*todos]}:
            details |= {"todos": len(todos), "completed": sum(todo["status"] == "completed" for todo in todos)}
        case {"kind": "questionAsked", "question": {"questionId": id, "kind": about}}:
            details |= {"questionId": id, "about": about}
        case {"kind": "diagnosticsCompared", "introduced": [*introduced], "fixed": [*fixed]}:
            details |= {"introduced": len(introduced), "fixed": len(fixed)}
        case {"kind": "reviewOpened", "proposal": {"proposalId": id, "files": [*files]}}:
            details |= {"proposalId": id, "files": len(files), "hunks": sum(len(file["hunks"]) for file in files)}
        case _:
            pass
    if "outcome" in details:
        details["outcome"] = {key: details["outcome"][key] for key in PLAIN_OUTCOME if key in details["outcome"]}
    return details
