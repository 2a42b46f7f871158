"""What of a reply is shown, kept and taken for an answer, however it ends."""

import asyncio

from odin_lsp.events import ActivityChanged, Compacted, TextStreamed, ThinkingStreamed, TodosChanged
from odin_lsp.messages import Message, Text, ToolCall
from odin_lsp.models.base import Reached, Reply, TextDelta, ThinkingDelta
from odin_lsp.sessions.session import Session


def speaking(odin, *replies):
    """A model that gives these, each a list of what it streams."""
    left = list(replies)
    asked = []

    class Speaker:
        ref = "scripted/speaker"

        async def stream(self, request):
            asked.append(request)
            for event in left.pop(0):
                yield event() if callable(event) else event
                if callable(event):
                    await asyncio.Event().wait()

        async def aclose(self):
            pass

    odin.start().models.get = lambda ref: Speaker()
    return asked


def reply(text="", *calls, **more):
    parts = ((Text(text),) if text else ()) + calls
    return Reply(Message("assistant", parts), "tools" if calls else "end", **more)


async def test_that_it_streams_is_told_once_for_each_reply(odin):
    look = ToolCall("1", "Glob", {"pattern": "*"})
    speaking(
        odin,
        [Reached("waiting_token"), ThinkingDelta("hm"), TextDelta("I "), TextDelta("look"), reply("I look", look)],
        [Reached("waiting_token"), TextDelta("found"), reply("found")],
    )

    await odin.take()

    told = [
        event.activity if isinstance(event, ActivityChanged) else event.text
        for event in odin.events
        if isinstance(event, ActivityChanged | TextStreamed | ThinkingStreamed)
    ]
    assert told == [
        *("waiting_token", "streaming", "hm", "I ", "look", "executing"),
        *("waiting_token", "streaming", "found", "idle"),
    ]


async def test_a_model_that_says_nothing_twice_has_no_answer(odin):
    asked = speaking(odin, [reply()], [reply()], [reply("too late")])

    outcome = await odin.take()

    assert (outcome.reason, outcome.answer, len(asked)) == ("end_turn", "The model gave no answer.", 2)
    assert "Your last message was empty." in asked[1].messages[-1].text


async def test_what_a_model_had_said_when_it_was_interrupted_stays_in_the_conversation(odin):
    def interrupted():
        odin.core.cancel(None)
        return TextDelta(" is")

    speaking(odin, [TextDelta("the answer"), interrupted])

    outcome = await odin.take()

    assert (outcome.reason, outcome.answer) == ("interrupted", "the answer is")
    assert odin.session.messages[-1] == Message("assistant", (Text("the answer is"),))


async def test_what_a_model_had_not_said_when_it_was_interrupted_does_not(odin):
    def interrupted():
        odin.core.cancel(None)
        return ThinkingDelta("hm")

    speaking(odin, [interrupted])

    await odin.take("well?")

    assert [message.role for message in odin.session.messages] == ["user"]


async def test_a_note_of_the_session_outlives_summaries_and_restarts_in_every_mode(odin, call):
    odin.settings["limits"] = {"maxContext": 100_000}
    full = {"calls": [call("Glob", pattern="*")], "usage": {"contextTokens": 95_000}}
    odin.script(
        {"calls": [call("Memory", action="note", text="greet is\ncalled from main.py:7")]},
        {"text": "noted"},
        *[{"text": "ok"}, full, {"text": "a summary that has forgotten it"}, {"text": "ok"}] * 2,
    )
    await odin.take("look around")
    for _ in range(2):
        await odin.take("word " * 4000)
        await odin.take("go on")

    notes = "Your own notes of this session:\n- greet is called from main.py:7\n"
    assert [event.status for event in odin.of(Compacted)] == ["started", "succeeded"] * 2
    assert notes.strip() in odin.session.messages[0].parts[-1].text
    assert Session.load(odin.core.sessions.folder, odin.session.id).findings == ["greet is called from main.py:7"]
    assert sorted(it.name for it in odin.root.iterdir()) == ["greet.py"]


async def test_a_summary_names_the_todos_and_the_plan(odin, call):
    odin.settings["limits"] = {"maxContext": 100_000}
    todos = [{"id": "7", "content": "shout", "status": "in_progress"}]
    odin.script(
        {"text": "# Greet louder\n\n- [ ] shout in greet.py\n"},
        {"text": "ok"},
        {"calls": [call("TodoWrite", todos=todos)], "usage": {"contextTokens": 95_000}},
        {"text": "the summary"},
        {"text": "done"},
    )

    await odin.take("plan it", "plan_mode")
    await odin.take("word " * 4000)
    await odin.take("go on")

    assert odin.of(TodosChanged)
    summary = odin.session.messages[0].parts[-1].text
    assert "the summary" in summary
    assert "- [in_progress] shout (id 7)" in summary
    assert "The plan, as it stands in its document:\n" in summary
    assert "- [ ] shout in greet.py" in summary
