"""Pictures in a few bytes, of any size that their heads may tell."""

import struct
import zlib


def png(width: int = 2, height: int = 2, *, claims: tuple[int, int] | None = None, rows: bytes | None = None) -> bytes:
    """A real one, of gray pixels; `claims`: what its head says instead; `rows`: what it holds instead."""
    rows = zlib.compress((b"\0" + b"\x80" * width) * height if rows is None else rows)
    head = struct.pack(">IIBBBBB", *(claims or (width, height)), 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*it) for it in ((b"IHDR", head), (b"IDAT", rows), (b"IEND", b"")))


def jpeg(width: int, height: int) -> bytes:
    frame = struct.pack(">HHBHHB", 0xFFC0, 8, 8, height, width, 0)
    return b"\xff\xd8\xff\xe0" + struct.pack(">H", 4) + b"JF" + frame + b"\xff\xd9"


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0;"


def webp(width: int, height: int) -> bytes:
    size = struct.pack("<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3]
    body = b"WEBPVP8X" + struct.pack("<I", 10) + b"\0\0\0\0" + size
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
