"""A prompt's blocks as Odin takes a message: words, images, and what goes with them."""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from odin_lsp.acp.wire import Block, LinkBlock, MediaBlock, Resource, ResourceBlock, TextBlock
from odin_lsp.errors import RequestError
from odin_lsp.library import ContextItem
from odin_lsp.workspace.uris import path_of

ATTACHABLE = ("image/", "application/pdf")


@dataclass(frozen=True, slots=True)
class Said:
    text: str
    images: tuple[bytes, ...] = ()
    """Images and PDFs."""
    context: tuple[ContextItem, ...] = ()
    files: tuple[Path, ...] = ()
    """What was mentioned."""


def said(blocks: Sequence[Block], root: Path) -> Said:
    """A mention stands where it was made, as `@path`; `root` is what paths are relative to."""
    texts: list[str] = []
    images: list[bytes] = []
    context: list[ContextItem] = []
    files: list[Path] = []
    for block in blocks:
        match block:
            case TextBlock(text=text):
                texts.append(text)
            case MediaBlock(type="audio"):
                raise RequestError("Odin does not listen to audio; send words")
            case MediaBlock(data=data):
                images.append(_decoded(data))
            case LinkBlock(uri=uri, name=name):
                texts.append(_mention(uri, name, root))
                files += _file(uri)
            case ResourceBlock(resource=Resource(text=str(text), uri=uri)):
                texts.append(_mention(uri, "", root))
                context.append(ContextItem(kind="selection" if "#" in uri else "file", uri=uri, content=text))
                files += _file(uri)
            case ResourceBlock(resource=resource):
                images.append(_attached(resource))
    return Said("".join(texts), tuple(images), tuple(context), tuple(files))


def _mention(uri: str, name: str, root: Path) -> str:
    """As people write it; what is no file by its name and address."""
    path = path_of(uri.partition("#")[0])
    if path is None:
        return f"{name} ({uri})" if name and name != uri else uri
    shown = str(path.relative_to(root) if path.is_relative_to(root) else path)
    return f'@"{shown}"' if " " in shown else f"@{shown}"


def _file(uri: str) -> list[Path]:
    path = path_of(uri.partition("#")[0])
    return [path] if path else []


def _attached(resource: Resource) -> bytes:
    if resource.blob is None or not (resource.mime_type or "").startswith(ATTACHABLE):
        raise RequestError(f"{resource.uri} is neither text nor an image nor a PDF; mention its file instead")
    return _decoded(resource.blob)


def _decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error as error:
        raise RequestError(f"`data` is not base64: {error}") from None
