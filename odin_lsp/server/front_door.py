"""`initialize`, answered before the libraries of the protocol are there: importing them takes longer than all else.

What the full server would say is written down (`capabilities.json`, by docs/generate.py), but for what depends on the
client and on the settings. What is out of shape is left to the full server, which refuses it in its own words."""

import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from odin_lsp import __version__, garbage
from odin_lsp.frames import FrameError, Frames, Oversized, framed
from odin_lsp.logs import Level
from odin_lsp.project.project import Project, Told
from odin_lsp.server.handshake import info, roots_of, tell
from odin_lsp.server.transport import Channel, stdio_channel, tcp_channel
from odin_lsp.values import is_list, is_object, to_flat_wire

KNOWN = Path(__file__).with_name("capabilities.json")
ENCODINGS = ("utf-8", "utf-16", "utf-32")
OPTIONAL: Mapping[str, tuple[type, ...]] = {
    "processId": (int,),
    "rootUri": (str,),
    "rootPath": (str,),
    "locale": (str,),
    "workDoneToken": (str, int),
    "clientInfo": (dict,),
    "workspaceFolders": (list,),
}
TRACES = (None, "off", "messages", "verbose")


def serve(tcp_port: int | None, log_level: Level | None = None) -> NoReturn:
    garbage.look_seldom()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: os._exit(128 + number))
    channel = stdio_channel() if tcp_port is None else tcp_channel("127.0.0.1", tcp_port)
    project = Project(Told(flags={"logLevel": log_level} if log_level else {}))
    door = FrontDoor(channel)
    opened = door.welcome(project)
    from odin_lsp.server import serving
    from odin_lsp.server.server import OdinServer

    server = OdinServer(project)
    garbage.keep_what_is_there()
    server.logs.begin()
    serving.run(server, door, opened)


class FrontDoor:
    """The client's channel, from which something may have been read already."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._rest = b""

    def welcome(self, project: Project) -> Mapping[str, Any] | None:
        """Answer the client's first message, if that is an `initialize` as it should be. Its parameters; if `None`, the
        server finds it unread."""
        seen, frames = b"", Frames()
        try:
            frame = None
            while frame is None and (data := self._channel.read(2**14)):
                seen += data
                frame = next(frames.feed(data), None)
        except FrameError:
            frame = None
        call = None if frame is None or isinstance(frame, Oversized) else _call(frame)
        if call is None:
            self._rest = seen
            return None
        self._rest = frames.rest
        params = call["params"]
        folders = [folder["uri"] for folder in params.get("workspaceFolders") or ()]
        roots = roots_of(folders, params.get("rootUri"), params.get("rootPath"))
        tell(project, roots, params.get("initializationOptions"))
        answer = {"jsonrpc": "2.0", "id": call["id"], "result": result(params["capabilities"], project)}
        self._channel.write(framed(json.dumps(answer).encode()))
        return params

    def read(self, size: int, /) -> bytes:
        if not self._rest:
            return self._channel.read(size)
        data, self._rest = self._rest[:size], self._rest[size:]
        return data

    def write(self, data: bytes, /) -> None:
        self._channel.write(data)

    def offer(self, data: bytes, /) -> int:
        return self._channel.offer(data)

    def close(self) -> None:
        self._channel.close()


def result(client: Mapping[str, Any], project: Project) -> dict[str, Any]:
    """The full server's answer to a client with these capabilities."""
    known = json.loads(KNOWN.read_bytes())
    capabilities = known["always"]
    for path in known["yes"] | known["no"]:
        said = _said(client, path)
        if said is not None:
            _merge(capabilities, known["no" if said is False else "yes"].get(path, {}))
    capabilities["positionEncoding"] = _encoding(client)
    capabilities["experimental"] = {"odin": to_flat_wire(info(project))}
    return {"capabilities": capabilities, "serverInfo": {"name": "odin", "version": __version__}}


def _call(frame: bytes) -> Mapping[str, Any] | None:
    """If it is an `initialize` that the full server takes."""
    try:
        message = json.loads(frame, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    match message:
        case {"jsonrpc": "2.0", "id": str() | int() as id, "method": "initialize", "params": {**params}}:
            return message if not isinstance(id, bool) and _is_in_shape(params) else None
        case _:
            return None


def _is_in_shape(params: Mapping[str, Any]) -> bool:
    for name, kinds in OPTIONAL.items():
        value = params.get(name)
        if value is not None and (not isinstance(value, kinds) or isinstance(value, bool)):
            return False
    client: Mapping[str, Any] = params.get("clientInfo") or {"name": ""}
    folders: list[object] = params.get("workspaceFolders") or []
    return (
        is_object(params.get("capabilities"))
        and params.get("trace") in TRACES
        and isinstance(client.get("name"), str)
        and isinstance(client.get("version", ""), str)
        and all(map(_is_folder, folders))
    )


def _is_folder(value: object) -> bool:
    return is_object(value) and isinstance(value.get("uri"), str) and isinstance(value.get("name"), str)


def _encoding(client: Mapping[str, Any]) -> str:
    wanted = _said(client, "general.positionEncodings")
    return next((it for it in wanted if it in ENCODINGS), "utf-16") if is_list(wanted) else "utf-16"


def _said(capabilities: Mapping[str, Any], path: str) -> object:
    value: object = capabilities
    for name in path.split("."):
        value = value.get(name) if is_object(value) else None
    return value


def _merge(into: dict[str, Any], more: Mapping[str, Any]) -> None:
    for name, value in more.items():
        if is_object(value) and is_object(into.get(name)):
            _merge(into[name], value)
        else:
            into[name] = value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a value")
