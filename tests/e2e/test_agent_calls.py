"""An agent of others has its calls made in the Odin that an editor has started: on its text, and in its review."""

import asyncio

import pytest

from odin_lsp.agent_door.calls import agent_calls
from odin_lsp.errors import RequestError
from odin_lsp.host import place
from odin_lsp.host.remote import attached
from odin_lsp.ports import decide_all
from tests.e2e.conftest import ODIN_LSP, PATIENCE, Screen
from tests.e2e.test_attaching import Person, listens
from tests.support.forking import forked

LINES = "".join(f"line {number}\n" for number in range(1, 31))
EDITS = [{"old_string": f"line {it}\n", "new_string": f"changed {it}\n"} for it in (3, 15, 27)]
TYPED = "# typed, not saved\n"


def decides(reject=None):
    """Accept each hunk but one."""

    def decide(review):
        hunks = [hunk for file in review["files"] for hunk in file["hunks"]]
        refused = {"decision": "reject", "reason": "keep it"}
        chosen = [refused if number == reject else {"decision": "accept"} for number, _ in enumerate(hunks, 1)]
        return {"decisions": [{"hunkId": it["id"], **said} for it, said in zip(hunks, chosen, strict=True)]}

    return decide


@pytest.fixture
async def editor(screen, root):
    """It has a document open that is not saved."""
    (root / "a.py").write_text(LINES)
    screen.open(root / "a.py")
    screen.type(root / "a.py", TYPED, 0)
    await listens(root)
    return screen


async def test_an_agent_reads_what_is_not_saved_and_the_editor_reviews_its_hunks(editor: Screen, root):
    editor.decide = decides(reject=2)
    mine = (await editor.client.command("session.new"))["sessionId"]

    async with agent_calls(root, agent="some agent") as calls:
        read = await calls.call("Read", {"file_path": "a.py"})
        edited = await calls.call("MultiEditTool", {"file_path": "a.py", "edits": EDITS})

    assert (TYPED.strip() in read.content, read.failed) == (True, False)
    assert edited.content.startswith("a.py: 2 accepted, 1 rejected.")
    assert "keep it" in edited.content
    expected = TYPED + LINES.replace("line 3\n", "changed 3\n").replace("line 27\n", "changed 27\n")
    assert (editor.text(root / "a.py"), (root / "a.py").read_text()) == (expected, LINES)
    assert [it["origin"] for it in editor.reviews] == ["some-agent"]
    assert editor.reviews[0]["files"][0]["note"] == "proposed by some-agent"
    written = await editor.client.command("provenance", uri=(root / "a.py").as_uri())
    assert [it["origin"] for it in written["ranges"]] == ["some-agent", "some-agent"]
    started = await editor.client.until(lambda it: it["event"].get("text") == "some-agent: MultiEditTool")
    assert ((await editor.client.command("state"))["sessionId"], started["sessionId"] != mine) == (mine, True)


async def test_a_call_that_is_given_up_is_taken_off_the_screen(editor: Screen, root):
    shown = asyncio.Event()
    editor.decide = lambda _: shown.set()
    async with agent_calls(root, agent="agent") as calls:
        writing = asyncio.create_task(calls.call("WriteFile", {"file_path": "new.py", "content": "x\n"}))
        async with asyncio.timeout(PATIENCE):
            await shown.wait()
        writing.cancel()
        closed = await editor.client.until_kind("reviewClosed")

        assert [(it["state"], it["cause"]) for it in closed["event"]["receipts"]] == [("rejected", "cancelled")]
        assert "line 1" in (await calls.call("Read", {"file_path": "a.py"})).content
    assert not (root / "new.py").exists()


async def test_a_call_that_the_person_cancels_is_told_with_what_was_decided_until_then(editor: Screen, root):
    async with agent_calls(root, agent="agent") as calls:
        await calls.call("Read", {"file_path": "a.py"})
        editing = asyncio.create_task(calls.call("MultiEditTool", {"file_path": "a.py", "edits": EDITS}))
        opened = await editor.client.until_kind("reviewOpened")
        first = opened["event"]["proposal"]["files"][0]["hunks"][0]["id"]
        await editor.client.command("review.accept", hunkIds=[first])
        await editor.client.command("cancel", turnId=opened["turnId"], drop=True)
        told = await editing

    assert told.failed
    assert told.content.startswith("canceled by the user\n")
    assert "a.py: 1 accepted, 2 rejected." in told.content


async def test_a_folder_below_finds_the_odin_around_it(editor: Screen, root):
    below = root / "below"
    below.mkdir()
    (below / "b.py").write_text("below\n")
    editor.open(below / "b.py")
    editor.decide = decides()

    async with agent_calls(below, agent="agent") as calls:
        read = await calls.call("Read", {"file_path": "b.py"})
        found = await calls.call("Grep", {"pattern": "e"})
        above = await calls.call("Read", {"file_path": str(root / "a.py")})
        await calls.call("ReplaceInFiles", {"pattern": "below", "replacement": "changed", "glob": "*.py"})

    assert "below" in read.content
    assert ("b.py" in found.content, "a.py" in found.content) == (True, False)
    assert TYPED.strip() in above.content
    assert editor.text(below / "b.py") == "changed\n"


async def test_each_folder_of_an_editor_finds_its_odin_for_as_long_as_it_is_open(editor: Screen, root, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.py").write_text("on disk\n")
    editor.client.changes_folders(added=[other])
    await listens(other)
    editor.open(other / "b.py")
    editor.type(other / "b.py", TYPED, 0)

    async with agent_calls(root, agent="agent") as calls:
        first = await calls.call("Read", {"file_path": "a.py"})
    async with agent_calls(other, agent="agent") as calls:
        second = await calls.call("Read", {"file_path": "b.py"})
        found = await calls.call("Grep", {"pattern": "typed|line"})
    editor.client.changes_folders(removed=[other])
    async with asyncio.timeout(PATIENCE):
        while place.owner_of(other):
            await asyncio.sleep(0.02)

    assert (TYPED.strip() in first.content, TYPED.strip() in second.content) == (True, True)
    assert ("b.py" in found.content, "a.py" in found.content) == (True, False)
    assert place.owner_of(root)


async def test_calls_of_one_conversation_are_one_session(editor: Screen, root):
    editor.decide = decides()
    edit = {"file_path": "a.py", "old_string": "line 3\n", "new_string": "changed 3\n"}

    async with agent_calls(root, agent="agent", conversation="7") as calls:
        await calls.call("Read", {"file_path": "a.py"})
    async with agent_calls(root, agent="agent", conversation="8") as calls:
        unread = await calls.call("EditTool", edit)
    async with agent_calls(root, agent="agent", conversation="7") as calls:
        edited = await calls.call("EditTool", edit)

    assert (unread.failed, edited.failed) == (True, False)
    assert "changed 3\n" in editor.text(root / "a.py")


async def test_other_tools_are_refused(editor: Screen, root):
    async with agent_calls(root, agent="agent") as calls:
        with pytest.raises(RequestError, match="no such tool"):
            await calls.call("ExecuteCommand", {"command": "touch made"})
        hidden = await calls.call("Read", {"file_path": ".env"})

    assert hidden.failed
    assert not (root / "made").exists()


async def test_it_goes_where_the_person_is_when_an_editor_is_opened_and_closed(start, root, anthropic):
    (root / "a.py").write_text("on disk\n")
    async with agent_calls(root, agent="agent") as calls:
        alone = await calls.call("Read", {"file_path": "a.py"})
        client = await start(**anthropic)
        client.opens(root / "a.py", "on the screen\n")
        await listens(root)
        beside = await calls.call("Read", {"file_path": "a.py"})
        await client.leave()
        async with asyncio.timeout(PATIENCE):
            while place.owner_of(root):
                await asyncio.sleep(0.02)
        again = await calls.call("Read", {"file_path": "a.py"})

    assert ["on disk" in it.content for it in (alone, beside, again)] == [True, False, True]


async def test_a_restricted_folder_can_be_read_only(start, root, anthropic):
    await start(options={"trusted": False}, **anthropic)
    await listens(root)

    async with agent_calls(root, agent="agent") as calls:
        assert "def greet" in (await calls.call("Read", {"file_path": "greet.py"})).content
        with pytest.raises(RequestError, match="trust the workspace"):
            await calls.call("WriteFile", {"file_path": "new.py", "content": "x\n"})
    assert not (root / "new.py").exists()


@pytest.fixture
async def resident(root, anthropic, monkeypatch):
    """An Odin without an editor."""
    for name, value in anthropic.items():
        monkeypatch.setenv(name, value)
    (root / "a.py").write_text(LINES)
    process = await asyncio.create_subprocess_exec(*forked(ODIN_LSP), "host", "run", "--cwd", root)
    await listens(root)
    yield
    process.terminate()
    await process.wait()


async def test_without_an_editor_the_agent_asks_its_user_hunk_by_hunk(resident, root):
    asked, made = [], []

    async def ask(method, params):
        asked.append(params["message"])
        made.append((root / "a.py").read_text().count("changed"))
        decision = "reject" if "changed 15" in params["message"] else "accept"
        return {"action": "accept", "content": {"decision": decision, "reason": "keep it"}}

    async with agent_calls(root, agent="agent", ask=ask) as calls:
        await calls.call("Read", {"file_path": "a.py"})
        edited = await calls.call("MultiEditTool", {"file_path": "a.py", "edits": EDITS})

    assert edited.content.startswith("a.py: 2 accepted, 1 rejected.")
    assert ("keep it" in edited.content, len(asked), made) == (True, 3, [0, 1, 1])
    assert (root / "a.py").read_text() == LINES.replace("line 3\n", "changed 3\n").replace("line 27\n", "changed 27\n")


async def test_without_an_editor_a_terminal_decides_and_the_agent_is_not_asked(resident, root):
    person = Person()
    person.is_for_own = False

    async def accept(review):
        return decide_all(review, "accept")

    async def ask(method, params):
        raise AssertionError(params)

    person.on_review = accept
    async with await attached(root, {}, person), agent_calls(root, agent="agent", ask=ask) as calls:
        written = await calls.call("WriteFile", {"file_path": "new.py", "content": "x\n"})

    assert ([it.origin for it in person.reviews], written.failed) == (["agent"], False)
    assert (root / "new.py").read_text() == "x\n"


async def test_where_nobody_can_be_asked_it_is_refused_with_what_to_do(resident, root):
    async with agent_calls(root, agent="agent") as calls:
        written = await calls.call("WriteFile", {"file_path": "new.py", "content": "x\n"})

    assert (written.failed, (root / "new.py").exists()) == (True, False)
    assert written.content.endswith("run `odin-lsp chat` in it, and then make the call again")
