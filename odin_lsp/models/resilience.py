"""Retries, waiting, other keys, other models: the one place where a failed request is made again.

A stream that fails is announced as an `Attempt`, so that what it showed is taken back.
"""

import asyncio
import logging
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import count
from typing import Literal, cast

from odin_lsp.config import Retries
from odin_lsp.errors import KeyRejected, ModelError, ModelUnavailable
from odin_lsp.models import catalog
from odin_lsp.models.base import Attempt, Limited, Model, Reached, Received, Reply, Request, Status, StreamEvent
from odin_lsp.models.providers import Candidate
from odin_lsp.records import ModelStatus, RateLimit

log = logging.getLogger("odin.models")
FIRST_WAIT = 0.5
LONGEST_BACKOFF = 32.0
FAULTS_BEFORE_FALLBACK = 3
REJECTED_FOR = 3600.0


class KeyPool:
    """Which keys are resting, for all models of one workspace."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}

    def rest(self, key: str, seconds: float) -> None:
        self._until[key] = self._clock() + seconds

    def wait(self, key: str) -> float:
        return max(0.0, self._until.get(key, 0.0) - self._clock())

    def stats(self, keys: Sequence[str]) -> tuple[int, int]:
        """(healthy, total)."""
        return sum(self.wait(key) == 0 for key in keys), len(keys)


class ResilientModel:
    """A model that survives what passes: first the selected one with each of its keys, then the fallbacks."""

    def __init__(
        self,
        chain: Sequence[Sequence[Candidate]],
        connect: Callable[[Candidate], Awaitable[Model]],
        *,
        retries: Retries,
        idle: float,
        pool: KeyPool,
        proxied: Callable[[str], bool],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._chain = chain
        self._connect = connect
        self._retries = retries
        self._idle = idle
        self._pool = pool
        self._proxied = proxied
        self._rate_limit: RateLimit | None = None
        self._sleep = sleep
        self._jitter = jitter
        self._models: dict[Candidate, Model] = {}
        self._connecting = asyncio.Lock()
        self._answering = 0
        self._is_retired = False
        self._last: Candidate | None = None
        self.running = self.ref
        """The model of the chain that was asked last."""

    @property
    def ref(self) -> str:
        return self._chain[0][0].ref

    def status(self) -> ModelStatus:
        keys = [candidate.credential for candidate in self._chain[0]]
        healthy, total = self._pool.stats(keys)
        waiting = [self._pool.wait(key) for key in keys]
        running = catalog.find(self.running)
        return ModelStatus(
            selected=self.ref,
            running=self.running,
            keys_ready=healthy,
            keys=total,
            next_key_in=round(min(filter(None, waiting), default=0.0), 1),
            context_limit=running.context,
            output_limit=running.max_output,
            rate_limit=self._rate_limit,
            proxied=self._proxied(self.running),
        )

    async def stream(self, request: Request) -> AsyncGenerator[StreamEvent]:
        self._answering += 1
        try:
            async with aclosing(self._answer(request)) as events:
                async for event in events:
                    yield event
        finally:
            self._answering -= 1
            await self._close_if_unused()

    async def _answer(self, request: Request) -> AsyncGenerator[StreamEvent]:
        link, faults = 0, 0
        for attempt in count(1):
            candidate = min(self._chain[link], key=lambda it: self._pool.wait(it.credential))
            self._rate_limit = self._rate_limit if candidate == self._last else None
            self.running, self._last = candidate.ref, candidate
            try:
                async with aclosing(self._once(candidate, request)) as events:
                    async for event in events:
                        if isinstance(event, Limited):
                            self._rate_limit = event.rate_limit
                            yield Status(self.status())
                        else:
                            yield event
                return
            except ModelError as error:
                log.warning("request %d to %s failed%s: %s", attempt, candidate.ref, _marks(error), error)
                if not isinstance(error, ModelUnavailable | KeyRejected):
                    raise
                fault = error
            faults += 1
            if self._rest(candidate, fault, faults):
                yield Status(self.status())
            step = self._next(link, faults, fault) if attempt < self._retries.attempts else None
            if step is None:
                raise fault if attempt == 1 else ModelError(f"{fault} (tried {attempt} times)") from fault
            if step.link != link:
                link, faults = step.link, 0
            most = self._retries.attempts
            yield Attempt(self._chain[link][0].ref, str(fault), step.wait, step.activity, attempt + 1, most)
            await self._sleep(step.wait)

    async def warm(self) -> None:
        """Connect before anybody waits for it."""
        await self._connected(self._chain[0][0])

    async def retire(self) -> None:
        """Another takes its place: close its connections, now or after the answer that is under way. A turn that goes
        on with it connects again, and closes again."""
        self._is_retired = True
        await self._close_if_unused()

    async def aclose(self) -> None:
        while self._models:
            await self._models.popitem()[1].aclose()

    async def _close_if_unused(self) -> None:
        if self._is_retired and not self._answering:
            await self.aclose()

    async def _once(self, candidate: Candidate, request: Request) -> AsyncGenerator[StreamEvent]:
        if candidate not in self._models:
            yield Reached("connecting", candidate.ref)
        stream = cast("AsyncGenerator[StreamEvent]", (await self._connected(candidate)).stream(request))
        yield Reached("waiting_headers")
        async with aclosing(stream):
            silent_at = _seconds_from_now(self._idle)
            while True:
                try:
                    async with asyncio.timeout_at(silent_at):
                        event = await anext(stream)
                except StopAsyncIteration:
                    return
                except TimeoutError:
                    raise ModelUnavailable(f"{candidate.ref} was silent for {self._idle:g} s") from None
                yield _priced(event, candidate.ref)
                if not isinstance(event, Received):  # a provider that only says that it is there is silent
                    silent_at = _seconds_from_now(self._idle)

    async def _connected(self, candidate: Candidate) -> Model:
        """Once, whoever else wants it meanwhile."""
        async with self._connecting:
            if candidate not in self._models:
                self._models[candidate] = await self._connect(candidate)
            return self._models[candidate]

    def _rest(self, candidate: Candidate, fault: ModelUnavailable | KeyRejected, faults: int) -> bool:
        """Whether the key rests now."""
        if isinstance(fault, KeyRejected):
            self._pool.rest(candidate.credential, REJECTED_FOR)
        elif fault.limited:
            self._pool.rest(candidate.credential, self._wait(fault, faults))
        return isinstance(fault, KeyRejected) or fault.limited

    def _next(self, link: int, faults: int, fault: ModelUnavailable | KeyRejected) -> "_Step | None":
        """Another key, the same again after a while, the next model, or nothing that could help."""
        has_fallback = link + 1 < len(self._chain)
        rejected = isinstance(fault, KeyRejected)
        if (rejected or fault.limited) and any(self._pool.wait(it.credential) == 0 for it in self._chain[link]):
            return _Step(link, 0, "retrying_key")
        wait = REJECTED_FOR if rejected else self._wait(fault, faults)
        too_long = wait > self._retries.longest_wait
        if has_fallback and (too_long or faults >= FAULTS_BEFORE_FALLBACK):
            return _Step(link + 1, 0, "retrying")
        if too_long:
            return None
        return _Step(link, wait, "cooling" if not rejected and fault.limited else "retrying")

    def _wait(self, fault: ModelUnavailable, faults: int) -> float:
        if fault.retry_after is not None:
            return fault.retry_after * (1 + 0.1 * self._jitter())
        return min(LONGEST_BACKOFF, FIRST_WAIT * 2 ** (faults - 1)) * (0.5 + 0.5 * self._jitter())


@dataclass(frozen=True, slots=True)
class _Step:
    link: int
    wait: float
    activity: Literal["retrying", "retrying_key", "cooling"]


def _seconds_from_now(seconds: float) -> float:
    """On the clock of the event loop."""
    return asyncio.get_running_loop().time() + seconds


def _marks(fault: ModelError) -> str:
    """By which the provider knows what has failed."""
    status = f"status {fault.status}" if fault.status else ""
    request = f"request id {fault.request_id}" if fault.request_id else ""
    marks = ", ".join(filter(None, (status, request)))
    return f" ({marks})" if marks else ""


def _priced(event: StreamEvent, ref: str) -> StreamEvent:
    if not isinstance(event, Reply):
        return event
    cost, limit = catalog.cost(ref, event.usage), catalog.find(ref).context
    return replace(event, usage=replace(event.usage, cost_usd=cost, context_limit=limit))
