"""The small model, for what is not worth the planner's: one question, one answer, on the turn's account."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import cast

from odin_lsp.agent.turn import Progress
from odin_lsp.errors import ModelError
from odin_lsp.events import Emit, UsageChanged
from odin_lsp.messages import user
from odin_lsp.models.base import Attempt, Model, Reply, Request, StreamEvent
from odin_lsp.tools.base import SmallModel

MAX_TOKENS = 4096


def small_model(model: Model, progress: Progress, emit: Emit, max_retries: int) -> SmallModel | None:
    """`None` if the model is none that reads."""
    if model.ref.startswith("offline/"):
        return None

    async def ask(instructions: str, text: str) -> str:
        reply = await ask_once(model, instructions, text, MAX_TOKENS, lambda why: progress.try_again(max_retries, why))
        progress.spend(reply.usage.besides)
        emit(UsageChanged(progress.usage))
        if not reply.message.text.strip():
            raise ModelError(f"{model.ref} gave no answer")
        return reply.message.text

    return ask


async def ask_once(
    model: Model, instructions: str, text: str, max_tokens: int, before_retry: Callable[[str], None]
) -> Reply:
    """`before_retry` hears why an attempt has failed, and raises if it is not to be made again."""
    request = Request((instructions,), (user(text),), max_tokens=max_tokens)
    async with aclosing(cast("AsyncGenerator[StreamEvent]", model.stream(request))) as events:
        async for event in events:
            match event:
                case Attempt():
                    before_retry(event.reason)
                case Reply():
                    return event
                case _:
                    pass
    raise ModelError(f"{model.ref} gave no answer")
