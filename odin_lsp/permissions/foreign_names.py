"""What tools of MCP servers are called, and whose they are: a name leads to one server only, and says nothing of who
has named that."""

import hashlib
import re
from dataclasses import dataclass

FOREIGN = "mcp__"
"""What the names of MCP servers' tools begin with: `mcp__server__tool`."""
MAX_NAME = 64
"""What all providers take."""
MAX_PREFIX = len(FOREIGN) + 48
"""With two underscores and a digest behind it, a name is not too long."""
DIGITS = 8
_PLAIN = re.compile(r"[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*")
_WITH_DIGEST = re.compile(rf"_[0-9a-f]{{{DIGITS}}}")
_FORMER = re.compile(rf"({FOREIGN}(?:(?!__).)+?)_[0-9a-f]{{{DIGITS}}}(?=__|$)")
_STRANGE = re.compile(r"[^A-Za-z0-9_-]+")
_JOINED = re.compile(r"__+")


@dataclass(frozen=True, slots=True)
class ToolOwner:
    """The server that a tool belongs to."""

    id: str
    """Of who names the server, and of all that decides what it does."""
    is_users: bool
    """It is not the project's."""


def server_prefix(server: str) -> str:
    """Return what the names of all its tools begin with, and those of no other server.

    What a provider does not take in a name is replaced. So that no two servers become one by that, a name that does not
    stay as it is, or looks as if it had not, gets a digest."""
    prefix = f"{FOREIGN}{server}"
    if _PLAIN.fullmatch(server) and len(prefix) <= MAX_PREFIX and not _WITH_DIGEST.fullmatch(server[-DIGITS - 1 :]):
        return prefix
    return f"{_simplified(server)[: MAX_PREFIX - DIGITS - 1].rstrip('_')}_{_digest(server)}"


def full_name(server: str, tool: str) -> str:
    name = f"{server_prefix(server)}__{fit_for_name(tool)}"
    if len(name) <= MAX_NAME:
        return name
    whole = f"{server}\0{tool}"
    return f"{name[: MAX_NAME - DIGITS - 1]}_{_digest(whole)}"


def former_name(name: str) -> str:
    """Return what a tool, or a server, was called before its name got a digest: rules and hooks that hold it back may
    still say so."""
    return _FORMER.sub(r"\1", name, count=1) if name.startswith(FOREIGN) else name


def resources_name(server: str) -> str:
    """Return what rules call the reading of a server's resources; no tool has this name, as it has a slash."""
    return f"{server_prefix(server)}__resources/read"


def fit_for_name(text: str) -> str:
    return _STRANGE.sub("_", text)


def _simplified(server: str) -> str:
    return f"{FOREIGN}{_JOINED.sub('_', fit_for_name(server)).strip('_')}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]
