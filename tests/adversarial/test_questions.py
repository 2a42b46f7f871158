"""APPR-08: who is asked about a command sees the command and its folder, in each front end, whatever else the question
says. What the model says of a command is never in the place of it."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import odin_lsp
from odin_lsp.acp.editor import AcpEditor
from odin_lsp.acp.forms import form
from odin_lsp.acp.outgoing import Outgoing, fit_object
from odin_lsp.acp.telling import Telling
from odin_lsp.agent_door.eliciting import Eliciting
from odin_lsp.config import Timeouts
from odin_lsp.events import EventRecord, ToolFinished, ToolStarted
from odin_lsp.ports import Option, Question
from odin_lsp.server.plain_questions import PlainQuestions
from odin_lsp.terminal.answering import Answering
from odin_lsp.terminal.person import Person
from tests.adversarial.test_displays import Window, strings
from tests.unit.acp.conftest import client, root, script

__all__ = ["client", "root", "script"]

COMMAND, FOLDER, PROGRAM = "git commit --allow-empty -m hi", "/ws/inner", "tools/hook.sh"
QUESTION = Question(
    question_id="q",
    kind="permission",
    title="Go on?",
    detail="It tidies up.",
    command=COMMAND,
    cwd=FOLDER,
    paths=(PROGRAM,),
    options=(Option("allow_once", "Allow once"), Option("deny", "Deny")),
)
ROOT = Path(odin_lsp.__file__).parent
SHOW_TITLES = re.compile(r"question\.title")
NO_QUESTIONS = {
    "agent/live_session.py": "a note to hooks",
    "sessions/export.py": "what was asked once",
    "terminal/answering.py": "that nobody could be asked; the command comes first",
}


async def in_terminal(question, capsys):
    async def ask(_):
        return None

    await Answering("ask", Person(ask=ask, is_there=lambda: True)).ask(question)
    return capsys.readouterr().err


async def over_acp(question, _):
    asked = []

    async def ask(method, params):
        asked.append((method, fit_object(params)))

    telling = Telling(Path("/ws"))
    list(telling.told(record(ToolStarted("1", "MCPTool", {}, "tidy up"))))
    await AcpEditor(ask, lambda _: None, telling, SimpleNamespace(), shows_forms=False).ask(question)
    assert asked[0][1]["toolCall"]["title"] == COMMAND
    return "\n".join(strings(asked))


async def as_form(question, _):
    return form(question)["message"]


async def by_elicitation(question, _):
    asked = []

    async def ask(method, params):
        asked.append(params["message"])

    await Eliciting(ask, lambda _: None).ask(question)
    return asked[0]


async def in_a_window(question, _):
    window = Window()
    await PlainQuestions(window, Timeouts, lambda *_: None).ask(question, has_actions=False)
    return window.shown[0].message


async def where_messages_have_no_buttons(question, _):
    """The message comes before the code actions, whose titles have the command as well."""
    told = []

    class Silent(Window):
        async def ask_client(self, method, params=None, timeout=None):
            raise RuntimeError(method)

    questions = PlainQuestions(Silent(), Timeouts, lambda _, text: told.append(answer(text)))

    def answer(text):
        assert [title for title, _, _ in questions.offered()] == [
            f"Odin: Allow once ({COMMAND})",
            f"Odin: Deny ({COMMAND})",
        ]
        questions.answer("q", "deny")
        return text

    await questions.ask(question, has_actions=True)
    return told[0]


FRONT_ENDS = {
    in_terminal: "terminal/questions.py",
    over_acp: "acp/editor.py",
    as_form: "acp/forms.py",
    by_elicitation: "agent_door/eliciting.py",
    in_a_window: "server/plain_questions.py",
    where_messages_have_no_buttons: "server/plain_questions.py",
}


def record(event):
    return EventRecord(0, "t", "s", "main", event)


@pytest.mark.parametrize("show", FRONT_ENDS)
async def test_appr_08_a_question_shows_the_command_its_folder_and_its_programs(show, capsys):
    shown = await show(QUESTION, capsys)

    for text in (COMMAND, FOLDER, PROGRAM, QUESTION.detail):
        assert shown.count(text) >= 1, text


def test_appr_08_there_is_no_other_place_that_shows_questions():
    found = {
        it.relative_to(ROOT).as_posix()
        for it in ROOT.rglob("*.py")
        if SHOW_TITLES.search(it.read_text(encoding="utf-8"))
    }

    assert found == {*FRONT_ENDS.values(), *NO_QUESTIONS}


def test_appr_08_what_the_detail_says_itself_is_not_said_twice():
    said = Question(**{**fields(), "detail": f"{COMMAND}\nin {FOLDER}\nruns {PROGRAM}\nit writes"})
    in_words = Question(**{**fields(), "command": "ls", "detail": "it calls ls for you"})

    assert said.full_detail == said.detail
    assert in_words.full_detail.splitlines()[0] == "ls"


def fields():
    return {name: getattr(QUESTION, name) for name in QUESTION.__slots__}


async def test_appr_08_over_acp_the_title_is_the_command_and_not_what_the_model_says(client, root, script):
    """A real client asks with the title alone: "Execute: commit" once stood for a commit."""
    script(
        {"calls": [{"name": "ExecuteCommand", "arguments": {"command": COMMAND, "description": "look around"}}]},
        {"text": "done"},
    )
    client.choose = lambda params: "deny"
    await client.begin(root)

    await client.prompt("go")

    [(_, asked)] = client.asked
    [started] = client.of_kind("tool_call")
    assert asked["toolCall"]["title"] == started["title"] == COMMAND
    assert started["content"][0]["content"]["text"] == "look around"
    assert COMMAND in asked["toolCall"]["content"][0]["content"]["text"]
    assert COMMAND in client.calls()


def test_appr_08_over_acp_a_long_command_says_that_it_is_cut_and_the_content_has_all():
    command = f"echo {'x' * 5000}\nrm -rf build"
    telling, outgoing = Telling(Path("/ws")), Outgoing()

    [started] = telling.told(record(ToolStarted("1", "ExecuteCommand", {"command": command}, "build")))
    end = ToolFinished(call_id="1", name="ExecuteCommand", status="success", description="exit code 0")
    [ended] = telling.told(record(end))

    fit = outgoing.fit_update(started)
    assert fit["title"].startswith("echo xxx")
    assert "characters more)" in fit["title"]
    assert fit["content"][0]["content"]["text"] == command
    assert "title" not in ended
    assert ended["content"][0]["content"]["text"] == "exit code 0"


async def test_appr_08_over_acp_several_commands_asked_about_together_are_in_the_title(client, root, script):
    calls = [{"name": "ExecuteCommand", "arguments": {"command": it}} for it in ("touch one", "touch two")]
    script({"calls": calls}, {"text": "done"})
    client.choose = lambda params: "deny"
    await client.begin(root)

    await client.prompt("go")

    title = client.asked[0][1]["toolCall"]["title"]
    assert "touch one" in title
    assert "touch two" in title
