"""Where Odin keeps what outlives it, and whether it can: one folder, private to the user."""

import os
from pathlib import Path

import platformdirs

NOWHERE = "/nonexistent"
"""The home of somebody who has none."""
NOT_KEPT = "sessions, plans, notes, undo, selected models, saved approvals and trusted settings"
_PROBE = b"\0" * 4096
"""A disk that is full may still have room for a name."""


def settle_home() -> None:
    """Have an absolute HOME, for Odin and all that it starts. One that is no folder, or relative, would be found
    somewhere else from each folder, be it in a workspace: it is ignored, as are relative XDG folders."""
    for name in [it for it in os.environ if it.startswith("XDG_") and it.endswith("_HOME")]:
        if not Path(os.environ[name]).is_absolute():
            del os.environ[name]
    if not _is_home(os.environ.get("HOME", "")):
        os.environ.pop("HOME", None)
        known = os.path.expanduser("~")  # noqa: PTH111 - `Path.home` raises where nobody knows
        os.environ["HOME"] = known if _is_home(known) else NOWHERE


def folder() -> Path:
    return Path(platformdirs.user_state_dir("odin", appauthor=False))


def settings_file() -> Path:
    """The user's own settings, for all workspaces."""
    return Path(platformdirs.user_config_dir("odin", appauthor=False)) / "odinconfig.json"


def problem() -> str | None:
    """Why nothing can be kept, if so, as a sentence for the user. It tries, so it waits for the disk."""
    from tempfile import TemporaryFile  # the server is started without it

    try:
        folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        with TemporaryFile(dir=folder(), buffering=0) as file:
            file.write(_PROBE)
    except OSError as error:
        return (
            f"Cannot write to {folder()} ({error.strerror}). Odin works, but forgets when it exits: {NOT_KEPT}. "
            "Make the folder writable, or set XDG_STATE_HOME to another one."
        )
    return None


def scratch_folder(parent: Path, name: str) -> Path:
    """A new folder for what is needed only for now: in `parent`, or else where the system has such things."""
    try:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        (parent / name).mkdir(mode=0o700)
    except OSError:
        from tempfile import mkdtemp

        return Path(mkdtemp(prefix="odin-"))
    return parent / name


def _is_home(text: str) -> bool:
    return Path(text).is_absolute() and Path(text).is_dir()
