"""Turns over the wire: order, cancel, events, and clients that know nothing of Odin."""

import asyncio
import base64
import json

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from odin_lsp.permissions.rules import Effect
from odin_lsp.tools.base import all_tools
from odin_lsp.workspace.uris import path_of
from tests.e2e.conftest import PATIENCE
from tests.e2e.steps import play_calls
from tests.support import wire as kit
from tests.support.pictures import png

SONNET = "anthropic/claude-sonnet-5-5"


def says(text: str) -> kit.Answer:
    return kit.Answer(
        [kit.anthropic_sse(kit.anthropic_start(), *kit.anthropic_text(0, text), *kit.anthropic_end("end_turn"))]
    )


def begins(text: str) -> kit.Answer:
    """An answer that never ends."""
    return kit.Answer([kit.anthropic_sse(kit.anthropic_start(), *kit.anthropic_text(0, text))], held=True)


async def test_three_messages_with_three_modes_run_in_order_with_their_own_tools(start, wire, anthropic):
    client = await start(**anthropic)
    wire.play(says("one"), says("two"), says("three"))

    outcomes = await asyncio.gather(
        client.command("ask", text="first", turnId="a"),
        client.command("edit", text="second", turnId="b"),
        client.command("plan", text="third", turnId="c"),
    )

    assert [(it["answer"], it["mode"], it["reason"]) for it in outcomes] == [
        ("one", "ask_mode", "end_turn"),
        ("two", "edit_mode", "end_turn"),
        ("three", "plan_mode", "end_turn"),
    ]
    order = [
        (it["turnId"], it["event"]["kind"])
        for it in client.events
        if it["event"]["kind"] in ("turnStarted", "turnFinished")
    ]
    assert order == [(turn, kind) for turn in "abc" for kind in ("turnStarted", "turnFinished")]
    told = [request.body["messages"][-1]["content"][-2]["text"] for request in wire.sent]
    modes = [it.split("Mode: ")[1].split("\n")[0] for it in told]
    assert modes == ["ask_mode", "edit_mode", "plan_mode"]
    ask, edit, plan = (request.body for request in wire.sent)
    assert [it["system"][-1]["text"].splitlines()[0] for it in (ask, edit, plan)] == [f"# Mode: {it}" for it in modes]
    assert ask["system"][:-1] == edit["system"][:-1] == plan["system"][:-1]
    names = [it["name"] for it in ask["tools"]]
    assert ask["tools"] == plan["tools"] == edit["tools"][: len(names)]
    assert {"Read", "Grep"} <= {*names}
    writing = {name for name, tool in all_tools().items() if tool.effect is Effect.MUTATING}
    assert {it["name"] for it in edit["tools"][len(names) :]} == writing - {"NotebookEdit"}
    assert not writing & {*names}
    queued = [it["event"]["position"] for it in client.events if it["event"]["kind"] == "turnQueued"]
    assert queued == [1, 2]


async def test_events_arrive_in_order_with_no_gap(start, wire, anthropic):
    client = await start(**anthropic)
    wire.play(
        kit.Answer(
            [
                kit.anthropic_sse(
                    kit.anthropic_start(),
                    *kit.anthropic_text(0, *(f"word{number} " for number in range(200))),
                    *kit.anthropic_call(1, "toolu_1", "Glob", '{"pattern": "*"}'),
                    *kit.anthropic_end("tool_use"),
                )
            ]
        ),
        says("done"),
    )

    outcome = await client.command("ask", text="go", turnId="a")
    await client.until(lambda it: it["event"].get("activity") == "idle")

    assert outcome["answer"] == "done"
    assert [record["seq"] for record in client.events] == list(range(1, len(client.events) + 1))
    assert "".join(it["event"]["text"] for it in client.events if it["event"]["kind"] == "textStreamed").startswith(
        "word0 word1 "
    )
    passing = ("textStreamed", "activityChanged", "usageChanged", "requestProgress")
    assert [kind for kind in client.kinds("a") if kind not in passing] == [
        *("turnStarted", "requestStarted", "argumentsStreamed", "messageFinished", "toolStarted", "toolFinished"),
        *("requestStarted", "messageFinished", "turnFinished"),
    ]
    counted = [it["event"] for it in client.events if it["event"]["kind"] in ("requestStarted", "requestProgress")]
    [second] = [number for number, it in enumerate(counted) if it["kind"] == "requestStarted"][1:]
    assert counted[second - 1]["bytes"] > counted[-1]["bytes"] > 0


async def test_an_answer_may_be_for_whoever_asks_alone(start, wire, anthropic):
    client = await start(**anthropic)
    wire.play(says("for you alone"), says("for all"))

    first = await client.command("ask", text="go", turnId="a", options={"showsAnswer": False})
    second = await client.command("ask", text="go", turnId="b")
    await client.until(lambda it: it["turnId"] == "b" and it["event"].get("activity") == "idle")

    assert (first["answer"], second["answer"]) == ("for you alone", "for all")
    told = json.dumps(client.events)
    assert "for all" in told
    assert "for you alone" not in told


@pytest.mark.parametrize("how", ["command", "progress", "request"])
async def test_a_cancelled_turn_closes_its_connection_and_the_next_one_runs(start, wire, anthropic, how):
    client = await start(window=types.WindowClientCapabilities(work_done_progress=True), **anthropic)
    wire.play(begins("I was"), says("next"))
    params = types.ExecuteCommandParams("odin.ask", [{"text": "slow", "turnId": "a"}], work_done_token="mine")
    running = asyncio.ensure_future(
        client.lsp.protocol.send_request_async("workspace/executeCommand", params, msg_id="req-1")
    )
    await client.until_kind("textStreamed")

    match how:
        case "command":
            assert await client.command("cancel", turnId="a") == {"cancelled": True}
        case "progress":
            client.lsp.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams("mine"))
        case "request":
            client.lsp.cancel_request(types.CancelParams("req-1"))
    async with asyncio.timeout(PATIENCE):
        await wire.hung_up.wait()
        outcome = await running
    assert (outcome["reason"], outcome["answer"]) == ("interrupted", "I was")
    assert (await client.command("ask", text="again"))["answer"] == "next"
    assert [it["role"] for it in wire.request["messages"]] == ["user", "assistant", "user"]
    assert await client.command("cancel") == {"cancelled": False}


async def test_a_client_that_knows_nothing_of_odin_gets_the_answer(start, wire, anthropic):
    window = types.WindowClientCapabilities(
        work_done_progress=True, show_document=types.ShowDocumentClientCapabilities(support=True)
    )
    client = await start(odin={}, window=window, **anthropic)
    wire.play(says("It is **simple**."))
    wire.may_answer.clear()

    asking = asyncio.ensure_future(client.command("ask", text="why?"))
    async with asyncio.timeout(PATIENCE):
        while not any(client.lsp.progress_reports.values()):  # a turn can be over before the editor has agreed to one
            await client.command("state")
    wire.may_answer.set()
    outcome = await asking

    assert outcome["answer"] == "It is **simple**."
    assert client.events == []
    [shown] = client.lsp.shown_documents
    transcript = path_of(shown.uri).read_text()
    assert "> why?" in transcript
    assert "It is **simple**." in transcript
    [reports] = client.lsp.progress_reports.values()
    assert reports[0].kind == "begin"
    assert reports[0].cancellable
    assert reports[-1].kind == "end"


async def test_a_client_that_can_show_no_document_gets_a_message(start, script):
    client = await start(odin={}, **script({"text": "forty-two"}))

    await client.command("ask", text="what?")

    assert "forty-two" in client.lsp.messages[-1].message


async def test_a_question_reaches_the_editor_and_its_answer_the_model(start, wire, anthropic):
    client = await start(**anthropic)
    client.answers = [{"optionIds": ["2"], "text": "please"}]
    arguments = '{"question": "Tabs?", "options": [{"label": "Yes"}, {"label": "No"}]}'
    asks = kit.anthropic_sse(
        kit.anthropic_start(), *kit.anthropic_call(0, "toolu_1", "AskUser", arguments), *kit.anthropic_end("tool_use")
    )
    wire.play(kit.Answer([asks]), says("fine"))

    await client.command("ask", text="format it")

    assert client.questions[0]["title"] == "Tabs?"
    assert [option["label"] for option in client.questions[0]["options"]] == ["Yes", "No"]
    result = wire.request["messages"][-1]["content"][0]
    assert "The user answered: No; please" in str(result["content"])
    assert client.kinds(client.events[0]["turnId"]).count("questionAsked") == 1


async def test_what_is_said_into_a_turn_is_the_users_own_word_in_the_next_request(start, wire, anthropic):
    client = await start(**anthropic)
    play_calls(wire, ("AskUser", {"question": "Tabs?", "options": [{"label": "Yes"}, {"label": "No"}]}))
    wire.play(says("fine"))
    answer = asyncio.get_running_loop().create_future()
    client.answers = [answer]
    turn = asyncio.create_task(client.command("ask", text="go"))
    await client.until_asked(1)

    assert await client.command("steer", text="and four spaces", context=[{"kind": "text", "content": "PEP 8"}]) == {
        "taken": True
    }
    answer.set_result({"optionIds": ["2"]})
    await turn

    said, context = wire.request["messages"][-1]["content"][-2:]
    assert said["text"] == "and four spaces"
    assert "PEP 8" in context["text"]
    assert await client.command("steer", text="hello?") == {"taken": False}


async def test_a_question_of_a_plain_client_is_a_message_with_buttons(start, script):
    call = {"name": "AskUser", "arguments": {"question": "Tabs?", "options": [{"label": "Yes"}, {"label": "No"}]}}
    client = await start(odin={}, **script({"calls": [call]}, {"text": "ok"}))

    @client.lsp.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)
    def choose(params):
        return params.actions[1]

    await client.command("ask", text="format it")

    tools = (await client.command("state"))["messages"][0]["toolHistory"]
    assert tools[0]["description"] == "answered: No"


async def test_unsaved_text_is_what_the_model_reads(start, script, root):
    path = root / "greet.py"
    reads = {"calls": [{"name": "Grep", "arguments": {"pattern": "farewell", "output_mode": "content"}}]}
    client = await start(**script(reads, {"text": "ok"}))
    document = types.VersionedTextDocumentIdentifier(2, path.as_uri())
    client.lsp.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(path.as_uri(), "python", 1, path.read_text()))
    )
    client.lsp.text_document_did_change(
        types.DidChangeTextDocumentParams(
            document,
            [
                types.TextDocumentContentChangePartial(
                    types.Range(types.Position(0, 4), types.Position(0, 9)), "farewell"
                )
            ],
        )
    )

    await client.command("ask", text="look")

    finished = await client.until_kind("toolFinished")
    assert finished["event"]["files"] == [str(path)]


async def test_a_selection_is_part_of_the_prompt(start, wire, anthropic, root):
    client = await start(**anthropic)
    wire.play(says("ok"))
    span = {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}}

    await client.command(
        "ask", text="this?", context=[{"kind": "selection", "uri": (root / "greet.py").as_uri(), "range": span}]
    )

    texts = [block["text"] for block in wire.request["messages"][0]["content"]]
    assert texts[-1] == "this?"
    assert texts[-3] == f'<context kind="selection" file="{root / "greet.py"}" lines="1-1">\ngreet\n</context>'


async def test_the_queue_can_be_seen_and_changed(start, wire, anthropic):
    client = await start(**anthropic)
    wire.play(begins("I"), says("changed"))
    first = asyncio.ensure_future(client.command("ask", text="slow", turnId="a"))
    await client.until_kind("textStreamed")
    second = asyncio.ensure_future(client.command("ask", text="draft", turnId="b"))
    third = asyncio.ensure_future(client.command("ask", text="never", turnId="c"))
    await client.until_kind("turnQueued", "c")

    listed = await client.command("queue", action="list")
    await client.command("queue", action="edit", turnId="b", text="final", mode="plan_mode")
    left = await client.command("queue", action="remove", turnId="c")
    await client.command("cancel")
    cancelled = await first
    held = await client.command("queue", action="list")
    await client.command("session.new")
    await client.command("queue", action="resume", turnId="b")

    assert [(it["turnId"], it["body"], it["mode"]) for it in listed["queue"]] == [
        ("b", "draft", "ask_mode"),
        ("c", "never", "ask_mode"),
    ]
    assert [it["body"] for it in left["queue"]] == [it["body"] for it in held["queue"]] == ["final"]
    assert cancelled["reason"] == (await third)["reason"] == "interrupted"
    assert (await second)["mode"] == "plan_mode"
    assert "final" in [block.get("text") for block in wire.request["messages"][-1]["content"]]


async def test_what_waited_comes_back_with_all_that_came_along(start, wire, anthropic, root):
    shot, other = (base64.b64encode(png(size, 2)).decode() for size in (2, 3))
    selection = {"kind": "selection", "uri": (root / "greet.py").as_uri(), "content": "def greet"}
    note = {"kind": "text", "content": "a note"}
    client = await start(**anthropic)
    wire.play(begins("I"), says("sent"))
    first = asyncio.ensure_future(client.command("ask", text="slow", turnId="a"))
    await client.until_kind("textStreamed")
    for turn_id in ("b", "c"):
        sent = client.command("ask", text="with", turnId=turn_id, context=[selection], images=[{"data": shot}])
        asyncio.ensure_future(sent)  # noqa: RUF006 - it is given back
    await client.until_kind("turnQueued", "c")

    edited = await client.command("queue", action="edit", turnId="c", context=[note], images=[{"data": other}])
    cancelled = await client.command("cancel", queue="return")
    await first
    b, c = cancelled["returned"]
    again = [{"digest": it["digest"]} for it in (*b["attached"], *c["attached"])]
    await client.command("ask", text="again", context=[*b["context"], *c["context"]], images=again)

    assert edited["queue"] == [b, c]
    assert (b["context"], c["context"], b["body"], c["body"]) == ([selection], [note], "with", "with")
    content = wire.request["messages"][-1]["content"]
    assert [it["source"]["data"] for it in content if it["type"] == "image"] == [shot, other]
    told = "\n".join(it["text"] for it in content if it["type"] == "text")
    assert "def greet\n</context>" in told
    assert "a note\n</context>" in told


async def test_a_message_that_nobody_knows_cannot_be_changed(start, anthropic):
    client = await start(**anthropic)

    for action in ("edit", "remove"):
        with pytest.raises(JsonRpcException, match="no message 'x' is waiting"):
            await client.command("queue", action=action, turnId="x", text="y")


async def test_a_bad_command_says_what_is_wrong_and_the_next_one_works(start, script):
    cases = [
        ("ask", {}, "`text` is missing"),
        ("ask", {"text": ""}, "the prompt is empty"),
        ("ask", {"text": "x", "speed": 3}, "`speed` is not known here"),
        ("ask", {"text": "x", "context": [{"kind": "file"}]}, "needs `content` or `uri`"),
        ("ask", {"text": "x" * 5_000_000}, "put the text into a file"),
        ("ask", {"text": "x", "sessionId": "../../etc"}, "not a session id"),
        ("ask", {"text": "x", "sessionId": "nothing"}, "there is no session"),
        ("ask", {"text": "x", "turnId": "taken"}, "already a turn 'taken'"),
        ("dance", {}, "there is no command 'odin.dance'"),
        ("queue", {"action": "edit"}, "`turnId` is missing"),
        ("queue", {"action": "edit", "turnId": "x", "mode": "dream_mode"}, "`mode`"),
        ("queue", {"action": "remove", "turnId": "x"}, "no message 'x' is waiting"),
        ("model", {"model": "gpt"}, "write provider/model"),
    ]
    client = await start(**script(*[{"text": "fine"}] * (len(cases) + 1)))
    await client.command("ask", text="first", turnId="taken")

    for command, argument, problem in cases:
        with pytest.raises(JsonRpcException) as caught:
            await client.command(command, **argument)
        assert problem in str(caught.value)
        assert (await client.command("ask", text="and now?"))["answer"] == "fine"


async def test_models_are_told_with_their_window_and_price(start):
    client = await start(options={"secrets": {"anthropic": "k"}, "settings": {"model": "offline/odin"}})

    state = await client.command("model")

    priced = [it for it in state["available"] if it != "offline/odin"]
    assert priced
    assert state["facts"].keys() == set(priced)
    assert all(it["context"] > 0 and 0 < it["inputUsd"] < it["outputUsd"] for it in state["facts"].values())


async def test_model_servers_on_this_computer_are_looked_for_only_on_demand(start, wire):
    client = await start(OLLAMA_HOST=wire.url)
    assert "local" not in await client.command("model")
    assert wire.sent == []

    wire.play(kit.Answer([b'{"data": [{"id": "qwen3"}]}'], headers={"content-type": "application/json"}))
    found = (await client.command("model", findLocal=True))["local"]

    assert {"name": "Ollama", "url": wire.url, "models": ["ollama/qwen3"]} in found
    assert (await client.command("model", model="ollama/qwen3"))["running"] == "ollama/qwen3"


async def test_a_key_is_checked_without_being_kept(start, wire, anthropic):
    client = await start(**anthropic)
    wire.play(kit.Answer([kit.anthropic_error(401, "invalid x-api-key")], 401, {"content-type": "application/json"}))

    checked = await client.command("key.check", provider="anthropic", key="sk-typed")

    assert checked == {"verdict": "refused", "detail": "Anthropic does not accept this key (invalid x-api-key)"}
    wire.play(says("hello"))
    await client.command("ask", text="hi")
    checking, asking = (it.headers for it in wire.sent)
    assert (checking["authorization"], asking["authorization"]) == ("Bearer sk-typed", f"Bearer {kit.KEY}")


async def test_the_model_can_be_changed_for_the_next_turn(start, script):
    scripted = script({"text": "from the script"})["ODIN_MODEL"]
    client = await start(options={"settings": {"model": scripted}})

    chosen = await client.command("model", model="offline/odin", smallModel="offline/odin")

    models = {"model": "offline/odin", "smallModel": "offline/odin", "running": "offline/odin"}
    known = {"available": ["offline/odin"], "efforts": {}, "facts": {}}
    assert chosen == {**models, **known, "picked": True, "smallPicked": True}
    told = [it["event"] for it in client.events if it["event"]["kind"] == "modelChanged"]
    assert told == [{"kind": "modelChanged", "selected": "offline/odin", "running": "offline/odin"}]
    assert "Odin's offline search" in (await client.command("ask", text="where is greet?"))["answer"]


async def test_a_picked_model_with_its_effort_outlives_the_server(start, wire, anthropic):
    first = await start(**anthropic)
    assert (await first.command("model"))["efforts"][SONNET] == ["low", "medium", "high"]
    await first.command("model", model=f"{SONNET}@low")
    await first.leave()

    second = await start(**anthropic)
    assert second.info["model"] == f"{SONNET}@low"
    wire.play(says("hello"))
    await second.command("ask", text="hi")

    assert (wire.request["model"], wire.request["output_config"]) == (SONNET.partition("/")[2], {"effort": "low"})
    [began] = [it["event"] for it in second.events if it["event"]["kind"] == "turnStarted"]
    assert began["model"] == f"{SONNET}@low"
    assert not [it for it in second.events if it["event"]["kind"] in ("notice", "modelChanged")]
    running = {it["selected"]: it["running"] for it in (await second.command("state"))["models"]}
    assert running[f"{SONNET}@low"] == f"{SONNET}@low"
    assert (await second.command("model"))["picked"]
    assert not (await second.command("model", model=""))["picked"]
    await second.leave()

    third = await start(**anthropic)
    assert third.info["model"] == SONNET


async def test_a_picked_model_without_its_key_is_told_of_quietly(start, wire, anthropic):
    first = await start(**anthropic)
    await first.command("model", model=f"{SONNET}@high")
    await first.leave()

    second = await start()
    assert second.info["model"] == "offline/odin"
    for text in ("where is greet?", "and now?"):
        assert "Odin's offline search" in (await second.command("ask", text=text))["answer"]

    told = [it["event"] for it in second.events if it["event"]["kind"] == "notice"]
    assert [it["level"] for it in told] == ["info"]
    assert f"The selected model {SONNET}@high is not available" in told[0]["message"]
    assert second.lsp.messages == []


async def test_the_environment_goes_before_what_is_picked(start, script):
    client = await start(**script({"text": "from the script"}))

    with pytest.raises(JsonRpcException, match="ODIN_MODEL overrides"):
        await client.command("model", model="offline/odin")

    assert (await client.command("ask", text="hi"))["answer"] == "from the script"


@pytest.mark.parametrize(
    ("env", "problem"),
    [
        ({"ODIN_MODEL": "nobody/x"}, "write provider/model"),
        ({"ODIN_MODEL": "anthropic/claude-sonnet-5-5@hgih", "ANTHROPIC_API_KEY": "x"}, "@low, @medium, @high"),
        ({"ODIN_MODEL": "anthropic/claude-sonnet-5-5"}, "ANTHROPIC_API_KEY"),
        ({"ODIN_MODEL": "scripted/none.json"}, "none.json"),
        ({"ANTHROPIC_API_KEY": "x", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}, "Anthropic"),
    ],
)
async def test_a_model_that_cannot_work_fails_the_turn_with_the_fix(start, root, env, problem):
    settings = {"settings": {"retries": {"attempts": 1}}}
    client = await start(options=settings, **env)

    outcome = await client.command("ask", text="hello?")

    assert outcome["reason"] == "failed"
    assert problem in outcome["detail"]
    assert (await client.command("state"))["executing"] is False


async def test_a_bad_settings_file_is_reported_when_the_server_starts(start, root):
    (root / "odinconfig.json").write_text('{\n"limits": {"maxTurns": "x"},\n"unknown": 1}')

    client = await start()
    await client.command("state")

    shown = [message.message for message in client.lsp.messages]
    assert any("odinconfig.json:2: `limits.maxTurns`" in message for message in shown)
    assert any("odinconfig.json:3: `unknown`" in message for message in shown)


async def test_the_state_tells_everything(start, script):
    client = await start(**script({"text": "ok"}))
    await client.command("plan", text="q")

    state = await client.command("state")

    assert state.keys() >= {
        "mode",
        "messages",
        "queue",
        "executing",
        "subagents",
        "context",
        "instructions",
        "config",
        "cache",
        "cacheConfig",
    }
    assert (state["mode"], state["messages"][0]["body"]) == ("plan_mode", "q")


async def test_keys_never_reach_the_client_or_the_session(start, wire, anthropic, root):
    client = await start(**anthropic)
    wire.play(
        kit.Answer(
            [kit.anthropic_error(401, f"invalid x-api-key {kit.KEY}")],
            status=401,
            headers={"content-type": "application/json"},
        )
    )

    outcome = await client.command("ask", text="hello")

    assert outcome["reason"] == "failed"
    assert kit.KEY not in str(outcome) + str(client.events) + str(await client.command("state"))
