"""What edits do to the problems that language servers find: noted before they are made, looked at before the model goes
on. Nothing is said that is not known of the text as it stands."""

import asyncio
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from odin_lsp.errors import OdinError
from odin_lsp.events import ActivityChanged, DiagnosticsCompared, Emit
from odin_lsp.intelligence.problems import compare, diagnostic
from odin_lsp.intelligence.servers import Problem, Problems, Servers
from odin_lsp.intelligence.users import names_touched, users_of
from odin_lsp.records import Diagnostic
from odin_lsp.review.proposals import FileProposal
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Search
from odin_lsp.workspace.text import split_lines
from odin_lsp.workspace.uris import path_of

log = logging.getLogger("odin.checks")
AT_ONCE = 0.2
"""Seconds: a review is not held back any longer to know what was wrong before it."""
TOLD = ("error", "warning")
MAX_TOLD = 20
"""Of each kind, to the model."""
MAX_LISTED = 100
"""Of each kind, to people."""
STILL_BROKEN = (
    "Your answer ends the turn, and these errors were not there before it. Fix them now; or, if they have to stay, say"
    " why. Then give the whole answer again."
)
_TAG = re.compile(r"<(?=/?reminder)", re.IGNORECASE)
"""A message must not look like the end of what it stands in."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Noted:
    """A file at some time."""

    text: str
    found: tuple[Problem, ...] | None
    """Errors and warnings; `None`: they are not known."""
    names: frozenset[str] = frozenset()
    """Of those that come to be known later, only the ones on lines with such a name may have to do with an edit. None:
    all of them."""

    def perhaps_new(self, now: "Noted") -> tuple[Problem, ...]:
        """If it is not known what was there before."""
        lines = split_lines(now.text)
        return tuple(it for it in now.found or () if not self.names or self.names.intersection(_words(lines, it.line)))


@dataclass(slots=True)
class TurnProblems:
    """What is known of a turn, or of a helper in it."""

    before: dict[Path, Noted] = field(default_factory=dict[Path, Noted])
    """Files before the first edit that might have hurt them."""
    now: dict[Path, Noted] = field(default_factory=dict[Path, Noted])
    """The same after the last edit."""

    def introduced(self, path: Path) -> tuple[Problem, ...]:
        before, now = self.before.get(path), self.now.get(path)
        if before is None or before.found is None or now is None:
            return ()
        return compare(before.text, before.found, now.text, now.found or ()).introduced


@dataclass(slots=True)
class _Noting:
    """It goes on beside a review, until something of that is made."""

    edited: Mapping[Path, str | bool]
    """What the review is about, as it was: its text, or whether it was there."""
    texts: Sequence[tuple[Path, str, str]]
    """The same files, before the edits and after them."""
    moved: frozenset[Path]
    """Files that come, go or get another name, by all their names."""
    has_users: bool = False
    """It is known who uses what the edits change."""
    before: dict[Path, Noted] = field(default_factory=dict[Path, Noted])
    task: "asyncio.Task[None]" = field(init=False)


@dataclass(slots=True)
class EditChecks:
    """A turn's, or a helper's."""

    servers: Servers
    files: Files
    search: Search
    emit: Emit
    wait: float
    """Seconds for what servers find; 0: nothing is looked at."""
    turns: Sequence[TurnProblems]
    """Its own; a helper's, and that of the turn that it works for."""
    _untold: dict[Path, Noted] = field(default_factory=dict[Path, Noted])
    """Files before those edits of which the model does not know yet what they did."""
    _silent: set[str] = field(default_factory=set[str])
    """Endings of names, for languages: they were waited for in vain, and are not waited for again."""
    _noting: _Noting | None = None
    _decided_early: list[_Noting] = field(default_factory=list[_Noting])
    """Something of these was made before it was known who uses it."""
    _is_made: bool = False
    """Something was, since the model was last told."""
    _is_reminded: bool = False

    # before edits are made

    async def before(self, proposed: Sequence[FileProposal], *, in_a_hurry: bool) -> None:
        """Note what is wrong in the files of a review, and in those that use what it changes. This may go on while a
        person decides."""
        await self._conclude()
        if not self.wait:
            return
        noting = self._noting = _Noting(
            {it.path: await self._state(it.path) for it in proposed},
            [(it.path, "" if it.operation == "create" else it.base, it.proposed) for it in proposed],
            frozenset(path for it in proposed if it.operation != "edit" for path in (it.path, it.new_path) if path),
        )
        noting.task = asyncio.create_task(self._note(noting, proposed), name="problems before edits")
        try:
            await asyncio.wait([noting.task], timeout=AT_ONCE if in_a_hurry else self.wait)
        except asyncio.CancelledError:
            noting.task.cancel()
            raise

    async def _note(self, noting: _Noting, proposed: Sequence[FileProposal]) -> None:
        named = {it.path: it.new_path or it.path for it in proposed if it.operation in ("edit", "rename")}
        texts = {path: text for path, text in noting.edited.items() if path in named and isinstance(text, str)}
        noting.before = {named[path]: Noted(text, None) for path, text in texts.items()}
        served = {it.path for it in proposed if await self._is_served(it.path)}
        edited = {path: text for path, text in texts.items() if path in served}
        noting.before = {named[path]: Noted(text, None) for path, text in edited.items()}
        noting.before |= {it.path: Noted("", ()) for it in proposed if it.operation == "create" and it.path in served}
        others = {path: text for path, text in texts.items() if path not in served}  # but there may be a linter
        await self._note_current(noting, others, named, AT_ONCE)
        if served or noting.before:
            users = await self._users(noting, {path.suffix for path in (*served, *noting.before)})
            await asyncio.gather(
                self._note_current(noting, edited, named, self._patience(edited)),
                self._note_current(noting, users, {}, self._patience(users)),
            )

    async def _note_current(
        self, noting: _Noting, texts: Mapping[Path, str], named: Mapping[Path, Path], patience: float
    ) -> None:
        current = await self._current(texts, patience)
        if not await self._has_changed(noting):
            noting.before |= {named.get(path, path): it for path, it in current.items()}

    async def _users(self, noting: _Noting, suffixes: set[str]) -> dict[Path, str]:
        """Files that have the names of what is touched, or of files that come, go or get another name."""
        touched = await asyncio.to_thread(lambda: [name for it in noting.texts for name in names_touched(*it)])
        names = frozenset([*touched, *(path.stem for path in noting.moved & noting.edited.keys())])
        found = await users_of(names, noting.edited.keys() | noting.moved, self.files, self.search)
        users = {
            path: text for path in found if path.suffix in suffixes and (text := await self._text(path)) is not None
        }
        noting.before |= {path: Noted(text, None, names) for path, text in users.items()}
        noting.has_users = True
        return users

    async def _is_served(self, path: Path) -> bool:
        try:
            return bool(await self.servers.of(path))
        except OdinError:
            return False

    async def _conclude(self) -> None:
        """A review is over: what was noted in time counts, if something of it was made."""
        noting, self._noting = self._noting, None
        if noting is None:
            return
        noting.task.cancel()
        if not await self._has_changed(noting):
            return
        self._is_made = True
        self._keep(noting)
        if not noting.has_users:
            self._decided_early.append(noting)
        for path, noted in self.turns[0].now.items():
            is_unknown = path in self._untold and self._untold[path].found is None
            if is_unknown or (path not in self._untold and self.turns[0].introduced(path)):
                self._untold[path] = noted
        for turn in self.turns:
            turn.now.clear()

    def _keep(self, noting: _Noting) -> None:
        for path, noted in noting.before.items():
            for known in (self._untold, *(it.before for it in self.turns)):
                if path not in known or known[path].found is None:
                    known[path] = noted

    async def _find_users(self) -> None:
        """Who decides at once must not keep anybody from hearing of a broken caller, though it is too late to know what
        was wrong there before."""
        early, self._decided_early = self._decided_early, []
        for noting in early:
            served = {path.suffix for path in noting.edited if await self._is_served(path)}
            if served:
                await self._users(noting, served)
                self._keep(noting)

    async def _has_changed(self, noting: _Noting) -> bool:
        return any([await self._state(path) != state for path, state in noting.edited.items()])

    # after it

    async def after(self) -> str:
        """What the edits since the last time have done, and those before as far as that is known only now; for the
        model."""
        await self._conclude()
        await self._find_users()
        is_made, self._is_made = self._is_made, False
        if not self._untold:
            return ""
        if is_made:
            self.emit(ActivityChanged("verifying", "diagnostics"))
        found = await self._look(self._untold, self._patience(self._untold) if is_made else AT_ONCE)
        compared = self._compared(found, is_made=is_made)
        if compared is None:
            return ""
        self.emit(compared)
        return self._told(compared, found, "your edits" if is_made else "your earlier edits")

    async def left(self) -> str:
        """What the model is told before the turn ends with errors that were not there before it; once."""
        if not self.turns[0].before:
            return ""
        await self._look(self.turns[0].before, self._patience(self._untold))
        errors = [it for it in await self.introduced() if it.severity == "error"]
        if not errors or self._is_reminded:
            return ""
        self._is_reminded = True
        return "\n".join([STILL_BROKEN, *self._listed(errors)])

    async def introduced(self) -> tuple[Diagnostic, ...]:
        """By the turn, and still there as far as is known: of what was typed into since, nothing is."""
        turn = self.turns[0]
        now = {path: await self._text(path) for path in [*turn.now]}
        return self._diagnostics({it: turn.introduced(it) for it in turn.now if turn.now[it].text == now.get(it)})

    async def _look(self, known: Mapping[Path, Noted], patience: float) -> dict[Path, Noted]:
        """Those files of which the problems are known, as they are."""
        stamps = {path: self.files.stamp(path) for path in known}
        texts = {path: text for path in known if (text := await self._text(path)) is not None}
        current = await self._current(texts, patience)
        found = {path: it for path, it in current.items() if self.files.stamp(path) == stamps[path]}
        for turn in self.turns:
            turn.now = {path: it for path, it in (turn.now | found).items() if path in turn.before}
            for path in texts.keys() - found.keys():
                turn.now.pop(path, None)
        heard = {path.suffix for path in found}
        self._silent -= heard
        self._silent |= {path.suffix for path in texts} - heard if patience > AT_ONCE else set()
        return found

    def _compared(self, found: Mapping[Path, Noted], *, is_made: bool) -> DiagnosticsCompared | None:
        introduced: dict[Path, Sequence[Problem]] = {}
        fixed: dict[Path, Sequence[Problem]] = {}
        unsure: dict[Path, Sequence[Problem]] = {}
        remaining = 0
        for path, now in found.items():
            before, problems = self._untold.pop(path), now.found or ()
            if before.found is None:
                unsure[path] = before.perhaps_new(now)
                continue
            compared = compare(before.text, before.found, now.text, problems)
            introduced[path], fixed[path] = compared.introduced, compared.fixed
            remaining += len(compared.remaining)
        self._untold = {path: it for path, it in self._untold.items() if path.exists()}
        unknown = tuple(map(self._uri, self._untold)) if is_made else ()
        if not found and not unknown:
            return None
        listed = [self._diagnostics(it) for it in (introduced, fixed, unsure)]
        shown = [it[:MAX_LISTED] for it in listed]
        return DiagnosticsCompared(
            introduced=shown[0],
            fixed=shown[1],
            remaining=remaining,
            unsure=shown[2],
            left_off=sum(map(len, listed)) - sum(map(len, shown)),
            unknown=unknown,
        )

    def _told(self, compared: DiagnosticsCompared, found: Mapping[Path, Noted], what: str) -> str:
        introduced, fixed, unsure = compared.introduced, compared.fixed, compared.unsure
        counts = f"{len(introduced)} introduced, {len(fixed)} fixed, {compared.remaining} remaining"
        parts = [f"Diagnostics after {what}: {counts}."] if found else []
        parts += ["Introduced:", *self._listed(introduced)] if introduced else []
        parts += ["Fixed:", *self._listed(fixed)] if fixed else []
        parts += ["There now; not known whether they are new:", *self._listed(unsure)] if unsure else []
        unknown = ", ".join(self._name(it) for it in compared.unknown[:MAX_TOLD])
        parts += [f"Diagnostics after {what} are not known yet for {unknown}."] if unknown else []
        return "\n".join(parts)

    def _listed(self, diagnostics: Sequence[Diagnostic]) -> Iterable[str]:
        yield from (f"- {self._name(it.uri)}:{_TAG.sub('‹', it.words)}" for it in diagnostics[:MAX_TOLD])
        if len(diagnostics) > MAX_TOLD:
            yield f"({len(diagnostics) - MAX_TOLD} more)"

    # of files

    async def _current(self, texts: Mapping[Path, str], patience: float) -> dict[Path, Noted]:
        """Files with these texts, of which it is known what is wrong with them. If asking fails, of none."""
        if not texts:
            return {}
        try:
            found = await self.servers.problems(list(texts), patience)
        except Exception:  # an edit does not fail because of what is said about it
            log.exception("problems could not be asked for")
            return {}
        return {
            path: Noted(text, _loud(it)) for path, text in texts.items() if (it := found.get(path)) and it.is_current
        }

    def _patience(self, paths: Iterable[Path]) -> float:
        return self.wait if any(path.suffix not in self._silent for path in paths) else AT_ONCE

    def _diagnostics(self, problems: Mapping[Path, Sequence[Problem]]) -> tuple[Diagnostic, ...]:
        """Errors first, of whichever file."""
        found = [diagnostic(it, self._uri(path)) for path, of_file in problems.items() for it in of_file]
        return tuple(sorted(found, key=lambda it: TOLD.index(it.severity)))

    async def _text(self, path: Path) -> str | None:
        lines = await self.files.lines_now(path)
        return None if lines is None else "".join(f"{line}\n" for line in lines)

    async def _state(self, path: Path) -> str | bool:
        text = await self._text(path)
        return path.exists() if text is None else text

    def _uri(self, path: Path) -> str:
        buffer = self.files.buffers.of_path(path)
        return buffer.uri if buffer is not None else path.as_uri()

    def _name(self, uri: str) -> str:
        buffer, path = self.files.buffers.of_uri(uri), path_of(uri)
        known = buffer.path if buffer is not None else path
        return self.files.shown(known) if known is not None else uri


def _loud(problems: Problems) -> tuple[Problem, ...]:
    return tuple(it for it in problems.found if it.severity in TOLD)


def _words(lines: Sequence[str], line: int) -> list[str]:
    return _WORD.findall(lines[line]) if line < len(lines) else []
