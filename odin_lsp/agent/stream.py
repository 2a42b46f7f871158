"""One stream of events, several subscribers; what is heard of a reply, and a pace that people can read."""

import asyncio
import json
import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from odin_lsp.events import (
    MAIN,
    PASSING,
    ActivityChanged,
    ArgumentsStreamed,
    Emit,
    EventRecord,
    MessageFinished,
    StreamRolledBack,
    TextStreamed,
    ThinkingStreamed,
)
from odin_lsp.models.base import ArgumentsDelta, Attempt, StreamEvent, TextDelta, ThinkingDelta
from odin_lsp.records import Retry
from odin_lsp.sessions.publish import plain
from odin_lsp.values import to_wire

log = logging.getLogger("odin.stream")
events_log = logging.getLogger("odin.events")
Subscriber = Callable[[EventRecord], None]
"""It takes an event and waits for nobody: what takes time goes on in a task or a thread of its own."""
PACE_SECONDS = 0.15


class EventStream:
    """No subscriber can hurt a turn, or another subscriber."""

    def __init__(self) -> None:
        self._subscriptions: list[_Subscription] = []
        self._seq = count(1)
        self._untold: deque[EventRecord] = deque()

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Send everything from now on to `subscriber`; call the result to stop."""
        subscription = _Subscription(subscriber)
        self._subscriptions.append(subscription)
        return lambda: self._subscriptions.remove(subscription)

    def emitter(self, turn_id: str, session_id: str, agent_id: str = MAIN) -> Emit:
        return lambda event: self._tell(EventRecord(next(self._seq), turn_id, session_id, agent_id, event, time.time()))

    def _tell(self, record: EventRecord) -> None:
        """What a subscriber emits in its turn comes after what it was told of: all of them see one order."""
        self._untold.append(record)
        if len(self._untold) > 1:
            return
        while self._untold:
            for subscription in tuple(self._subscriptions):
                subscription.tell(self._untold[0])
            self._untold.popleft()


@dataclass(slots=True, eq=False)
class _Subscription:
    subscriber: Subscriber
    has_failed: bool = False

    def tell(self, record: EventRecord) -> None:
        """One event that it cannot take is no reason to keep the next from it."""
        try:
            self.subscriber(record)
        except (Exception, asyncio.CancelledError):
            if not self.has_failed:
                log.exception("a subscriber cannot take the event %s; later failures are not logged", record.event.kind)
            self.has_failed = True


def log_event(record: EventRecord) -> None:
    """What happens, without anything that anybody wrote."""
    if events_log.isEnabledFor(logging.DEBUG) and record.event.kind not in PASSING:
        details = plain(record.event.kind, to_wire(record.event))
        events_log.debug("%s %s/%s %s", record.event.kind, record.turn_id or "-", record.agent_id, json.dumps(details))


class Pacer:
    """Joins text that comes in small pieces, so that no more than one piece goes out per moment."""

    def __init__(self, send: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._send = send
        self._clock = clock
        self._held = ""
        self._last = float("-inf")

    def add(self, text: str) -> None:
        self._held += text
        if self._clock() - self._last >= PACE_SECONDS:
            self.flush()

    def flush(self) -> None:
        if self._held:
            held, self._held = self._held, ""
            self._last = self._clock()
            self._send(held)


class Speech:
    """What a model says in one reply, told as it comes. An attempt that failed takes back what was said before."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._pacer = Pacer(lambda text: emit(ThinkingStreamed(text)))
        self._call = ("", "")
        self._arguments = Pacer(lambda text: emit(ArgumentsStreamed(*self._call, text)))
        """Of the call that the model is making."""
        self._said: list[str] = []
        self._thought: list[str] = []
        self._has_begun = False
        self._has_ended = False

    @property
    def text(self) -> str:
        return "".join(self._said)

    @property
    def thinking(self) -> str:
        return "".join(self._thought)

    def finished(self, text: str, calls: int = 0) -> None:
        self._has_ended = True
        self._emit(MessageFinished(text, calls, self.thinking))

    def take_back(self) -> None:
        """It does not count: it is asked for again."""
        if not self._has_ended:
            self._has_ended = True
            self._emit(StreamRolledBack())

    def cut_off(self) -> None:
        """Nothing more comes of it: what was heard is what it was."""
        if not self._has_ended and (self.text or self.thinking):
            self._pacer.flush()
            self.finished(self.text)

    def hear(self, event: StreamEvent) -> None:
        if not self._has_begun and isinstance(event, TextDelta | ThinkingDelta | ArgumentsDelta):
            self._has_begun = True
            self._emit(ActivityChanged("streaming"))
        if not isinstance(event, ThinkingDelta):
            self._pacer.flush()
        if not isinstance(event, ArgumentsDelta) or (event.call_id, event.name) != self._call:
            self._arguments.flush()
        match event:
            case TextDelta(text):
                self._said.append(text)
                self._emit(TextStreamed(text))
            case ThinkingDelta(text):
                self._thought.append(text)
                self._pacer.add(text)
            case ArgumentsDelta(call_id, name, text):
                self._call = call_id, name
                self._arguments.add(text)
            case Attempt():
                self._said.clear()
                self._thought.clear()
                self._has_begun = False
            case _:
                pass


def trying_again(attempt: Attempt) -> ActivityChanged:
    wait = f"cooldown {attempt.wait:.0f} s, " if attempt.wait >= 1 else ""
    retry = Retry(attempt.number, attempt.most, attempt.wait, attempt.reason)
    words = f"{wait}retry {attempt.number}/{attempt.most}: {attempt.reason}"
    return ActivityChanged(attempt.activity, words, retry)
