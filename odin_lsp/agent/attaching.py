"""Images and PDFs that go with a message: those that the front end sends, and those that the words mention by `@`."""

import asyncio
import base64
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from odin_lsp import reading
from odin_lsp.agent.quoting import quoted
from odin_lsp.agent.turn import UserMessage
from odin_lsp.errors import RequestError, ToolError
from odin_lsp.formats import images, pdf
from odin_lsp.messages import Attachment, Document, Image
from odin_lsp.models import catalog
from odin_lsp.permissions.outside import OutsideGate
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.uris import printable

SUFFIXES = images.SUFFIXES | {pdf.SUFFIX}
MAX_ATTACHED = 20
"""Of one message: a provider wants them smaller if there are more."""
MAX_TEXT = 100_000
"""Characters of a PDF as text."""
_MENTION = re.compile(r'(?<!\S)@(?:"(?P<quoted>[^"\n]+)"|(?P<word>\S+))')
_BEHIND = ".,;:!?)]}'\""
"""What may stand behind a name and is no part of it."""


def is_attachable(path: Path) -> bool:
    """By its name: what is in it decides."""
    return path.suffix.lower() in SUFFIXES


async def prepared(
    message: UserMessage, files: Files, model: str, outside: OutsideGate, left_out: list[str] | None = None
) -> UserMessage:
    """The message as this model is sent it, with what its words mention; a `RequestError` if that cannot be. A PDF
    that the model does not read itself is sent as text.

    What the user has typed may name any file. In words of files, those outside of the workspace are asked about like
    any other, and what cannot be had is `left_out`: a comment must not keep a turn from its work."""
    if message.is_typed:
        paths = await asyncio.to_thread(lambda: list(_mentioned(message.text, files)))
    else:
        paths = await _allowed(message.text, files, outside, left_out if left_out is not None else [])
    mentioned = await asyncio.to_thread(lambda: [attachment(it, files) for it in paths])
    found = tuple(dict.fromkeys([*message.attached, *mentioned]))
    if len(found) > MAX_ATTACHED:
        raise RequestError(f"{len(found)} files come with the message; at most {MAX_ATTACHED} images and PDFs are sent")
    about = catalog.find(model)
    blind = [it for it in found if isinstance(it, Image) and not about.vision]
    if blind:
        raise RequestError(
            f"{model} cannot see images; {catalog.seeing(model)} can. Select it, or leave out: {blind[0]}"
        )
    unread = [it for it in found if isinstance(it, Document) and not about.documents]
    texts = [await _as_text(it) for it in unread]
    kept = tuple(it for it in found if it not in unread)
    return replace(message, attached=kept, context=(*message.context, *texts))


def attachment(path: Path, files: Files) -> Attachment:
    """The file at this canonical path."""
    try:
        return of_bytes(files.data(path, images.MAX_SOURCE_BYTES), path.name)
    except ToolError as error:
        raise RequestError(str(error)) from None


def given(image: Path | bytes) -> Attachment:
    """What a program, or somebody at a terminal, has named: any file that the user can read."""
    if isinstance(image, bytes):
        return of_bytes(image, "")
    try:
        data = reading.start_of(image, images.MAX_SOURCE_BYTES + 1)
    except OSError as error:
        raise RequestError(f"{image} cannot be read: {error.strerror}") from None
    if data is None:
        raise RequestError(f"{image} is not a file")
    return of_bytes(data, image.name)


def of_bytes(data: bytes, name: str) -> Attachment:
    """Its bytes say which it is."""
    try:
        if len(data) > images.MAX_SOURCE_BYTES:
            raise images.Unusable(f"{name} is too large: at most {images.MAX_SOURCE_BYTES >> 20} MiB are read")
        return pdf.document_of(data, name) if pdf.is_pdf(data) else images.image_of(data, name or "the image")
    except images.Unusable as error:
        raise RequestError(str(error)) from None


async def _as_text(document: Document) -> str:
    try:
        pages = await pdf.pages_of(base64.b64decode(document.data), document.name, 1, pdf.MAX_PAGES)
    except images.Unusable as error:
        raise RequestError(str(error)) from None
    text = "\n\n".join(f"Page {number}:\n{it}" for number, it in enumerate(pages.texts, 1))
    return quoted("context", {"kind": "file", "file": document.name}, text[:MAX_TEXT])


def quoted_name(name: str) -> str:
    """As it is mentioned behind an `@`."""
    return f'"{name}"' if re.search(r"\s", name) else name


def named(text: str) -> Iterator[str]:
    """What stands behind each `@`: `@name`, or `@"a name"`."""
    for found in _MENTION.finditer(text):
        yield found["quoted"] or found["word"].rstrip(_BEHIND)


async def _allowed(text: str, files: Files, outside: OutsideGate, left_out: list[str]) -> list[Path]:
    paths: list[Path] = []
    for name in dict.fromkeys(filter(lambda it: is_attachable(Path(it)), named(text))):
        try:
            place = files.resolve(os.path.expanduser(name))  # noqa: PTH111 - a name, which need not be a path
            if not place.path.is_file():
                continue
            if not place.inside:
                await outside.allow(place.path, name, files.around(place.path))
            paths.append(place.path)
        except ToolError as error:
            left_out.append(f"{printable(name)}, which a text of the workspace mentions, was not sent along: {error}")
    return paths


def _mentioned(text: str, files: Files) -> Iterator[Path]:
    """Files that are there; other words with an `@` are just words."""
    for name in filter(lambda it: is_attachable(Path(it)), named(text)):
        try:
            path = files.resolve(os.path.expanduser(name)).path  # noqa: PTH111 - a name, which need not be a path
        except ToolError as error:
            raise RequestError(str(error)) from None
        if path.is_file():
            yield path
