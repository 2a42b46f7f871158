"""Language servers that Odin knows: how each is started, and how it tells that it has read the project."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Signal = Literal["at once", "found files", "progress", "says so", "unknown", "never"]
"""When its answers are complete: with its first one; once it has logged that it has the project's files; once all that
it says to be busy with has ended; once it says so by a notification of its own (`experimental/serverStatus`); unknown:
as with progress, but there may be none; or never, because it only knows the documents that are open."""

PYTHON = {".py": "python", ".pyi": "python"}
SCRIPTS = {
    ".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescriptreact", ".js": "javascript",
    ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascriptreact",
}  # fmt: skip
C = {
    ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp", ".hxx": "cpp",
    ".m": "objective-c", ".mm": "objective-cpp",
}  # fmt: skip
OF_PYTHON = ("pyproject.toml", "pyrightconfig.json", "setup.py", "setup.cfg", "requirements.txt")
OF_SCRIPTS = ("tsconfig.json", "jsconfig.json", "package.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    name: str
    command: tuple[str, ...]
    languages: Mapping[str, str]
    """Names of languages, as LSP has them, by the suffixes of files."""
    markers: tuple[str, ...] = ()
    """What lies in the folder of a project."""
    ready: Signal = "unknown"
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What it is told when it starts."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What it is told when it asks for its settings, by their sections."""
    runs_project: bool = False
    """It runs programs that the project brings: plugins, build scripts, a compiler of its own. So the folder has to be
    trusted, and it is not held to reading."""
    is_besides: bool = False
    """It checks or formats, beside the one that knows the language."""


KNOWN = (
    Known(
        name="basedpyright",
        command=("basedpyright-langserver", "--stdio"),
        languages=PYTHON,
        markers=OF_PYTHON,
        ready="found files",
    ),
    Known(
        name="pyright",
        command=("pyright-langserver", "--stdio"),
        languages=PYTHON,
        markers=OF_PYTHON,
        ready="found files",
    ),
    Known(
        name="ruff",
        command=("ruff", "server"),
        languages=PYTHON,
        markers=(*OF_PYTHON, "ruff.toml", ".ruff.toml"),
        ready="at once",
        is_besides=True,
    ),
    Known(
        name="tsc",
        command=("tsc", "--lsp", "--stdio"),
        languages=SCRIPTS,
        markers=OF_SCRIPTS,
        ready="at once",
    ),
    Known(
        name="typescript-language-server",
        command=("typescript-language-server", "--stdio"),
        languages=SCRIPTS,
        markers=OF_SCRIPTS,
        options={"disableAutomaticTypingAcquisition": True},
        ready="progress",
        runs_project=True,
    ),
    Known(
        name="gopls",
        command=("gopls",),
        languages={".go": "go"},
        markers=("go.work", "go.mod"),
        ready="progress",
        runs_project=True,
    ),
    Known(
        name="rust-analyzer",
        command=("rust-analyzer",),
        languages={".rs": "rust"},
        markers=("Cargo.toml", "rust-project.json"),
        ready="says so",
        runs_project=True,
    ),
    Known(
        name="clangd",
        command=("clangd", "--background-index=false"),  # its index would be written into the workspace
        languages=C,
        markers=("compile_commands.json", "compile_flags.txt", ".clangd", "CMakeLists.txt"),
        ready="never",
    ),
    Known(
        name="lua-language-server",
        command=("lua-language-server",),
        languages={".lua": "lua"},
        markers=(".luarc.json", ".luarc.jsonc"),
        ready="progress",
    ),
    Known(
        name="bash-language-server",
        command=("bash-language-server", "start"),
        languages={".sh": "shellscript", ".bash": "shellscript"},
        settings={"bashIde": {"backgroundAnalysisMaxFiles": 100_000}},  # of more than 500 it would read 500
        ready="found files",
    ),
    Known(
        name="jdtls",
        command=("jdtls",),
        languages={".java": "java"},
        markers=("pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"),
        ready="progress",
        runs_project=True,
    ),
)
"""The best for each language first."""
