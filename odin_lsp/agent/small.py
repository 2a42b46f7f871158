"""The small model, for what is not worth the planner's: one question, one answer, on the turn's account."""

from collections.abc import AsyncGenerator
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
        request = Request((instructions,), (user(text),), max_tokens=MAX_TOKENS)
        async with aclosing(cast("AsyncGenerator[StreamEvent]", model.stream(request))) as events:
            async for event in events:
                if isinstance(event, Attempt):
                    progress.try_again(max_retries, event.reason)
                if isinstance(event, Reply):
                    progress.spend(event.usage.besides)
                    emit(UsageChanged(progress.usage))
                    if event.message.text.strip():
                        return event.message.text
        raise ModelError(f"{model.ref} gave no answer")

    return ask
