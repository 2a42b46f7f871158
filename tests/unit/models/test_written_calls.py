"""Calls in what a local model writes, in the formats that such models know."""

import pytest

from odin_lsp.config import Config
from odin_lsp.messages import Message, Text, Thinking, ToolCall, user
from odin_lsp.models.base import Reply, Request, TextDelta, ToolSpec
from odin_lsp.models.providers import Candidate, connect
from odin_lsp.models.written_calls import ReadsWrittenCalls

READ = ToolSpec(
    "Read",
    "Read a file.",
    {"properties": {"file_path": {"type": "string"}, "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}},
)
CALL = '<tool_call>\n{"name": "Read", "arguments": {"file_path": "/a"}}\n</tool_call>'
FUNCTION = "<tool_call>\n<function=Read>\n<parameter=file_path>\n/a\n</parameter>\n{}</function>\n</tool_call>"


class Local:
    ref = "openai/local"

    def __init__(self, text="", thinking="", stop="end", pieces=None):
        self.pieces = pieces or [text]
        parts = (*([Thinking(thinking)] if thinking else []), *([Text("".join(self.pieces))] if text or pieces else []))
        self.reply = Reply(Message("assistant", parts, self.ref), stop)

    async def stream(self, request):
        for piece in self.pieces:
            yield TextDelta(piece)
        yield self.reply

    async def aclose(self):
        pass


async def heard(model, *formats, tools=(READ,)):
    request = Request(("",), (user("go"),), tools)
    events = [event async for event in ReadsWrittenCalls(model, formats).stream(request)]
    return "".join(it.text for it in events if isinstance(it, TextDelta)), events[-1]


def made(reply):
    return [(call.name, dict(call.arguments), call.problem) for call in reply.message.calls]


@pytest.mark.parametrize(
    ("formats", "text"),
    [
        (["hermes"], CALL),
        (["hermes"], CALL.removesuffix("\n</tool_call>")),
        (["qwen"], FUNCTION.format("")),
        (["hermes", "qwen"], FUNCTION.format("")),
        (["mistral"], '[TOOL_CALLS][{"name": "Read", "arguments": {"file_path": "/a"}}]'),
        (["mistral"], '[TOOL_CALLS]Read[ARGS]{"file_path": "/a"}'),
        (["llama"], '<|python_tag|>{"name": "Read", "parameters": {"file_path": "/a"}}'),
        (
            ["deepseek"],
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>Read<｜tool▁sep｜>"
            '{"file_path": "/a"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        ),
        (
            ["deepseek"],
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>Read\n```json\n"
            '{"file_path": "/a"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        ),
    ],
)
async def test_a_call_is_read_in_the_formats_that_the_model_is_said_to_write(formats, text):
    told, reply = await heard(Local(f"I will look.\n{text}"), *formats)

    assert (reply.stop, made(reply)) == ("tools", [("Read", {"file_path": "/a"}, None)])
    assert (told, reply.message.text) == ("I will look.\n", "I will look.\n")


async def test_without_a_word_in_the_settings_text_is_text():
    model = await connect(Candidate("offline/odin", None, ""), Config())
    reading = await connect(
        Candidate("offline/odin", None, ""),
        Config.model_validate({"models": {"offline/odin": {"writtenCalls": ["hermes"]}}}),
    )

    assert not isinstance(model, ReadsWrittenCalls)
    assert isinstance(reading, ReadsWrittenCalls)


@pytest.mark.parametrize("text", [CALL, f"like so: {CALL}"])
async def test_another_format_than_the_one_that_is_named_is_text(text):
    told, reply = await heard(Local(text), "mistral")

    assert (told, reply.message.text, reply.stop) == (text, text, "end")


async def test_several_calls_are_read_and_values_have_the_types_of_their_parameters():
    text = FUNCTION.format("<parameter=limit>\n3\n</parameter>\n") + f"\n{CALL}"

    _, reply = await heard(Local(text), "hermes", "qwen")

    assert made(reply) == [("Read", {"file_path": "/a", "limit": 3}, None), ("Read", {"file_path": "/a"}, None)]
    assert len({call.id for call in reply.message.calls}) == 2


async def test_a_call_that_was_only_thought_counts_if_nothing_was_said():
    _, silent = await heard(Local(thinking=f"I need it. {CALL}", pieces=[""]), "hermes")
    _, spoken = await heard(Local("Done.", thinking=f"Should I? {CALL}"), "hermes")

    assert (silent.stop, made(silent)) == ("tools", [("Read", {"file_path": "/a"}, None)])
    assert (spoken.stop, spoken.message.calls) == ("end", ())


async def test_no_piece_of_a_call_is_told_as_text_however_it_is_cut():
    for size in range(1, 12):
        text = f"a < b {CALL}"
        pieces = [text[at : at + size] for at in range(0, len(text), size)]

        assert (await heard(Local(pieces=pieces), "hermes"))[0] == "a < b "


async def test_what_only_begins_like_a_call_is_told_in_the_end():
    assert (await heard(Local(pieces=["a <tool", "_box> b <too"]), "hermes"))[0] == "a <tool_box> b <too"


async def test_a_call_that_cannot_be_read_is_asked_for_again():
    _, reply = await heard(Local('<tool_call>{"name": "Read", </tool_call>'), "hermes")

    assert (reply.stop, reply.message.calls) == ("malformed", ())
    assert "not valid JSON" in reply.detail


async def test_a_call_that_is_cut_off_never_runs():
    _, reply = await heard(Local(f"Well. {CALL}", stop="max_tokens"), "hermes")

    assert (reply.stop, reply.detail, reply.message.calls) == ("max_tokens", "a call was cut off", ())
    assert reply.message.text == "Well. "


async def test_a_request_without_tools_has_no_calls():
    told, reply = await heard(Local(CALL), "hermes", tools=())

    assert (told, reply.stop) == (CALL, "end")


async def test_calls_that_the_server_has_read_are_the_models_calls():
    model = Local(CALL)
    read = ToolCall("1", "Read", {})
    model.reply = Reply(Message("assistant", (Text(CALL), read)), "tools")

    assert (await heard(model, "hermes"))[1].message.calls == (read,)
