"""Search over the files on disk with ripgrep, and over the unsaved buffers as if they were saved."""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from odin_lsp import system
from odin_lsp.errors import ToolError
from odin_lsp.folders import Folder
from odin_lsp.tasks import end_process
from odin_lsp.workspace.buffers import Stamp
from odin_lsp.workspace.changes import changed_since, stamps
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.globs import NamePattern, as_text, braces, compiled
from odin_lsp.workspace.hits import Hit, OutputMode, in_order, parse_hits
from odin_lsp.workspace.ignore_files import UNREAD, IgnoreFiles, is_odd, odd_above, odd_below
from odin_lsp.workspace.name_list import HERE, FileNames, by_folder, joined, parse_names
from odin_lsp.workspace.opening import (
    DESCRIPTORS,
    exchanged,
    exchanged_folders,
    files_among,
    is_file,
    opened_place,
)
from odin_lsp.workspace.plain_search import matching_lines, plain_pattern
from odin_lsp.workspace.ripgrep import check_arguments, explained, find_ripgrep
from odin_lsp.workspace.search_copies import contents_of, copied, has_lone_return
from odin_lsp.workspace.text import split_lines
from odin_lsp.workspace.uris import printable

TIMEOUT_SECONDS = 30.0
LOOK_AFTER_SECONDS = 1.0
"""Of a search that has not ended by then: whether something holds it up."""
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C.UTF-8", **system.NEEDED}
LISTING = ("--files", "--null", "--", HERE)
MAX_OUTPUT_BYTES = 8 * 1024 * 1024
MAX_COLUMNS = 2000
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
class _Printed:
    """What ripgrep has printed."""

    output: bytes
    is_whole: bool
    rules: IgnoreFiles | None
    """By which some is still to be left out: where a `.gitignore` is no file nobody but Odin reads them."""

    def leaves_out(self, name: str, folder: Path) -> bool:
        if self.rules is None:
            return False
        below = folder.as_posix().rstrip("/")
        return self.rules.leave_out(f"{below}/{name}", below)


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
        check_arguments(query.pattern, query.glob or "", query.type or "")
        if query.output_mode == "content" and (held := self._in_held(query, where, drafts)) is not None:
            return held, True
        typed = {
            it.path: it.text
            for it in self._files.buffers.differing_below(where)
            if it.path is not None and not self._files.ignore.hides(it.path)
        }
        typed |= {path: text for path, text in drafts.items() if path.is_relative_to(where)}
        on_disk = asyncio.create_task(self._on_disk(query, where))
        try:
            contents = await asyncio.to_thread(_encoded, typed) if typed else {}
            typed_hits, typed_complete = await self._in_copies(query, where, contents)
            hits, complete = await on_disk
        finally:
            on_disk.cancel()
            await asyncio.gather(on_disk, return_exceptions=True)
        found = chain((hit for hit in hits if hit.path not in typed), typed_hits)
        return await asyncio.to_thread(in_order, found), complete and typed_complete

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

    async def files(self, where: Path, pattern: NamePattern | None = None) -> FileNames:
        """All files below `where` that are neither ignored nor hidden, or those whose names match. `where` must be
        canonical."""
        with opened_place(where) as place:
            if not isinstance(place, Folder):
                raise ToolError(f"{printable(str(where))} is a file; use Read")
            began = time.time_ns()
            printed = await self._searched(LISTING, where, place.way)
            names = await asyncio.to_thread(self._names, printed, where, pattern, place, began)
            return FileNames(where, names, printed.is_whole)

    async def changed(self, where: Path, since: int) -> list[Path]:
        """Those of the `files` that have changed after a `moment`, or come to be there."""
        printed = await self._searched(LISTING, where, str(where))

        def changed() -> list[Path]:
            names = changed_since(since, str(where), parse_names(printed.output))
            return [where / name for name in joined(self._visible(names, where, printed))]

        return await asyncio.to_thread(changed)

    async def stamps(self, where: Path) -> tuple[dict[str, Stamp], bool, Callable[[Path], bool]]:
        """Of the `files`, by their names; and whether a path is one of these: to ask that of each takes long."""
        printed = await self._searched(LISTING, where, str(where))
        found = await asyncio.to_thread(lambda: stamps(str(where), parse_names(printed.output)))

        def is_shown(path: Path) -> bool:
            name = path.relative_to(where).as_posix()
            return not printed.leaves_out(name, where) and not self._files.ignore.hides(path)

        return found, printed.is_whole, is_shown

    def _names(
        self, printed: _Printed, where: Path, pattern: NamePattern | None, folder: Folder, began: int
    ) -> Sequence[str]:
        """Those in folders that may have been others are looked up again."""
        names = parse_names(printed.output)
        found = self._visible(names if pattern is None else pattern.among(names), where, printed)
        for inner in exchanged_folders(found, where, folder, began):
            found[inner] = files_among(where / inner, found[inner])
        return joined(found)

    def _visible(self, names: Iterable[str], where: Path, printed: _Printed) -> dict[str, Sequence[str]]:
        wanted = names if printed.rules is None else (it for it in names if not printed.leaves_out(it, where))
        return self._files.ignore.visible(where.as_posix().rstrip("/"), by_folder(wanted))

    async def _on_disk(self, query: Query, where: Path) -> tuple[list[Hit], bool]:
        """What ripgrep may have read elsewhere, or counts the lines of otherwise, is searched again as a copy."""
        with opened_place(where) as place:
            began = time.time_ns()
            if isinstance(place, Folder):
                hits, complete = await self._run(query, where, place.way)
                moved = await asyncio.to_thread(lambda: exchanged({hit.path for hit in hits}, where, place, began))
            else:
                hits, complete = await self._run_file(query, where, place.fileno())
                moved = set[Path]()
        good, again = await asyncio.to_thread(self._sorted_out, hits, where, moved, query.output_mode)
        contents, all_read = await asyncio.to_thread(contents_of, again)
        better, all_found = await self._in_copies(query, where, contents)
        return [*good, *better], complete and all_read and all_found

    def _sorted_out(
        self, hits: Sequence[Hit], where: Path, moved: Collection[Path], mode: OutputMode
    ) -> tuple[list[Hit], list[Path]]:
        """The hits that are good as they are, and the files that have to be searched again."""
        visible = self._visible_files({hit.path for hit in hits}, where)
        again = [path for path in visible if path in moved or (mode != "files_with_matches" and has_lone_return(path))]
        good = set(visible).difference(again)
        return [hit for hit in hits if hit.path in good], again

    def _visible_files(self, found: Collection[Path], where: Path) -> list[Path]:
        if where in found:  # then it is the file that was searched
            return [] if self._files.ignore.hides(where) else [where]
        below = where.as_posix().rstrip("/")
        names = {path.as_posix()[len(below) + 1 :]: path for path in found}
        return [names[name] for name in joined(self._files.ignore.visible(below, by_folder(names)))]

    async def _in_copies(self, query: Query, where: Path, texts: Mapping[Path, bytes]) -> tuple[list[Hit], bool]:
        if not texts:
            return [], True
        if where in texts:
            query = replace(query, glob=None, type=None)
        hits: list[Hit] = []
        complete = True
        async with copied(texts, where) as folders:
            for folder, places in folders:
                found, whole = await self._run(query, folder, str(folder), places.get)
                hits += found
                complete = complete and whole
        return hits, complete

    async def _run(
        self, query: Query, folder: Path, cwd: str, file_of: Callable[[Path], Path | None] = lambda it: it
    ) -> tuple[list[Hit], bool]:
        arguments = [*_options(query), *_filters(query), f"--regexp={query.pattern}", "--", HERE]
        printed = await self._searched(arguments, folder, cwd)
        is_wanted = _wanted(query)

        def meant(path: str) -> Path | None:
            name = path.removeprefix(HERE)
            return file_of(folder / name) if is_wanted(name) and not printed.leaves_out(name, folder) else None

        return await asyncio.to_thread(_hits, printed.output, query.output_mode, meant), printed.is_whole

    async def _searched(self, arguments: Sequence[str], folder: Path, cwd: str) -> _Printed:
        command = self._command()
        if not self._knows_odd(folder):
            searching = asyncio.create_task(_output([*command, *arguments], cwd))
            try:
                odd = await _odd_in_the_way(searching, folder)
                if odd is None:
                    return _Printed(*await searching, None)
                self._odd.add(odd)
            finally:
                searching.cancel()
                await asyncio.gather(searching, return_exceptions=True)
        return _Printed(*await _output([*command, *UNREAD, *arguments], cwd), IgnoreFiles())

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
        return await asyncio.to_thread(_hits, output, query.output_mode, lambda _: path), complete

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


def _wanted(query: Query) -> Callable[[str], bool]:
    if not (query.type and query.glob) or query.glob.startswith("!"):
        return lambda _: True
    try:
        glob = compiled(braces(query.glob))
    except ValueError as error:
        raise ToolError(f"the search failed: error parsing glob: {error}") from None
    return lambda name: glob.match_file(as_text(name))


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


def _encoded(texts: Mapping[Path, str]) -> dict[Path, bytes]:
    return {path: text.encode("utf-8", "replace") for path, text in texts.items()}


def _hits(output: bytes, mode: OutputMode, file_of: Callable[[str], Path | None]) -> list[Hit]:
    return list(parse_hits(output, mode, file_of))


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
                    raise ToolError(explained(problem))
    except TimeoutError:
        raise ToolError(
            f"the search took longer than {TIMEOUT_SECONDS:.0f} s; narrow the path or the pattern"
        ) from None
    finally:
        await end_process(process)
    return b"".join(chunks), size < MAX_OUTPUT_BYTES
