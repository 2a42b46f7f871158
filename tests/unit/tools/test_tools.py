"""What holds for every tool, and the two that talk: TodoWrite and AskUser."""

import asyncio
import json

import jsonschema
import pytest

from odin_lsp.agent.mode_tools import mode_tools
from odin_lsp.errors import ToolError
from odin_lsp.modes import MODES
from odin_lsp.permissions.rules import Effect
from odin_lsp.ports import Answer
from odin_lsp.tools.base import all_tools
from odin_lsp.tools.listing import clipped

TOOLS = list(all_tools().values())
ANYTHING = ("CallTool", "arguments")
"""What it takes is said by the tool that it calls."""
PLAIN = {
    "type",
    "description",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "default",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_schema_is_plain_enough_for_every_provider(tool):
    def walk(schema, name=""):
        assert schema.keys() <= PLAIN, schema
        assert isinstance(schema["type"], str)
        for key, value in schema.get("properties", {}).items():
            walk(value, key)
        if "items" in schema:
            walk(schema["items"])
        if schema["type"] == "object":
            assert schema["additionalProperties"] is ((tool.name, name) == ANYTHING)

    jsonschema.Draft202012Validator.check_schema(tool.schema)
    walk(tool.schema)
    json.dumps(tool.schema)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_an_unknown_argument_is_named(tool):
    with pytest.raises(ToolError, match="`nonsense` is not known here"):
        tool.parse({"nonsense": 1})


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_says_what_it_is(tool):
    assert tool.name
    assert len(tool.description) > 20
    assert isinstance(tool.effect, Effect)


@pytest.mark.parametrize("mode", MODES.values())
@pytest.mark.parametrize("subagent", [False, True])
def test_reading_tools_are_in_every_set_and_writing_ones_only_in_edit(mode, subagent):
    tools = mode_tools(mode, subagent=subagent)

    assert tools.keys() >= {"LS", "Grep", "Glob", "Read", "TodoWrite"}
    assert ("AskUser" in tools) is not subagent
    if mode != "edit_mode":
        assert all(tool.effect is not Effect.MUTATING for tool in tools.values())


def test_what_does_not_fit_is_counted():
    asked = []
    text = clipped((asked.append(it) or "x" * 10_000 for it in range(5)), 5, "lines")

    assert text.endswith("(3 more lines; narrow the search)")
    assert asked == [0, 1, 2]


async def test_todos_replace_each_other(use, context):
    await use("TodoWrite", todos=[{"id": "1", "content": "a", "status": "pending"}])
    output = await use("TodoWrite", todos=[{"id": "2", "content": "b", "status": "completed"}])

    assert [todo.content for todo in context.todos] == ["b"]
    assert output.description == "1 of 1 todos completed"


@pytest.mark.parametrize(
    ("todos", "problem"),
    [
        ([{"id": "1", "content": "a", "status": "later"}], "todos.0.status"),
        ([{"id": "1", "content": "", "status": "pending"}], "todos.0.content"),
        ([{"id": "1", "content": "a", "status": "pending"}] * 2, "same id"),
    ],
)
async def test_bad_todos_are_refused(use, todos, problem):
    with pytest.raises(ToolError, match=problem):
        await use("TodoWrite", todos=todos)


async def test_the_user_is_asked_with_options_and_in_words(use, person):
    person.answers = [Answer(("2",), "but slowly")]

    output = await use("AskUser", question="How?", options=[{"label": "Left"}, {"label": "Right"}])

    assert output.data == "The user answered: Right; but slowly"
    assert person.questions[0].title == "How?"


async def test_c_061_a_question_has_a_header_details_and_a_default_which_counts_after_a_time(use, person):
    async def never(question):
        person.questions.append(question)
        await asyncio.Event().wait()

    person.ask = never
    options = [{"label": "Left", "description": "the long way"}, {"label": "Right"}]
    asked = {"header": "Way", "question": "How?", "options": options, "multiple": True, "timeout": 1}

    output = await use("AskUser", **asked, default="Right")
    with pytest.raises(ToolError, match="did not answer within 1 s"):
        await use("AskUser", **asked)

    question = person.questions[0]
    assert (question.header, question.default, question.multiple, question.timeout_ms) == ("Way", "2", True, 1000)
    assert question.options[0].description == "the long way"
    assert output.data == "the user did not answer within 1 s. The default applies: Right"


async def test_c_061_a_default_is_one_of_the_options(use, person):
    with pytest.raises(ToolError, match="none of the options"):
        await use("AskUser", question="How?", default="Left")
    assert person.questions == []


async def test_no_answer_is_an_error_and_not_a_yes(use):
    with pytest.raises(ToolError, match="did not answer"):
        await use("AskUser", question="Shall I?")
