"""Images and PDFs that go with a message."""

import base64
from pathlib import Path
from types import SimpleNamespace

import pytest

from odin_lsp.agent.attaching import given, named, prepared, quoted_name
from odin_lsp.agent.context import gathered
from odin_lsp.agent.turn import UserMessage
from odin_lsp.errors import RequestError
from odin_lsp.events import TurnStarted
from odin_lsp.messages import Document, Image
from odin_lsp.permissions.outside import OutsideGate
from odin_lsp.records import ContextItem
from odin_lsp.server.attachments import ImageItem, attached
from odin_lsp.sessions.session import Session
from tests.support.papers import paper
from tests.support.pictures import png

NOBODY = OutsideGate(SimpleNamespace(ask=None))
"""What the user has typed is asked about by nobody."""
SHOT = Image("image/png", base64.b64encode(png(4, 3)).decode(), "shot.png", 4, 3)
PDF = b"%PDF-1.7\n1 0 obj << /Type /Page >> endobj"


@pytest.fixture
def files(odin):
    (odin.root / "shot.png").write_bytes(png(4, 3))
    (odin.root / "a paper.pdf").write_bytes(PDF)
    return odin.start().files


def said(text):
    return UserMessage(turn_id="t", text=text, mode="ask_mode")


async def test_an_image_that_is_mentioned_goes_with_the_message_and_is_told(odin, files):
    odin.script({"text": "a dot"})

    outcome = await odin.take("what is in @shot.png?")

    assert outcome.answer == "a dot"
    assert odin.session.messages[0].parts[0] == SHOT
    [told] = odin.of(TurnStarted)[0].attached
    assert (told.name, told.media_type, told.width, told.height) == ("shot.png", "image/png", 4, 3)
    assert Session.load(odin.session.log.path.parent, odin.session.id).messages == odin.session.messages


async def test_only_files_that_are_there_are_mentioned(files):
    text = 'see (@shot.png), icon@shot.png, @gone.png, @"a paper.pdf" and @shot.png!'

    found = (await prepared(said(text), files, "anthropic/claude-sonnet-5-5", NOBODY)).attached

    assert found == (Document(base64.b64encode(PDF).decode(), "a paper.pdf", 1), SHOT)


@pytest.mark.parametrize("name", ["shot.png", "a paper.pdf", "a\u00a0paper.pdf"])
def test_a_name_that_is_offered_behind_an_at_sign_is_understood_as_a_whole(name):
    text = f"see @{quoted_name(name)} and tell"

    assert list(named(text)) == [name]


async def test_a_model_that_cannot_see_is_not_asked_and_one_is_named_that_can(odin, files):
    odin.settings["model"] = "offline/search"
    odin.core = None

    outcome = await odin.take("what is in @shot.png?")

    assert outcome.reason == "failed"
    assert outcome.detail == (
        "offline/search cannot see images; anthropic/claude-opus-5-5 can. Select it, or leave out: "
        "image shot.png, 4 × 3"
    )


async def test_what_is_hidden_is_not_sent_though_it_is_mentioned(odin, files):
    (odin.root / ".ssh").mkdir()
    (odin.root / ".ssh/key.png").write_bytes(png())

    with pytest.raises(RequestError, match=r"\.ssh/key\.png is hidden: it looks like a secret"):
        await prepared(said("see @.ssh/key.png"), files, "google/x", NOBODY)


async def test_too_many_files_are_refused(files):
    many = tuple(Image("image/png", "aGk=", str(number)) for number in range(21))
    message = UserMessage(turn_id="t", text="see", mode="ask_mode", attached=many)

    with pytest.raises(RequestError, match="21 files come with the message; at most 20"):
        await prepared(message, files, "google/x", NOBODY)


async def test_a_pdf_is_text_for_a_model_that_does_not_read_it_itself(odin, files):
    (odin.root / "paper.pdf").write_bytes(paper("one"))

    message = await prepared(said("see @paper.pdf"), files, "openai/llama-9", NOBODY)

    assert message.attached == ()
    assert "Page 1:\none" in message.context[0]


async def test_the_model_is_shown_an_image_that_it_reads(odin, files, call):
    odin.script({"calls": [call("Read", file_path="shot.png")]}, {"text": "a dot"})

    await odin.take("look")

    assert [it.attached for message in odin.session.messages for it in message.results] == [(SHOT,)]


def test_what_a_front_end_mentions_is_an_image_too(odin, files):
    item = ContextItem(kind="file", uri=(odin.root / "shot.png").as_uri())

    assert gathered((item,), files).attached == (SHOT,)
    assert gathered((item,), files).texts == ()


@pytest.mark.parametrize(
    ("item", "why"),
    [
        (ImageItem(), "image 1 needs `data`, the `uri` of a file, or a `digest`"),
        (ImageItem(data="aGk=", name="x.png"), "x.png is not an image that models take"),
        (ImageItem(data="!"), "image 1 is not valid base64"),
        (ImageItem(uri="https://example.org/a.png"), "needs `data`, the `uri` of a file, or a `digest`"),
        (ImageItem(uri="file:///nowhere/a.png"), "does not exist"),
    ],
)
def test_an_image_that_cannot_be_taken_says_why(files, item, why):
    with pytest.raises(RequestError, match=why):
        attached((item,), files, Path())


def test_images_are_given_as_base64_and_as_files(odin, files):
    by_data = ImageItem(data=SHOT.data, name="shot.png", media_type="image/jpeg")
    by_uri = ImageItem(uri=(odin.root / "shot.png").as_uri())

    assert attached((by_data, by_uri), files, Path()) == (SHOT, SHOT)


def test_a_program_gives_files_or_bytes(tmp_path):
    (tmp_path / "shot.png").write_bytes(png(4, 3))

    assert given(tmp_path / "shot.png") == SHOT
    assert given(png(4, 3)).data == SHOT.data
    with pytest.raises(RequestError, match=r"gone\.png cannot be read: No such file"):
        given(tmp_path / "gone.png")
    with pytest.raises(RequestError, match="is not a file"):
        given(tmp_path)
