"""The providers, and their real SDKs beside them, against the loopback server of `tests/support/wire.py`."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from importlib import import_module
from types import ModuleType

import pytest

from odin_lsp.models.base import ArgumentsDelta, Connection, Model, Reached, Received, Reply, Request, StreamEvent
from odin_lsp.models.reference import ModelRef
from tests.support import wire as wire_module
from tests.support.complaints import pytest_runtest_teardown  # noqa: F401 - a hook
from tests.support.wire import DIALECTS, HELLO, KEY, VARIABLES, Answer, Dialect, Wire, serving


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with serving() as wire:
        yield wire


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, wire: Wire) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for dialect in DIALECTS:
        monkeypatch.setenv(dialect.key_variable, KEY)
        monkeypatch.setenv(dialect.base_variable, wire.url)


@pytest.fixture(params=DIALECTS, ids=lambda dialect: dialect.name)
def dialect(request: pytest.FixtureRequest, environment: None, monkeypatch: pytest.MonkeyPatch, wire: Wire) -> Dialect:
    monkeypatch.setenv(request.param.base_variable, f"{wire.url}{request.param.path}")
    return request.param


Open = Callable[..., Model]
Ask = Callable[..., Awaitable[list[StreamEvent]]]


@pytest.fixture
async def connect() -> AsyncIterator[Open]:
    """Connect to `provider/model[@effort]`; what is open at the end is closed."""
    opened: list[Model] = []

    def connect(ref: str, connection: Connection | None = None) -> Model:
        parsed = ModelRef.of(ref)
        module = import_module(f"odin_lsp.models.{parsed.provider}")
        opened.append(module.connect(parsed, connection or Connection()))
        return opened[-1]

    yield connect
    for model in opened:
        await model.aclose()


@pytest.fixture
def ask(wire: Wire) -> Ask:
    """Play the bytes as an answer and collect what the model makes of them, but not how it gets there."""

    async def ask(model: Model, *answers: Answer | bytes, request: Request | None = None) -> list[StreamEvent]:
        wire.play(*answers)
        async with asyncio.timeout(60), aclosing(model.stream(request or HELLO)) as stream:
            return [event async for event in stream if not isinstance(event, Reached | Received | ArgumentsDelta)]

    return ask


@pytest.fixture
def reply(ask: Ask) -> Callable[..., Awaitable[Reply]]:
    """Like `ask`, for a body that arrives in one piece; only the end of the answer."""

    async def reply(model: Model, body: bytes, request: Request | None = None) -> Reply:
        *_, last = await ask(model, Answer([body]), request=request)
        assert isinstance(last, Reply)
        return last

    return reply


@pytest.fixture
def kit() -> ModuleType:
    """The builders of answers."""
    return wire_module
