"""Texts as they were before a turn, each written once, under its own digest. What is there is never written again."""

import hashlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from odin_lsp import locks, private_files

LOCK = "lock"


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
    private_files.replace_file(path, [data], durable=False)
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
