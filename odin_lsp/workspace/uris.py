"""URIs and the paths they name. Pure: what is true on Windows can be tested anywhere."""

import os
import re
import unicodedata
from pathlib import Path
from urllib.parse import unquote, urlsplit

ON_WINDOWS = os.name == "nt"
_DRIVE = re.compile(r"/?([A-Za-z]):")
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_BIDI = {"\u061c", "\u200e", "\u200f", *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))}


def document_key(uri: str) -> str:
    """The same for all spellings of one document: percent signs, the case of a drive letter."""
    parts = urlsplit(uri)
    if parts.scheme.lower() != "file" or parts.fragment or parts.query:
        return uri
    name = unquote(parts.path)
    if drive := _DRIVE.match(name):
        name = f"/{drive[1].lower()}:{name[drive.end() :]}"
    return f"file://{parts.netloc.lower().replace('localhost', '')}{name}"


def path_of(uri: str, *, windows: bool = ON_WINDOWS) -> Path | None:
    """The file that `uri` names; `None` for other schemes, other hosts and names that no file can have.

    A `#` or `?` that is not encoded would cut the name off: that is another file, so it is none."""
    parts = urlsplit(uri)
    if parts.scheme.lower() != "file" or parts.netloc.lower() not in ("", "localhost") or parts.fragment or parts.query:
        return None
    try:
        name = unquote(parts.path, errors="strict")
    except UnicodeDecodeError:
        return None
    if windows:
        name = name.removeprefix("/").replace("/", "\\")
    return None if refusal(name, windows=windows) else Path(name)


def refusal(name: str, *, windows: bool = ON_WINDOWS) -> str | None:
    """Why no tool may use this name, if none may. It must be absolute and mean one file only."""
    if not name.strip() or name in ("undefined", "null"):
        return "the path is missing; leave it out or give an absolute path"
    if "\0" in name:
        return "a path cannot contain a NUL character"
    if any("\ud800" <= character <= "\udfff" for character in name):
        return "a path that is not valid Unicode cannot be used"
    return _windows_refusal(name) if windows else None if name.startswith("/") else f"{name} is not an absolute path"


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
    visible = (it for it in unicodedata.normalize("NFKC", name) if unicodedata.category(it) not in ("Cf", "Cc"))
    return unicodedata.normalize("NFKC", "".join(visible)).casefold().rstrip(". ")


def printable(name: str) -> str:
    """A file name for people and models: bytes that are no text and what could mislead are escaped."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(f"\\u{ord(it):04x}" if it in _BIDI or unicodedata.category(it) == "Cc" else it for it in text)
