import base64

import pytest

from odin_lsp.formats import pdf
from odin_lsp.formats.images import Unusable
from tests.support.papers import paper


def test_a_small_pdf_is_sent_as_it_is():
    document = pdf.document_of(paper("one", "two"), "paper.pdf")

    assert base64.b64decode(document.data) == paper("one", "two")
    assert (document.name, document.pages) == ("paper.pdf", 2)


async def test_pages_are_read_as_text():
    assert await pdf.pages_of(paper("one", "two", "three"), "paper.pdf", 2, 5) == pdf.Pages(("two", "three"), 3)


async def test_a_reader_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr(pdf, "READER", ("sh", "-c", f"exit {pdf.NOT_INSTALLED}"))

    with pytest.raises(Unusable, match=r"only with pypdf: pip install 'odin-lsp\[pdf\]'"):
        await pdf.pages_of(paper("one"), "paper.pdf", 1, 1)


async def test_a_pdf_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(pdf, "READER", ("sh", "-c", "cat > /dev/null; exec sleep 100"))
    monkeypatch.setattr(pdf, "SECONDS", 0.2)

    with pytest.raises(Unusable, match=r"was given up after 0\.2 seconds"):
        await pdf.pages_of(paper("one"), "paper.pdf", 1, 1)


async def test_what_is_no_pdf_or_damaged_says_so():
    with pytest.raises(Unusable, match=r"x\.pdf is not a PDF"):
        pdf.document_of(b"words", "x.pdf")
    with pytest.raises(Unusable, match=r"x\.pdf cannot be read: it is damaged"):
        await pdf.pages_of(b"%PDF-1.7\nnothing", "x.pdf", 1, 1)


def test_a_pdf_that_no_provider_takes_is_not_sent_whole(monkeypatch):
    monkeypatch.setattr(pdf, "MAX_PAGES", 1)

    with pytest.raises(Unusable, match=r"x\.pdf has 2 pages; at most 5,242,880 bytes and 1 pages"):
        pdf.document_of(paper("one", "two"), "x.pdf")
