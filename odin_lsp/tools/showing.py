"""What Read makes of files that are not plain text: images, PDFs and notebooks."""

import asyncio
from pathlib import Path

from odin_lsp.errors import ToolError
from odin_lsp.foreign_data import fit_text
from odin_lsp.formats import images, notebooks, pdf
from odin_lsp.tasks import beside_loop
from odin_lsp.tools.base import DRAFTED, MAX_RESULT_CHARS, ToolContext, ToolOutput
from odin_lsp.workspace.text import Lines, split_lines
from odin_lsp.workspace.uris import printable

MAX_PAGES = 20
"""That are read as text, unless others are asked for."""


async def shown_otherwise(path: Path, first: int, count: int | None, context: ToolContext) -> ToolOutput | None:
    """The file as the model can take it in; `None` if it is text, whatever its name says."""
    suffix = path.suffix.lower()
    try:
        if suffix in images.SUFFIXES:
            return await _image(path, context)
        if suffix == pdf.SUFFIX:
            return await _pdf(path, first, count, context)
        if suffix == notebooks.SUFFIX:
            return await _notebook(path, first, count, context)
    except images.Unusable as error:
        raise ToolError(str(error)) from None
    return None


async def _image(path: Path, context: ToolContext) -> ToolOutput | None:
    data = await asyncio.to_thread(context.files.data, path, images.MAX_SOURCE_BYTES)
    if not images.is_image(data) and b"\0" not in data:
        return None
    image = await asyncio.to_thread(images.image_of, data, path.name)
    if not context.sees:
        raise ToolError(f"{context.files.shown(path)} is an image, which this model cannot see; say so if it matters")
    return ToolOutput(
        data=f"({image}, is shown to you)",
        description=f"{context.files.shown(path)} {image.width} × {image.height}",
        files=(printable(str(path)),),
        attached=(image,),
    )


async def _pdf(path: Path, first: int, count: int | None, context: ToolContext) -> ToolOutput | None:
    data = await asyncio.to_thread(context.files.data, path, pdf.MAX_SOURCE_BYTES)
    if not pdf.is_pdf(data) and b"\0" not in data:
        return None
    name, files = context.files.shown(path), (printable(str(path)),)
    if context.reads_documents and first == 1 and count is None and pdf.is_sendable(data):
        document = await asyncio.to_thread(pdf.document_of, data, path.name)
        return ToolOutput(data=f"({document}, is shown to you)", description=name, files=files, attached=(document,))
    pages = await pdf.pages_of(data, path.name, first, count or MAX_PAGES)
    last = first + len(pages.texts) - 1
    if not pages.texts:
        raise ToolError(f"{name} has only {pages.total} pages; set offset to one of them")
    text = "\n\n".join(f"Page {number}:\n{it}" for number, it in enumerate(pages.texts, first))
    notes = ["(the text of these pages was cut off: ask for fewer)"] if len(text) > MAX_RESULT_CHARS else []
    notes += [f"(pages {first}-{last} of {pages.total}; go on with offset {last + 1})"] if last < pages.total else []
    data_shown = "\n".join([text[:MAX_RESULT_CHARS], *notes])
    return ToolOutput(data=data_shown, description=f"{name} pages {first}-{last}", files=files)


async def _notebook(path: Path, first: int, count: int | None, context: ToolContext) -> ToolOutput | None:
    drafted = context.draft.texts.get(path)
    file = await context.files.read_beside_loop(path, to_edit=True)
    text = file.text if drafted is None else drafted
    notebook = await beside_loop(len(text), notebooks.Notebook.of, text)
    if notebook is None:
        return None
    note = DRAFTED if drafted is not None else file.note
    shown, size = list[str](), 0
    for cell in notebook.cells[first - 1 :][:count]:
        told = fit_text(
            "\n".join([f"[{cell.id}] {cell.kind}", cell.source, *(f"Output:\n{it}" for it in cell.outputs)])
        )
        size += len(told) + 2
        if size > MAX_RESULT_CHARS and shown:
            break
        shown.append(told[:MAX_RESULT_CHARS])
    last = first + len(shown) - 1
    _note_cells(path, notebook, first, last, context)
    total, name = len(notebook.cells), context.files.shown(path)
    notes = [f"({note})"] if note else []
    notes += [f"(cells {first}-{last} of {total}; go on with offset {last + 1})"] if last < total else []
    notes += ["(cells of a notebook, by their ids; NotebookEdit changes them)"]
    description = f"{name} cells {first}-{last}" if shown else name
    data = "\n\n".join([*shown, "\n".join(notes)])
    return ToolOutput(data=data, description=description, files=(printable(str(path)),))


def _note_cells(path: Path, notebook: notebooks.Notebook, first: int, last: int, context: ToolContext) -> None:
    """What the model has seen of the cells, it has seen of the lines that these are written in."""
    lines, places = split_lines(notebook.text), Lines(notebook.text)
    size, stamp = len(notebook.text), context.files.stamp(path)
    context.shown.note(path, 1, lines[:1], size=size, total=len(lines), stamp=stamp)
    for cell in notebook.cells[first - 1 : last]:
        start, end = places.numbers(cell.place.start, cell.place.end)
        context.shown.note(path, start, lines[start - 1 : end], size=size, total=len(lines), stamp=stamp)
