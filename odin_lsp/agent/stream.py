"""One stream of events, several subscribers."""

from collections.abc import Callable
from itertools import count

from odin_lsp.events import Emit, Event, EventRecord

Subscriber = Callable[[EventRecord], None]


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
