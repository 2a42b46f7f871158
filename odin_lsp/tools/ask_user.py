"""Ask the user."""

import asyncio
import uuid
from typing import Annotated

from pydantic import Field

from odin_lsp.errors import ToolError
from odin_lsp.permissions.rules import Effect
from odin_lsp.ports import Answer, Option, Question
from odin_lsp.tools.base import NonEmpty, Params, Tool, ToolContext, ToolOutput

MAX_TIMEOUT = 86_400
UNANSWERED = "the user did not answer"
CAREFULLY = "take the safest option and say what you assumed"


class Choice(Params):
    label: NonEmpty
    description: str | None = None


class AskUserParams(Params):
    header: str | None = None
    """The topic, in a word or two."""
    question: NonEmpty
    options: tuple[Choice, ...] = ()
    """Answers to choose from; the user may also write one."""
    multiple: bool = False
    """Several may be chosen."""
    default: str | None = None
    """Label of the option that applies after `timeout`."""
    timeout: Annotated[int, Field(ge=1, le=MAX_TIMEOUT)] | None = None
    """Seconds to wait. Default: no limit."""


class AskUser(Tool[AskUserParams]):
    """Ask the user one question that the code cannot answer: a choice of approach, a missing fact. Never ask for
    permission."""

    name = "AskUser"
    effect = Effect.BLOCKING
    params = AskUserParams
    main_only = True

    def describe(self, params: AskUserParams) -> str:
        return f"ask: {params.question}"

    async def prepare(self, params: AskUserParams, context: ToolContext) -> None:
        if params.default is not None and params.default not in [choice.label for choice in params.options]:
            raise ToolError("`default` is none of the options; repeat the label of one, or leave it out")

    async def execute(self, params: AskUserParams, context: ToolContext) -> ToolOutput:
        question = _question(params)
        try:
            async with asyncio.timeout(params.timeout):
                answer = await context.gate.asker.ask(question)
        except TimeoutError:
            if params.default is None:
                raise ToolError(f"{UNANSWERED} within {params.timeout} s; {CAREFULLY}") from None
            return ToolOutput(
                data=f"{UNANSWERED} within {params.timeout} s. The default applies: {params.default}",
                description=f"not answered; the default applies: {params.default}"[:200],
            )
        said = _said(question, answer)
        if not said:
            raise ToolError(f"{UNANSWERED}; {CAREFULLY}")
        return ToolOutput(data=f"The user answered: {said}", description=f"answered: {said}"[:200])


def _question(params: AskUserParams) -> Question:
    options = [Option(str(index), it.label, it.description) for index, it in enumerate(params.options, 1)]
    return Question(
        question_id=uuid.uuid4().hex,
        kind="question",
        header=params.header,
        title=params.question,
        options=tuple(options),
        default=next((it.id for it in options if it.label == params.default), None),
        multiple=params.multiple,
        allow_text=True,
        timeout_ms=params.timeout * 1000 if params.timeout else None,
    )


def _said(question: Question, answer: Answer | None) -> str:
    if answer is None:
        return ""
    labels = [option.label for option in question.options if option.id in answer.option_ids]
    return "; ".join([*labels, *([answer.text] if answer.text else [])])
