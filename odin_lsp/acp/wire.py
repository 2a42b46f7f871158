"""What clients send, as far as Odin reads it. Other keys are left out: the protocol lets clients add some."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator
from pydantic.alias_generators import to_camel

from odin_lsp.errors import RequestError

VERSION = 1


class Foreign:
    """Base of what comes from a client of others."""

    __slots__ = ()
    __pydantic_config__ = ConfigDict(alias_generator=to_camel, extra="ignore")


@dataclass(frozen=True, slots=True)
class FileAbilities(Foreign):
    read_text_file: bool = False
    write_text_file: bool = False


@dataclass(frozen=True, slots=True)
class AskingAbilities(Foreign):
    form: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ClientAbilities(Foreign):
    fs: FileAbilities = field(default_factory=FileAbilities)
    elicitation: AskingAbilities | None = None

    @property
    def shows_forms(self) -> bool:
        return self.elicitation is not None and self.elicitation.form is not None


@dataclass(frozen=True, slots=True)
class Initialize(Foreign):
    protocol_version: int
    client_capabilities: ClientAbilities | None = None


@dataclass(frozen=True, slots=True)
class Pair(Foreign):
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class StdioServer(Foreign):
    name: str
    command: str
    args: tuple[str, ...] = ()
    env: tuple[Pair, ...] = ()


@dataclass(frozen=True, slots=True)
class RemoteServer(Foreign):
    type: Literal["http", "sse"]
    name: str
    url: str
    headers: tuple[Pair, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPlace(Foreign):
    """Where a session works, and with what."""

    cwd: str
    additional_directories: tuple[str, ...] | None = None
    mcp_servers: tuple[RemoteServer | StdioServer, ...] = ()

    @property
    def folders(self) -> tuple[Path, ...]:
        return tuple(_folder(it) for it in (self.cwd, *(self.additional_directories or ())))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSession(SessionPlace):
    """`session/load`, `session/resume`."""

    session_id: str


@dataclass(frozen=True, slots=True)
class OfSession(Foreign):
    """`session/close`, `session/cancel`."""

    session_id: str


@dataclass(frozen=True, slots=True)
class ListSessions(Foreign):
    cwd: str | None = None


@dataclass(frozen=True, slots=True)
class SetMode(Foreign):
    session_id: str
    mode_id: str


@dataclass(frozen=True, slots=True)
class SetOption(Foreign):
    session_id: str
    config_id: str
    value: str


@dataclass(frozen=True, slots=True)
class TextBlock(Foreign):
    type: Literal["text"]
    text: str


@dataclass(frozen=True, slots=True)
class MediaBlock(Foreign):
    type: Literal["image", "audio"]
    data: str
    mime_type: str


@dataclass(frozen=True, slots=True)
class LinkBlock(Foreign):
    type: Literal["resource_link"]
    uri: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Resource(Foreign):
    uri: str
    mime_type: str | None = None
    text: str | None = None
    blob: str | None = None


@dataclass(frozen=True, slots=True)
class ResourceBlock(Foreign):
    type: Literal["resource"]
    resource: Resource


Block = Annotated[TextBlock | MediaBlock | LinkBlock | ResourceBlock, Discriminator("type")]


@dataclass(frozen=True, slots=True)
class Prompt(Foreign):
    session_id: str
    prompt: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class FileText(Foreign):
    """What `fs/read_text_file` is answered with."""

    content: str


def _folder(name: str) -> Path:
    path = Path(name)
    if not path.is_absolute():
        raise RequestError(f"{name!r} is not an absolute path")
    return path
