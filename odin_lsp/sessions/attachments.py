"""Images and documents of a session: files beside its log, each under its own digest, so that a line of the log stays
short. No other file's name begins like theirs, and they are deleted with the session."""

import base64
import hashlib
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TypeGuard

from odin_lsp import private_files, system
from odin_lsp.errors import SessionError
from odin_lsp.messages import Attachment, Image
from odin_lsp.records import Attached
from odin_lsp.sessions import reader
from odin_lsp.sessions.reader import Line, Record
from odin_lsp.values import is_list, is_object

SUFFIX = "attached"
CARRYING = ("message", "history", "results", None)
"""Kinds of lines that may name attachments; `None`: a line that has to be read to be known."""
GONE = "({} was here: its file beside the log is gone, or the session has more of them than are kept in memory)"
MAX_BROUGHT_BACK = 16 * 1024 * 1024
"""Bytes of attachments that are read of a session: the last ones."""
_DIGEST = re.compile(rb'"digest":"([0-9a-f]{64})"')


def set_aside(log: Path, record: Record) -> Record:
    """The record as it is written. What cannot be set aside stays in it."""
    for part in _parts(record):
        for attachment in filter(_is_attachment, (part, *_list(part.get("attached")))):
            with suppress(OSError, SessionError, KeyError, TypeError, ValueError):
                attachment["digest"] = _keep(log, base64.b64decode(attachment["data"], validate=True))
                del attachment["data"]
    return record


def filled(log: Path, record: Record, wanted: frozenset[str] | None = None) -> Record:
    """The record as it was before, with those that are `wanted`, or all. A sentence is in the place of the others."""
    for part in _parts(record):
        if _is_attachment(part) and not _fill(log, part, wanted):
            gone = _gone(part)
            part.clear()
            part.update(kind="text", text=gone)
        held = _list(part.get("attached"))
        lost = [it for it in held if _is_attachment(it) and not _fill(log, it, wanted)]
        if lost:
            part["attached"] = [it for it in held if it not in lost]
            part["content"] = "\n".join([str(part.get("content", "")), *map(_gone, lost)])
    return record


def newest(log: Path, file: BinaryIO, lines: Iterable[Line]) -> frozenset[str]:
    """The digests of the last attachments that these lines name, as many as are brought back."""
    sizes = {_digest_of(it): it.stat().st_size for it in _files(log)}
    wanted: dict[str, int] = {}
    for line in reversed(list(lines)) if sizes else ():
        for digest in reversed(_named(file, line)):
            if sum(wanted.values()) + sizes.get(digest, 0) > MAX_BROUGHT_BACK and digest not in wanted:
                return frozenset(wanted)
            wanted[digest] = sizes.get(digest, 0)
    return frozenset(wanted)


def copy(log: Path, new_log: Path, file: BinaryIO, lines: Iterable[Line]) -> None:
    """Give another session those that these lines name."""
    for digest in {digest for line in lines for digest in _named(file, line)} if any(_files(log)) else ():
        if (data := _read(log, digest)) is not None:
            private_files.write_file(_path(new_log, digest), [data])


def read(log: Path, digest: str) -> bytes:
    """An attachment, for who shows the session."""
    data = _read(log, digest)
    if data is None:
        raise SessionError(f"the session has no attachment {digest[:64]!r}")
    return data


def described(attachment: Attachment) -> Attached:
    """For those who show it."""
    digest = hashlib.sha256(base64.b64decode(attachment.data)).hexdigest()
    size = (attachment.width, attachment.height) if isinstance(attachment, Image) else (0, 0)
    return Attached(
        digest=digest, media_type=attachment.media_type, name=attachment.name, width=size[0], height=size[1]
    )


def _parts(record: Record) -> list[Record]:
    """Where attachments can be: parts of messages, results, and beside a message that waits."""
    messages = [record.get("message"), *_list(record.get("messages"))]
    parts = [part for it in messages if is_object(it) for part in _list(it.get("parts"))]
    return [it for it in (*parts, *_list(record.get("results")), *_list(record.get("attached"))) if is_object(it)]


def _is_attachment(part: object) -> TypeGuard[Record]:
    return is_object(part) and part.get("kind") in ("image", "document")


def _fill(log: Path, attachment: Record, wanted: frozenset[str] | None) -> bool:
    """Bring its bytes back, if they were set aside; whether they are there."""
    digest = attachment.pop("digest", None)
    if isinstance(digest, str) and "data" not in attachment and (wanted is None or digest in wanted):
        data = _read(log, digest)
        attachment.update({"data": base64.b64encode(data).decode()} if data is not None else {})
    return "data" in attachment


def _gone(attachment: Record) -> str:
    return GONE.format(f"{attachment.get('kind')} {attachment.get('name', '')}".strip())


def _list(value: object) -> list[object]:
    return value if is_list(value) else []


def _named(file: BinaryIO, line: Line) -> list[str]:
    if line.kind not in CARRYING or line.size > reader.MAX_RECORD:
        return []
    return [it.decode() for it in _DIGEST.findall(system.pread(file.fileno(), line.size, line.offset))]


def _keep(log: Path, data: bytes) -> str:
    digest = hashlib.sha256(data).hexdigest()
    path = _path(log, digest)
    if not path.exists() or path.stat().st_size != len(data):
        private_files.write_file(path, [data])
    return digest


def _read(log: Path, digest: str) -> bytes | None:
    """`None` if it is gone, or not what it was; a name that is no digest is that of no file."""
    if not re.fullmatch("[0-9a-f]{64}", digest):
        return None
    try:
        with open(private_files.open_file(_path(log, digest), os.O_RDONLY), "rb") as file:  # noqa: PTH123
            data = file.read(reader.MAX_RECORD)
    except (OSError, SessionError):
        return None
    return data if hashlib.sha256(data).hexdigest() == digest else None


def _path(log: Path, digest: str) -> Path:
    return log.with_name(f"{log.stem}.{digest}.{SUFFIX}")


def _files(log: Path) -> list[Path]:
    return list(log.parent.glob(f"{log.stem}.*.{SUFFIX}"))


def _digest_of(path: Path) -> str:
    return path.name.split(".")[-2]
