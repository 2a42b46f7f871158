"""Grammars by a file's suffix, each loaded when its language is first met."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from tree_sitter import Language, Query

LANGUAGES = {
    ".py": "python", ".pyi": "python", ".js": "javascript", ".jsx": "javascript", ".mjs": "javascript",
    ".cjs": "javascript", ".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx", ".go": "go",
    ".rs": "rust", ".java": "java", ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp",
    ".hpp": "cpp", ".cs": "c_sharp", ".rb": "ruby", ".php": "php", ".lua": "lua",
}  # fmt: skip
_MODULES = {"tsx": "typescript"}
_FUNCTIONS = {"typescript": "language_typescript", "tsx": "language_tsx", "php": "language_php"}
_TAGS_OF = {"typescript": ("javascript", "typescript"), "tsx": ("javascript", "typescript")}
"""TypeScript's own tags are only what it adds to those of JavaScript."""
_FOLDERS = {"c_sharp": "c-sharp"}
"""Where a wheel has its queries beside its module."""


@dataclass(frozen=True, slots=True)
class Grammar:
    language: Language
    tags: Query
    """Captures `name` within `definition.…` and `reference.…`."""


def grammar_of(path: Path) -> Grammar | None:
    """`None`: nothing is known of such files."""
    language = LANGUAGES.get(path.suffix.lower())
    return _loaded(language) if language else None


@cache
def _loaded(name: str) -> Grammar:
    module = import_module(f"tree_sitter_{_MODULES.get(name, name)}")
    capsule: object = getattr(module, _FUNCTIONS.get(name, "language"))()
    language = Language(capsule)
    return Grammar(language, Query(language, "\n".join(_tags(name))))


def _tags(name: str) -> Iterator[str]:
    for it in _TAGS_OF.get(name, (name,)):
        package = Path(import_module(f"tree_sitter_{it}").__file__ or "").parent
        folder = package.with_name(f"tree_sitter_{_FOLDERS[it]}") if it in _FOLDERS else package
        yield (folder / "queries" / "tags.scm").read_text(encoding="utf-8")
