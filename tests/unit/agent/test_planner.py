"""What the loop does when a model is cut off, refuses, repeats itself or cannot be understood."""

import asyncio
import itertools
import json
import re
from dataclasses import replace

import pytest

from odin_lsp.agent.held_files import CHANGED, HeldFiles
from odin_lsp.agent.prompt import COMMANDS, about_commands
from odin_lsp.config import Limits
from odin_lsp.errors import ModelError
from odin_lsp.events import (
    ActivityChanged,
    Compacted,
    MessageFinished,
    ModelChanged,
    StreamRolledBack,
    TodosChanged,
    ToolFinished,
    ToolStarted,
)
from odin_lsp.messages import Message, Text, Thinking, ToolCall
from odin_lsp.models.base import Attempt, CallReady, Reply, TextDelta, ThinkingDelta
from odin_lsp.ports import Answer
from odin_lsp.records import Usage


async def test_a_turn_of_two_tools_and_an_answer_asks_the_model_three_times(odin, call):
    odin.script({"calls": [call("Glob", pattern="*")]}, {"calls": [call("LS", path=str(odin.root))]}, {"text": "ok"})

    outcome = await odin.take()

    assert (outcome.steps, [tool.name for tool in outcome.tools]) == (3, ["Glob", "LS"])


@pytest.mark.parametrize("mode", ["ask_mode", "plan_mode", "edit_mode"])
async def test_the_prompt_names_its_mode_and_the_workspace(odin, mode):
    requests = listen(odin, Reply(said("ok"), "end"))

    await odin.take("q", mode)

    [request] = requests
    *_, about_mode, words = request.messages[-1].parts
    assert about_mode.text == f"<reminder>\nMode: {mode}\n</reminder>"
    assert words.text == "q"
    assert f"Workspace: {odin.root}" in request.system[0]
    assert request.system[-1].startswith(f"# Mode: {mode}\n")


async def test_temperature_and_length_are_those_of_the_message_or_of_the_settings(odin):
    odin.settings |= {"temperature": 0.5, "limits": {"maxTokens": 1000}}
    requests = listen(odin, *[Reply(said("ok"), "end")] * 2)

    await odin.take()
    await odin.turns.start(replace(odin.message("q"), temperature=0.0, max_tokens=50)).outcome()

    assert [(request.temperature, request.max_tokens) for request in requests] == [(0.5, 1000), (0.0, 50)]


@pytest.mark.parametrize(
    "settings",
    [
        {"tools": {"disabled": ["WebFetch"]}},
        {"tools": {"disabledIn": {"ask": ["WebFetch"], "plan": ["Grep"], "helper": ["Grep"]}}},
        {"rules": [{"tool": "WebFetch", "decision": "deny"}, {"tool": "Read", "path": "x", "decision": "deny"}]},
        {"rules": [{"tool": "WebFetch", "decision": "deny", "modes": ["ask"]}]},
    ],
)
async def test_a_tool_that_is_disabled_or_denied_is_not_offered(odin, settings):
    odin.settings |= settings
    fetch = ToolCall("1", "WebFetch", {"url": "https://example.com/"})
    requests = listen(odin, Reply(calls(fetch), "tools"), Reply(said("ok"), "end"))

    outcome = await odin.take("q", "ask_mode")

    offered = {tool.name for tool in requests[0].tools}
    assert ("WebFetch" in offered, {"Read", "Grep"} <= offered) == (False, True)
    assert outcome.tools[0].status == "error"
    assert "WebFetch is turned off in the user's settings" in requests[1].messages[-1].results[0].content


async def test_the_prefix_of_a_conversation_never_changes(odin, call):
    requests = listen(
        odin,
        Reply(
            calls(ToolCall("1", "TodoWrite", {"todos": [{"id": "1", "content": "look", "status": "pending"}]})), "tools"
        ),
        Reply(calls(ToolCall("2", "Read", {"file_path": str(odin.root / "greet.py")})), "tools"),
        Reply(said("one"), "end"),
        Reply(said("two"), "end"),
    )

    await odin.take("first")
    await odin.take("second")

    for before, after in itertools.pairwise(requests):
        assert after.messages[: len(before.messages)] == before.messages
        assert (after.system, after.tools) == (before.system, before.tools)


async def test_the_date_is_told_with_each_message_and_not_in_the_prefix(odin):
    requests = listen(odin, *[Reply(said("ok"), "end")] * 2)

    await odin.take("first")
    await odin.take("second")

    date = re.compile(r"Today is [A-Z][a-z]+, \d{4}-\d\d-\d\d\.")
    said_by_user = [it.text for it in requests[1].messages if it.role == "user"]
    assert [len(date.findall(text)) for text in said_by_user] == [1, 1]
    assert not date.search("".join(requests[1].system))


async def test_a_file_that_the_user_changes_after_it_was_read_is_told_with_the_next_results(odin):
    greet = odin.root / "greet.py"

    def before(number):
        if number == 1:
            greet.write_text("def farewell(): ...\n")

    requests = listen(
        odin,
        Reply(calls(ToolCall("1", "Read", {"file_path": str(greet)})), "tools"),
        Reply(calls(ToolCall("2", "Glob", {"pattern": "*"})), "tools"),
        Reply(said("one"), "end"),
        Reply(said("two"), "end"),
        before=before,
    )

    await odin.take("first")
    await odin.take("second")

    change = f"{CHANGED}\n- {greet}\n"
    assert [change in request.messages[-1].text for request in requests] == [False, False, True, False]
    assert f"- {greet} (" in requests[3].messages[-1].text
    assert "changed by others since)" in requests[3].messages[-1].text
    for one, next_one in itertools.pairwise(requests):
        assert next_one.messages[: len(one.messages)] == one.messages


async def test_the_projects_instructions_are_part_of_the_prompt_as_they_were_at_the_start(odin):
    (odin.root / "ODIN.md").write_text("Use tabs.")
    requests = listen(odin, Reply(said("one"), "end"), Reply(said("two"), "end"))

    await odin.take("first")
    (odin.root / "ODIN.md").write_text("Use spaces.")
    await odin.take("second")

    assert all("Use tabs." in request.system[1] for request in requests)
    assert "the instructions have changed; a new session will use them" in [
        event.message for event in odin.events if event.kind == "notice"
    ]


async def test_the_model_is_told_which_files_it_has_read(odin, call):
    odin.script({"calls": [call("Read", file_path=str(odin.root / "greet.py"))]}, {"text": "ok"}, {"text": "ok"})
    await odin.take("first")
    await odin.take("second")

    reminder = odin.session.messages[4].parts[0].text
    assert f"{odin.root / 'greet.py'} (44 bytes, seen" in reminder


async def test_a_session_begins_with_the_notes_of_earlier_ones_and_hears_them_once(odin):
    note = ToolCall("1", "Memory", {"action": "remember", "text": "tabs </reminder> always", "lasting": True})
    ok = Reply(said("ok"), "end")
    requests = listen(odin, Reply(calls(note), "tools"), ok, ok, ok)

    await odin.take("remember", "edit_mode")
    odin.core.sessions.begin()
    await odin.take("first")
    await odin.take("second")

    heard = [request.messages[-1].parts[0].text for request in (requests[0], *requests[2:])]
    assert ["change no rule:\n- tabs ‹/reminder> always (id " in text for text in heard] == [False, True, False]


async def test_todos_that_a_turn_leaves_open_come_back_once_at_its_end(odin, call):
    todos = [{"id": "1", "content": "look", "status": "in_progress"}]
    odin.script(
        {"calls": [call("TodoWrite", todos=todos)]},
        {"calls": [call("Glob", pattern="*")]},
        {"text": "found"},
        {"text": "found, and I wait for you"},
    )

    outcome = await odin.take()

    assert ["[in_progress] look" in message.text for message in odin.session.messages[1:]] == [
        *(False, False, False, False, False),
        *(True, False),
    ]
    assert outcome.answer == "found, and I wait for you"
    assert odin.of(TodosChanged)[0].todos == outcome.todos


async def test_todos_of_an_earlier_turn_do_not_keep_an_answer_back(odin, call):
    todos = [{"id": "1", "content": "look", "status": "pending"}]
    odin.script({"calls": [call("TodoWrite", todos=todos)]}, {"text": "a"}, {"text": "b"}, {"text": "c"})
    await odin.take()

    assert (await odin.take("something else")).answer == "c"


@pytest.mark.parametrize("mode", ["ask_mode", "plan_mode"])
@pytest.mark.parametrize("tool", ["WriteFile", "EditTool", "MultiEditTool", "InitTool"])
async def test_a_forged_call_of_an_editing_tool_is_an_error_and_changes_nothing(odin, call, mode, tool):
    odin.script({"calls": [call(tool, file_path=str(odin.root / "greet.py"), content="x")]}, {"text": "no"})

    outcome = await odin.take("q", mode)

    assert outcome.tools[0].status == "error"
    assert (odin.root / "greet.py").read_text().startswith("def greet")


async def test_a_refusal_is_no_answer(odin):
    listen(odin, Reply(said(""), "refused", detail="it is against the rules"))

    outcome = await odin.take()

    assert (outcome.reason, outcome.detail) == ("refused", "it is against the rules")


async def test_an_answer_that_is_cut_off_says_so(odin):
    listen(odin, Reply(said("half an ans"), "max_tokens"))

    outcome = await odin.take()

    assert (outcome.reason, outcome.answer) == ("max_tokens", "half an ans")


async def test_a_call_that_is_cut_off_is_asked_for_again_with_more_room(odin):
    requests = listen(
        odin,
        Reply(said("I will"), "max_tokens", detail="the call of Glob was cut off"),
        Reply(said("I will"), "max_tokens", detail="the call of Glob was cut off"),
        Reply(said("fine"), "end"),
    )

    outcome = await odin.take()

    assert outcome.answer == "fine"
    assert [request.max_tokens for request in requests] == [8192, 16384, 32768]
    assert len(odin.of(StreamRolledBack)) == 2


async def test_a_call_that_is_always_cut_off_ends_the_turn(odin):
    listen(odin, *[Reply(said("I will"), "max_tokens", detail="the call of Glob was cut off")] * 3)

    assert (await odin.take()).reason == "max_tokens"


async def test_text_before_a_call_that_is_cut_off_is_told_once(odin):
    cut = Reply(said("I will"), "max_tokens", detail="the call of Glob was cut off")
    whole = Reply(calls(Text("I will"), ToolCall("1", "Glob", {"pattern": "*"})), "tools")
    listen(odin, (TextDelta("I will"), cut), (TextDelta("I will"), whole), (TextDelta("ok"), Reply(said("ok"), "end")))

    await odin.take()

    assert shown(odin.events) == ["I will", "ok"]
    assert [it.text for it in odin.of(MessageFinished)] == ["I will", "ok"]


async def test_text_before_a_call_that_cannot_be_read_is_told_once(odin):
    broken = Reply(said("I will"), "malformed", detail="it is no JSON")
    listen(odin, (TextDelta("I will"), broken), (TextDelta("I will"), Reply(said("I will"), "end")))

    await odin.take()

    assert shown(odin.events) == ["I will"]


async def test_what_was_thought_until_there_was_no_room_is_thought_again_with_more(odin):
    requests = listen(odin, (ThinkingDelta("hm"), cut_thought()), (TextDelta("42"), Reply(said("42"), "end")))

    outcome = await odin.take()

    assert (outcome.reason, outcome.answer) == ("end_turn", "42")
    assert [request.max_tokens for request in requests] == [8192, 16384]
    assert requests[1].messages == requests[0].messages
    assert odin.kinds().index("streamRolledBack") < odin.kinds().index("messageFinished")


async def test_a_model_that_only_thinks_ends_the_turn_with_an_honest_answer(odin):
    requests = listen(odin, *[cut_thought()] * 3)

    outcome = await odin.take()

    assert (outcome.reason, outcome.answer) == ("max_tokens", "The model gave no answer.")
    assert outcome.detail == "the model has used up its 32768 tokens without an answer"
    assert len(requests) == 3
    assert [event.status for event in odin.of(Compacted)] == ["started", "failed"]
    assert [message.role for message in odin.session.messages] == ["user"]


async def test_when_there_is_no_more_room_for_a_reply_the_history_is_shortened_once(odin):
    (odin.root / "long.txt").write_text("word\n" * 4000)
    read = ToolCall("1", "Read", {"file_path": str(odin.root / "long.txt")})
    before = [Reply(calls(read), "tools"), *[Reply(said("ok"), "end")] * 3]
    requests = listen(odin, *before, *[cut_thought()] * 3, Reply(said("now it fits"), "end"))
    for text in ("read it", "more", "even more"):
        await odin.take(text)

    outcome = await odin.take("and now?")

    assert outcome.answer == "now it fits"
    assert [event.status for event in odin.of(Compacted)] == ["started", "succeeded"]
    assert len(requests) == 8


async def test_for_a_reply_that_has_no_room_even_so_the_history_is_not_shortened_again(odin):
    for number in range(20):
        odin.session.append(Message("user", (Text(f"{number} {'word ' * 1000}"),)))
        odin.session.append(said("yes"))
    requests = listen(odin, *[cut_thought()] * 8)

    outcome = await odin.take()

    assert (outcome.reason, outcome.answer) == ("max_tokens", "The model gave no answer.")
    assert [event.status for event in odin.of(Compacted)] == ["started", "succeeded"]
    assert [request.max_tokens for request in requests if request.tools] == [8192, 16384, 32768, 32768]


async def test_a_reply_without_room_is_not_asked_for_again_when_the_budget_is_spent(odin):
    odin.settings["limits"] = {"maxBudgetUsd": 0.5}
    requests = listen(odin, cut_thought(Usage(cost_usd=1.0)))

    assert (await odin.take()).reason == "max_tokens"
    assert len(requests) == 1


async def test_a_paused_turn_goes_on_with_the_message_unchanged(odin):
    requests = listen(odin, Reply(said("searching"), "paused"), Reply(said("found"), "end"))

    assert (await odin.take()).answer == "found"
    assert requests[1].messages[-1] == said("searching")


async def test_a_turn_that_pauses_forever_ends(odin):
    listen(odin, *[Reply(said("…"), "paused")] * 11)

    assert (await odin.take()).reason == "failed"


async def test_an_empty_answer_is_asked_for_once_more(odin):
    requests = listen(odin, Reply(said("  "), "end"), Reply(said("sorry: 42"), "end"))

    assert (await odin.take()).answer == "sorry: 42"
    assert "was empty" in requests[1].messages[-1].text


async def test_a_model_that_says_nothing_gets_an_answer_put_in_its_mouth(odin):
    listen(odin, Reply(said(""), "end"), Reply(said(""), "end"))

    assert (await odin.take()).answer == "The model gave no answer."


async def test_three_unreadable_calls_in_a_row_end_the_turn(odin):
    broken = calls(ToolCall("1", "Glob", {}, problem="the arguments are not valid JSON"))
    listen(odin, *[Reply(calls(replace_id(broken, str(number))), "tools") for number in range(3)])

    outcome = await odin.take()

    assert outcome.reason == "failed"
    assert "3 calls in a row" in outcome.detail
    assert len(odin.of(ToolFinished)) == 3


async def test_three_steps_of_calls_without_what_they_need_end_the_turn(odin):
    empty = [Reply(calls(ToolCall(str(number), "Read", {})), "tools") for number in range(4)]
    requests = listen(odin, *empty, Reply(said("never mind"), "end"))

    outcome = await odin.take()

    assert (outcome.reason, len(requests)) == ("failed", 3)
    assert "3 calls in a row" in outcome.detail


async def test_a_call_without_arguments_of_a_tool_that_needs_none_is_fine(odin):
    looks = [Reply(calls(ToolCall(str(number), "CommandStatus", {})), "tools") for number in range(3)]
    listen(odin, *looks, Reply(said("ok"), "end"))

    assert (await odin.take()).answer == "ok"


async def test_a_readable_call_forgives_the_unreadable_ones_before(odin):
    bad, good = ToolCall("1", "Glob", {}, problem="not JSON"), ToolCall("2", "Glob", {"pattern": "*"})
    steps = [calls(replace_id(calls(it), f"{number}")) for number, it in enumerate([bad, bad, good, bad, bad])]
    listen(odin, *[Reply(step, "tools") for step in steps], Reply(said("ok"), "end"))

    assert (await odin.take()).answer == "ok"


async def test_calls_that_the_provider_cannot_read_are_counted_too(odin):
    listen(odin, *[Reply(Message("assistant", ()), "malformed", detail="MALFORMED_FUNCTION_CALL")] * 3)

    assert (await odin.take()).reason == "failed"


async def test_an_unknown_ending_is_not_a_success(odin):
    listen(odin, Reply(said("hm"), "unknown", detail="moonrise"))

    outcome = await odin.take()

    assert (outcome.reason, outcome.answer) == ("failed", "hm")
    assert "moonrise" in outcome.detail


async def test_the_third_same_call_warns_and_the_fifth_asks_whether_to_go_on(odin, person):
    same = [Reply(calls(ToolCall(str(number), "Glob", {"pattern": "*"})), "tools") for number in range(5)]
    requests = listen(odin, *same, Reply(said("I was stuck."), "end"))
    person.answers = [Answer(("stop",))]

    outcome = await odin.take()

    assert (outcome.reason, outcome.answer) == ("loop", "I was stuck.")
    assert "3 times, always with the same result" in requests[3].messages[-1].text
    assert "same result" not in requests[2].messages[-1].text
    assert "5 times with the same result" in person.questions[0].title
    assert not requests[-1].may_call


async def test_a_user_may_let_a_repeating_model_go_on(odin, person):
    same = [Reply(calls(ToolCall(str(number), "Glob", {"pattern": "*"})), "tools") for number in range(6)]
    listen(odin, *same, Reply(said("done"), "end"))
    person.answers = [Answer(("continue",))]

    assert (await odin.take()).reason == "end_turn"


async def test_the_same_call_with_another_result_is_no_loop(odin, person):
    script = [Reply(calls(ToolCall(str(number), "Glob", {"pattern": "*"})), "tools") for number in range(6)]

    def before(number):
        (odin.root / f"new{number}").touch()

    listen(odin, *script, Reply(said("done"), "end"), before=before)

    assert (await odin.take()).reason == "end_turn"
    assert person.questions == []


async def test_three_replies_in_a_row_that_cannot_be_read_end_the_turn(odin):
    requests = listen(odin, *[Reply(said(""), "malformed", detail="it is no JSON")] * 4)

    outcome = await odin.take()

    assert outcome.reason == "failed"
    assert outcome.detail == "the model made 3 calls in a row that could not be read: it is no JSON"
    assert len(requests) == 3
    assert "Your last tool call could not be read: it is no JSON. Make it again." in requests[-1].messages[-1].text


async def test_a_history_that_does_not_fit_is_shortened_and_tried_once_more(odin):
    (odin.root / "long.txt").write_text("word\n" * 4000)
    read = ToolCall("1", "Read", {"file_path": str(odin.root / "long.txt")})
    turns = [Reply(calls(read), "tools"), Reply(said("ok"), "end"), *[Reply(said("ok"), "end")] * 2]
    requests = listen(odin, *turns, Reply(said(""), "context_full"), Reply(said("fits"), "end"))
    for text in ("read it", "more", "even more"):
        await odin.take(text)

    outcome = await odin.take("and now?")

    assert outcome.answer == "fits"
    assert [event.status for event in odin.of(Compacted)] == ["started", "succeeded"]
    assert "make the call again" in requests[-1].messages[2].results[0].content
    assert requests[-1].messages[0].parts[-1].text == "read it"


async def test_a_history_that_does_not_fit_is_shortened_whatever_the_provider_has_counted(odin):
    (odin.root / "long.txt").write_text("word\n" * 4000)
    read = ToolCall("1", "Read", {"file_path": str(odin.root / "long.txt")})
    few = Usage(context_tokens=10)
    listen(
        odin,
        Reply(calls(read), "tools", few),
        *[Reply(said("ok"), "end", few)] * 3,
        Reply(said(""), "context_full", few),
        Reply(said("fits"), "end", few),
    )
    for text in ("read it", "more", "even more"):
        await odin.take(text)

    assert (await odin.take("and now?")).answer == "fits"
    assert [event.status for event in odin.of(Compacted)] == ["started", "succeeded"]


async def test_what_was_counted_of_a_history_does_not_count_for_a_shorter_one(odin):
    odin.settings["limits"] = {"maxContext": 100_000}
    (odin.root / "long.txt").write_text("word\n" * 4000)
    read = ToolCall("1", "Read", {"file_path": str(odin.root / "long.txt")})
    looks = [calls(ToolCall(f"{number}", "Glob", {"pattern": f"*{number}"})) for number in range(2, 6)]
    listen(
        odin,
        Reply(calls(read), "tools"),
        *[Reply(look, "tools") for look in looks[:2]],
        Reply(looks[2], "tools", Usage(context_tokens=90_000)),
        Reply(looks[3], "tools"),
        Reply(said("ok"), "end"),
    )

    assert (await odin.take()).answer == "ok"
    assert [event.status for event in odin.of(Compacted)] == ["started", "succeeded"]


async def test_what_the_provider_has_counted_is_not_counted_again(odin):
    odin.settings["limits"] = {"maxContext": 100_000}
    look = calls(ToolCall("1", "Glob", {"pattern": "*"}))
    listen(odin, Reply(look, "tools", Usage(context_tokens=50_000)), Reply(said("ok"), "end"))

    assert (await odin.take("word " * 32_000)).answer == "ok"
    assert odin.of(Compacted) == []


async def test_what_a_compaction_has_taken_out_has_to_be_read_again(odin):
    odin.settings["limits"] = {"maxContext": 100_000}
    other = odin.root / "other.py"
    other.write_text("x = 1\n")
    reads = [ToolCall(f"{at}", "Read", {"file_path": str(it)}) for at, it in enumerate((odin.root / "greet.py", other))]
    steps = iter(
        [
            Reply(calls(reads[0]), "tools"),
            Reply(said("a"), "end"),
            Reply(said("b"), "end"),
            Reply(calls(reads[1]), "tools", Usage(context_tokens=95_000)),
            Reply(said("c"), "end"),
            Reply(said("d"), "end"),
        ]
    )

    async def replies(request):
        yield next(steps) if request.tools else Reply(said("It read a file."), "end")

    requests = listen(odin, stream=replies)
    for text in ("read", "word " * 4000, "read the other", "and now?"):
        await odin.take(text)

    assert [event.status for event in odin.of(Compacted)] == ["started", "succeeded"]
    reminder = requests[-1].messages[-1].parts[0].text
    assert str(other) in reminder
    assert str(odin.root / "greet.py") not in reminder


async def test_a_summary_that_nobody_needs_any_more_ends_with_the_turn(odin):
    odin.settings["limits"] = {"maxContext": 100_000}
    began, ended = asyncio.Event(), []
    look = Reply(calls(ToolCall("1", "Glob", {"pattern": "*"})), "tools", Usage(context_tokens=70_000))

    async def replies(request):
        if not request.tools:
            began.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("summary")
        if not request.messages[-1].results:
            yield look
            return
        async with asyncio.timeout(10):
            await began.wait()
        yield Reply(said("ok"), "end")

    listen(odin, stream=replies)

    assert (await odin.take()).answer == "ok"
    await asyncio.sleep(0)
    assert ended == ["summary"]


async def test_what_nobody_has_reviewed_is_not_made_when_the_turn_fails(odin):
    odin.settings["review"] = {"policy": "end"}
    path = odin.root / "greet.py"
    edit = {"file_path": str(path), "old_string": "hello", "new_string": "hi"}
    drafts = []
    listen(
        odin,
        Reply(calls(ToolCall("1", "Read", {"file_path": str(path)})), "tools"),
        Reply(calls(ToolCall("2", "EditTool", edit)), "tools"),
        Reply(said(""), "refused"),
        before=lambda number: drafts.append(len(odin.core.desk.drafts)),
    )

    assert (await odin.take("greet", "edit_mode")).reason == "refused"
    assert drafts == [0, 0, 1]
    assert odin.core.desk.drafts == []
    assert "hello" in path.read_text()


async def test_a_history_that_cannot_be_shortened_ends_the_turn(odin):
    listen(odin, Reply(said(""), "context_full"))

    outcome = await odin.take()

    assert outcome.reason == "failed"
    assert "no longer fits" in outcome.detail


async def test_a_failed_stream_is_rolled_back_and_tried_again(odin):
    odin.settings["retries"] = {"attempts": 3}
    odin.script({"error": "overloaded"}, {"text": "here"})

    outcome = await odin.take()

    assert outcome.answer == "here"
    assert odin.kinds().index("streamRolledBack") < odin.kinds().index("textStreamed")
    assert any(event.activity == "retrying" and "overloaded" in event.detail for event in odin.of(ActivityChanged))


async def test_tools_that_ran_do_not_run_again_when_a_later_stream_fails(odin, call):
    odin.script({"calls": [call("Glob", pattern="*")]}, {"error": "cut off"}, {"text": "done"})

    outcome = await odin.take()

    assert (outcome.answer, len(odin.of(ToolStarted))) == ("done", 1)


async def test_the_next_model_in_line_takes_over(odin, tmp_path):
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"replies": [{"text": "from the other"}]}))
    odin.settings["fallbackModels"] = [f"scripted/{other}"]
    odin.script(*[{"error": "down"}] * 3)

    outcome = await odin.take()

    assert outcome.answer == "from the other"
    assert odin.of(ModelChanged)[0].running == f"scripted/{other}"


async def test_a_model_that_cannot_be_used_fails_the_turn_with_its_reason(odin):
    odin.script()

    outcome = await odin.take()

    assert (outcome.reason, outcome.detail) == ("failed", "the script has no further reply")


async def test_a_call_starts_while_the_model_still_speaks(odin, monkeypatch):
    began = asyncio.Event()
    read = ToolCall("1", "Read", {"file_path": str(odin.root / "greet.py")})
    watch(monkeypatch, "Read", lambda: began.set())

    async def replies(request):
        if not request.messages[-1].results:
            yield CallReady(read)
            yield TextDelta("still speaking")
            async with asyncio.timeout(10):
                await began.wait()
            yield Reply(calls(read), "tools")
        else:
            yield Reply(said("ok"), "end")

    listen(odin, stream=replies)

    assert (await odin.take()).answer == "ok"
    assert len(odin.of(ToolStarted)) == 1
    assert odin.kinds().index("textStreamed") < odin.kinds().index("toolStarted")


async def test_a_call_that_was_begun_early_runs_once(odin, monkeypatch):
    runs = []
    watch(monkeypatch, "Read", lambda: runs.append(1))
    read = ToolCall("1", "Read", {"file_path": str(odin.root / "greet.py")})
    listen(odin, (CallReady(read), Reply(calls(read), "tools")), Reply(said("ok"), "end"))

    await odin.take()

    assert len(runs) == 1


@pytest.mark.parametrize("ending", ["cut off", "failed", "begun again", "another call", "cancelled"])
async def test_a_call_begun_early_leaves_no_trace_if_the_stream_ends_otherwise(odin, monkeypatch, ending):
    began, ended = asyncio.Event(), []
    read = ToolCall("1", "Read", {"file_path": str(odin.root / "greet.py")})

    async def hang():
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(ending)

    async def replies(request):
        if request.messages[-1].results:
            assert ended == [ending], "it ends with its step"
            yield Reply(said("ok"), "end")
            return
        yield CallReady(read)
        async with asyncio.timeout(10):
            await began.wait()
        match ending:
            case "cut off":
                yield Reply(said("cut"), "max_tokens")
            case "failed":
                raise ModelError("gone")
            case "begun again":
                yield Attempt("scripted/listener", "gone", 0, "retrying")
                assert ended == [ending], "it ends before the stream begins again"
                yield Reply(said("ok"), "end")
            case "another call":
                yield Reply(calls(ToolCall("2", "Glob", {"pattern": "*"})), "tools")
            case _:
                odin.core.cancel(None)
                await asyncio.Event().wait()

    watch(monkeypatch, "Read", hang)
    listen(odin, stream=replies)

    outcome = await odin.take()

    assert outcome.reason == {"cut off": "max_tokens", "failed": "failed", "cancelled": "interrupted"}.get(
        ending, "end_turn"
    )
    assert ended == [ending]
    assert "Read" not in [event.name for event in odin.of(ToolStarted)]
    assert "Read" not in [tool.name for tool in outcome.tools]


async def test_read_only_calls_of_one_step_run_side_by_side_and_answer_in_order(odin, monkeypatch):
    meet = asyncio.Barrier(2)

    async def both():
        async with asyncio.timeout(10):
            await meet.wait()

    watch(monkeypatch, "Glob", both)
    step = calls(ToolCall("1", "Glob", {"pattern": "*.py"}), ToolCall("2", "Glob", {"pattern": "*.md"}))
    listen(odin, Reply(step, "tools"), Reply(said("ok"), "end"))

    assert (await odin.take()).answer == "ok"
    assert [result.call_id for result in odin.session.messages[2].results] == ["1", "2"]


async def test_calls_with_one_id_are_told_apart(odin):
    step = calls(ToolCall("1", "Glob", {"pattern": "*.py"}), ToolCall("1", "Glob", {"pattern": "*.md"}))
    listen(odin, Reply(step, "tools"), Reply(step, "tools"), Reply(said("ok"), "end"))

    await odin.take()

    messages = odin.session.messages
    ids = [call.id for message in messages for call in message.calls]
    assert len(set(ids)) == 4
    assert [result.call_id for message in messages for result in message.results] == ids
    assert not any(result.failed for message in messages for result in message.results)


async def test_usage_is_the_sum_and_the_context_is_the_last_prompt(odin):
    listen(
        odin,
        Reply(
            calls(ToolCall("1", "Glob", {"pattern": "*"})),
            "tools",
            Usage(input_tokens=10, cost_usd=1, context_tokens=10),
        ),
        Reply(said("ok"), "end", Usage(input_tokens=20, cost_usd=2, context_tokens=30)),
    )

    usage = (await odin.take()).usage

    assert (usage.input_tokens, usage.cost_usd, usage.context_tokens) == (30, 3, 30)


async def test_no_limit_means_no_limit(odin, call):
    odin.settings["limits"] = {"maxTurns": 0}
    steps = [{"calls": [call("Glob", pattern=f"*{number}")]} for number in range(120)]
    odin.script(*steps, {"text": "far"})

    assert (await odin.take()).answer == "far"
    assert Limits().max_turns == 100


def said(text: str) -> Message:
    return Message("assistant", (Text(text),) if text else ())


def calls(*parts) -> Message:
    return parts[0] if isinstance(parts[0], Message) else Message("assistant", parts)


def replace_id(message: Message, id: str) -> Message:
    return replace(message, parts=tuple(replace(part, id=id) for part in message.parts))


def cut_thought(usage=None):
    return Reply(Message("assistant", (Thinking("hm"),)), "max_tokens", usage or Usage())


def shown(events):
    """What a client has on its screen in the end."""
    finished, streamed = [], ""
    for event in events:
        match event.kind:
            case "textStreamed":
                streamed += event.text
            case "streamRolledBack":
                streamed = ""
            case "messageFinished":
                finished, streamed = [*finished, event.text], ""
            case _:
                pass
    return [*finished, *filter(None, [streamed])]


def listen(odin, *replies, stream=None, before=lambda number: None):
    """Let the model give these replies, and keep what it is asked."""
    requests = []

    class Listener:
        ref = "scripted/listener"

        async def stream(self, request):
            before(len(requests))
            requests.append(request)
            if stream:
                async for event in stream(request):
                    yield event
                return
            reply = replies[len(requests) - 1]
            for event in reply if isinstance(reply, tuple) else (reply,):
                yield event

        async def aclose(self):
            pass

    odin.start().models.get = lambda ref: Listener()
    return requests


def watch(monkeypatch, tool: str, seen) -> None:
    """Call `seen` when the tool runs."""
    from odin_lsp.tools.base import all_tools

    kind = type(all_tools()[tool])
    execute = kind.execute

    async def watched(self, params, context):
        result = seen()
        if asyncio.iscoroutine(result):
            await result
        return await execute(self, params, context)

    monkeypatch.setattr(kind, "execute", watched)


async def test_a_step_that_is_cancelled_while_files_are_compared_has_its_results(odin, call, monkeypatch):
    comparing = asyncio.Event()

    async def for_ever(self):
        comparing.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(HeldFiles, "changed", for_ever)
    odin.script({"calls": [call("Read", file_path="greet.py")]}, {"text": "never"})
    turn = asyncio.create_task(odin.take())
    await comparing.wait()
    odin.core.cancel(None)

    assert (await turn).reason == "interrupted"
    [result] = odin.session.messages[-1].results
    assert "def greet" in result.content


async def test_the_model_is_told_which_commands_are_allowed_and_forbidden_when_that_changes(odin):
    def told():
        return [line for it in odin.session.messages for line in it.text.splitlines() if line.startswith(COMMANDS)]

    odin.script(*({"text": "yes"} for _ in range(5)))
    await odin.take()
    assert told() == []

    odin.configure(allowed_commands=("npm test", "make *"), forbidden_commands=("rm",))
    await odin.take()
    await odin.take()
    both = f"{COMMANDS} these run in Edit without a question: npm test, make *; these never run: rm."
    assert told() == [both]

    odin.configure(allowed_commands=(), forbidden_commands=())
    await odin.take()
    await odin.take()
    assert told() == [both, about_commands((), ())]
