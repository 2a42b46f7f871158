"""What is heard of a reply, from the request for it to its end, at a pace that people can read."""

import time
from collections.abc import Callable

from odin_lsp.events import (
    ActivityChanged,
    ArgumentsStreamed,
    Emit,
    MessageFinished,
    ModelStatusChanged,
    RequestProgress,
    RequestStarted,
    StreamRolledBack,
    TextStreamed,
    ThinkingFinished,
    ThinkingStarted,
    ThinkingStreamed,
)
from odin_lsp.models.base import (
    ArgumentsDelta,
    Attempt,
    CallReady,
    Reached,
    Received,
    Reply,
    Status,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
)
from odin_lsp.records import Retry

PACE_SECONDS = 0.15
Clock = Callable[[], float]


class Pacer:
    """Joins text that comes in small pieces, so that no more than one piece goes out per moment."""

    def __init__(self, send: Callable[[str], None], clock: Clock = time.monotonic) -> None:
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


class StepRequests:
    """Tells of the requests of one step: when each of them begins, and how much of its answer has come."""

    def __init__(self, emit: Emit, step: int) -> None:
        self._emit = emit
        self._step = step
        self._attempt = 0
        self._is_under_way = False

    def start(self) -> None:
        self._attempt += 1
        self._is_under_way = True
        self._emit(RequestStarted(self._step, self._attempt))

    def hear(self, event: StreamEvent) -> None:
        """One that is made again begins when its wait is over."""
        if isinstance(event, Attempt):
            self._is_under_way = False
        elif not self._is_under_way and not isinstance(event, Status):
            self.start()
        if isinstance(event, Received):
            self._emit(RequestProgress(event.size, event.events))


class Thoughts:
    """Tells of what a model thinks in one reply: each block has a beginning and an end, however the reply ends."""

    def __init__(self, emit: Emit, clock: Clock = time.monotonic) -> None:
        self._emit = emit
        self._clock = clock
        self._pacer = Pacer(lambda text: emit(ThinkingStreamed(text)), clock)
        self._pieces: list[str] = []
        self._began: float | None = None
        """Of the block that is under way."""
        self.milliseconds = 0
        """Of all blocks that have ended."""

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def add(self, text: str) -> None:
        if self._began is None:
            self._began = self._clock()
            self._emit(ThinkingStarted())
        self._pieces.append(text)
        self._pacer.add(text)

    def end(self) -> None:
        """What comes next is no thought, or nothing."""
        if self._began is not None:
            self._pacer.flush()
            elapsed, self._began = round((self._clock() - self._began) * 1000), None
            self.milliseconds += elapsed
            self._emit(ThinkingFinished(elapsed))

    def forget(self) -> None:
        self._pieces.clear()
        self.milliseconds = 0


class Speech:
    """What a model says in one reply, told as it comes. An attempt that failed takes back what was said before."""

    def __init__(self, emit: Emit, requests: StepRequests, clock: Clock = time.monotonic) -> None:
        self._emit = emit
        self._requests = requests
        self._thoughts = Thoughts(emit, clock)
        self._call = ("", "")
        self._arguments = Pacer(lambda text: emit(ArgumentsStreamed(*self._call, text)), clock)
        """Of the call that the model is making."""
        self._said: list[str] = []
        self._has_begun = False
        self._has_ended = False
        requests.start()

    @property
    def text(self) -> str:
        return "".join(self._said)

    def finished(self, text: str, calls: int = 0) -> None:
        self._has_ended = True
        self._thoughts.end()
        self._emit(MessageFinished(text, calls, self._thoughts.text, self._thoughts.milliseconds))

    def take_back(self) -> None:
        """It does not count: it is asked for again."""
        if not self._has_ended:
            self._has_ended = True
            self._thoughts.end()
            self._emit(StreamRolledBack())

    def cut_off(self) -> None:
        """Nothing more comes of it: what was heard is what it was."""
        if not self._has_ended and (self.text or self._thoughts.text):
            self.finished(self.text)

    def hear(self, event: StreamEvent) -> None:
        self._requests.hear(event)
        if not self._has_begun and isinstance(event, TextDelta | ThinkingDelta | ArgumentsDelta):
            self._has_begun = True
            self._emit(ActivityChanged("streaming"))
        if isinstance(event, TextDelta | ArgumentsDelta | CallReady | Reply | Attempt):
            self._thoughts.end()
        if not self._goes_on(event):
            self._arguments.flush()
        match event:
            case TextDelta(text):
                self._said.append(text)
                self._emit(TextStreamed(text))
            case ThinkingDelta(text):
                self._thoughts.add(text)
            case ArgumentsDelta(call_id, name, text):
                self._call = call_id, name
                self._arguments.add(text)
            case Attempt():
                self._said.clear()
                self._thoughts.forget()
                self._has_begun = False
            case Reached(activity, detail):
                self._emit(ActivityChanged(activity, detail))
            case Status(status):
                self._emit(ModelStatusChanged(status))
            case _:
                pass

    def _goes_on(self, event: StreamEvent) -> bool:
        """With the call that the model is making."""
        match event:
            case ArgumentsDelta(call_id, name):
                return (call_id, name) == self._call
            case _:
                return isinstance(event, Received)


def trying_again(attempt: Attempt) -> ActivityChanged:
    wait = f"cooldown {attempt.wait:.0f} s, " if attempt.wait >= 1 else ""
    retry = Retry(attempt.number, attempt.most, attempt.wait, attempt.reason)
    words = f"{wait}retry {attempt.number}/{attempt.most}: {attempt.reason}"
    return ActivityChanged(attempt.activity, words, retry)
