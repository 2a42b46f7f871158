"""One stream of events, several subscribers; and a pace that people can read."""

import time
from collections.abc import Callable
from itertools import count

from odin_lsp.events import Emit, Event, EventRecord

Subscriber = Callable[[EventRecord], None]
PACE_SECONDS = 0.15


class EventStream:
    def __init__(self) -> None:
        self._subscribers: list[Subscriber] = []
        self._seq = count(1)

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Send everything from now on to `subscriber`; call the result to stop."""
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    def emitter(self, turn_id: str, session_id: str, agent_id: str = "main") -> Emit:
        def emit(event: Event) -> None:
            record = EventRecord(next(self._seq), turn_id, session_id, agent_id, event)
            for subscriber in tuple(self._subscribers):
                subscriber(record)

        return emit


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
