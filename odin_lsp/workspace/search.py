"""Search over the files on disk with ripgrep, and over the unsaved buffers as if they were saved."""

import asyncio
import contextlib
import os
import re
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from odin_lsp import system
from odin_lsp.errors import ToolError
from odin_lsp.folders import Folder
from odin_lsp.workspace.buffers import Stamp
from odin_lsp.workspace.changes import changed_since, stamps
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.globs import as_text, braces, compiled
from odin_lsp.workspace.ignore_files import UNREAD, IgnoreFiles, is_odd, odd_above, odd_below
from odin_lsp.workspace.opening import DESCRIPTORS, exchanged, is_file, opened_place
from odin_lsp.workspace.plain_search import matching_lines, plain_pattern
from odin_lsp.workspace.ripgrep import find_ripgrep
from odin_lsp.workspace.search_copies import contents_of, copied, has_lone_return
from odin_lsp.workspace.text import split_lines
from odin_lsp.workspace.uris import printable

OutputMode = Literal["content", "files_with_matches", "count"]
TIMEOUT_SECONDS = 30.0
LOOK_AFTER_SECONDS = 0.2
"""Of a search that has not ended by then: whether something holds it up."""
_BINARY = re.compile(
    r"\A(?:.*?: (?:WARNING: stopped searching binary file after match|binary file matches)"
    r" \(found [^\n]* offset \d+\)\n)+",
    re.DOTALL,
)
_BAD_PATTERN = re.compile(r"regex parse error:.*^error: ([^\n]+)", re.DOTALL | re.MULTILINE)
_BETWEEN = re.compile(r"\A--\r?\n")
"""What stands between groups is no path: these begin otherwise."""
HERE = "./"
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C.UTF-8", **system.NEEDED}
LISTING = ("--files", "--null", "--", HERE)
MAX_OUTPUT_BYTES = 8 * 1024 * 1024
MAX_COLUMNS = 2000
MAX_ARGUMENT_CHARS = 20_000
MAX_HELD_BYTES = 256 * 1024
"""Of a file that is searched without ripgrep, which is faster from there on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    pattern: str
    output_mode: OutputMode = "files_with_matches"
    glob: str | None = None
    type: str | None = None
    ignore_case: bool = False
    literal: bool = False
    """The pattern is a text, not a regular expression."""
    whole_word: bool = False
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
        self._odd: set[str] = set()
        """Files with rules that are none, where a search was held up by one."""

    async def grep(
        self, query: Query, where: Path, drafts: Mapping[Path, str] = MappingProxyType({})
    ) -> tuple[list[Hit], bool]:
        """What matches at or below `where`, by path and line, and whether that is all. `where` must be canonical.

        `drafts` count in place of what is on the screen."""
        _check_arguments(query.pattern, query.glob or "", query.type or "")
        if query.output_mode == "content" and (held := self._in_held(query, where, drafts)) is not None:
            return held, True
        typed = {
            it.path: it.text.encode("utf-8", "replace")
            for it in self._files.buffers.differing_below(where)
            if it.path is not None and not self._files.ignore.hides(it.path)
        }
        typed |= {path: text.encode("utf-8", "replace") for path, text in drafts.items() if path.is_relative_to(where)}
        on_disk = asyncio.create_task(self._on_disk(query, where))
        try:
            typed_hits, typed_complete = await self._in_copies(query, where, typed)
            hits, complete = await on_disk
        finally:
            on_disk.cancel()
            await asyncio.gather(on_disk, return_exceptions=True)
        hits = [*(hit for hit in hits if hit.path not in typed), *typed_hits]
        order = {path: index for index, path in enumerate(sorted({hit.path for hit in hits}))}
        return sorted(hits, key=lambda hit: order[hit.path]), complete and typed_complete

    def _in_held(self, query: Query, where: Path, drafts: Mapping[Path, str]) -> list[Hit] | None:
        """What matches in one file, which is held from now on; `None` if ripgrep has to say."""
        if where in drafts:
            lines = split_lines(drafts[where])
        elif self._files.may_hold(where, MAX_HELD_BYTES) and is_file(where):
            try:
                lines = self._files.window(where, 1, sys.maxsize, counts=False).lines
            except ToolError:
                return None
        else:
            return None
        pattern = None if query.multiline else plain_pattern(query.pattern, lines, ignore_case=query.ignore_case)
        if pattern is None:
            return None
        found = matching_lines(pattern, lines, query.before, query.after)
        texts = {number: lines[number].encode("utf-8", "replace") for number in found}
        if any(len(text) >= MAX_COLUMNS for text in texts.values()):
            return None
        return [Hit(where, number + 1, texts[number].decode(), matches) for number, matches in found.items()]

    async def files(self, where: Path) -> tuple[list[Path], bool]:
        """All files below `where` that are neither ignored nor hidden. `where` must be canonical."""
        with opened_place(where) as place:
            if not isinstance(place, Folder):
                raise ToolError(f"{printable(str(where))} is a file; use Read")
            began = time.time_ns()
            output, complete, rules = await self._searched(LISTING, where, place.way)
            named = [where / name for name in os.fsdecode(output).split("\0")[:-1]]
            found = await asyncio.to_thread(lambda: [it for it in named if not _left_out(it, where, rules)])
            return await asyncio.to_thread(self._names, found, where, place, began), complete

    async def changed(self, where: Path, since: int) -> list[Path]:
        """Those of the `files` that have changed after a `moment`, or come to be there."""
        output, _, rules = await self._searched(LISTING, where, str(where))
        listed = os.fsdecode(output).split("\0")[:-1]
        named = [where / name for name in await asyncio.to_thread(changed_since, since, str(where), listed)]
        return [it for it in named if not _left_out(it, where, rules) and not self._files.ignore.hides(it)]

    async def stamps(self, where: Path) -> tuple[dict[str, Stamp], bool, Callable[[Path], bool]]:
        """Of the `files`, by their names; and whether a path is one of these: to ask that of each takes long."""
        output, complete, rules = await self._searched(LISTING, where, str(where))
        found = await asyncio.to_thread(stamps, str(where), os.fsdecode(output).split("\0")[:-1])
        return found, complete, lambda it: not _left_out(it, where, rules) and not self._files.ignore.hides(it)

    def _names(self, found: Sequence[Path], where: Path, folder: Folder, began: int) -> list[Path]:
        doubtful = exchanged(found, where, folder, began)
        return [
            path for path in found if not self._files.ignore.hides(path) and (path not in doubtful or is_file(path))
        ]

    async def _on_disk(self, query: Query, where: Path) -> tuple[list[Hit], bool]:
        """What ripgrep may have read elsewhere, or counts the lines of otherwise, is searched again as a copy."""
        with opened_place(where) as place:
            began = time.time_ns()
            if isinstance(place, Folder):
                hits, complete = await self._run(query, where, place.way)
                found = list(dict.fromkeys(hit.path for hit in hits))
                moved = await asyncio.to_thread(exchanged, found, where, place, began)
            else:
                hits, complete = await self._run_file(query, where, place.fileno())
                found, moved = list(dict.fromkeys(hit.path for hit in hits)), set[Path]()
        good, again = await asyncio.to_thread(self._sorted_out, found, moved, query.output_mode)
        contents, all_read = await asyncio.to_thread(contents_of, again)
        better, all_found = await self._in_copies(query, where, contents)
        return [*(hit for hit in hits if hit.path in good), *better], complete and all_read and all_found

    def _sorted_out(
        self, found: Sequence[Path], moved: Collection[Path], mode: OutputMode
    ) -> tuple[set[Path], list[Path]]:
        """The files whose hits are good as they are, and those that have to be searched again."""
        visible = [path for path in found if not self._files.ignore.hides(path)]
        again = [path for path in visible if path in moved or (mode != "files_with_matches" and has_lone_return(path))]
        return set(visible).difference(again), again

    async def _in_copies(self, query: Query, where: Path, texts: Mapping[Path, bytes]) -> tuple[list[Hit], bool]:
        if where in texts:
            query = replace(query, glob=None, type=None)
        hits: list[Hit] = []
        complete = True
        with copied(texts, where) as folders:
            for folder, places in folders:
                found, whole = await self._run(query, folder, str(folder))
                hits += [replace(hit, path=places[hit.path]) for hit in found]
                complete = complete and whole
        return hits, complete

    async def _run(self, query: Query, folder: Path, cwd: str) -> tuple[list[Hit], bool]:
        arguments = [*_options(query), *_filters(query), f"--regexp={query.pattern}", "--", HERE]
        output, complete, rules = await self._searched(arguments, folder, cwd)
        wanted = _wanted(query)
        hits = _hits(output, query.output_mode, lambda name: folder / name)
        found = [hit for hit in hits if wanted(hit.path.relative_to(folder))]
        return [hit for hit in found if not _left_out(hit.path, folder, rules)], complete

    async def _searched(
        self, arguments: Sequence[str], folder: Path, cwd: str
    ) -> tuple[bytes, bool, IgnoreFiles | None]:
        """What a search prints, and whether that is all; and what is still to be left out of it: where a `.gitignore`
        is no file nobody but Odin reads them."""
        command = self._command()
        if not self._knows_odd(folder):
            searching = asyncio.create_task(_output([*command, *arguments], cwd))
            try:
                odd = await _odd_in_the_way(searching, folder)
                if odd is None:
                    return *await searching, None
                self._odd.add(odd)
            finally:
                searching.cancel()
                await asyncio.gather(searching, return_exceptions=True)
        return *await _output([*command, *UNREAD, *arguments], cwd), IgnoreFiles()

    def _knows_odd(self, folder: Path) -> bool:
        """Whether something is known that ripgrep would not get through."""
        self._odd = {name for name in self._odd if is_odd(name)}
        start = f"{folder.as_posix().rstrip('/')}/"
        return any(name.startswith(start) for name in self._odd) or odd_above(start.rstrip("/")) is not None

    async def _run_file(self, query: Query, path: Path, descriptor: int) -> tuple[list[Hit], bool]:
        """Who names a file wants it searched, whatever its type."""
        try:
            system.pread(descriptor, 1, 0)
        except OSError as error:
            raise ToolError(f"{printable(str(path))} cannot be read: {error.strerror}") from None
        command = [*self._command(), *_options(query), f"--regexp={query.pattern}", "--"]
        if sys.platform == "win32":  # nobody moves what is open there
            output, complete = await _output([*command, f"{HERE}{path.name}"], str(path.parent))
        else:
            output, complete = await _output([*command, f"{DESCRIPTORS}/{descriptor}"], path.anchor, descriptor)
        return list(_hits(output, query.output_mode, lambda _: path)), complete

    def _command(self) -> Sequence[str]:
        hidden = (
            "--hidden",
            "--glob=!.git/",
            "--no-config",
            "--no-require-git",
            "--no-messages",
            "--color=never",
            "--no-heading",
            *(("--path-separator=/",) if sys.platform == "win32" else ()),
        )
        if self._ripgrep is not None and any(self._ripgrep.resolve().is_relative_to(it) for it in self._files.roots):
            self._ripgrep = find_ripgrep(self._files.roots)  # a folder that was opened later may hold it
        if self._ripgrep is None:
            return [sys.executable, "-I", "-m", "odin_lsp.workspace.fallback_search", *hidden]
        return [str(self._ripgrep), *hidden]


def _options(query: Query) -> Iterator[str]:
    yield from ("--null", "--with-filename", "--crlf", f"--max-columns={MAX_COLUMNS}", "--max-columns-preview")
    match query.output_mode:
        case "files_with_matches":
            yield "--files-with-matches"
        case "count":
            yield "--count"
        case "content":
            yield from ("--line-number", f"--before-context={query.before}", f"--after-context={query.after}")
    if query.ignore_case:
        yield "--ignore-case"
    if query.literal:
        yield "--fixed-strings"
    if query.whole_word:
        yield "--word-regexp"
    if query.multiline:
        yield from ("--multiline", "--multiline-dotall")


def _filters(query: Query) -> Iterator[str]:
    """What ripgrep leaves out by itself. To it a type and a glob mean what has either: then the glob is `_wanted`'s."""
    if query.type:
        yield f"--type={query.type}"
    if query.glob and (query.glob.startswith("!") or ("/" in query.glob and not query.type)):
        yield f"--glob={query.glob}"
    elif query.glob and not query.type:
        # Unlike --glob, a file type does not bring ignored files back.
        yield from (f"--type-add=odinglob:{query.glob}", "--type=odinglob")


def _wanted(query: Query) -> Callable[[Path], bool]:
    if not (query.type and query.glob) or query.glob.startswith("!"):
        return lambda _: True
    try:
        glob = compiled(braces(query.glob))
    except ValueError as error:
        raise ToolError(f"the search failed: error parsing glob: {error}") from None
    return lambda path: glob.match_file(as_text(path.as_posix()))


async def _odd_in_the_way(searching: asyncio.Task[tuple[bytes, bool]], folder: Path) -> str | None:
    """Wait for the search; or find out that it waits for something itself."""
    await asyncio.wait([searching], timeout=LOOK_AFTER_SECONDS)
    if searching.done():
        return None
    looking = asyncio.create_task(asyncio.to_thread(odd_below, str(folder), lambda: not searching.done()))
    try:
        await asyncio.wait([searching, looking], return_when=asyncio.FIRST_COMPLETED)
        odd = await looking if not searching.done() else None
    finally:
        looking.cancel()
    if odd is None:
        await asyncio.wait([searching])
    return odd


def _why(problem: str) -> str:
    """Without the pattern, which ripgrep quotes in a group that nobody wrote."""
    found = _BAD_PATTERN.search(problem)
    if found is None:
        return f"the search failed: {problem}"
    way_out = "write it without" if "not supported" in found[1] else "put a backslash before what stands for itself"
    return f"the pattern is no regular expression that can be searched for: {found[1]}; {way_out}"


def _left_out(path: Path, below: Path, rules: IgnoreFiles | None) -> bool:
    return rules is not None and rules.leave_out(path.as_posix(), below.as_posix().rstrip("/"))


async def _output(command: Sequence[str], cwd: str, *descriptors: int) -> tuple[bytes, bool]:
    """What the command prints, and whether that is all of it."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=cwd,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=ENVIRONMENT,
            limit=MAX_OUTPUT_BYTES,
            pass_fds=descriptors,
        )
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
                    raise ToolError(_why(problem))
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


def _hits(output: bytes, mode: OutputMode, place: Callable[[str], Path]) -> Iterator[Hit]:
    """Hits from `path NUL 12:text`, `path NUL 12-text`, `path NUL count`, each ending a line; or from `path NUL`.

    A path may have line feeds in it, a text may not: what follows a NUL up to the next line feed is the text."""
    path, *rest = output.decode("utf-8", "surrogateescape").split("\0")
    places: dict[str, Path] = {}
    for piece in rest:
        line, ended, following = ("", True, piece) if mode == "files_with_matches" else piece.partition("\n")
        if ended and path.startswith((HERE, DESCRIPTORS)):
            found = places.get(path) or places.setdefault(path, place(path))
            yield _hit(found, line.removesuffix("\r"), mode)
        path = _BETWEEN.sub("", _BINARY.sub("", following))


def _hit(path: Path, rest: str, mode: OutputMode) -> Hit:
    if mode == "files_with_matches":
        return Hit(path)
    if mode == "count":
        return Hit(path, count=int(rest))
    digits = len(rest) - len(rest.lstrip("0123456789"))
    text = rest[digits + 1 :].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return Hit(path, int(rest[:digits]), text, is_match=rest[digits] == ":")


def _check_arguments(*texts: str) -> None:
    for text in texts:
        if len(text) > MAX_ARGUMENT_CHARS:
            raise ToolError(f"a pattern is longer than {MAX_ARGUMENT_CHARS:,} characters")
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise ToolError("a pattern that is not valid Unicode cannot be searched for")
