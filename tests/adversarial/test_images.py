"""Images and documents that were made to do harm."""

import base64
import json
import sys

import pytest

from odin_lsp.formats import pdf
from odin_lsp.formats.images import Unusable, image_of
from odin_lsp.messages import Image, Message, Text
from odin_lsp.sessions import export
from odin_lsp.sessions.session import Session
from tests.support.pictures import gif, jpeg, png, webp

HUGE = 2**16 - 1


@pytest.mark.parametrize("make", [jpeg, gif, lambda *size: png(claims=size), webp])
def test_img_01_a_bomb_is_refused_by_its_head_and_never_opened(make, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)

    with pytest.raises(Unusable, match="more than 50,000,000 pixels are not opened"):
        image_of(make(HUGE, HUGE), "bomb")


def test_img_02_of_what_unpacks_to_far_more_than_its_head_says_no_more_is_read():
    image = image_of(png(9000, 2, rows=bytes(50_000_000)), "bomb.png")

    assert (image.width, image.height) == (2000, 1)


@pytest.mark.parametrize("cut", range(0, 80, 3))
@pytest.mark.parametrize(
    "whole", [png(30, 20), jpeg(30, 20), gif(30, 20), webp(30, 20)], ids=["png", "jpeg", "gif", "webp"]
)
def test_img_03_whatever_is_cut_off_is_refused_in_words(whole, cut):
    if cut < len(whole) - 8:
        with pytest.raises(Unusable):
            image_of(whole[:cut], "x")


@pytest.mark.parametrize("digest", ["../../../etc/passwd", "", "0" * 63, "x" * 64, 7, None, ["0" * 64]])
def test_img_04_a_forged_name_in_a_log_leads_to_no_file(tmp_path, digest):
    session = Session(tmp_path)
    session.append(Message("user", (Image("image/png", base64.b64encode(png()).decode(), "a"), Text("see"))))
    session.close()
    lines = [json.loads(line) for line in session.log.path.read_text().splitlines()]
    lines[-1]["message"]["parts"][0]["digest"] = digest
    session.log.path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))

    assert "was here" in Session.load(tmp_path, session.id).messages[0].text
    assert '"was here' not in "".join(export.exported(tmp_path, session.id, "json"))


async def test_img_05_a_pdf_that_leads_in_a_circle_ends(monkeypatch):
    monkeypatch.setattr(pdf, "SECONDS", 20.0)
    loop = (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[2 0 R]/Count 1>>endobj\n"
        b"trailer<</Root 1 0 R>>"
    )

    with pytest.raises(Unusable, match=r"x\.pdf (cannot be read|was given up)"):
        await pdf.pages_of(loop, "x.pdf", 1, 1)
