"""Which language servers there are for a file: known or configured, installed, and allowed to start."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from odin_lsp.commands.environment import find_virtual_environment, trusted_path
from odin_lsp.config import LanguageServerSettings, ServerSettings, describe_language_server
from odin_lsp.foreign_data import ForeignDataError, parse_foreign_json
from odin_lsp.language_servers.known import KNOWN, Known
from odin_lsp.named_files import TooManyNames
from odin_lsp.reading import start_of
from odin_lsp.values import is_object

NOT_TRUSTED = "it runs what the project brings, and the folder is not trusted"
NOT_FOUND = "it is not installed"
CHANGED = "a file that its settings name has changed since you agreed to it"
TOO_OLD = "it is older than TypeScript 7"
MAX_PACKAGE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What decides which servers may run, and with what."""

    roots: tuple[Path, ...] = ()
    settings: LanguageServerSettings = field(default_factory=LanguageServerSettings.model_construct)
    is_trusted: bool = False
    secret_names: frozenset[str] = frozenset()
    """Variables that no server gets."""


@dataclass(frozen=True, slots=True)
class Candidate:
    known: Known
    program: Path | None
    """`None`: it cannot be used, and `why_not` says why."""
    why_not: str = ""
    needs_trust: bool = False
    """It could be used if the folder were trusted."""


def for_file(path: Path, around: Around) -> list[Candidate]:
    """Those to ask about a file, the best first: one that knows the language, and those that check or format."""
    folder = folder_of(path, around.roots)
    if folder is None or not around.settings.enabled:
        return []
    meant = [it for it in _servers(around.settings) if path.suffix.lower() in it.languages]
    found = [_found(it, project_of(path, it, folder), folder, around) for it in meant]
    usable = [it for it in found if it.program is not None]
    best = [it for it in usable if not it.known.is_besides][:1]
    return [*best, *(it for it in usable if it.known.is_besides)]


def all_of(folder: Path, around: Around) -> list[Candidate]:
    """Every server that is known or configured, and whether it could be used in this folder."""
    return [_found(it, folder, folder, around) for it in _servers(around.settings)]


def folder_of(path: Path, roots: tuple[Path, ...]) -> Path | None:
    """The workspace folder that the file is in."""
    return max((it for it in roots if path.is_relative_to(it)), key=lambda it: len(it.parts), default=None)


def project_of(path: Path, known: Known, folder: Path) -> Path:
    """The outermost folder of the workspace around the file that is a project of its language: one server for a whole
    repository sees more than one for each part of it, and takes less memory."""
    inside = [it for it in reversed(path.parents) if it.is_relative_to(folder)]
    return next((it for it in inside if any((it / name).exists() for name in known.markers)), folder)


def _servers(settings: LanguageServerSettings) -> Iterator[Known]:
    """Those of the settings first: whoever has written them down wants them."""
    named = settings.servers
    known = {it.name: it for it in KNOWN}
    yield from (_configured(known.get(name), name, said) for name, said in named.items() if said.enabled)
    yield from (it for it in KNOWN if it.name not in named)


def _configured(known: Known | None, name: str, said: ServerSettings) -> Known:
    known = known or Known(name=name, command=(name,), languages={})
    return replace(
        known,
        command=said.command or known.command,
        languages={suffix.lower(): it for suffix, it in said.languages.items()} or known.languages,
        options={**known.options, **said.options},
        settings={**known.settings, **said.settings},
    )


def _found(known: Known, project: Path, folder: Path, around: Around) -> Candidate:
    name = known.command[0]
    if not _is_as_agreed(known.name, around):
        return Candidate(known, None, CHANGED, needs_trust=True)
    inside = _inside(name, project, folder)
    program = (inside if around.is_trusted else None) or _on_path(name, around.roots)
    if program is None:
        return _untrusted(known, inside) if inside else Candidate(known, None, NOT_FOUND)
    if not around.is_trusted and any(Path(os.path.realpath(program)).is_relative_to(root) for root in around.roots):
        return _untrusted(known, program)
    if not around.is_trusted and known.runs_project:
        return Candidate(known, None, NOT_TRUSTED, needs_trust=True)
    if known.name == "tsc" and known.command[1:2] == ("--lsp",) and not _speaks_lsp(program):
        return Candidate(known, None, TOO_OLD)
    return Candidate(known, program)


def _is_as_agreed(name: str, around: Around) -> bool:
    """Of a workspace's own: looked at again when it starts."""
    said = around.settings.servers.get(name)
    if said is None or not said.agreed_as:
        return True
    try:
        return describe_language_server(name, said, around.roots[0]).id == said.agreed_as
    except TooManyNames:
        return False


def _untrusted(known: Known, program: Path) -> Candidate:
    return Candidate(known, None, f"{program} is in the workspace, which is not trusted", needs_trust=True)


def _inside(name: str, project: Path, folder: Path) -> Path | None:
    """What the project has installed for itself, or the workspace around it."""
    if "/" in name:
        return None
    above = [it for it in (project, *project.parents) if it.is_relative_to(folder)]
    environment = find_virtual_environment(project, [folder])
    places = [*(it / "node_modules" / ".bin" for it in above), *([environment / "bin"] if environment else [])]
    return next((it for place in places if os.access(it := place / name, os.X_OK) and it.is_file()), None)


def _on_path(name: str, roots: tuple[Path, ...]) -> Path | None:
    if "/" in name:
        path = Path(name).expanduser()
        return path if path.is_absolute() and os.access(path, os.X_OK) else None
    found = shutil.which(name, path=trusted_path(os.environ.get("PATH", os.defpath), roots))
    return Path(found) if found else None


def _speaks_lsp(program: Path) -> bool:
    """As its package says: to ask the program itself would take longer than to start it."""
    package = Path(os.path.realpath(program)).parent.parent / "package.json"
    try:
        described = parse_foreign_json((start_of(package, MAX_PACKAGE_BYTES) or b"").decode("utf-8", "replace"))
    except (OSError, ForeignDataError):
        return False
    version = str(described.get("version", "")) if is_object(described) else ""
    return version.partition(".")[0].isdigit() and int(version.partition(".")[0]) >= 7
