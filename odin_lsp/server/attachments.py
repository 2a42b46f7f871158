"""Images and PDFs on the wire: as editors send them along, and as they get them back to show them."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from odin_lsp.agent.attaching import attachment, of_bytes
from odin_lsp.errors import RequestError, ToolError
from odin_lsp.formats.images import Unusable, decoded, image_of
from odin_lsp.messages import Attachment
from odin_lsp.sessions import attachments
from odin_lsp.values import Value
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.uris import path_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageItem(Value):
    """A PNG, JPEG, GIF or WebP image. Its bytes say which."""

    data: str | None = None
    """Base64, of at most 50 MiB; or:"""
    uri: str | None = None
    """Of a file, which may also be a PDF; or:"""
    digest: str | None = None
    """Of one that has come with a message of the session before, such as one that waited."""
    name: str = ""
    """What people call it, for `data` and `digest`."""
    media_type: str | None = None
    """Not looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachmentParams(Value):
    """`odin.session.attachment`: an image or PDF that came with a message of a session, as the model was sent it."""

    digest: str
    """From the `turnStarted` event."""
    session_id: str | None = None
    """Without it: the current session."""


@dataclass(frozen=True, slots=True)
class AttachmentData(Value):
    data: str
    """Base64."""


def attached(items: Iterable[ImageItem], files: Files, log: Path) -> tuple[Attachment, ...]:
    """As a model is sent them; a `RequestError` says what is wrong with one. `log`: the session's."""
    return tuple(_attached(number, item, files, log) for number, item in enumerate(items, 1))


def _attached(number: int, item: ImageItem, files: Files, log: Path) -> Attachment:
    name = item.name or f"image {number}"
    if item.digest is not None:
        return of_bytes(attachments.read(log, item.digest), item.name)
    if item.data is not None:
        try:
            return image_of(decoded(item.data, name), item.name)
        except Unusable as error:
            raise RequestError(str(error)) from None
    path = path_of(item.uri) if item.uri else None
    if path is None:
        raise RequestError(f"{name} needs `data`, the `uri` of a file, or a `digest`")
    try:
        return attachment(files.resolve(str(path)).path, files)
    except ToolError as error:
        raise RequestError(str(error)) from None
