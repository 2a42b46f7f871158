"""From the bytes of an answer to text: unpacked within bounds, decoded by the charset that it names."""

import codecs
import re
import zlib
from collections.abc import Callable

from odin_lsp.errors import ToolError

MAX_RATIO = 100
RATIO_COUNTS_FROM = 1024 * 1024
"""Bytes unpacked, below which any ratio is fine: short pages of one letter exist."""
CODINGS = "gzip, deflate"
"""What is asked for, and all that is taken."""
_META = re.compile(rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([a-z0-9_:.-]{1,40})", re.IGNORECASE)
_META_WITHIN = 2048
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_CHARSETS = re.compile(
    r"utf-8|utf-16(-[lb]e)?|iso8859-\d+|cp125\d|cp866|cp874|cp932|cp949|koi8-[ru]|mac-(roman|cyrillic)|shift_jis(_2004|x0213)?"
    r"|euc_jp|iso2022_jp|euc_kr|gb2312|gbk|gb18030|big5(hkscs)?|tis-620"
)
"""What pages are written in, by Python's names. Python knows many more, among them some that are no charsets."""
_AS_BROWSERS_DO = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
}


class Unpacker:
    """Takes an answer's body piece by piece, and stops at the bound."""

    def __init__(self, coding: str, max_bytes: int) -> None:
        self._unpack = _unpacking(coding)
        self._max_bytes = max_bytes
        self._received = 0
        self.body = bytearray()
        self.is_full = False
        """There was more than may be kept."""

    def feed(self, piece: bytes) -> None:
        self._received += len(piece)
        room = self._max_bytes - len(self.body)
        try:
            # One byte more than fits tells that there is more; zlib never makes more than it was asked for.
            self.body += self._unpack(piece, room + 1)
        except zlib.error:
            raise ToolError("the answer's compression is broken") from None
        if len(self.body) > max(RATIO_COUNTS_FROM, MAX_RATIO * self._received):
            raise ToolError(f"the answer grows more than {MAX_RATIO} times when it is unpacked, as no page does")
        if len(self.body) > self._max_bytes or self._received > self._max_bytes:
            del self.body[self._max_bytes :]
            self.is_full = True


def decode(body: bytes, charset: str | None, *, is_html: bool) -> str:
    """By its byte order mark, else as the header says, else as the page says, else UTF-8; never an error."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    named = _known(charset) if charset else None
    if named is None and is_html and (found := _META.search(body[:_META_WITHIN])):
        named = _known(found[1].decode("ascii"))
        if named and named.startswith("utf-16"):  # what was read as ASCII is no UTF-16
            named = "utf-8"
    return body.decode(named or ("utf-8" if _is_utf8(body) else "cp1252"), "replace")


def _unpacking(coding: str) -> Callable[[bytes, int], bytes]:
    """From a piece and the most to make of it to what it holds."""
    match coding.strip().lower():
        case "" | "identity":
            return lambda piece, most: piece[:most]
        case "gzip" | "x-gzip":
            return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress
        case "deflate":
            return zlib.decompressobj().decompress
        case other:
            raise ToolError(f"the answer is packed as {other[:60]!r}, which was not asked for")


def _known(charset: str) -> str | None:
    try:
        name = codecs.lookup(charset.strip("\"' ")).name
    except (LookupError, ValueError):
        return None
    name = _AS_BROWSERS_DO.get(name, name)
    return name if _CHARSETS.fullmatch(name) else None


def _is_utf8(body: bytes) -> bool:
    """A cut in the middle of a character at the end does not count."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body)
    except UnicodeDecodeError:
        return False
    return True
