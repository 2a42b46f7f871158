"""Ask the user."""

import uuid
from typing import Annotated

from pydantic import Field

from odin_lsp.errors import ToolError
from odin_lsp.permissions.rules import Effect
from odin_lsp.ports import Answer, Option, Question
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput


class Choice(Params):
    label: Annotated[str, Field(min_length=1)]
    description: str | None = None


class AskUserParams(Params):
    question: Annotated[str, Field(min_length=1)]
    options: tuple[Choice, ...] = ()
    """Answers to choose from; the user may also write one."""
    multiple: bool = False
    """More than one option may be chosen."""


class AskUser(Tool[AskUserParams]):
    """Ask the user one question that the code cannot answer: a choice of approach, a missing fact. Never ask for
    permission."""

    name = "AskUser"
    effect = Effect.BLOCKING
    params = AskUserParams
    main_only = True

    def describe(self, params: AskUserParams) -> str:
        return f"ask: {params.question}"

    async def execute(self, params: AskUserParams, context: ToolContext) -> ToolOutput:
        question = Question(
            question_id=uuid.uuid4().hex,
            kind="question",
            title=params.question,
            options=tuple(
                Option(str(index), choice.label, choice.description) for index, choice in enumerate(params.options, 1)
            ),
            multiple=params.multiple,
            allow_text=True,
        )
        answer = await context.gate.asker.ask(question)
        said = _said(question, answer)
        if not said:
            raise ToolError("the user did not answer; go on with the most careful choice and say what you assumed")
        return ToolOutput(data=f"The user answered: {said}", description=f"answered: {said}"[:200])


def _said(question: Question, answer: Answer | None) -> str:
    if answer is None:
        return ""
    labels = [option.label for option in question.options if option.id in answer.option_ids]
    return "; ".join([*labels, *([answer.text] if answer.text else [])])
