"""URIs and the paths they name. Pure: what is true on Windows can be tested anywhere."""

import os
import re
import unicodedata
from pathlib import Path
from urllib.parse import unquote

ON_WINDOWS = os.name == "nt"
_FILE = re.compile(r"file:(?://([^/?#\x00-\x20]*))?(/[^?#\x00-\x1f]*)", re.IGNORECASE)
_DRIVE = re.compile(r"/?([A-Za-z]):")
_NOT_BELOW = re.compile(r"/|~(?:/|\Z)|[A-Za-z][A-Za-z0-9+.-]*:[/\\]")
_DEVICES = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[\d¹²³])(\..*)?", re.IGNORECASE)
LONGEST = 32_767 if ON_WINDOWS else 4_095
"""Characters of a path: no system opens more, and to look up each of its folders takes long."""
DEEP = 100
"""Folders."""
_MISSING = ("undefined", "null")
"""What is left of a path in a program that had none."""
_BIDI = {"\u061c", "\u200e", "\u200f", *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))}


def document_key(uri: str) -> str:
    """The same for all spellings of one document: percent signs, the case of a drive letter."""
    split = _file_parts(uri)
    if split is None:
        return uri
    host, path = split
    name = unquote(path, errors="surrogateescape")
    if drive := _DRIVE.match(name):
        name = f"/{drive[1].lower()}:{name[drive.end() :]}"
    return f"file://{'' if host == 'localhost' else host}{name}"


def path_of(uri: str, *, windows: bool = ON_WINDOWS) -> Path | None:
    """The file that `uri` names; `None` for other schemes, other hosts and names that no file can have.

    A `#` or `?` that is not encoded would cut the name off: that is another file, so it is none."""
    split = _file_parts(uri)
    if split is None or split[0] not in ("", "localhost"):
        return None
    try:
        name = unquote(split[1], errors="strict")
    except UnicodeDecodeError:
        return None
    if windows:
        name = name.removeprefix("/").replace("/", "\\")
    return None if refusal(name, windows=windows) else Path(name)


def _file_parts(uri: str) -> tuple[str, str] | None:
    """Host and path, not decoded. `urlsplit` drops tabs, line ends and empty fragments, and raises on bad hosts."""
    found = _FILE.fullmatch(uri)
    return ((found[1] or "").lower(), found[2]) if found else None


def is_relative(name: str, *, windows: bool = ON_WINDOWS) -> bool:
    """Whether it can be a name below a folder: neither a path in full nor a URI, nor one for a shell to expand."""
    if not name.strip() or name in _MISSING or (windows and name.startswith("\\")):
        return False
    return _NOT_BELOW.match(name) is None


def refusal(name: str, *, windows: bool = ON_WINDOWS) -> str | None:
    """Why no tool may use this name, if none may. It must be absolute and mean one file only."""
    if not name.strip() or name in _MISSING:
        return "the path is missing; leave it out or give one"
    if len(name) > LONGEST:
        return f"a path of {len(name):,} characters is longer than any that can be opened"
    if "\0" in name:
        return "a path cannot contain a NUL character"
    if any("\ud800" <= character <= "\udfff" for character in name):
        return "a path that is not valid Unicode cannot be used"
    return _windows_refusal(name) if windows else None if name.startswith("/") else f"{name} is not an absolute path"


def is_deep(name: str) -> bool:
    """Whether so many folders lead to it that to look at each takes long."""
    return len(name) > DEEP and name.count("/") > DEEP


def _windows_refusal(name: str) -> str | None:
    flat = name.replace("/", "\\")
    if flat.startswith(("\\\\", "\\??\\")):
        return f"{name} is on another machine or in a namespace of devices"
    if not re.match(r"[A-Za-z]:\\", flat):
        return f"{name} is not an absolute path"
    for part in flat[3:].split("\\"):
        if _DEVICES.fullmatch(part.rstrip(". ")):
            return f"{name} names a device"
        if ":" in part or (part not in (".", "..") and part != part.rstrip(". ")) or "~" in part[:-1]:
            return f"{name} has more than one meaning on Windows; write it out"
    return None


def folded(name: str) -> str:
    """For comparing with names that must not be reached: case, width, composition, the invisible do not count."""
    if name.isascii() and name.isprintable():
        return name.lower().rstrip(". ")
    visible = (it for it in unicodedata.normalize("NFKC", name) if unicodedata.category(it) not in ("Cf", "Cc"))
    return unicodedata.normalize("NFKC", "".join(visible)).casefold().rstrip(". ")


def printable(name: str) -> str:
    """A file name for people and models: bytes that are no text and what could mislead are escaped."""
    if name.isascii() and name.isprintable():
        return name
    return "".join(_printable(character) for character in name)


def _printable(character: str) -> str:
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    hidden = character in _BIDI or unicodedata.category(character) in ("Cc", "Cs")
    return f"\\u{ord(character):04x}" if hidden else character
