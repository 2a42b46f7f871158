"""Search over the files on disk with ripgrep, and over the unsaved buffers as if they were saved."""

import asyncio
import contextlib
import os
import re
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from odin_lsp.errors import ToolError
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.uris import printable

OutputMode = Literal["content", "files_with_matches", "count"]
TIMEOUT_SECONDS = 30.0
_BINARY = re.compile(
    r"\A(?:.*?: (?:WARNING: stopped searching binary file after match|binary file matches)"
    r" \(found [^\n]* offset \d+\)\n)+",
    re.DOTALL,
)
MAX_OUTPUT_BYTES = 8 * 1024 * 1024
MAX_COLUMNS = 2000
MAX_ARGUMENT_CHARS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    pattern: str
    output_mode: OutputMode = "files_with_matches"
    glob: str | None = None
    type: str | None = None
    ignore_case: bool = False
    multiline: bool = False
    before: int = 0
    after: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    path: Path
    line: int = 0
    text: str = ""
    is_match: bool = True
    """False for a line of context."""
    count: int = 0


class Search:
    def __init__(self, files: Files) -> None:
        self._files = files
        self._ripgrep = find_ripgrep(files.roots)

    async def grep(self, query: Query, where: Path) -> tuple[list[Hit], bool]:
        """What matches below `where`, by path and line, and whether that is all. `where` must be canonical."""
        typed = {
            it.path: it.text
            for it in self._files.buffers.differing_below(where)
            if it.path is not None and not self._files.ignore.hides(it.path)
        }
        on_disk = asyncio.create_task(self._run(query, where))
        try:
            typed_hits, typed_complete = await self._run_typed(query, where, typed) if typed else ([], True)
            hits, complete = await on_disk
        finally:
            on_disk.cancel()
            await asyncio.gather(on_disk, return_exceptions=True)
        hits = [*(hit for hit in hits if hit.path not in typed), *typed_hits]
        hits = [hit for hit in hits if not self._files.ignore.hides(hit.path)]
        order = {path: index for index, path in enumerate(sorted({hit.path for hit in hits}))}
        return sorted(hits, key=lambda hit: order[hit.path]), complete and typed_complete

    async def files(self, where: Path) -> tuple[list[Path], bool]:
        """All files below `where` that are neither ignored nor hidden."""
        if not where.is_dir():
            raise ToolError(f"{printable(str(where))} is not a folder")
        output, complete = await _output([*self._command(), "--files", "--null", "--", str(where)], where)
        found = [Path(os.fsdecode(name)) for name in output.split(b"\0")[:-1]]
        return [path for path in found if not self._files.ignore.hides(path)], complete

    async def _run_typed(self, query: Query, where: Path, texts: dict[Path, str]) -> tuple[list[Hit], bool]:
        with _on_disk(texts, where) as (folder, places):
            hits, complete = await self._run(query, folder)
            return [replace(hit, path=places[hit.path]) for hit in hits], complete

    async def _run(self, query: Query, where: Path) -> tuple[list[Hit], bool]:
        _check_arguments(query.pattern, query.glob or "", query.type or "")
        command = [
            *self._command(),
            "--null",
            "--with-filename",
            f"--max-columns={MAX_COLUMNS}",
            "--max-columns-preview",
        ]
        match query.output_mode:
            case "files_with_matches":
                command += ["--files-with-matches"]
            case "count":
                command += ["--count"]
            case "content":
                command += ["--line-number", f"--before-context={query.before}", f"--after-context={query.after}"]
        command += ["--ignore-case"] if query.ignore_case else []
        command += ["--multiline", "--multiline-dotall"] if query.multiline else []
        command += [f"--type={query.type}"] if query.type else []
        if query.glob and "/" in query.glob:
            command += [f"--glob={query.glob}"]
        elif query.glob:
            # Unlike --glob, a file type does not bring ignored files back.
            command += [f"--type-add=odinglob:{query.glob}", "--type=odinglob"]
        command += [f"--regexp={query.pattern}", "--", str(where)]
        output, complete = await _output(command, _folder_of(where))
        return list(_hits(output, query.output_mode)), complete

    def _command(self) -> Sequence[str]:
        hidden = (
            "--hidden",
            "--glob=!.git/",
            "--no-config",
            "--no-require-git",
            "--no-messages",
            "--color=never",
            "--no-heading",
        )
        if self._ripgrep is not None and any(self._ripgrep.resolve().is_relative_to(it) for it in self._files.roots):
            self._ripgrep = find_ripgrep(self._files.roots)  # a folder that was opened later may hold it
        if self._ripgrep is None:
            return [sys.executable, "-I", "-m", "odin_lsp.workspace.fallback_search", *hidden]
        return [str(self._ripgrep), *hidden]


def find_ripgrep(roots: Sequence[Path]) -> Path | None:
    """The ripgrep that came with Odin, or one on the PATH; never a file of the workspace."""
    folders = [sysconfig.get_path("scripts"), *os.environ.get("PATH", "").split(os.pathsep)]
    for folder in folders:
        found = shutil.which("rg", path=folder) if Path(folder).is_absolute() else None
        if found and not any(Path(found).resolve().is_relative_to(root) for root in roots if folder != folders[0]):
            return Path(found)
    return None


async def _started(command: Sequence[str], folder: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
        limit=MAX_OUTPUT_BYTES,
    )


async def _output(command: Sequence[str], folder: Path) -> tuple[bytes, bool]:
    """What the command prints, and whether that is all of it."""
    try:
        process = await _started(command, folder)
    except (OSError, ValueError) as error:
        raise ToolError(f"the search cannot be made: {error}") from None
    assert process.stdout is not None  # noqa: S101
    assert process.stderr is not None  # noqa: S101
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while size < MAX_OUTPUT_BYTES and (chunk := await process.stdout.read(1 << 16)):
                chunks.append(chunk)
                size += len(chunk)
            if size < MAX_OUTPUT_BYTES:
                problem = (await process.stderr.read()).decode("utf-8", "replace").strip()
                if await process.wait() not in (0, 1) and problem and not chunks:
                    raise ToolError(f"the search failed: {problem}")
    except TimeoutError:
        raise ToolError(
            f"the search took longer than {TIMEOUT_SECONDS:.0f} s; narrow the path or the pattern"
        ) from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return b"".join(chunks), size < MAX_OUTPUT_BYTES


def _hits(output: bytes, mode: OutputMode) -> Iterator[Hit]:
    """Hits from `path NUL 12:text`, `path NUL 12-text`, `path NUL count`, each ending a line; or from `path NUL`.

    A path may have line feeds in it, a text may not: what follows a NUL up to the next line feed is the text."""
    path, *rest = output.decode("utf-8", "surrogateescape").split("\0")
    for piece in rest:
        if mode == "files_with_matches":
            yield Hit(Path(path))
            path = piece
            continue
        line, ended, following = piece.partition("\n")
        if ended and path.startswith("/"):
            yield _hit(path, line, mode)
        path = _BINARY.sub("", following).removeprefix(
            "--\n"
        )  # what stands between groups is no path: these are absolute


def _hit(path: str, rest: str, mode: OutputMode) -> Hit:
    if mode == "count":
        return Hit(Path(path), count=int(rest))
    digits = len(rest) - len(rest.lstrip("0123456789"))
    text = rest[digits + 1 :].removesuffix("\r").encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return Hit(Path(path), int(rest[:digits]), text, is_match=rest[digits] == ":")


@contextlib.contextmanager
def _on_disk(texts: dict[Path, str], where: Path) -> Generator[tuple[Path, dict[Path, Path]]]:
    """The texts as files in a folder of their own, under the same relative names, so that globs and types hold."""
    with tempfile.TemporaryDirectory(prefix="odin-") as name:
        folder = Path(name).resolve()
        places: dict[Path, Path] = {}
        for number, (path, text) in enumerate(texts.items()):
            copy = folder / str(number) / (path.relative_to(where) if path != where else path.name)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(text.encode("utf-8", "replace"))
            places[copy] = path
        yield folder, places


def _check_arguments(*texts: str) -> None:
    for text in texts:
        if len(text) > MAX_ARGUMENT_CHARS:
            raise ToolError(f"a pattern is longer than {MAX_ARGUMENT_CHARS:,} characters")
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise ToolError("a pattern that is not valid Unicode cannot be searched for")


def _folder_of(path: Path) -> Path:
    return path if path.is_dir() else path.parent
