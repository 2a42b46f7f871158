"""Lists, searches, exports, forks and titles."""

import json
import os
import re
from html.parser import HTMLParser

import pytest

from odin_lsp.errors import SessionError
from odin_lsp.messages import Message, Text, user
from odin_lsp.records import Outcome, ToolRecord, Usage
from odin_lsp.sessions import listing, titles
from odin_lsp.sessions.export import export_to, exported, exported_path, transcript
from odin_lsp.sessions.forking import fork
from odin_lsp.sessions.search import search
from odin_lsp.sessions.session import Session
from odin_lsp.sessions.store import delete_log

HOSTILE = '</pre><script>alert(1)</script><img src="https://evil.test/x.png" onerror=a> [x](command:y) & "q"'


def talk(session, *questions, answer="the answer"):
    for question in questions:
        session.append(user(question))
        session.append(Message("assistant", (Text(answer),)))
        outcome = Outcome(
            turn_id=question,
            session_id=session.id,
            mode="ask_mode",
            reason="end_turn",
            answer=answer,
            usage=Usage(1, 2),
        )
        session.finish_turn(question, 1.7e9, outcome)
    return session


def listed(folder):
    return [it.session_id for it in listing.summaries(folder)]


def test_the_newest_session_is_listed_first_with_what_it_is_about(tmp_path):
    old, new = (talk(Session(tmp_path, name), f"about {name}", "and more") for name in ("old", "new"))
    os.utime(old.log.path, (1, 1))

    summaries = list(listing.summaries(tmp_path, own={"new"}))

    assert [(it.session_id, it.title, it.first_message, it.messages, it.locked) for it in summaries] == [
        ("new", "about new", "about new", 2, False),
        ("old", "about old", "about old", 2, True),
    ]
    assert summaries[0].created_at == new.created_at
    assert summaries[0].updated_at == new.updated_at
    assert summaries[0].uri == (tmp_path / "new.md").as_uri()


def test_a_summary_of_a_long_session_is_right_wherever_its_last_turn_stands(tmp_path):
    session = talk(Session(tmp_path), "first", "second")
    session.rename("Renamed")
    session.append(user("x" * 3 * listing.TAIL))
    session.append(user("y" * 3 * listing.TAIL))

    summary = listing.summary(tmp_path, session.id)

    assert (summary.title, summary.messages) == ("Renamed", 2)


def test_there_need_not_be_a_session(tmp_path):
    assert listed(tmp_path / "none") == []
    assert list(search(tmp_path / "none", "x")) == []


def test_a_search_finds_questions_answers_and_titles_in_any_case(tmp_path):
    talk(Session(tmp_path, "one"), "Where is the Größe?", answer="In the lexer.")
    talk(Session(tmp_path, "two"), "hello").rename("About Parsers")

    def found(query):
        return [it.session_id for it in search(tmp_path, query)]

    assert found("LEXER") == ["one"]
    assert found("größe") == ["one"]
    assert found("parsers") == ["two"]
    assert found("elsewhere") == []
    assert next(search(tmp_path, "lexer")).excerpt == "In the lexer."


def test_a_fork_at_a_message_has_all_before_it_and_gives_the_message_back(tmp_path):
    session = talk(Session(tmp_path), "one", "two", "three")

    copies = [
        (Session.load(tmp_path, new), draft) for new, draft in (fork(tmp_path, session.id, it) for it in range(3))
    ]
    whole, draft = fork(tmp_path, session.id)

    assert [([it.body for it in copy.turns], draft) for copy, draft in copies] == [
        ([], "one"),
        (["one"], "two"),
        (["one", "two"], "three"),
    ]
    assert [copy.messages for copy, _ in copies] == [session.messages[:0], session.messages[:2], session.messages[:4]]
    assert draft is None
    assert Session.load(tmp_path, whole).messages == session.messages
    assert Session.load(tmp_path, whole).forked_from == session.id
    session.rename("Renamed")
    assert listing.summary(tmp_path, fork(tmp_path, session.id, 2)[0]).title == "Renamed"
    for wrong in (-1, 3):
        with pytest.raises(SessionError, match=f"no message {wrong}; it has 3"):
            fork(tmp_path, session.id, wrong)


def test_a_deleted_session_is_gone_with_all_that_was_made_of_it(tmp_path):
    kept, gone = talk(Session(tmp_path, "kept"), "a"), talk(Session(tmp_path, "kept-too"), "b")
    gone.close()
    export_to(tmp_path, gone.id, "html", exported_path(tmp_path, gone.id, "html"), is_own=True)

    (tmp_path / f"{gone.id}.plan").mkdir()
    (tmp_path / f"{gone.id}.plan" / "Greet louder.plan.md").touch()
    (elsewhere := tmp_path.with_name("elsewhere")).mkdir()
    (tmp_path / f"{gone.id}.plan-2").symlink_to(elsewhere)

    delete_log(tmp_path, gone.id)

    assert [it.name for it in tmp_path.iterdir()] == [kept.log.path.name]
    assert elsewhere.exists()


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def test_an_export_to_html_is_one_page_that_does_and_loads_nothing(tmp_path):
    session = Session(tmp_path, title=HOSTILE)
    outcome = Outcome(
        turn_id="t",
        session_id="s",
        mode="edit_mode",
        reason="interrupted",
        answer=HOSTILE,
        tools=(ToolRecord("Read", HOSTILE, (), "success"),),
    )
    session.append(user(HOSTILE))
    session.finish_turn(HOSTILE, 1e300, outcome)

    page = Page()
    text = "".join(exported(tmp_path, session.id, "html"))
    page.feed(text)

    allowed = {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "h1",
        "h2",
        "pre",
        "details",
        "summary",
        "ul",
        "li",
        "p",
        "em",
    }
    assert {tag for tag, _ in page.tags} <= allowed
    assert {name for _, attributes in page.tags for name in attributes} <= {
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "class",
    }
    assert page.text.count("alert(1)") == 5
    assert "default-src 'none'" in text
    assert "url(" not in text
    assert "interrupted" in page.text


def test_an_export_to_markdown_is_the_transcript(tmp_path):
    session = talk(Session(tmp_path), "one", HOSTILE)

    text = "".join(exported(tmp_path, session.id, "markdown"))

    assert text == transcript(session)
    assert "<script" not in re.sub(r"\\<", "", text)


def test_an_export_to_json_has_every_record(tmp_path):
    session = talk(Session(tmp_path), "one é", HOSTILE)

    whole = json.loads("".join(exported(tmp_path, session.id, "json")))

    assert whole["session"]["sessionId"] == session.id
    assert whole["records"] == [json.loads(line) for line in session.log.path.read_text().splitlines()]


def test_an_export_replaces_nobodys_file(tmp_path):
    session = talk(Session(tmp_path / "sessions"), "one")
    place = tmp_path / "mine.md"

    export_to(tmp_path / "sessions", session.id, "markdown", place, is_own=False)
    with pytest.raises(SessionError, match="exists already"):
        export_to(tmp_path / "sessions", session.id, "html", place, is_own=False)
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(SessionError):
        export_to(tmp_path / "sessions", session.id, "html", tmp_path / "link", is_own=False)

    assert place.read_text().startswith("# one")
    assert place.stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "target").exists()


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("\n\n  fix   the bug\nplease", "fix the bug"),
        ("a\x1b[31mb\u202ec", "a [31mb c"),
        ("word " * 40, f"{('word ' * 40)[:59].rstrip()}…"),
        ("\x00", titles.NEW),
    ],
)
def test_a_title_from_a_message_is_its_first_line(text, title):
    assert titles.from_message(text) == title


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ('"Fix the parser."\n', "Fix the parser"),
        ("## Größe messen", "Größe messen"),
        ("Sure! Here is a title:\nFix it", None),
        ("", None),
        ("long " * 30, None),
    ],
)
def test_a_title_from_a_model_is_one_short_line_or_none(answer, title):
    assert titles.from_model(answer) == title


def test_a_title_that_the_user_gave_outlives_everything(tmp_path):
    session = talk(Session(tmp_path), "one")
    session.rename("  Mine\nalone ")
    talk(session, "two")
    session.close()

    again = Session.resume(tmp_path, session.id)

    assert (again.title, again.titled_by) == ("Mine alone", "user")
    assert again.usage == session.usage
