"""Pictures that a model can be sent: known by their first bytes, measured without being decoded, and made smaller only
where no provider would take them."""

import base64
import binascii
import struct
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO

from odin_lsp.errors import OdinError
from odin_lsp.messages import Image

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp"})
MAX_BYTES = 5 * 1024 * 1024 * 3 // 4
"""Five MiB of base64, which is the least that a provider allows."""
MAX_SIDE = 8000
"""Pixels, likewise."""
SMALLER_SIDE = 2000
"""Pixels of what had to be made smaller: no model sees more."""
MAX_SOURCE_BYTES = 50 * 1024 * 1024
MAX_PIXELS = 50_000_000
"""Of what is decoded to be made smaller; it takes four bytes for each."""
TAIL = 64 * 1024
"""Bytes in which the end of a picture must be; programs append things."""
INSTALL = "pip install 'odin-lsp[images]'"
TAKEN = "PNG, JPEG, GIF and WebP are taken"


class Unusable(OdinError):
    """A file that no model can be sent; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What the head of a picture says."""

    media_type: str
    width: int
    height: int


def image_of(data: bytes, name: str) -> Image:
    """The picture as it is sent and kept. `name` is what people call it."""
    found = measured(data, name)
    if len(data) > MAX_BYTES or max(found.width, found.height) > MAX_SIDE:
        data = _smaller(data, found, name)
        found = measured(data, name)
    return Image(found.media_type, base64.b64encode(data).decode(), name, found.width, found.height)


def decoded(text: str, name: str) -> bytes:
    """The bytes of base64 that somebody has sent."""
    if len(text) > MAX_SOURCE_BYTES * 4 // 3 + 4:
        raise Unusable(f"{name} is too large: at most {MAX_SOURCE_BYTES >> 20} MiB are taken")
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Unusable(f"{name} is not valid base64") from None


def is_image(data: bytes) -> bool:
    """As far as its first bytes tell."""
    return any(data.startswith(start) for start, *_ in _KINDS)


def measured(data: bytes, name: str) -> Measured:
    """Its kind and its size; `Unusable` if it is no picture, or not all of one."""
    for start, media_type, measure, is_whole in _KINDS:
        if data.startswith(start) and (media_type != "image/webp" or data[8:12] == b"WEBP"):
            try:
                width, height = measure(data)
            except (struct.error, IndexError):
                raise Unusable(f"{name} is cut off: its size cannot be read") from None
            if not width or not height:
                raise Unusable(f"{name} is damaged: it says that it has no pixels")
            if not is_whole(data):
                raise Unusable(f"{name} is cut off: its end is missing")
            return Measured(media_type, width, height)
    if b"<svg" in data[:1000].lower():
        raise Unusable(f"{name} is an SVG, which models read as text, not as an image; {TAKEN}")
    raise Unusable(f"{name} is not an image that models take, whatever its name says; {TAKEN}")


def _smaller(data: bytes, found: Measured, name: str) -> bytes:
    about = f"{name} has {found.width:,} × {found.height:,} pixels and {len(data):,} bytes"
    if found.width * found.height > MAX_PIXELS:
        raise Unusable(f"{about}; more than {MAX_PIXELS:,} pixels are not opened. Make it smaller first")
    try:
        from PIL import Image as Pillow
        from PIL import ImageOps
    except ImportError:
        limit = f"models take at most {MAX_SIDE:,} pixels a side and {MAX_BYTES:,} bytes"
        raise Unusable(f"{about}; {limit}. Make it smaller, or have Odin do it: {INSTALL}") from None
    try:
        kind = found.media_type.removeprefix("image/")
        with Pillow.open(BytesIO(data), formats=[kind]) as picture:
            picture.draft("RGB", (SMALLER_SIDE, SMALLER_SIDE))
            upright = ImageOps.exif_transpose(picture)
        is_opaque = not upright.has_transparency_data
        upright = upright.convert("RGB" if is_opaque else "RGBA")
        side = SMALLER_SIDE
        while True:
            upright.thumbnail((side, side))
            written = BytesIO()
            upright.save(written, "JPEG" if is_opaque else "PNG")
            if written.tell() <= MAX_BYTES:
                return written.getvalue()
            side //= 2
    except (OSError, ValueError, SyntaxError, Pillow.DecompressionBombError) as error:
        raise Unusable(f"{about}, and cannot be made smaller: {error}") from None


def _png(data: bytes) -> tuple[int, int]:
    if data[12:16] != b"IHDR":
        raise IndexError
    return struct.unpack_from(">II", data, 16)


def _gif(data: bytes) -> tuple[int, int]:
    return struct.unpack_from("<HH", data, 6)


def _jpeg(data: bytes) -> tuple[int, int]:
    """The size stands in the segment that begins the frame; those before it say how long they are."""
    at = 2
    while True:
        while data[at] == 0xFF and data[at + 1] == 0xFF:
            at += 1
        marker, length = struct.unpack_from(">HH", data, at)
        if not 0xFF01 < marker < 0xFFFF or length < 2:
            raise IndexError
        if 0xFFC0 <= marker <= 0xFFCF and marker not in (0xFFC4, 0xFFC8, 0xFFCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        at += 2 + length


def _webp(data: bytes) -> tuple[int, int]:
    match data[12:16]:
        case b"VP8X":
            width, high, height, higher = struct.unpack_from("<HBHB", data, 24)
            return (width | high << 16) + 1, (height | higher << 16) + 1
        case b"VP8L":
            (bits,) = struct.unpack_from("<I", data, 21)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
        case _:
            raise IndexError


_Kind = tuple[bytes, str, Callable[[bytes], tuple[int, int]], Callable[[bytes], bool]]
_KINDS: tuple[_Kind, ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png", _png, lambda data: b"IEND" in data[-TAIL:]),
    (b"\xff\xd8\xff", "image/jpeg", _jpeg, lambda data: b"\xff\xd9" in data[-TAIL:]),
    (b"GIF87a", "image/gif", _gif, lambda data: data.rstrip(b"\0").endswith(b";")),
    (b"GIF89a", "image/gif", _gif, lambda data: data.rstrip(b"\0").endswith(b";")),
    (b"RIFF", "image/webp", _webp, lambda data: len(data) >= struct.unpack_from("<I", data, 4)[0] + 8),
)
