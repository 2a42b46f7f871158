"""PDFs: handed over to a model that reads them, or as the text of their pages.

Run as a program it reads pages of what comes on stdin. Odin does it so: a hostile file can cost time and memory, and a
process can be ended."""

import asyncio
import base64
import json
import re
import sys
from dataclasses import dataclass

from odin_lsp.formats.images import Unusable
from odin_lsp.messages import Document
from odin_lsp.tasks import end_process

SUFFIX = ".pdf"
MAX_BYTES = 5 * 1024 * 1024
"""Of what is handed over as it is."""
MAX_PAGES = 100
"""Likewise: the least that a provider allows."""
MAX_SOURCE_BYTES = 100 * 1024 * 1024
MAX_CHARS = 1_000_000
SECONDS = 30.0
INSTALL = "pip install 'odin-lsp[pdf]'"
NOT_INSTALLED = 3
READER = (sys.executable, "-I", "-X", "utf8", "-m", "odin_lsp.formats.pdf")
_PAGE = re.compile(rb"/Type\s*/Page\b(?!s)")


@dataclass(frozen=True, slots=True)
class Pages:
    texts: tuple[str, ...]
    """Of those that were asked for."""
    total: int


def document_of(data: bytes, name: str) -> Document:
    """The whole file as it is sent and kept."""
    _check(data, name)
    pages = len(_PAGE.findall(data))
    if not is_sendable(data):
        size = f"{len(data):,} bytes" if len(data) > MAX_BYTES else f"{pages} pages"
        raise Unusable(
            f"{name} has {size}; at most {MAX_BYTES:,} bytes and {MAX_PAGES} pages are sent whole. Mention it without"
            " `@`: then Odin reads the pages that matter as text"
        )
    return Document(base64.b64encode(data).decode(), name, pages)


async def pages_of(data: bytes, name: str, first: int, count: int) -> Pages:
    """The text of some pages, counted from 1."""
    _check(data, name)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *READER, str(first), str(count), stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL, env={}
    )
    try:
        async with asyncio.timeout(SECONDS):
            said, _ = await process.communicate(data)
    except TimeoutError:
        raise Unusable(f"{name} was given up after {SECONDS:g} seconds") from None
    finally:
        await end_process(process)
    if process.returncode == NOT_INSTALLED:
        raise Unusable(f"{name} can be read as text only with pypdf: {INSTALL}")
    if process.returncode != 0:
        raise Unusable(f"{name} cannot be read: it is damaged, encrypted or too large")
    found = json.loads(said)
    return Pages(tuple(found["texts"]), found["total"])


def is_sendable(data: bytes) -> bool:
    """Whether a provider would take all of it, as far as that is known: pages may be packed."""
    return len(data) <= MAX_BYTES and len(_PAGE.findall(data)) <= MAX_PAGES


def is_pdf(data: bytes) -> bool:
    return b"%PDF-" in data[:1024]


def _check(data: bytes, name: str) -> None:
    if not is_pdf(data):
        raise Unusable(f"{name} is not a PDF, whatever its name says")


def main() -> None:
    from io import BytesIO

    if sys.platform != "win32":
        import resource

        for limit, most in ((resource.RLIMIT_AS, 1024**3), (resource.RLIMIT_CPU, 60)):
            _, hard = resource.getrlimit(limit)
            resource.setrlimit(limit, (most, hard))
    try:
        from pypdf import PdfReader
    except ImportError:
        sys.exit(NOT_INSTALLED)
    pages = PdfReader(BytesIO(sys.stdin.buffer.read())).pages
    first, count = map(int, sys.argv[1:])
    texts: list[str] = []
    for page in pages[first - 1 : first - 1 + count]:
        texts.append(page.extract_text()[: MAX_CHARS - sum(map(len, texts))])
    json.dump({"texts": texts, "total": len(pages)}, sys.stdout)


if __name__ == "__main__":
    main()
