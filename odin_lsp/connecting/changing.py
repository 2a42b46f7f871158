"""What becomes of an agent's files when Odin is put into them or taken out, and what of it was Odin's doing."""

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from odin_lsp import private_files, state_folder
from odin_lsp.connecting import json_text, toml_text
from odin_lsp.connecting.agents import PLUGIN_MARK, Item, JsonFile, Member, OwnFile, Piece, TomlFile
from odin_lsp.connecting.json_text import Unsuitable
from odin_lsp.values import is_list, is_object
from odin_lsp.workspace import disk
from odin_lsp.workspace.text import Decoded

OTHERS = "is there already, with something else in it"


@dataclass(frozen=True, slots=True)
class Put:
    """A member or an item that Odin has put into a file."""

    path: tuple[str, ...]
    value: Any
    is_item: bool
    made: int
    """How many of the path's names were not there."""


@dataclass(frozen=True, slots=True)
class Change:
    file: Path
    before: Decoded | None
    """`None`: there is no such file."""
    after: str | None
    put: tuple[Put, ...] = ()
    """All that is Odin's afterwards, of JSON."""
    is_own: bool = False
    """Odin has made the file."""

    @property
    def is_one(self) -> bool:
        return self.after != (self.before.text if self.before else None)


def connect(piece: Piece) -> Change:
    """Raises `Unsuitable` if the file is not as it has to be, and `ToolError` if it cannot be read."""
    before = _read(piece.file)
    text = before.text if before else ""
    match piece:
        case JsonFile():
            return _put_json(piece, before)
        case TomlFile():
            return Change(piece.file, before, _put_toml(piece, text))
        case OwnFile():
            if before and not text.startswith(PLUGIN_MARK):
                raise Unsuitable("it is not Odin's; rename it")
            return Change(piece.file, before, piece.text)


def disconnect(piece: Piece) -> Change:
    """The same, without Odin."""
    before = _read(piece.file)
    if before is None:
        return Change(piece.file, None, None)
    match piece:
        case JsonFile():
            kept, is_own = recorded(piece.file)
            text = _without(before.text, kept or _as_if_put(piece, before.text))
            is_empty = is_own and not json_text.parse(text).value
            return Change(piece.file, before, None if is_empty else text)
        case TomlFile():
            text = toml_text.drop(before.text, piece.ours)
            return Change(piece.file, before, text or None)
        case OwnFile():
            return Change(piece.file, before, None if before.text.startswith(PLUGIN_MARK) else before.text)


def is_connected(piece: Piece) -> bool:
    with suppress(Unsuitable, disk.ToolError):
        return not connect(piece).is_one
    return False


def write(changes: Iterable[Change]) -> None:
    """Raises `OSError` or `ToolError`. What is Odin's is noted before it is there."""
    changes = [it for it in changes if it.is_one]
    _record(changes)
    for it in changes:
        if it.before is None:
            disk.create_text(it.file, Decoded(it.after or "", "utf-8"))
        elif it.after is None:
            disk.delete(it.file, recursive=False)
        else:
            disk.write_text(it.file, Decoded(it.after, it.before.encoding, it.before.bom), it.before.text)


def recorded(file: Path) -> tuple[tuple[Put, ...], bool]:
    """What Odin has put into this file, as far as it knows, and whether it has made the file."""
    with suppress(KeyError, TypeError):
        entry = _records()[str(file)]
        put = [Put(tuple(it["path"]), it["value"], it["is_item"], it["made"]) for it in entry["put"]]
        return tuple(put), bool(entry["made"])
    return (), False


def _read(file: Path) -> Decoded | None:
    return disk.read_text(file) if file.exists() else None


def _put_json(piece: JsonFile, before: Decoded | None) -> Change:
    text = before.text if before and before.text.strip() else "{}\n"
    kept, is_own = recorded(piece.file)
    wanted = [(it.path, it.value, isinstance(it, Item)) for it in piece.changes]
    text = _without(text, [it for it in kept if (it.path, it.value, it.is_item) not in wanted])
    put: list[Put] = []
    for change in piece.changes:
        there = json_text.value_at(text, change.path)
        is_item = isinstance(change, Item)
        if _has(there, change):
            if isinstance(change, Member) and change.is_last:
                _check_last(text, change.path)
            put += [it for it in kept if (it.path, it.value) == (change.path, change.value)]
            continue
        if there is not None and not is_item:
            raise Unsuitable(f"`{'.'.join(change.path)}` {OTHERS}; remove it")
        put.append(Put(change.path, change.value, is_item, json_text.made_by(text, change.path)))
        text = (json_text.add if is_item else json_text.put)(text, change.path, change.value)
    return Change(piece.file, before, text, tuple(put), is_own=is_own or before is None)


def _has(there: Any, change: Member | Item) -> bool:
    return is_list(there) and change.value in there if isinstance(change, Item) else there == change.value


def _check_last(text: str, path: tuple[str, ...]) -> None:
    *above, name = path
    last = list(json_text.value_at(text, tuple(above)))[-1]
    if last != name:
        raise Unsuitable(f"`{'.'.join((*above, last))}` stands behind `{'.'.join(path)}`; move it before that")


def _without(text: str, put: Sequence[Put]) -> str:
    for it in reversed(put):
        if it.is_item:
            text, above = json_text.drop_item(text, it.path, it.value), it.made
        else:
            is_ours = json_text.value_at(text, it.path) == it.value
            text, above = json_text.drop(text, it.path) if is_ours else text, it.made - 1
        end = len(it.path) if it.is_item else len(it.path) - 1
        for count in range(above):
            path = it.path[: end - count]
            if json_text.value_at(text, path) in ({}, []):
                text = json_text.drop(text, path)
    return text


def _as_if_put(piece: JsonFile, text: str) -> list[Put]:
    """Somebody else, or Odin elsewhere, may have put it there: what is like Odin's, if something names Odin."""
    alike = [it for it in piece.changes if _has(json_text.value_at(text, it.path), it)]
    is_odin_there = any("odin" in json.dumps((it.path, it.value)) for it in alike)
    return [Put(it.path, it.value, isinstance(it, Item), len(it.path)) for it in alike if is_odin_there]


def _put_toml(piece: TomlFile, text: str) -> str:
    rest = toml_text.drop(text, piece.ours)
    there = toml_text.parse(rest)
    servers = there.get("mcp_servers")
    if is_object(servers) and "odin" in servers:
        raise Unsuitable(f"`mcp_servers.odin` {OTHERS}; remove it")
    for name, value in piece.keys:
        if there.get(name, value) != value:
            raise Unsuitable(f"`{name}` is {there[name]!r}; set it to {value!r}")
    keys = "".join(f"{name} = {json.dumps(value)}\n" for name, value in piece.keys if name not in there)
    changed = toml_text.put(rest, keys, piece.tables)
    return text if _same(text, changed) else changed


def _same(text: str, changed: str) -> bool:
    """Wherever Odin's part stands by now."""
    return toml_text.is_put(text) and toml_text.parse(text) == toml_text.parse(changed)


def _records() -> dict[str, Any]:
    kept = private_files.read_json(_file())
    return kept if is_object(kept) else {}


def _record(changes: Sequence[Change]) -> None:
    state_folder.folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    said = {str(it.file): {"put": [asdict(put) for put in it.put], "made": it.is_own} for it in changes}

    def renewed(kept: Any) -> dict[str, Any]:
        merged = {**(kept if is_object(kept) else {}), **said}
        return {file: it for file, it in merged.items() if it["put"]}

    private_files.update_json(_file(), renewed)


def _file() -> Path:
    return state_folder.folder() / "connected.json"
