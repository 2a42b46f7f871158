"""Texts as they were before a turn, each written once, under its own digest. What is there is never written again."""

import hashlib
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from odin_lsp import locks

LOCK = "lock"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def bytes_of(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def digest_of(text: str) -> str:
    return hashlib.sha256(bytes_of(text)).hexdigest()


def keep(folder: Path, text: str) -> int:
    """Write the text, unless it is there; how many bytes that took."""
    data = bytes_of(text)
    path = folder / hashlib.sha256(data).hexdigest()
    if path.exists() and path.stat().st_size == len(data):
        return 0
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = folder / f".{secrets.token_hex(8)}.new"
    try:
        with os.fdopen(os.open(draft, _NEW, 0o600), "wb") as file:
            file.write(data)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return len(data)


def read(folder: Path, digest: str) -> str | None:
    """`None` if it is gone, or not what it was."""
    try:
        data = (folder / digest).read_bytes()
    except OSError:
        return None
    return data.decode("utf-8", "surrogatepass") if hashlib.sha256(data).hexdigest() == digest else None


@contextmanager
def locked(folder: Path, *, alone: bool = False) -> Generator[None]:
    """Many may write at once. Who removes must be `alone`, and gets a `locks.Held` if that is not so."""
    with locks.held(folder / LOCK, shared=not alone, patience=0 if alone else locks.PATIENCE):
        yield
