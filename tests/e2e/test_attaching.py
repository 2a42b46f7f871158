"""A terminal works through the Odin that an editor has started: one conversation, one text, one review."""

import asyncio
import json
import os
import signal
import sys

import pytest

from odin_lsp.errors import OdinError
from odin_lsp.events import QuestionAnswered, ReviewClosed, TurnFinished, TurnStarted
from odin_lsp.host import place
from odin_lsp.host.remote import attached
from odin_lsp.ports import Answer, decide_all
from tests.e2e.conftest import ODIN, ODIN_LSP, PATIENCE
from tests.e2e.steps import results, said, says
from tests.support import wire as kit
from tests.support.forking import forked

TYPED = "# typed, not saved\n"
POLITE = {"old_string": "hello {name}", "new_string": "Hello, {name}!"}


def accept_all(review):
    hunks = [hunk for file in review["files"] for hunk in file["hunks"]]
    return {"decisions": [{"hunkId": hunk["id"], "decision": "accept"} for hunk in hunks]}


async def never(_):
    await asyncio.Event().wait()


class Person:
    """At a terminal that has attached."""

    can_ask = True
    is_for_own = True

    def __init__(self):
        self.questions, self.reviews, self.heard, self.records = [], [], [], []
        self.on_question = self.on_review = never
        self.changed = asyncio.Event()

    async def ask(self, question):
        self.questions.append(question)
        self.changed.set()
        return await self.on_question(question)

    async def review(self, review):
        self.reviews.append(review)
        self.changed.set()
        return await self.on_review(review)

    def notify(self, level, message):
        self.heard.append(message)
        self.changed.set()

    def hear(self, record):
        self.records.append(record)
        self.changed.set()

    async def until(self, condition):
        async with asyncio.timeout(PATIENCE):
            while not (found := condition()):
                self.changed.clear()
                await self.changed.wait()
        return found

    async def until_heard(self, kind):
        return await self.until(lambda: next((it for it in self.records if isinstance(it.event, kind)), None))


async def listens(root):
    async with asyncio.timeout(PATIENCE):
        while (found := place.connected(root)) is None:
            await asyncio.sleep(0.02)
        found.close()


@pytest.fixture
async def editor(screen, root):
    """It has a document open that is not saved."""
    greet = root / "greet.py"
    screen.open(greet)
    screen.type(greet, TYPED, 0)
    await listens(root)
    return screen


@pytest.fixture
async def guest(root, anthropic, monkeypatch):
    for name, value in anthropic.items():
        monkeypatch.setenv(name, value)
    open_ones = []

    async def guest(person, **settings):
        workspace = await attached(root, settings, person)
        assert workspace is not None
        workspace.subscribe(person.hear)
        open_ones.append(workspace)
        return workspace

    yield guest
    for it in open_ones:
        await it.__aexit__(None, None, None)


@pytest.fixture
def polite(step, wire, root):
    """The model reads a file, changes it, and is done."""

    def polite(answer="Polite."):
        step(("Read", {"file_path": str(root / "greet.py")}))
        step(("EditTool", {"file_path": str(root / "greet.py"), **POLITE}))
        wire.play(says(answer))

    return polite


async def test_an_edit_from_a_shell_is_reviewed_in_the_editor_on_the_text_on_the_screen(
    editor, run, root, wire, polite, anthropic
):
    greet = root / "greet.py"
    saved = greet.read_text()
    polite()
    editor.decide = accept_all

    assert (await run("edit", "be polite", **anthropic))[:2] == (0, "Polite.\n")

    assert editor.text(greet) == TYPED + saved.replace("hello {name}", "Hello, {name}!")
    assert greet.read_text() == saved
    assert TYPED.strip() in str(wire.request["messages"])
    started = await editor.client.until_kind("turnStarted")
    assert started["event"]["text"] == "be polite"

    wire.play(says("Yes."), says("Still."))
    await editor.client.command("ask", text="was it hard?")
    assert await run("ask", "really?", **anthropic) == (0, "Still.\n", "")
    asked = said(wire)
    assert asked == ["be polite", "was it hard?", "really?"]


async def test_a_command_without_a_terminal_says_that_it_waits_for_the_editor(editor, root, polite, anthropic):
    polite()
    process = await asyncio.create_subprocess_exec(
        *forked(ODIN_LSP),
        *("edit", "be polite"),
        cwd=root,
        env={**os.environ, **anthropic},
        stdin=-3,
        stdout=-1,
        stderr=-1,
    )
    async with asyncio.timeout(PATIENCE):
        assert await process.stderr.readline() == b"info: waiting for your answer in the editor\n"
        await editor.client.command("review.accept")
        assert await process.communicate() == (b"Polite.\n", b"")
    assert process.returncode == 0


async def test_an_undo_from_a_shell_is_made_in_the_editor(editor, run, root, polite, anthropic):
    greet = root / "greet.py"
    before = editor.text(greet)
    polite()
    editor.decide = accept_all
    await run("edit", "be polite", **anthropic)
    assert editor.text(greet) != before

    code, _, err = await run("undo", **anthropic)

    assert (code, editor.text(greet)) == (0, before)
    assert err.startswith("restored greet.py\n")


async def test_what_the_editor_rejects_the_model_and_the_terminal_hear_of(editor, run, root, wire, polite, anthropic):
    polite("Then not.")
    editor.decide = lambda review: {
        "decisions": [{"hunkId": review["files"][0]["hunks"][0]["id"], "decision": "reject", "reason": "too loud"}]
    }

    assert (await run("edit", "be polite", **anthropic))[:2] == (0, "Then not.\n")
    assert "too loud" in results(wire)[0]
    assert editor.text(root / "greet.py").startswith(TYPED + "def greet")


async def test_a_new_session_leaves_the_editors_where_it_is(editor, run, wire, anthropic):
    wire.play(says("One."), says("Two."), says("Three."))
    await editor.client.command("ask", text="first")
    assert (await run("ask", "--new", "second", **anthropic))[1] == "Two.\n"
    await editor.client.command("ask", text="third")

    asked = said(wire)
    assert asked == ["first", "third"]
    assert "sessionSwitchStarted" not in {it["event"]["kind"] for it in editor.client.events}


async def test_a_fork_that_a_guest_asks_for_leaves_the_editors_session_where_it_is(editor, guest, wire):
    wire.play(says("One."), says("Two."), says("Three."))
    mine = (await editor.client.command("ask", text="first"))["sessionId"]
    workspace = await guest(Person())
    fork = await workspace.execute("odin.session.fork", sessionId=mine)
    await workspace.execute("odin.ask", text="second")
    await editor.client.command("ask", text="third")

    assert fork["sessionId"] != mine
    assert said(wire) == ["first", "third"]
    assert "sessionSwitchStarted" not in {it["event"]["kind"] for it in editor.client.events}


async def test_a_question_whose_only_asker_leaves_is_a_no_that_the_model_is_told(editor, guest, root, wire, step):
    step(("ExecuteCommand", {"command": "touch made"}))
    wire.play(says("Not made."))
    person = Person()
    workspace = await guest(person)
    turn = workspace.session.send("edit_mode", "make it")
    await person.until(lambda: person.questions)
    await editor.client.until_asked(1)  # whoever is there has no answer
    await workspace.__aexit__(None, None, None)

    finished = await editor.client.until_kind("turnFinished")
    assert finished["event"]["outcome"]["answer"] == "Not made."
    assert "did not allow" in results(wire)[0]
    assert not (root / "made").exists()
    with pytest.raises(OdinError):
        await turn.outcome()


async def test_an_earlier_session_is_continued_by_the_beginning_of_its_id(editor, run, wire, anthropic):
    wire.play(says("One."), says("Two."), says("Three."))
    _, out, _ = await run("ask", "--new", "--json", "first", **anthropic)
    session = json.loads(out.splitlines()[-1])["sessionId"]
    await editor.client.command("ask", text="second")

    assert (await run("ask", "--session", session[:10], "third", **anthropic))[1] == "Three.\n"
    asked = said(wire)
    assert asked == ["first", "third"]


async def test_a_review_is_shown_in_both_and_the_first_decision_counts(editor, guest, root, polite):
    polite()
    shown, person = asyncio.Event(), Person()

    async def decide_here(review):
        await shown.wait()
        return decide_all(review, "accept")

    person.on_review, editor.decide = decide_here, lambda _: shown.set()
    turn = (await guest(person)).session.send("edit_mode", "be polite")

    assert (await turn.outcome()).answer == "Polite."
    assert "Hello, {name}!" in editor.text(root / "greet.py")
    closed = await editor.client.until_kind("reviewClosed")
    assert [it["state"] for it in closed["event"]["receipts"]] == ["accepted"]


async def test_a_review_that_the_editor_decides_is_closed_at_the_terminal(editor, guest, polite):
    polite()
    person = Person()

    turn = (await guest(person)).session.send("edit_mode", "be polite")
    await person.until(lambda: person.reviews)
    await editor.client.command("review.accept")

    assert (await turn.outcome()).answer == "Polite."
    await person.until(lambda: person.heard)
    assert person.heard == ["answered elsewhere"]
    assert (await person.until_heard(ReviewClosed)).event.receipts[0].state == "accepted"


async def test_a_question_is_asked_in_both_and_answered_once(editor, guest, root, wire, step):
    step(("ExecuteCommand", {"command": "touch made"}))
    wire.play(says("Made."))
    person = Person()

    async def allow(_):
        await editor.client.until_asked(1)
        return Answer(("allow_once",))

    person.on_question = allow
    editor.client.answers = [asyncio.Event().wait()]
    turn = (await guest(person)).session.send("edit_mode", "make it")

    assert (await turn.outcome()).answer == "Made."
    assert (root / "made").exists()
    assert (await person.until_heard(QuestionAnswered)).event.answer == Answer(("allow_once",))
    answered = await editor.client.until_kind("questionAnswered")
    assert answered["event"]["answer"]["optionIds"] == ["allow_once"]


async def test_what_the_editor_says_in_their_session_a_guest_hears_of_and_what_it_says_elsewhere_not(
    editor, guest, wire
):
    wire.play(says("One."), says("Two."), says("Three."))
    person = Person()
    workspace = await guest(person)
    await workspace.session.send("ask_mode", "first").outcome()
    await editor.client.command("ask", text="second")
    await person.until(lambda: sum(isinstance(it.event, TurnFinished) for it in person.records) == 2)
    await editor.client.command("session.new")
    await editor.client.command("ask", text="third")
    await workspace.files()

    assert [it.event.text for it in person.records if isinstance(it.event, TurnStarted)] == ["first", "second"]


async def test_a_turn_goes_on_without_the_terminal_that_began_it(editor, root, wire, polite, anthropic):
    polite()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "odin_lsp", "edit", "be polite"), cwd=root, env={**os.environ, **anthropic}, stdin=-3
    )
    await editor.client.until_kind("reviewOpened")
    process.kill()
    await process.wait()
    await editor.client.command("review.accept")

    finished = await editor.client.until_kind("turnFinished")
    assert finished["event"]["outcome"]["answer"] == "Polite."
    assert "Hello, {name}!" in editor.text(root / "greet.py")


async def test_an_interrupted_terminal_ends_its_turn(editor, root, wire, anthropic):
    half = kit.anthropic_sse(kit.anthropic_start(), *kit.anthropic_text(0, "I was going to"))
    wire.play(kit.Answer([half], held=True))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "odin_lsp", "ask", "go"), cwd=root, env={**os.environ, **anthropic}, stdin=-3, stdout=-1
    )
    await editor.client.until_kind("textStreamed")
    process.send_signal(signal.SIGINT)
    out, _ = await process.communicate()

    assert (process.returncode, out) == (130, b"I was going to\n")
    assert (await editor.client.until_kind("turnFinished"))["event"]["outcome"]["reason"] == "interrupted"


@pytest.mark.parametrize(
    ("options", "env", "why"),
    [
        ([], {"ANTHROPIC_API_KEY": "another"}, "it has another ANTHROPIC_API_KEY"),
        (["--model", "anthropic/claude-haiku-5-5"], {}, "its `model` is 'anthropic/claude-sonnet-5-5'"),
        (["--max-turns", "3"], {}, "its `limits.maxTurns` is "),
        ([], {"ODIN_MODEL": "anthropic/claude-haiku-5-5"}, "it has another ODIN_MODEL"),
    ],
)
async def test_who_would_work_with_something_else_works_apart_and_says_why(
    editor, run, wire, anthropic, options, env, why
):
    wire.play(says("Alone."))

    code, out, err = await run("ask", *options, "hello", **{**anthropic, **env})

    assert (code, out) == (0, "Alone.\n")
    assert f"another Odin has this folder open, and is not used: {why}" in err
    assert not editor.client.events


async def test_who_wants_no_host_has_none(editor, run, wire, anthropic):
    wire.play(says("Alone."))

    assert await run("ask", "--no-host", "hello", **anthropic) == (0, "Alone.\n", "")
    assert not editor.client.events


async def test_what_goes_with_a_message_needs_no_process_of_its_own(editor, run, wire, anthropic):
    wire.play(says("Warm."))

    assert await run("ask", "--temperature", "0.5", "--max-tokens", "77", "hi", **anthropic) == (0, "Warm.\n", "")
    assert (wire.request["max_tokens"], editor.client.events != []) == (77, True)


async def test_a_restricted_folder_takes_no_guests(start, root, guest, anthropic):
    await start(odin=ODIN, options={"trusted": False}, **anthropic)
    await listens(root)

    with pytest.raises(OdinError, match="restricted mode"):
        await guest(Person())
