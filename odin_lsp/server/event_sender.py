"""Events to the editor. Under load text deltas are joined, and how far a request has come is left out, since the next
count has it; everything else goes out as it is, and nothing is lost."""

import json
from collections.abc import Callable
from dataclasses import replace

from odin_lsp.events import (
    ArgumentsStreamed,
    EventRecord,
    RequestProgress,
    ReviewChanged,
    ReviewOpened,
    TextStreamed,
    ThinkingStreamed,
)
from odin_lsp.frames import without_halves
from odin_lsp.values import to_wire

CROWDED = 256 * 1024
"""Bytes that the client has not taken yet; from here on deltas are joined."""
LONGEST_JOINED = 64 * 1024
Delta = TextStreamed | ThinkingStreamed | ArgumentsStreamed


class Written:
    """Events as messages. An event is written once for all clients, though each has a number of its own for it."""

    def __init__(self) -> None:
        self._record: EventRecord | None = None
        self._rest = b""
        """All of the last one but for its number."""

    def __call__(self, record: EventRecord, seq: int) -> bytes:
        if record is not self._record:
            values = to_wire(record)
            del values["seq"]
            rest = json.dumps(values, allow_nan=False)[1:].encode()
            is_exact = isinstance(record.event, ReviewOpened | ReviewChanged)
            self._record, self._rest = record, rest if is_exact else without_halves(rest)
        return b'{"jsonrpc": "2.0", "method": "odin/event", "params": {"seq": %d, %b}' % (seq, self._rest)


class EventSender:
    def __init__(self, send: Callable[[bytes], None], backlog: Callable[[], int], written: Written) -> None:
        """`written` is shared by all who send the same events."""
        self._send = send
        self._written = written
        self._backlog = backlog
        self.sent = 0
        self._held: EventRecord | None = None

    def __call__(self, record: EventRecord) -> None:
        if isinstance(record.event, RequestProgress) and self._backlog() >= CROWDED:
            return
        joined = _joined(self._held, record) if self._held else None
        if joined is None:
            self._flush()
        self._held = joined or record
        if not _is_delta(record) or self._backlog() < CROWDED:
            self._flush()

    def _flush(self) -> None:
        if self._held is not None:
            self.sent += 1
            record, self._held = self._held, None
            self._send(self._written(record, self.sent))


def _is_delta(record: EventRecord) -> bool:
    return isinstance(record.event, Delta)


def _joined(held: EventRecord, record: EventRecord) -> EventRecord | None:
    """Both as one, if they are neighbours of one stream."""
    before, after = held.event, record.event
    if held.turn_id != record.turn_id or held.agent_id != record.agent_id:
        return None
    if not isinstance(before, Delta) or not isinstance(after, Delta) or replace(before, text=after.text) != after:
        return None
    if len(before.text) + len(after.text) > LONGEST_JOINED:
        return None
    return replace(record, event=replace(after, text=before.text + after.text))
