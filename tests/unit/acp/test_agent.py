"""What an ACP client can ask for, and what it is told."""

import asyncio
import base64
import json

import pytest

from tests.support.mcp_servers import scripted
from tests.support.pictures import png

READ = {"calls": [{"name": "Read", "arguments": {"file_path": "a.py"}}]}


def edit(*lines: int) -> dict:
    edits = [{"old_string": f"line {it}\n", "new_string": f"changed {it}\n"} for it in lines]
    return {"calls": [{"name": "MultiEditTool", "arguments": {"file_path": "a.py", "edits": edits}}]}


async def test_a_client_learns_what_odin_can_do_and_what_can_be_chosen(client, root, script):
    script({"text": "hello"})

    about = await client.ask("initialize", protocolVersion=1)
    opened = await client.ask("session/new", cwd=str(root), mcpServers=[])

    assert about["protocolVersion"] == 1
    assert about["agentCapabilities"]["loadSession"]
    assert opened["modes"]["currentModeId"] == "edit"
    assert [it["id"] for it in opened["modes"]["availableModes"]] == ["ask", "plan", "edit"]
    assert [it["category"] for it in opened["configOptions"]] == ["mode", "model"]
    await client.until(lambda: client.of_kind("available_commands_update"))
    [commands] = client.of_kind("available_commands_update")
    names = {it["name"] for it in commands["availableCommands"]}
    assert {"undo", "compact", "plan"} <= names
    assert not names & {"new", "resume", "trust"}


async def test_an_answer_streams_with_thoughts_calls_todos_and_usage(client, root, script):
    todos = [{"id": "1", "content": "look", "status": "completed"}]
    script(
        {"thinking": "hmm", "calls": [{"name": "TodoWrite", "arguments": {"todos": todos}}]},
        READ,
        {"text": ["It is ", "a.py."]},
    )
    await client.begin(root)

    assert await client.prompt("what is it?", "ask") == {"stopReason": "end_turn"}

    assert client.said() == "It is a.py."
    assert client.said("agent_thought_chunk") == "hmm"
    [plan] = client.of_kind("plan")
    assert plan["entries"] == [{"content": "look", "priority": "medium", "status": "completed"}]
    read = next(it for it in client.calls().values() if it["kind"] == "read")
    assert (read["status"], read["locations"]) == ("completed", [{"path": str(root / "a.py")}])
    assert client.of_kind("usage_update")[-1]["size"] > 0


async def test_each_hunk_is_asked_about_and_the_model_is_told_which_was_refused(client, root, script):
    script(READ, edit(3, 15, 27), {"text": "done"})
    client.choose = lambda params: "reject" if "line 15" in params["toolCall"]["title"] else "accept"
    await client.begin(root)

    assert await client.prompt("change them") == {"stopReason": "end_turn"}

    text = (root / "a.py").read_text()
    assert ("changed 3\n" in text, "changed 15\n" in text, "changed 27\n" in text) == (True, False, True)
    asked = [params["toolCall"] for _, params in client.asked]
    assert [it["title"] for it in asked] == [f"Change a.py, line {n} ({i} of 3)" for i, n in enumerate((3, 15, 27), 1)]
    assert asked[1]["content"][0] == {
        "type": "diff",
        "path": str(root / "a.py"),
        "oldText": "".join(f"line {it}\n" for it in range(12, 19)),
        "newText": "".join(f"{'changed' if it == 15 else 'line'} {it}\n" for it in range(12, 19)),
    }
    assert asked[1]["locations"] == [{"path": str(root / "a.py"), "line": 15}]
    states = [client.calls()[it["title"]]["status"] for it in asked]
    assert states == ["completed", "failed", "completed"]
    loaded = await client.ask("session/load", sessionId=client.session, cwd=str(root), mcpServers=[])
    assert loaded["modes"]["currentModeId"] == "edit"


async def test_allow_always_is_for_the_rest_of_the_file_and_no_other(client, root, script):
    (root / "b.py").write_text("one\n")
    other = {"name": "EditTool", "arguments": {"file_path": "b.py", "old_string": "one", "new_string": "two"}}
    reads = {"calls": [*READ["calls"], {"name": "Read", "arguments": {"file_path": "b.py"}}]}
    script(reads, {"calls": [*edit(3, 15, 27)["calls"], other]}, {"text": "done"})
    client.choose = lambda params: "accept_rest" if "a.py" in params["toolCall"]["title"] else "reject"
    await client.begin(root)

    await client.prompt("change them")

    titles = [params["toolCall"]["title"] for _, params in client.asked]
    assert titles == ["Change a.py, line 3 (1 of 3)", "Change b.py, line 1"]
    assert (root / "a.py").read_text().count("changed") == 3
    assert (root / "b.py").read_text() == "one\n"


async def test_a_command_is_asked_about_in_its_own_call(client, root, script):
    script({"calls": [{"name": "ExecuteCommand", "arguments": {"command": "touch made"}}]}, {"text": "done"})
    client.choose = lambda params: "deny"
    await client.begin(root)

    await client.prompt("make it")

    [(_, asked)] = client.asked
    started = client.of_kind("tool_call")[0]
    assert asked["toolCall"]["toolCallId"] == started["toolCallId"]
    assert {it["kind"] for it in asked["options"]} >= {"allow_once", "allow_always", "reject_once"}
    assert not (root / "made").exists()


async def test_a_loaded_session_is_told_from_its_beginning(client, root, script):
    script(READ, edit(3), {"text": "It is changed."})
    await client.begin(root)
    await client.prompt("change it")
    await client.ask("session/close", sessionId=client.session)
    client.updates.clear()

    await client.ask("session/load", sessionId=client.session, cwd=str(root), mcpServers=[])

    assert client.said("user_message_chunk") == "change it"
    assert client.said() == "It is changed."
    assert "Change a.py, line 3" in client.calls()
    assert client.calls()["Change a.py, line 3"]["status"] == "completed"


async def test_a_resumed_session_goes_on_and_is_not_told_again(client, root, script):
    script({"text": "one"}, {"text": "two"})
    await client.begin(root)
    await client.prompt("first", "ask")
    await client.ask("session/close", sessionId=client.session)
    client.updates.clear()

    await client.ask("session/resume", sessionId=client.session, cwd=str(root), mcpServers=[])
    assert not client.said()
    await client.prompt("second", "ask")
    listed = await client.ask("session/list", cwd=str(root))
    await client.ask("session/load", sessionId=client.session, cwd=str(root), mcpServers=[])

    assert client.said("user_message_chunk") == "firstsecond"
    [found] = listed["sessions"]
    assert (found["sessionId"], found["cwd"]) == (client.session, str(root))


async def test_modes_model_and_effort_can_be_chosen(client, root, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-fake")
    opened = await client.begin(root)

    model = next(it for it in opened["configOptions"] if it["id"] == "model")
    other = next(it["value"] for it in model["options"] if it["value"] != model["currentValue"])
    chosen = await client.ask("session/set_config_option", sessionId=client.session, configId="model", value=other)
    effort = await client.ask("session/set_config_option", sessionId=client.session, configId="effort", value="high")
    await client.ask("session/set_config_option", sessionId=client.session, configId="mode", value="plan")
    wrong = await client.ask("session/set_config_option", sessionId=client.session, configId="mode", value="fly")

    assert [it["currentValue"] for it in chosen["configOptions"]][1] == other
    assert [it["currentValue"] for it in effort["configOptions"]] == ["edit", other, "high"]
    assert client.of_kind("current_mode_update")[-1]["currentModeId"] == "plan"
    assert wrong["code"] == -32602


async def test_a_plan_is_told_as_entries(client, root, script):
    script({"text": "# Rename it\n\n- [ ] find it\n- [ ] change it\n"})
    await client.begin(root)

    await client.prompt("plan it", "plan")

    assert [it["content"] for it in client.of_kind("plan")[-1]["entries"]] == ["find it", "change it"]
    assert "The plan is in [" in client.said()


async def test_what_goes_with_a_prompt_reaches_the_model_but_for_secrets(client, root, script):
    (root / ".env").write_text("TOKEN=hush")
    script({"text": "seen", "when": {"contains": "look at @a.py and @.env"}})
    await client.begin(root)
    picture = base64.b64encode(png()).decode()

    ended = await client.prompt(
        [
            {"type": "text", "text": "look at "},
            {"type": "resource_link", "uri": (root / "a.py").as_uri(), "name": "a.py"},
            {"type": "text", "text": " and "},
            {"type": "resource", "resource": {"uri": (root / ".env").as_uri(), "text": "TOKEN=hush"}},
            {"type": "image", "data": picture, "mimeType": "image/png"},
        ],
        "ask",
    )

    assert ended == {"stopReason": "end_turn"}
    assert client.said().endswith("seen")
    assert ".env was not sent along" in client.said()


async def test_the_clients_text_counts_once_it_is_seen_to_be_unsaved(client, root, script):
    script(READ, edit(3), {"text": "done"})
    await client.begin(root, fs=True)
    (root / "a.py").write_text("line 1\nline 2\nline 3\n")
    client.unsaved[str(root / "a.py")] = "typed\nline 2\nline 3\n"

    await client.prompt("change it")

    assert (root / "a.py").read_text() == "typed\nline 2\nchanged 3\n"
    assert "fs/write_text_file" in [method for method, _ in client.asked]


async def test_dev_09_a_file_is_written_by_a_client_as_it_is(client, root, script):
    """Only what is shown is made fit to be shown."""
    script(READ, edit(3), {"text": "done"})
    await client.begin(root, fs=True)
    (root / "a.py").write_text("line 1\nline 2\nline 3\n")
    client.unsaved[str(root / "a.py")] = "typed \x1b[2K\u202e\nline 2\nline 3\n"

    await client.prompt("change it")

    assert (root / "a.py").read_text() == "typed \x1b[2K\u202e\nline 2\nchanged 3\n"


async def test_dev_07_what_a_model_writes_is_told_to_a_client_as_it_looks(client, root, script):
    hostile = "\x1b]52;c;b3du\x07\u202e"
    call = {"name": "Glob", "arguments": {"pattern": f"b\n{hostile}"}}
    script({"text": f"I look{hostile}", "calls": [call]}, {"text": f"It is{hostile} 👨‍👩‍👧."})
    await client.begin(root)

    await client.prompt("go", "ask")

    assert client.said().endswith("It is\\x1b]52;c;b3du\\x07\\u202e 👨‍👩‍👧.")
    [title] = [it for it in client.calls() if "52;c" in it]
    assert title.isprintable()


async def test_files_are_asked_for_by_the_clients_names_and_only_below_its_folders(client, root, script, tmp_path):
    (tmp_path / "link").symlink_to(root)
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "b.py").write_text("b\n")
    (tmp_path / "c.py").write_text("c\n")
    names = ("a.py", str(tmp_path / "second" / "b.py"), str(tmp_path / "c.py"))
    script({"calls": [{"name": "Read", "arguments": {"file_path": it}} for it in names]}, {"text": "done"})
    client.choose = lambda params: "deny"
    more = [str(tmp_path / "second")]
    await client.begin(root, fs=True, cwd=str(tmp_path / "link"), additionalDirectories=more)

    await client.prompt("read them", "ask")

    read = {params["path"] for method, params in client.asked if method == "fs/read_text_file"}
    assert read == {str(tmp_path / "link" / "a.py"), names[1]}


async def test_a_client_that_serves_the_disk_is_not_asked_to_write(client, root, script):
    script(READ, edit(3), {"text": "done"})
    await client.begin(root, fs=True)

    await client.prompt("change it")

    assert "changed 3\n" in (root / "a.py").read_text()
    assert "fs/write_text_file" not in [method for method, _ in client.asked]


async def test_cancelling_while_permission_is_open_keeps_what_was_accepted(client, root, script):
    script(READ, edit(3, 15, 27), {"text": "done"})
    open_question = asyncio.get_running_loop().create_future()
    client.choose = lambda params: "accept" if "line 3 " in params["toolCall"]["title"] else open_question
    await client.begin(root)
    prompt = asyncio.create_task(client.prompt("change them"))
    await client.until(lambda: len(client.asked) == 2)

    client.says(method="session/cancel", params={"sessionId": client.session})
    open_question.set_result(None)

    assert await prompt == {"stopReason": "cancelled"}
    text = (root / "a.py").read_text()
    assert ("changed 3\n" in text, "changed 15\n" in text) == (True, False)


async def test_two_prompts_at_once_are_answered_in_their_order_and_cancelled_together(client, root, script):
    script({"text": "one", "delayMs": 50}, {"text": "two"}, {"text": "three", "delayMs": 60_000})
    await client.begin(root)

    first, second = await asyncio.gather(client.prompt("a", "ask"), client.prompt("b", "ask"))
    assert (first, second) == ({"stopReason": "end_turn"},) * 2
    assert client.said() == "onetwo"
    waiting = [asyncio.create_task(client.prompt(it, "ask")) for it in "cd"]
    await client.until(lambda: client.count("session/prompt") == 4)
    client.says(method="session/cancel", params={"sessionId": client.session})

    assert await asyncio.gather(*waiting) == [{"stopReason": "cancelled"}] * 2


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"garbage", -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b'{"jsonrpc": "2.0"}', -32600),
        (b'{"id": 7, "method": "session/fly"}', -32601),
        (b'{"id": 7, "method": "session/new", "params": {"cwd": "relative", "mcpServers": []}}', -32600),
        (b'{"id": 7, "method": "session/prompt", "params": {"prompt": 5}}', -32602),
        (b'{"id": 7, "method": "session/prompt", "params": {"sessionId": "no", "prompt": []}}', -32002),
        (b'{"id": 7, "method": "session/load", "params": {"sessionId": "no", "cwd": "/", "mcpServers": 5}}', -32602),
    ],
)
async def test_what_makes_no_sense_is_answered_and_changes_nothing(client, line, code):
    client.agent.receive(line)
    client.says(method="unknown/notification", params={})
    client.says(id=123, result={})

    await client.until(lambda: client.told)
    assert client.told[0]["error"]["code"] == code
    assert (await client.ask("initialize", protocolVersion=1))["protocolVersion"] == 1


async def test_a_client_that_vanishes_ends_the_turn_and_leaves_a_session_that_goes_on(client, root, script):
    script(READ, edit(3, 15), {"text": "done"})
    never = asyncio.get_running_loop().create_future()
    client.choose = lambda params: "accept" if "line 3 " in params["toolCall"]["title"] else never
    await client.begin(root)
    client.says(
        id=99,
        method="session/prompt",
        params={"sessionId": client.session, "prompt": [{"type": "text", "text": "change them"}]},
    )
    await client.until(lambda: len(client.asked) == 2)

    await client.agent.close()
    never.cancel()

    assert "changed 3\n" in (root / "a.py").read_text()
    assert "changed 15\n" not in (root / "a.py").read_text()


async def test_a_turn_that_fails_is_an_error(client, root, script):
    script({"error": {"kind": "failed", "message": "the provider said no"}})
    await client.begin(root)

    failed = await client.prompt("hello", "ask")

    assert "the provider said no" in failed["message"]


async def test_a_server_that_the_client_hands_in_is_used_and_asked_about(client, root, script, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "odin").mkdir(parents=True)
    (tmp_path / "config" / "odin" / "odinconfig.json").write_text(json.dumps({"mcp": {"wait": 30}}))
    toy = scripted(tmp_path, {"tools": [{"name": "echo"}]}, "toy")
    script({"calls": [{"name": "mcp__toy__echo", "arguments": {"text": "hi"}}]}, {"text": "done"})
    server = {"name": "toy", "command": toy.command, "args": list(toy.args), "env": [{"name": "A", "value": "b"}]}
    await client.begin(root, mcpServers=[server])

    assert await client.prompt("say it") == {"stopReason": "end_turn"}

    [(_, asked)] = client.asked
    assert "toy" in json.dumps(asked["toolCall"])
    assert any(it["status"] == "completed" and it["kind"] == "other" for it in client.calls().values())


async def test_a_session_that_is_not_there_is_not_found(client, root):
    await client.begin(root)

    missing = await client.ask("session/load", sessionId="nothing", cwd=str(root), mcpServers=[])
    nowhere = await client.ask("session/new", cwd=str(root / "no"), mcpServers=[])
    nameless = await client.ask("session/new", cwd=str(root), mcpServers=[{"name": "a b", "command": "true"}])

    assert (missing["code"], nowhere["code"], nameless["code"]) == (-32002, -32602, -32602)


async def test_what_is_wrong_with_the_settings_is_told_once_the_session_is_known(client, root):
    (root / "odinconfig.json").write_text('{"nonsense": 1}')

    await client.begin(root)

    await client.until(lambda: client.of_kind("available_commands_update"))
    assert "nonsense" in client.said("agent_thought_chunk")


async def test_a_request_that_is_given_up_ends_its_turn(client, root, script):
    script(READ, {"text": "late", "delayMs": 60_000})
    await client.begin(root)
    first, second = (asyncio.create_task(client.prompt("hello", "ask")) for _ in "ab")
    await client.until(lambda: client.calls())
    number = len(client.requests)

    client.says(method="$/cancel_request", params={"requestId": number})
    client.says(method="$/cancel_request", params={"requestId": number - 1})

    assert await first == await second == {"stopReason": "cancelled"}


async def test_what_is_cancelled_right_after_it_was_asked_for_is_cancelled(client, root, script):
    script({"text": "late", "delayMs": 60_000})
    await client.begin(root)
    words = [{"type": "text", "text": "hello"}]

    client.says(id=98, method="session/prompt", params={"sessionId": client.session, "prompt": words})
    client.says(method="session/cancel", params={"sessionId": client.session})
    client.says(id=99, method="session/load", params={"sessionId": client.session, "cwd": str(root)})
    client.says(method="$/cancel_request", params={"requestId": 99})

    await client.until(lambda: len(client.told) == 2)
    told = {it["id"]: it for it in client.told}
    assert told[98]["result"] == {"stopReason": "cancelled"}
    assert told[99]["error"]["code"] == -32800


@pytest.mark.parametrize(
    ("content", "said"),
    [({"choice": ["1", "2"]}, "red; blue"), ({"choice": [], "text": "green"}, "green"), ({}, ""), (None, "")],
)
async def test_what_the_model_asks_is_a_form_where_the_client_shows_these(client, root, script, content, said):
    asks = {"question": "Which?", "options": [{"label": "red"}, {"label": "blue"}], "multiple": True}
    script({"calls": [{"name": "AskUser", "arguments": asks}]}, {"text": "done"})
    client.fill = lambda params: {"action": "decline"} if content is None else {"action": "accept", "content": content}
    await client.begin(root, forms=True)

    await client.prompt("ask me")

    [(method, params)] = client.asked
    assert (method, params["mode"], params["message"]) == ("elicitation/create", "form", "Which?")
    assert set(params["requestedSchema"]["properties"]) == {"choice", "text"}
    [call] = client.calls().values()
    assert call["status"] == ("completed" if said else "failed")
    assert not said or call["title"] == f"answered: {said}"


async def test_without_forms_a_question_is_a_choice(client, root, script):
    asks = {"question": "Which?", "options": [{"label": "red"}, {"label": "blue"}]}
    script({"calls": [{"name": "AskUser", "arguments": asks}]}, {"text": "done"})
    client.choose = lambda params: "2"
    await client.begin(root)

    await client.prompt("ask me")

    [(_, params)] = client.asked
    assert [it["name"] for it in params["options"]] == ["red", "blue", "Give no answer"]
    assert "blue" in str(client.calls())
