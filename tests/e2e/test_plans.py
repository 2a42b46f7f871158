"""Plan → the document, edited by hand → execute → steps ticked; over the wire."""

import asyncio
from pathlib import Path

import pytest
from lsprotocol import types

from odin_lsp.agent.plans import MARK
from odin_lsp.workspace.uris import path_of
from tests.e2e.steps import says

PLAN = """# Greet louder

## Steps

- [ ] Shout in `greet.py`
- [ ] Translate it
- [ ] Test it

## Verification

Run it.
"""


@pytest.fixture
async def planned(screen, wire):
    """A plan that Odin has made: the document's path."""
    wire.play(says(PLAN))
    outcome = await screen.client.command("plan", text="greet louder")
    return Path(path_of(outcome["plan"]))


def todos(*done, of):
    items = [
        {"id": f"step-{number}", "content": title, "status": "completed" if number in done else "pending"}
        for number, title in of.items()
    ]
    return "TodoWrite", {"todos": items}


def boxes(text):
    return [line for line in text.splitlines() if line.startswith("- [")]


async def test_a_plan_edited_by_hand_is_carried_out_and_ticked_in_the_editor(screen, planned, wire, step, root):
    screen.open(planned)
    line = screen.text(planned).splitlines().index("- [ ] Translate it")
    screen.type(planned, "Sing", line, 6, 18)
    steps = {1: "Shout in `greet.py`", 2: "Sing", 3: "Test it"}
    step(todos(1, of=steps), ("Read", {"file_path": str(root / "greet.py")}))
    step(todos(1, 2, of=steps))
    wire.play(says("did two"), says("did two of three"))

    outcome = await screen.client.command("executePlan", uri=planned.as_uri(), turnId="run")

    assert (outcome["mode"], outcome["answer"]) == ("edit_mode", "did two of three")
    assert boxes(screen.text(planned)) == ["- [x] Shout in `greet.py`", "- [x] Sing", "- [ ] Test it"]
    assert boxes(planned.read_text()) == ["- [ ] Shout in `greet.py`", "- [ ] Translate it", "- [ ] Test it"]
    asked = str(wire.request["messages"])
    assert "Carry out the plan “Greet louder”: steps 1, 2, 3 of 3" in asked
    [began] = [it["event"] for it in screen.client.events if it["turnId"] == "run" and "text" in it["event"]][:1]
    assert began["text"] == "Run steps 1, 2, 3 of the plan “Greet louder”.", "the user's words are for people"
    assert "greet louder" in asked, "it is the session that has made the plan"
    assert "the id of each is `step-` and its number" in asked
    assert "[pending] Test it (id step-3)" in asked, "it was reminded of what it left open"
    assert "todosChanged" in screen.client.kinds("run")
    assert (root / "greet.py").read_text().startswith("def greet(name):"), "the workspace stays as it was"
    assert sorted(path.name for path in root.iterdir()) == ["greet.py"]


async def test_one_step_of_a_document_that_is_not_open_is_ticked_on_disk(screen, planned, wire, step):
    step(todos(2, of={2: "Translate it"}))
    wire.play(says("translated"))

    await screen.client.command("executePlan", uri=planned.as_uri(), steps=[2])

    assert boxes(planned.read_text()) == ["- [ ] Shout in `greet.py`", "- [x] Translate it", "- [ ] Test it"]
    sent = [block["text"] for message in wire.request["messages"] for block in message["content"] if "text" in block]
    assert any("step 2 of 3" in text and "2. Translate it" in text and "1. Shout" not in text for text in sent)


async def test_a_step_that_left_the_document_meanwhile_is_reported_and_nothing_else_is_ticked(
    screen, planned, wire, step, root
):
    screen.open(planned)
    line = screen.text(planned).splitlines().index("- [ ] Shout in `greet.py`")

    def types_and_rejects(review):
        screen.type(planned, "Whisper", line, 6, 25)
        return {"decisions": [{"hunkId": review["files"][0]["hunks"][0]["id"], "decision": "reject"}]}

    screen.decide = types_and_rejects
    step(("WriteFile", {"file_path": str(root / "new.py"), "content": "pass\n"}))
    step(todos(1, of={1: "Shout in `greet.py`"}))
    wire.play(says())

    await screen.client.command("executePlan", uri=planned.as_uri(), steps=[1], turnId="run")

    notice = await screen.client.until_kind("notice", "run")
    assert "a step is done and not ticked" in notice["event"]["message"]
    assert boxes(screen.text(planned)) == ["- [ ] Whisper", "- [ ] Translate it", "- [ ] Test it"]


@pytest.mark.parametrize(
    ("mangle", "reason"),
    [
        (lambda path: path.unlink(), "does not exist"),
        (lambda path: path.write_bytes(b"\x00\x01\x02"), "is not text"),
        (lambda path: path.write_text("# Greet louder\n\nAll gone.\n"), "has no steps"),
        (lambda path: path.write_text("- [x] Shout\n- [-] Test\n"), "done or skipped"),
    ],
)
async def test_a_plan_that_was_deleted_or_mangled_meanwhile_is_refused(screen, planned, wire, mangle, reason):
    mangle(planned)
    requests = len(wire.sent)

    with pytest.raises(Exception, match=reason):
        await screen.client.command("executePlan", uri=planned.as_uri())

    assert len(wire.sent) == requests
    assert not (await screen.client.command("state"))["executing"]


async def test_a_plan_refused_with_a_reason_goes_on_planning(screen, planned, wire):
    screen.open(planned)
    line = screen.text(planned).splitlines().index("- [ ] Test it")
    screen.type(planned, "by hand", line, 13, 13)
    screen.client.answers = [{"optionIds": [], "text": "leave the languages out"}, None]
    wire.play(says(PLAN.replace("- [ ] Translate it\n", "")))

    outcome = await screen.client.command("plan.refuse", uri=planned.as_uri())
    silence = await screen.client.command("plan.refuse", uri=planned.as_uri())

    assert outcome["mode"] == "plan_mode"
    asked = str(wire.request["messages"])
    assert "The plan is not right yet: leave the languages out" in asked
    assert "- [ ] Test itby hand" in asked, "the model sees what the user has made of it"
    assert boxes(Path(path_of(outcome["plan"])).read_text()) == ["- [ ] Shout in `greet.py`", "- [ ] Test it"]
    assert "by hand" in screen.text(planned), "and the user's text is still there"
    assert silence == {"cancelled": True}


async def test_steps_have_code_lenses_that_run_skip_and_tick_them(screen, planned, wire, step, root):
    screen.open(planned, root / "greet.py")
    client = screen.client

    async def lenses(path):
        params = types.CodeLensParams(types.TextDocumentIdentifier(path.as_uri()))
        return await client.lsp.text_document_code_lens_async(params)

    found = await lenses(planned)
    titles = [lens.command.title.removeprefix("Odin: ") for lens in found]
    assert titles == ["Run the open steps", "Plan on…", *["Run", "Skip", "Done"] * 3]
    assert not await lenses(root / "greet.py")

    for title, index in (("Skip", 0), ("Done", 1)):
        lens = [it for it in found if it.command.title == f"Odin: {title}"][index]
        await click(client, lens)
    assert boxes(screen.text(planned)) == ["- [-] Shout in `greet.py`", "- [x] Translate it", "- [ ] Test it"]

    step(todos(3, of={3: "Test it"}))
    wire.play(says("tested"))
    again = await lenses(planned)
    outcome = await click(client, next(it for it in again if it.command.title == "Odin: Run"))
    assert outcome["answer"] == "tested"
    assert boxes(screen.text(planned))[2] == "- [x] Test it"
    assert [it.command.title for it in await lenses(planned)][1:] == ["Odin: Open again"] * 3


async def click(client, lens):
    params = types.ExecuteCommandParams(lens.command.command, lens.command.arguments)
    return await client.lsp.workspace_execute_command_async(params)


async def test_a_plan_is_shown_where_the_client_shows_documents(start, script):
    window = types.WindowClientCapabilities(show_document=types.ShowDocumentClientCapabilities(True))
    client = await start(odin={}, window=window, **script({"text": PLAN}, {"text": "which one?"}))
    outcome = await client.command("plan", text="greet louder")
    other = await client.command("plan", text="hm")

    assert client.lsp.shown_documents[0].uri == outcome["plan"]
    assert "plan" not in other


async def test_an_editor_that_stands_still_until_a_command_is_answered_need_not_wait_for_a_plan(start, script, root):
    (root / "plan.md").write_text(f"{MARK}\n\n- [ ] one\n")
    client = await start(odin={}, **script({"text": "done", "when": {"contains": "Carry out the plan"}}))
    client.opens(root / "plan.md")
    lenses = await client.lsp.text_document_code_lens_async(
        types.CodeLensParams(types.TextDocumentIdentifier((root / "plan.md").as_uri()))
    )

    answers = [await click(client, lens) for lens in lenses if lens.command.title == "Odin: Run"]

    assert answers == [{"begun": True}]
    async with asyncio.timeout(60):
        while not any("done" in it.message for it in client.lsp.messages):
            await asyncio.sleep(0.01)


async def test_in_the_editors_restricted_mode_no_plan_is_carried_out(start, script, root):
    (root / "plan.md").write_text("- [ ] rm -rf\n")
    client = await start(options={"trusted": False}, **script({"text": "x"}))

    with pytest.raises(Exception, match="Restricted Mode"):
        await client.command("executePlan", uri=(root / "plan.md").as_uri())
