"""Read, of what is not plain text."""

from dataclasses import replace

import pytest

from odin_lsp.errors import ToolError
from odin_lsp.formats import pdf
from odin_lsp.messages import Document, Image
from odin_lsp.tools.read import Read, ReadParams
from tests.support.papers import paper
from tests.support.pictures import png


async def test_an_image_is_shown(use, root):
    (root / "shot.PNG").write_bytes(png(4, 3))

    output = await use("Read", file_path="shot.PNG")

    assert output.data == "(image shot.PNG, 4 × 3, is shown to you)"
    assert [type(it) for it in output.attached] == [Image]


async def test_a_model_that_cannot_see_is_told_so(context, root):
    (root / "shot.png").write_bytes(png(4, 3))

    with pytest.raises(ToolError, match=r"shot\.png is an image, which this model cannot see"):
        await Read().run(ReadParams(file_path="shot.png"), replace(context, sees=False))


async def test_what_is_called_an_image_and_is_text_is_read_as_text(use, root):
    (root / "shot.png").write_text("version https://git-lfs.github.com/spec/v1\n")

    assert "git-lfs" in (await use("Read", file_path="shot.png")).data


async def test_an_image_bomb_is_refused_before_it_is_opened(use, root):
    (root / "bomb.png").write_bytes(png(claims=(60_000, 60_000)))

    with pytest.raises(ToolError, match="60,000 × 60,000 pixels"):
        await use("Read", file_path="bomb.png")


async def test_a_pdf_is_shown_whole_to_a_model_that_reads_it(use, root):
    (root / "paper.pdf").write_bytes(paper("one", "two"))

    [document] = (await use("Read", file_path="paper.pdf")).attached

    assert isinstance(document, Document)


async def test_pages_of_a_pdf_are_text(use, context, root):
    (root / "paper.pdf").write_bytes(paper("one", "two", "three"))
    blind = replace(context, reads_documents=False)

    assert (await use("Read", file_path="paper.pdf", offset=2, limit=1)).data == (
        "Page 2:\ntwo\n(pages 2-2 of 3; go on with offset 3)"
    )
    assert (await Read().run(ReadParams(file_path="paper.pdf"), blind)).data == (
        "Page 1:\none\n\nPage 2:\ntwo\n\nPage 3:\nthree"
    )
    with pytest.raises(ToolError, match="has only 3 pages"):
        await use("Read", file_path="paper.pdf", offset=9)


async def test_a_pdf_without_a_reader_says_what_to_install(use, root, monkeypatch):
    (root / "paper.pdf").write_bytes(paper("one"))
    monkeypatch.setattr(pdf, "READER", ("sh", "-c", f"exit {pdf.NOT_INSTALLED}"))

    with pytest.raises(ToolError, match="pip install"):
        await use("Read", file_path="paper.pdf", offset=1, limit=1)
