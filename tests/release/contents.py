"""What each package has to have, and all that it may have besides."""

import re
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from tests.release.building import Built, Kind

WHEEL = r"odin_lsp-{version}-py3-none-any\.whl"
CODE = r"odin_lsp/([\w/]+/)?(\w+\.py|\w+\.md|py\.typed|capabilities\.json|opencode_plugin\.js)"
PLUGIN = r"odin_lsp/([\w/]+/)?neovim/([\w/]+/)?(\w+\.lua|odin\.txt|tags|LICENSE)"
REQUIRED: dict[Kind, tuple[str, ...]] = {
    "sdist": (r"CHANGELOG\.md", "LICENSE", "PKG-INFO", r"README\.md", r"pyproject\.toml", r"odin_lsp/__init__\.py"),
    "wheel": (
        r"odin_lsp/__init__\.py",
        r"odin_lsp/py\.typed",
        r"odin_lsp/agent/prompts/system\.md",
        r"odin_lsp/connecting/opencode_plugin\.js",
        *(rf"odin_lsp-{{version}}\.dist-info/{it}" for it in ("METADATA", "RECORD", "WHEEL", "entry_points.txt")),
        r"odin_lsp-{version}\.dist-info/licenses/LICENSE",
    ),
    "vsix": (
        r"\[Content_Types\]\.xml",
        r"extension\.vsixmanifest",
        *(rf"extension/{it}" for it in (r"package\.json", r"changelog\.md", r"readme\.md", r"LICENSE\.txt")),
        *(rf"extension/dist/{it}" for it in (r"extension\.js", r"launch\.js", r"webview\.js", r"config\.schema\.json")),
        rf"extension/dist/wheel/{WHEEL}",
        r"extension/media/icon\.png",
        r"extension/media/odin\.svg",
    ),
    "plugin": (
        "LICENSE",
        r"README\.md",
        r"doc/odin\.txt",
        "doc/tags",
        r"lsp/odin\.lua",
        r"lua/odin/init\.lua",
        r"lua/odin/protocol\.lua",
        r"plugin/odin\.lua",
    ),
}
ALLOWED: dict[Kind, tuple[str, ...]] = {
    "sdist": (CODE, r"\.gitignore", r"editors/neovim/([\w/]+/)?(\w+\.lua|odin\.txt|tags|README\.md)"),
    "wheel": (CODE, PLUGIN),
    "vsix": (
        r"extension/dist/([\w-]+\.(js|css|ttf)|README\.md)",
        r"extension/(l10n/bundle\.l10n|package\.nls)(\.[\w-]+)?\.json",
        r"extension/media/walkthrough/\w+\.svg",
    ),
    "plugin": (r"lua/odin/([\w/]+/)?\w+\.lua",),
}


def problems(built: Built, version: str) -> list[str]:
    found = names(built.path)
    missing = [it for it in _required(built.kind, version) if not any(re.fullmatch(it, name) for name in found)]
    return [*(f"{it} is missing" for it in missing), *strangers(built.kind, found, version)]


def strangers(kind: Kind, found: Iterable[str], version: str) -> list[str]:
    known = "|".join((*_required(kind, version), *ALLOWED[kind]))
    return [f"{name} does not belong there" for name in found if not re.fullmatch(known, name)]


def _required(kind: Kind, version: str) -> list[str]:
    return [it.replace("{version}", re.escape(version)) for it in REQUIRED[kind]]


def has_inside(vsix: Path, wheel: Path) -> bool:
    """Whether it carries exactly this wheel."""
    with zipfile.ZipFile(vsix) as archive:
        return archive.read(f"extension/dist/wheel/{wheel.name}") == wheel.read_bytes()


def names(path: Path) -> list[str]:
    """Of the files in it, without the folder in which an archive has them all."""
    if path.suffix in (".whl", ".vsix"):
        with zipfile.ZipFile(path) as archive:
            return sorted(it for it in archive.namelist() if not it.endswith("/"))
    with tarfile.open(path) as archive:
        return sorted(it.name.partition("/")[2] for it in archive if it.isfile())
