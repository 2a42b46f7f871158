"""What lifts the sandbox by which Codex' own edits are refused: profiles and flags say more than Odin's line."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from odin_lsp.foreign_data import ForeignDataError, parse_foreign_toml
from odin_lsp.values import is_object

FLAGS = "`--sandbox`, `-c sandbox_mode=…`, `--approve-for-me` and `--dangerously-bypass-approvals-and-sandbox`"


def list_what_lifts(root: Path) -> list[str]:
    """What in Codex' settings lets it edit unreviewed, each with its file."""
    own = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
    profiles = sorted(own.glob("*.config.toml"))  # `--profile NAME` lays `NAME.config.toml` over the rest
    files = dict.fromkeys((own / "config.toml", *profiles, root / ".codex" / "config.toml"))
    return [f"{found} in {file}" for file in files for found in _lifting(file)]


def _lifting(file: Path) -> Iterator[str]:
    try:
        said = parse_foreign_toml(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError, ForeignDataError):
        yield "something that cannot be read"
        return
    yield from _modes(said, "")
    profiles = said.get("profiles")
    for name, profile in profiles.items() if is_object(profiles) else ():
        if is_object(profile):
            yield from _modes(profile, f"profiles.{name}.")


def _modes(said: Mapping[str, Any], where: str) -> Iterator[str]:
    mode = said.get("sandbox_mode", "read-only")
    if mode != "read-only":
        yield f"`{where}sandbox_mode = {mode!r}`"
