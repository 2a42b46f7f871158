"""What waits for a decision outlives the server, and the turn that waited goes on."""

import asyncio
import json
import random

import pytest
from lsprotocol import types

from odin_lsp.agent_door.calls import agent_calls
from tests.e2e.conftest import ODIN, Document, Screen
from tests.e2e.steps import results, says
from tests.e2e.test_attaching import listens
from tests.support.sampling import SEED

WORKSPACE = types.WorkspaceClientCapabilities(
    apply_edit=True, workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)
)
ANSWER_TOKENS = 17
OLD = "alpha = 1\nbeta = 2\ngamma = 3\ndelta = 4\nepsilon = 5\n"


@pytest.fixture
async def screen_of(start, anthropic):
    """An editor with a server of its own."""

    async def screen_of(**more) -> Screen:
        odin = {**ODIN, "review": True, "save": True}
        screen = Screen(await start(odin=odin, workspace=WORKSPACE, **anthropic, **more))
        screen.saves(formatting=str)
        return screen

    return screen_of


@pytest.fixture
def one(root):
    path = root / "one.py"
    path.write_text(OLD)
    return path


async def killed(screen: Screen) -> None:
    """What is forked next comes after the end of what was forked."""
    screen.client._has_left = True
    server = screen.client.lsp._server
    server.kill()
    await server.wait()


async def left(screen: Screen) -> None:
    await screen.client.leave()


async def hung_up(screen: Screen) -> None:
    """The editor was killed."""
    screen.client._has_left = True
    server = screen.client.lsp._server
    server.stdin.close()
    await server.wait()


@pytest.fixture
async def waiting(screen_of, step, one):
    """A turn that has read two files and waits with two hunks, of which one is accepted."""
    screen = await screen_of()
    screen.open(one)
    step(("Read", {"file_path": str(one)}))
    edit = {"file_path": str(one), "edits": [{"old_string": "alpha", "new_string": "ALPHA"}]}
    edit["edits"].append({"old_string": "epsilon", "new_string": "EPSILON"})
    step(("Glob", {"pattern": "*.py"}), ("MultiEditTool", edit), ("Glob", {"pattern": "one.*"}))
    turn = asyncio.ensure_future(screen.client.command("edit", text="go", turnId="t"))
    opened = await screen.client.until_kind("reviewOpened")
    first, second = opened["event"]["proposal"]["files"][0]["hunks"]
    [receipt] = (await screen.client.command("review.accept", hunkIds=[first["id"]]))["receipts"]
    assert receipt["state"] == "accepted"
    assert screen.text(one) == OLD.replace("alpha", "ALPHA")
    one.write_text(screen.text(one))
    yield screen, first["id"], second["id"]
    turn.cancel()
    await asyncio.wait([turn])


@pytest.mark.parametrize("verb", ["accept", "reject", "reopen"])
async def test_a_decision_counts_right_after_the_start(waiting, screen_of, one, verb):
    """Editors show what waits while the server is started anew."""
    screen, first, second = waiting
    await left(screen)

    other = await screen_of()
    other.open(one)
    chosen = first if verb == "reopen" else second
    [receipt] = (await other.client.command(f"review.{verb}", hunkIds=[chosen]))["receipts"]

    state = {"accept": "accepted", "reject": "rejected", "reopen": "pending"}[verb]
    assert (receipt["hunkId"], receipt["state"]) == (chosen, state)


@pytest.mark.parametrize("ending", [killed, left, hung_up])
async def test_the_turn_goes_on_where_it_waited_without_asking_again(waiting, screen_of, wire, one, ending):
    screen, first, second = waiting
    await ending(screen)
    asked = len(wire.sent)

    other = await screen_of()
    other.open(one)
    opened = await other.client.until_kind("reviewOpened")
    assert opened["turnId"] == "t"
    hunks = {it["id"]: it["state"] for it in opened["event"]["proposal"]["files"][0]["hunks"]}
    assert hunks == {first: "accepted", second: "pending"}
    assert len(wire.sent) == asked
    wire.play(says("All done."))
    await other.client.command("review.accept", hunkIds=[second])
    outcome = (await other.client.until_kind("turnFinished"))["event"]["outcome"]

    assert (outcome["turnId"], outcome["reason"], outcome["answer"]) == ("t", "end_turn", "All done.")
    assert [it["state"] for it in outcome["receipts"]] == ["accepted", "accepted"]
    assert outcome["usage"]["outputTokens"] == ANSWER_TOKENS * len(wire.sent)
    assert (await other.client.command("state"))["usage"] == outcome["usage"]
    assert other.text(one) == OLD.replace("alpha", "ALPHA").replace("epsilon", "EPSILON")
    assert one.read_text() == other.text(one)
    assert len(wire.sent) == asked + 1
    found, edited, found_again = results(wire)
    assert "one.py" in found
    assert ": accepted (lines " in edited
    assert "one.py" in found_again
    assert (await other.client.command("review.list"))["proposals"] == []
    [turn] = (await other.client.command("state"))["messages"]
    assert (turn["turnId"], turn["reason"]) == ("t", "end_turn")
    events = [it["event"] for it in (await other.client.command("session.events"))["events"]]
    ended = [it for it in events if it["kind"] == "toolFinished"]
    assert [it["name"] for it in ended] == ["Read", "Glob", "MultiEditTool", "Glob"]
    assert {it["status"] for it in ended} == {"success"}
    assert ended[2]["description"] == "one.py, decided later"


async def test_what_was_accepted_and_not_saved_before_is_saved_when_the_turn_ends(waiting, screen_of, wire, one):
    """The editor has kept what was not saved."""
    screen, _, second = waiting
    await killed(screen)
    unsaved = one.read_text()
    one.write_text(OLD)

    other = await screen_of()
    other.documents[one.as_uri()] = Document(unsaved)
    other.client.opens(one, unsaved)
    await other.client.until_kind("reviewOpened")
    wire.play(says("All done."))
    await other.client.command("review.reject", hunkIds=[second])
    await other.client.until_kind("turnFinished")

    assert one.read_text() == other.text(one) == OLD.replace("alpha", "ALPHA")


async def test_who_says_something_else_first_is_told_the_truth(waiting, screen_of, wire, one):
    screen, _, second = waiting
    await killed(screen)

    other = await screen_of()
    other.open(one)
    session = (await other.client.until_kind("reviewOpened"))["event"]["proposal"]["sessionId"]
    wire.play(says("Something else."))
    await other.client.command("ask", text="what is this?", sessionId=session)
    ended = await other.client.until_kind("turnFinished")
    assert (ended["turnId"], ended["event"]["outcome"]["reason"]) == ("t", "aborted")
    assert ended["event"]["outcome"]["usage"]["outputTokens"] > 0
    assert [it for it in results(wire) if "not decided yet" in it]
    await other.client.command("review.reject", hunkIds=[second])
    await other.client.until_kind("reviewClosed")
    wire.play(says("I see."))
    await other.client.command("ask", text="and now?", sessionId=session)

    said = json.dumps(wire.request["messages"])
    assert "The user has decided on them since." in said
    assert ": 1 accepted, 1 rejected." in said
    [cut_off, *_] = (await other.client.command("state"))["messages"]
    assert (cut_off["turnId"], cut_off["reason"]) == ("t", "aborted")


async def test_what_waits_in_a_folder_is_there_when_the_folder_is_opened(waiting, screen_of, root, one, tmp_path):
    screen, _, second = waiting
    await killed(screen)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    other = await screen_of(folder=elsewhere)
    assert (await other.client.command("review.list"))["proposals"] == []
    other.client.changes_folders(removed=[elsewhere], added=[root])
    other.open(one)
    opened = await other.client.until_kind("reviewOpened")

    assert second in [it["id"] for it in opened["event"]["proposal"]["files"][0]["hunks"]]


FILES, HUNKS = 8, 5
RELOADS = 5 if SEED else 20


@pytest.mark.thorough
async def test_a_review_of_40_hunks_outlives_many_reloads(screen_of, step, wire, root):
    """After each the next editor decides on some more; each file on disk is what was decided so far."""
    chance, paths = random.Random(1), [root / f"file{number}.py" for number in range(FILES)]
    for path in paths:
        path.write_text("".join(f"old_{index} = 0\n\n\n" for index in range(HUNKS)))
    edits = [{"old_string": f"old_{index} ", "new_string": f"new_{index} "} for index in range(HUNKS)]
    screen = await screen_of()
    for path in paths:
        screen.open(path)
    step(*(("Read", {"file_path": str(path)}) for path in paths))
    step(*(("MultiEditTool", {"file_path": str(path), "edits": edits}) for path in paths))
    turn = asyncio.ensure_future(screen.client.command("edit", text="go", turnId="t"))
    decided: dict[str, str] = {}
    for number in range(RELOADS + 1):
        opened = await screen.client.until_kind("reviewOpened")
        hunks = {it["id"]: it for file in opened["event"]["proposal"]["files"] for it in file["hunks"]}
        assert {key: it["state"] for key, it in hunks.items()} == dict.fromkeys(hunks, "pending") | decided
        assert len(hunks) == FILES * HUNKS
        for key in chance.sample([it for it in hunks if it not in decided], len(hunks) // RELOADS if number else 0):
            word = chance.choice(["accept", "reject"])
            [receipt] = (await screen.client.command(f"review.{word}", hunkIds=[key]))["receipts"]
            decided[key] = receipt["state"]
            assert receipt["state"] == f"{word}ed"
        for path in paths:
            path.write_text(screen.text(path))
        if number == RELOADS:
            break
        await chance.choice([killed, left, hung_up])(screen)
        turn.cancel()
        await asyncio.wait([turn])
        screen = await screen_of()
        for path in paths:
            screen.open(path)
        if number == RELOADS - 1:
            wire.play(says("All done."))
    outcome = (await screen.client.until_kind("turnFinished"))["event"]["outcome"]

    assert {it["hunkId"]: it["state"] for it in outcome["receipts"]} == decided
    assert sum(path.read_text().count("new_") for path in paths) == list(decided.values()).count("accepted")


@pytest.mark.parametrize("ending", [killed, left])
async def test_what_an_agent_of_others_has_proposed_waits_too_and_no_model_is_asked_for_it(
    screen_of, one, root, wire, ending
):
    screen = await screen_of()
    screen.open(one)
    await listens(root)
    edit = {"file_path": str(one), "old_string": "alpha", "new_string": "ALPHA"}
    async with agent_calls(root, agent="another") as calls:
        await calls.call("Read", {"file_path": str(one)})
        proposing = asyncio.create_task(calls.call("EditTool", edit))
        opened = await screen.client.until_kind("reviewOpened")
        await ending(screen)
        told = await proposing
    assert (told.failed, "has ended" in told.content) == (True, True)

    again = await screen_of()
    again.open(one)
    [review] = (await again.client.command("review.list"))["proposals"]
    await again.client.command("review.accept")
    await again.client.until_kind("reviewClosed")

    assert (review["origin"], review["proposalId"]) == ("another", opened["event"]["proposal"]["proposalId"])
    assert again.text(one) == OLD.replace("alpha", "ALPHA")
    await left(again)
    assert not wire.sent
