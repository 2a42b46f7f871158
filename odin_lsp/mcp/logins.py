"""Where Odin is logged in: one private file for each server and address, so that no other address gets its tokens."""

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from odin_lsp import private_files, state_folder
from odin_lsp.errors import SessionError, ToolError
from odin_lsp.values import is_object

FILE = "credentials.json"
"""A name that is hidden from models, wherever it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """As the SDK writes these objects."""

    url: str
    client: Mapping[str, Any]
    tokens: Mapping[str, Any]
    expires: float | None
    """When the access token does, as a time of the clock."""
    issuer: Mapping[str, Any] | None
    """Who has given the tokens, and renews them."""
    resource: Mapping[str, Any] | None
    """For what they are."""


def read(holder: str, url: str) -> Login | None:
    stored: Any = private_files.read_json(_file(holder, url))
    if not is_object(stored) or stored.get("url") != url:
        return None
    client, tokens, expires = stored.get("client"), stored.get("tokens"), stored.get("expires")
    issuer, resource = stored.get("issuer"), stored.get("resource")
    if not is_object(client) or not is_object(tokens) or not isinstance(expires, int | float | None):
        return None
    return Login(
        url=url,
        client=client,
        tokens=tokens,
        expires=expires,
        issuer=issuer if is_object(issuer) else None,
        resource=resource if is_object(resource) else None,
    )


def keep(holder: str, login: Login) -> None:
    """Raises `ToolError`."""
    file = _file(holder, login.url)
    try:
        private_files.write_file(file, [json.dumps({"holder": holder, **asdict(login)}).encode()])
    except (OSError, SessionError) as error:
        raise ToolError(f"the login cannot be kept in {file.parent}: {error}") from None


def forget(holder: str, url: str) -> bool:
    """Whether there was one."""
    folder = _file(holder, url).parent
    if not (folder / FILE).exists():
        return False
    shutil.rmtree(folder)
    return True


def changed(holder: str, url: str) -> int | None:
    """When Odin was last logged in or its tokens renewed; `None` if it is not logged in."""
    try:
        return _file(holder, url).stat().st_mtime_ns
    except OSError:
        return None


def _file(holder: str, url: str) -> Path:
    digest = hashlib.sha256(json.dumps([holder, url]).encode()).hexdigest()[:32]
    return state_folder.folder() / "mcp" / digest / FILE
