"""What Odin's wheel needs, and what it is built with, as wheels in a folder of the user's cache.

Tests that install Odin point pip at them. `python -m tests.editors.code_server` fetches them with everything else.
"""

import hashlib
import json
import shutil
import sys
import sysconfig
import tomllib
from pathlib import Path

from tests.editors.debian import CACHE, Unavailable, alone, run

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def fetched() -> Path:
    """The folder, which is filled if it is not here yet."""
    folder = _folder()
    with alone(folder.parent):
        if not folder.exists():
            fetching = folder.with_suffix(".fetching")
            shutil.rmtree(fetching, ignore_errors=True)
            options = ("--quiet", "--only-binary", ":all:", "--dest", str(fetching))
            run(sys.executable, "-m", "pip", "download", *options, *_requirements())
            fetching.rename(folder)
    return folder


def kept() -> Path:
    """The folder, for a test, which fetches nothing."""
    if not _folder().exists():
        raise Unavailable("the wheels are not here: python -m tests.editors.code_server")
    return _folder()


def only_from(folder: Path) -> dict[str, str]:
    """Variables for a pip that takes wheels from there and asks nobody."""
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_CONFIG_FILE": "/dev/null"}


def _folder() -> Path:
    key = json.dumps([_requirements(), sys.version_info[:2], sysconfig.get_platform()])
    return CACHE / "wheels" / hashlib.sha256(key.encode()).hexdigest()[:16]


def _requirements() -> list[str]:
    project = tomllib.loads(PROJECT.read_text())
    extras = project["project"]["optional-dependencies"]
    needed = [*project["project"]["dependencies"], *extras["mcp"]]
    return [*project["build-system"]["requires"], *needed]
