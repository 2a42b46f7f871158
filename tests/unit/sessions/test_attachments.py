import base64
import json

import pytest

from odin_lsp.errors import SessionError
from odin_lsp.messages import Document, Image, Message, Text, ToolCall, ToolResult, user
from odin_lsp.records import Outcome
from odin_lsp.sessions import attachments, export, store
from odin_lsp.sessions.forking import fork
from odin_lsp.sessions.session import Session
from tests.support.pictures import png

DATA = base64.b64encode(png()).decode()
IMAGE = Image("image/png", DATA, "shot.png", 2, 2)
PDF = Document(base64.b64encode(b"%PDF-1.7").decode(), "paper.pdf", 3)
OUTCOME = Outcome(turn_id="t", session_id="", mode="ask_mode", reason="end_turn", answer="a dot")
SAID = Message("user", (IMAGE, Text("what is this?")))
SEEN = [
    Message("assistant", (ToolCall("1", "Read", {"file_path": "a.png", "kind": "image", "data": DATA}),)),
    Message("user", (ToolResult("1", "Read", "an image", attached=(IMAGE, PDF)),)),
]


def said(folder, *messages):
    session = Session(folder)
    for message in messages:
        session.append(message)
    session.close()
    return session


def beside(folder, session):
    return sorted(it.name for it in folder.iterdir() if it.name.startswith(session.id) and it.suffix == ".attached")


def test_an_image_is_a_private_file_beside_the_log_and_comes_back(tmp_path):
    session = said(tmp_path, SAID, *SEEN)

    assert len(beside(tmp_path, session)) == 2
    assert [(it.stat().st_mode & 0o777) for it in tmp_path.glob("*.attached")] == [0o600, 0o600]
    assert session.log.path.read_text().count(DATA) == 1  # what a model has said stays as it is
    assert Session.load(tmp_path, session.id).messages == [SAID, *SEEN]


def test_images_are_deleted_with_their_session(tmp_path):
    session = said(tmp_path, SAID)

    store.delete_log(tmp_path, session.id)

    assert list(tmp_path.iterdir()) == []


def test_a_fork_has_those_images_that_it_knows_of(tmp_path):
    session = said(tmp_path, SAID)
    whole, _ = fork(tmp_path, session.id)
    session = Session.resume(tmp_path, session.id)
    session.finish_turn("what is this?", 0, OUTCOME)
    session.close()
    before, _ = fork(tmp_path, session.id, 0)

    assert Session.load(tmp_path, whole).messages == [SAID]
    assert beside(tmp_path, Session.load(tmp_path, before)) == []


def test_an_export_has_the_images(tmp_path):
    session = said(tmp_path, SAID)

    records = json.loads("".join(export.exported(tmp_path, session.id, "json")))["records"]

    assert [it["message"]["parts"][0]["data"] for it in records if it["type"] == "message"] == [DATA]


@pytest.mark.parametrize("harm", [lambda it: it.unlink(), lambda it: it.write_bytes(b"another")])
def test_an_image_that_is_gone_or_exchanged_is_a_sentence(tmp_path, harm):
    session = said(tmp_path, SAID)
    harm(next(tmp_path.glob("*.attached")))

    [message] = Session.load(tmp_path, session.id).messages

    assert message.text.startswith("(image shot.png was here: its file beside the log is gone")


def test_a_result_stays_though_what_it_showed_is_gone(tmp_path):
    session = said(tmp_path, *SEEN)
    for file in tmp_path.glob("*.attached"):
        file.unlink()

    _, results = Session.load(tmp_path, session.id).messages

    assert results.results[0].content.startswith("an image\n(image shot.png was here: ")
    assert results.results[0].attached == ()


def test_only_the_last_images_of_a_session_are_brought_back(tmp_path, monkeypatch):
    pictures = [Image("image/png", base64.b64encode(png(it, it)).decode(), f"{it}.png") for it in (10, 20, 30)]
    session = said(tmp_path, *(Message("user", (it, Text("see"))) for it in pictures))
    monkeypatch.setattr(attachments, "MAX_BROUGHT_BACK", len(png(30, 30)) + len(png(20, 20)))

    messages = Session.load(tmp_path, session.id).messages

    assert [it.parts[0] for it in messages[1:]] == pictures[1:]
    assert messages[0].text.startswith("(image 10.png was here: ")


def test_what_cannot_be_set_aside_stays_in_the_log(tmp_path, monkeypatch):
    monkeypatch.setattr(attachments, "_keep", lambda *_: (_ for _ in ()).throw(OSError))
    session = said(tmp_path, SAID)

    assert DATA in session.log.path.read_text()
    assert Session.load(tmp_path, session.id).messages == [SAID]


def test_an_attachment_is_read_by_its_digest_and_by_nothing_else(tmp_path):
    session = said(tmp_path, SAID, user("more"))

    assert attachments.read(session.log.path, attachments.described(IMAGE).digest) == png()
    for name in ("0" * 64, "../x", ""):
        with pytest.raises(SessionError, match="the session has no attachment"):
            attachments.read(session.log.path, name)
