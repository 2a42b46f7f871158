"""One stream of events, several subscribers."""

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
    ArgumentsStreamed,
    Emit,
    Event,
    EventRecord,
    MessageFinished,
    RequestProgress,
    RequestStarted,
    StreamRolledBack,
    TextStreamed,
    ThinkingFinished,
    ThinkingStarted,
    ThinkingStreamed,
    ToolFinished,
    ToolProgress,
    ToolQueued,
    ToolStarted,
    TurnFinished,
)
from odin_lsp.sessions.publish import plain
from odin_lsp.values import to_wire

log = logging.getLogger("odin.stream")
events_log = logging.getLogger("odin.events")
Subscriber = Callable[[EventRecord], None]
"""It takes an event and waits for nobody: what takes time goes on in a task or a thread of its own."""
OF_A_REQUEST = RequestStarted | RequestProgress | StreamRolledBack
OF_A_REPLY = TextStreamed | ThinkingStarted | ThinkingStreamed | ThinkingFinished | ArgumentsStreamed | MessageFinished
OF_A_MESSAGE = OF_A_REQUEST | OF_A_REPLY
"""What is told before a message has ended, and its end."""
OF_A_CALL = ToolQueued | ToolStarted | ToolProgress | ToolFinished


class EventStream:
    """No subscriber can hurt a turn, or another subscriber."""

    def __init__(self) -> None:
        self._subscriptions: list[_Subscription] = []
        self._seq = count(1)
        self._untold: deque[EventRecord] = deque()
        self._messages: dict[tuple[str, str], int] = {}
        """How many each agent of each turn that runs has finished."""

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Send everything from now on to `subscriber`; call the result to stop."""
        subscription = _Subscription(subscriber)
        self._subscriptions.append(subscription)
        return lambda: self._subscriptions.remove(subscription)

    def emitter(self, turn_id: str, session_id: str, agent_id: str = MAIN) -> Emit:
        def emit(event: Event) -> None:
            of = self._message_id(turn_id, agent_id, event)
            self._tell(EventRecord(next(self._seq), turn_id, session_id, agent_id, event, time.time(), of))

        return emit

    def _message_id(self, turn_id: str, agent_id: str, event: Event) -> str | None:
        """Messages of an agent in a turn are counted from 1; a call is of the last one."""
        if isinstance(event, TurnFinished):
            self._messages = {key: count for key, count in self._messages.items() if key[0] != turn_id}
        number = self._messages.get((turn_id, agent_id), 0)
        if isinstance(event, OF_A_MESSAGE):
            number += 1
        elif not isinstance(event, OF_A_CALL):
            return None
        if isinstance(event, MessageFinished):
            self._messages[turn_id, agent_id] = number
        return f"{turn_id}/{agent_id}/{number}" if turn_id and number else None

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
