"""Edits from the model to the screen and back, over the wire."""

import asyncio
import json

import pytest
from lsprotocol import types

from tests.e2e.conftest import ODIN, Screen
from tests.e2e.steps import results, results_of, says


@pytest.fixture
def files(root):
    texts = {
        "one.py": "alpha = 1\nbeta = 2\ngamma = 3\ndelta = 4\n",
        "two.py": "first\nsecond\nthird\n",
        "three.txt": "crlf one\r\ncrlf two\r\nno end",
    }
    for name, text in texts.items():
        (root / name).write_bytes(text.encode())
    return {name: root / name for name in texts}


async def test_three_files_and_five_hunks_end_exactly_as_they_were_decided(screen, wire, step, files):
    one, two, three = files.values()
    screen.open(one, two, three)
    step(*(("Read", {"file_path": str(path)}) for path in files.values()))
    step(
        (
            "MultiEditTool",
            {
                "file_path": str(one),
                "edits": [
                    {"old_string": "alpha = 1", "new_string": "alpha = 10"},
                    {"old_string": "gamma = 3", "new_string": "gamma = 30"},
                ],
            },
        ),
        (
            "MultiEditTool",
            {
                "file_path": str(two),
                "edits": [
                    {"old_string": "first", "new_string": "FIRST"},
                    {"old_string": "third", "new_string": "THIRD"},
                ],
            },
        ),
        ("EditTool", {"file_path": str(three), "old_string": "crlf two", "new_string": "CRLF TWO"}),
    )
    wire.play(says())

    def decide(review):
        alpha, gamma, first, third, crlf = (hunk["id"] for file in review["files"] for hunk in file["hunks"])
        screen.type(two, "typed ", 0, 2, 2)
        return {
            "decisions": [
                {"hunkId": alpha, "decision": "accept"},
                {"hunkId": gamma, "decision": "reject", "reason": "gamma stays"},
                {"hunkId": first, "decision": "accept"},
                {"hunkId": third, "decision": "modify", "text": "Third"},
                {"hunkId": crlf, "decision": "accept"},
            ]
        }

    screen.decide = decide
    outcome = await screen.client.command("edit", text="change them")

    assert outcome["answer"] == "done"
    assert [[file["uri"] for file in review["files"]] for review in screen.reviews] == [
        [path.as_uri() for path in files.values()]
    ]
    assert screen.text(one) == "alpha = 10\nbeta = 2\ngamma = 3\ndelta = 4\n"
    assert screen.text(two) == "fityped rst\nsecond\nThird\n"
    assert screen.text(three) == "crlf one\r\nCRLF TWO\r\nno end"
    assert [it["state"] for it in outcome["receipts"]] == ["accepted", "rejected", "superseded", "modified", "accepted"]
    first, second, third = results(wire)
    assert first.startswith("one.py: 1 accepted, 1 rejected.\n- accepted (line 1)\n- rejected (line 3): gamma stays")
    assert ": 1 superseded, 1 modified.\n- superseded (line 1): the user typed there meanwhile" in second
    assert "the user changed it to:\nThird" in second
    assert third == "three.txt: accepted (line 2)."
    assert [path.read_bytes().count(b"\r\n") for path in files.values()] == [0, 0, 2]
    [told] = (await screen.client.command("state"))["messages"]
    assert [(it["accepted"], it["rejected"]) for it in told["reviewed"]] == [(1, 1), (1, 1), (1, 0)]
    finished = [it["event"] for it in screen.client.events if it["event"]["kind"] == "toolFinished"]
    for key in ("added", "removed"):
        assert [it[key] for it in told["toolHistory"]] == [it.get(key, 0) for it in finished] == [0, 0, 0, 1, 2, 1]


async def test_hunks_can_be_decided_by_commands_while_the_turn_waits(screen, wire, step, files):
    one = files["one.py"]
    screen.open(one)
    step(("Read", {"file_path": str(one)}))
    step(("EditTool", {"file_path": str(one), "old_string": "alpha = 1", "new_string": "alpha = 9"}))
    wire.play(says())
    turn = asyncio.ensure_future(screen.client.command("edit", text="go"))
    opened = await screen.client.until_kind("reviewOpened")
    [hunk] = opened["event"]["proposal"]["files"][0]["hunks"]

    listed = await screen.client.command("review.list")
    unknown = await screen.client.command("review.accept", hunkIds=["nothing"])
    accepted = await screen.client.command("review.accept", hunkIds=[hunk["id"]], texts={hunk["id"]: "7"})

    assert listed["proposals"][0]["files"][0]["uri"] == one.as_uri()
    assert unknown == {"receipts": []}
    assert accepted["receipts"][0]["state"] == "modified"
    assert (await turn)["receipts"][0]["state"] == "modified"
    assert "alpha = 7" in screen.text(one)
    assert await screen.client.command("review.accept") == {"receipts": []}


async def test_an_edit_of_what_was_not_seen_is_refused_before_anybody_is_asked(screen, wire, step, files):
    one = files["one.py"]
    screen.open(one)
    step(("EditTool", {"file_path": str(one), "old_string": "alpha", "new_string": "omega"}))
    wire.play(says())

    await screen.client.command("edit", text="go")

    assert results(wire)[0].startswith("Must read file first")
    assert screen.reviews == []


@pytest.mark.parametrize("mode", ["ask", "plan"])
async def test_ask_and_plan_cannot_write(screen, wire, step, files, mode):
    one = files["one.py"]
    screen.open(one)
    step(("Read", {"file_path": str(one)}))
    step(
        ("EditTool", {"file_path": str(one), "old_string": "alpha", "new_string": "omega"}),
        ("WriteFile", {"file_path": str(one.parent / "new.py"), "content": "x"}),
        ("DeleteFile", {"file_path": str(one)}),
    )
    wire.play(says())

    outcome = await screen.client.command(mode, text="go")

    assert [tool["status"] for tool in outcome["tools"]] == ["success", "error", "error", "error"]
    assert screen.reviews == []
    assert screen.text(one) == one.read_text()
    refusals = [it for it in results(wire) if it.startswith(f"{mode.capitalize()} mode cannot change files")]
    assert len(refusals) == 3


async def test_what_waits_outlives_a_cancelled_turn_and_the_model_hears_of_it_with_the_next(screen, wire, step, files):
    one = files["one.py"]
    screen.open(one)
    step(("Read", {"file_path": str(one)}))
    step(("EditTool", {"file_path": str(one), "old_string": "alpha", "new_string": "omega"}))
    turn = asyncio.ensure_future(screen.client.command("edit", text="go", turnId="t"))
    await screen.client.until_kind("reviewOpened")

    await screen.client.command("cancel", turnId="t")
    outcome = await turn

    assert outcome["reason"] == "interrupted"
    assert outcome["receipts"][0]["state"] == "pending"
    [waiting] = (await screen.client.command("review.list"))["proposals"]
    assert waiting["sessionId"] == outcome["sessionId"]
    assert screen.text(one) == one.read_text()

    [receipt] = (await screen.client.command("review.accept"))["receipts"]
    assert receipt["state"] == "accepted"
    assert screen.text(one) == one.read_text().replace("alpha", "omega")
    wire.play(says("Thanks."))
    await screen.client.command("ask", text="and now?")
    said = json.dumps(wire.request["messages"])
    assert "Your edits are still in review." in said
    assert "The user has decided on them since." in said
    assert ": accepted (line" in said


@pytest.fixture
async def screen_that(start, anthropic):
    """A screen with settings of its own, in an editor that saves what it is asked to, in capital letters."""

    async def screen_that(**review):
        edits = types.WorkspaceEditClientCapabilities(document_changes=True)
        client = await start(
            odin={**ODIN, "review": True, "save": True},
            workspace=types.WorkspaceClientCapabilities(apply_edit=True, workspace_edit=edits),
            options={"settings": {"review": review}},
            **anthropic,
        )
        return Screen(client)

    return screen_that


async def test_at_the_end_of_a_turn_everything_is_reviewed_at_once(screen_that, wire, step, files):
    screen = await screen_that(policy="end", save="never")
    one, two = files["one.py"], files["two.py"]
    screen.open(one, two)
    step(*(("Read", {"file_path": str(path)}) for path in (one, two)))
    step(("EditTool", {"file_path": str(one), "old_string": "alpha = 1", "new_string": "alpha = 10"}))
    step(
        ("Read", {"file_path": str(one)}),
        ("Grep", {"pattern": "alpha", "path": str(one.parent), "output_mode": "content"}),
        ("EditTool", {"file_path": str(two), "old_string": "second", "new_string": "SECOND"}),
        ("EditTool", {"file_path": str(one), "old_string": "alpha = 10", "new_string": "alpha = 11"}),
    )
    wire.play(says("first try"), says("I see"))

    def decide(review):
        decisions = [
            {"hunkId": hunk["id"], "decision": "reject" if "SECOND" in hunk["newText"] else "accept", "reason": "no"}
            for file in review["files"]
            for hunk in file["hunks"]
        ]
        return {"decisions": decisions}

    screen.decide = decide
    outcome = await screen.client.command("edit", text="change them")

    assert len(screen.reviews) == 1
    assert [hunk["newText"] for file in screen.reviews[0]["files"] for hunk in file["hunks"]] == ["1", "SECOND"]
    read, found, *_ = results_of(wire.sent[-2].body)
    assert "     1\talpha = 10\n" in read
    assert "your own edits, which the user has not reviewed yet, are shown" in read
    assert "alpha = 10" in found
    assert outcome["answer"] == "I see"
    told = str(wire.request["messages"][-1]["content"])
    assert "one.py: accepted (line" in told
    assert ": no; do not make the same edit again" in told
    assert screen.text(one).startswith("alpha = 11\n")
    assert screen.text(two) == two.read_text()


async def test_a_turn_that_was_saved_is_taken_back_on_disk_too(screen_that, wire, step, files):
    screen = await screen_that(policy="auto")
    one = files["one.py"]
    before = one.read_text()
    screen.open(one)
    saves = screen.saves(formatting=str)
    step(("Read", {"file_path": str(one)}))
    step(("EditTool", {"file_path": str(one), "old_string": "alpha = 1", "new_string": "alpha = 9"}))
    wire.play(says())
    await screen.client.command("edit", text="change it")
    assert one.read_text() == before.replace("alpha = 1", "alpha = 9")

    undone = await screen.client.command("undoTurn")

    assert undone["restored"] == [one.as_uri()]
    assert len(saves) == 2
    assert one.read_text() == before


async def test_what_was_changed_is_saved_and_the_formatter_is_told_of(screen_that, wire, step, files):
    screen = await screen_that(policy="auto")
    one, two = files["one.py"], files["two.py"]
    screen.open(one, two)
    screen.type(two, "mine ", 0)
    saves = screen.saves(formatting=str.upper)
    step(*(("Read", {"file_path": str(path)}) for path in (one, two)))
    step(
        ("EditTool", {"file_path": str(one), "old_string": "alpha = 1", "new_string": "alpha = 9"}),
        ("EditTool", {"file_path": str(two), "old_string": "third", "new_string": "THIRD"}),
    )
    wire.play(says(), says("again"))

    await screen.client.command("edit", text="go")
    await screen.client.command("edit", text="and now?")

    assert saves == [[one.as_uri()]]
    assert one.read_text() == "ALPHA = 9\nBETA = 2\nGAMMA = 3\nDELTA = 4\n"
    assert two.read_text() == "first\nsecond\nthird\n"
    told = str(wire.request["messages"][-2]["content"]) + str(wire.request["messages"][-1]["content"])
    assert "the editor's formatter changed it" in told
    assert "ALPHA = 9" in told


async def test_a_project_is_described_in_odin_md_also_without_a_model(start, root):
    operations = [types.ResourceOperationKind.Create]
    edits = types.WorkspaceEditClientCapabilities(document_changes=True, resource_operations=operations)
    workspace = types.WorkspaceClientCapabilities(apply_edit=True, workspace_edit=edits)
    screen = Screen(await start(odin={**ODIN, "review": True}, workspace=workspace))
    screen.decide = lambda review: {
        "decisions": [{"hunkId": review["files"][0]["hunks"][0]["id"], "decision": "accept"}]
    }

    outcome = await screen.client.command("init")

    text = screen.text(root / "ODIN.md")
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Overview",
        "## Architecture",
        "## Components",
        "## Commands",
    ]
    assert "Languages: Python (1 file)" in text
    assert "ODIN.md: accepted." in outcome["answer"]
    [began] = [it["event"] for it in screen.client.events if it["event"]["kind"] == "turnStarted"]
    assert began["text"] == "/init", "what the model is told is nothing that the user has said"
    assert screen.reviews[0]["files"][0]["note"] == "changes what agents are told"


async def test_a_command_that_only_read_before_the_review_is_asked_about_after_it(screen_that, wire, step, files, root):
    """While edits are reviewed a name becomes a folder: then `diff` opens what is in it, which nobody has allowed."""
    screen = await screen_that(policy="end", save="never")
    one = files["one.py"]
    screen.open(one)
    (root / ".venv" / "bin").mkdir(parents=True)
    (root / ".venv" / "pyvenv.cfg").touch()
    for name in ("python", "diff"):
        (root / ".venv" / "bin" / name).write_text(f"#!/bin/sh\ntouch {root}/PWNED\n")
        (root / ".venv" / "bin" / name).chmod(0o755)
    step(("Read", {"file_path": str(one)}))
    step(("EditTool", {"file_path": str(one), "old_string": "alpha = 1", "new_string": "alpha = 10"}))
    step(("ExecuteCommand", {"command": "diff two.py y"}))
    wire.play(says())

    def decide(review):
        (root / "y").mkdir()
        return {
            "decisions": [
                {"hunkId": hunk["id"], "decision": "accept"} for file in review["files"] for hunk in file["hunks"]
            ]
        }

    screen.decide = decide
    await screen.client.command("edit", text="go")

    assert screen.text(one).startswith("alpha = 10\n")
    assert [question["command"] for question in screen.client.questions] == ["diff two.py y"]
    assert not (root / "PWNED").exists()
