"""Plans: Markdown documents beside their sessions. Their steps are boxes to tick: people edit them, Odin does them."""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from odin_lsp import private_files
from odin_lsp.agent.prompt import prompt_text
from odin_lsp.agent.stream import EventStream
from odin_lsp.errors import RequestError, SessionError, ToolError
from odin_lsp.events import Emit, Event, EventRecord, Notice, TodosChanged
from odin_lsp.markdown import harmless
from odin_lsp.ports import Editor
from odin_lsp.records import ContextItem, Todo
from odin_lsp.review.applying import Applier
from odin_lsp.review.proposals import edit_of
from odin_lsp.workspace import disk
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.text import split_lines, whole_lines
from odin_lsp.workspace.uris import path_of, printable

StepStatus = Literal["open", "done", "skipped"]
StepKey = tuple[str, int]
"""A step wherever it stands now: its title, and how many above it have the same."""
MARK = "<!-- A plan for Odin. Its steps are the lines that begin with a box; edit them as you like. -->"
BOXES: Mapping[str, StepStatus] = {" ": "open", "x": "done", "X": "done", "-": "skipped"}
MARKS: Mapping[StepStatus, str] = {"open": " ", "done": "x", "skipped": "-"}
AT_BOX = 3
"""Characters before the one in the box."""
MAX_CHARS = 200_000
MAX_STEPS = 200
MAX_PLANS = 1000
MAX_NAME = 60
ENDING = ".plan.md"
STATE = """This session has a plan, in {path}, with these steps:
{steps}
If the user wants it carried out, make the open steps your todo list, with the ids step-1, step-2 and so on: the box of
a step is ticked when its todo is completed. Do not edit the document itself."""
HOW = "a step is a line that begins with `- [ ]`"
_STEP = re.compile(r"[-*+] \[([ xX-])\] +(\S.*?)\s*")
_NUMBERED = re.compile(r"\d{1,3}[.)] +(?:\[ \] +)?(?=\S)")
_HEADING = re.compile(r"#{1,6}\s+(.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_PLACE = re.compile(r"([A-Za-z0-9_-]{1,128})\.plan(?:-\d+)?")
_NOT_IN_NAMES = re.compile(r"[^\w.,()&+-]+")


@dataclass(frozen=True, slots=True)
class Step:
    number: int
    """Counted from 1."""
    line: int
    """Counted from 0."""
    title: str
    status: StepStatus
    key: StepKey
    text: str
    """With all that belongs to it."""


@dataclass(frozen=True, slots=True)
class Plan:
    path: Path
    uri: str
    text: str
    steps: tuple[Step, ...]

    @property
    def title(self) -> str:
        return _title(self.text) or self.path.name.removesuffix(ENDING)

    @property
    def context(self) -> ContextItem:
        """The document, to be sent along."""
        return ContextItem(kind="file", uri=self.uri, content=self.text)

    @property
    def state(self) -> str:
        """Where it is, what of it is done, and how the model says so; empty if nothing is left to do."""
        if not any(step.status == "open" for step in self.steps):
            return ""
        steps = "\n".join(f"{step.number}. [{step.status}] {step.title}" for step in self.steps)
        return STATE.format(path=_shown(self.path), steps=steps)

    def chosen(self, numbers: Sequence[int] | None) -> tuple[Step, ...]:
        """The steps that are named, or all that are open; in the order in which they stand."""
        if numbers is None:
            wanted = tuple(step for step in self.steps if step.status == "open")
            if not wanted:
                raise RequestError(f"all steps of {_shown(self.path)} are done or skipped; open one again first")
            return wanted
        if unknown := sorted(set(numbers) - {step.number for step in self.steps}):
            raise RequestError(f"{_shown(self.path)} has steps 1 to {len(self.steps)}, and no step {unknown[0]}")
        wanted = tuple(step for step in self.steps if step.number in numbers)
        if not wanted:
            raise RequestError("`steps` is empty; leave it out to carry out all that are open")
        if closed := next((step for step in wanted if step.status != "open"), None):
            raise RequestError(f"step {closed.number} is {closed.status} already; open it again first")
        return wanted


def is_plan(text: str) -> bool:
    return text.startswith(MARK)


def steps_of(text: str) -> tuple[Step, ...]:
    lines = split_lines(text)
    found: list[Step] = []
    twins: Counter[str] = Counter()
    starts = [index for index, line in _plain(lines) if _STEP.fullmatch(line)]
    ends = sorted({*starts, *(index for index, line in _plain(lines) if _HEADING.match(line)), len(lines)})
    for line in starts[:MAX_STEPS]:
        step = _STEP.fullmatch(lines[line])
        if step is not None:
            end = next(it for it in ends if it > line)
            body = "\n".join([step[2], *lines[line + 1 : end]]).strip()
            found.append(Step(len(found) + 1, line, step[2], BOXES[step[1]], (step[2], twins[step[2]]), body))
            twins[step[2]] += 1
    return tuple(found)


def marked(text: str, wanted: Mapping[StepKey, StepStatus]) -> str:
    """The text with these boxes as they should be; what is not there any more is left alone."""
    lines = whole_lines(text)
    for step in steps_of(text):
        if step.key in wanted:
            line = lines[step.line]
            lines[step.line] = f"{line[:AT_BOX]}{MARKS[wanted[step.key]]}{line[AT_BOX + 1 :]}"
    return "".join(lines)


def document_of(answer: str) -> str | None:
    """A plan that a model has answered with, as a document; `None` if the answer is none."""
    text = harmless(answer).strip()
    if not steps_of(text):
        text = _boxed(text)
    return f"{MARK}\n\n{text}\n" if steps_of(text) else None


def _boxed(text: str) -> str:
    """Numbered steps below a heading that says so, as boxes."""
    lines = split_lines(text)
    below = False
    for index, line in _plain(lines):
        if heading := _HEADING.match(line):
            below = "step" in heading[1].lower()
        elif below:
            lines[index] = _NUMBERED.sub("- [ ] ", line, count=1) if _NUMBERED.match(line) else line
    return "\n".join(lines)


def _plain(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Those outside of fenced code."""
    fence = ""
    for index, line in enumerate(lines):
        found = _FENCE.match(line)
        if fence:
            closes = found and found[1].startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if closes else fence
        elif found:
            fence = found[1]
        else:
            yield index, line


class Plans:
    def __init__(self, files: Files, editor: Editor, applier: Applier, folder: Callable[[], Path]) -> None:
        self._files = files
        self._editor = editor
        self._applier = applier
        self._folder = folder
        self._one_at_a_time = asyncio.Lock()

    def keep(self, session_id: str, answer: str) -> Path | None:
        """Write the plan down, beside those that the session has; the user may have edited them."""
        text = document_of(answer)
        if text is None:
            return None
        place = next(it for it in self._places(session_id) if not _is_taken(it))
        path = place / f"{_file_name(_title(text))}{ENDING}"
        private_files.write_file(path, [text.encode("utf-8", "replace")], durable=False)
        return path

    def latest(self, session_id: str) -> Plan | None:
        """The session's last plan as it stands now, if it has one that can be used."""
        found: Path | None = None
        for place in self._places(session_id):
            if not _is_taken(place):
                break
            found = place
        path = _document_in(found) if found else None
        try:
            return self.read(path.as_uri()) if path else None
        except RequestError:
            return None

    def session_of(self, plan: Plan) -> str | None:
        """Whose plan it is, if it still is where Odin has put it and the session is there too."""
        is_old = plan.path.parent == self._folder().resolve()
        place = plan.path.with_suffix("") if is_old else plan.path.parent
        name = _PLACE.fullmatch(place.name)
        if name is None or place.parent != self._folder().resolve():
            return None
        return name[1] if (self._folder() / f"{name[1]}.jsonl").exists() else None

    def read(self, uri: str) -> Plan:
        """The plan as it is on the screen, or on disk; why it cannot be used, if it cannot."""
        name = path_of(uri)
        if name is None:
            raise RequestError(f"{uri} is not a file; save the plan first")
        try:
            path = self._files.resolve(str(name)).path
            text = self._files.read(path).text
        except ToolError as error:
            raise RequestError(f"the plan cannot be used: {error}") from None
        buffer = self._files.buffers.of_path(path)
        if buffer is not None and not buffer.synchronised:
            raise RequestError(f"what the editor shows of {_shown(path)} is not known; close it and open it again")
        if len(text) > MAX_CHARS:
            raise RequestError(f"{_shown(path)} has {len(text):,} characters; a plan has at most {MAX_CHARS:,}")
        steps = steps_of(text)
        if not steps:
            raise RequestError(f"{_shown(path)} has no steps; {HOW}")
        return Plan(path, buffer.uri if buffer else path.as_uri(), text, steps)

    async def mark(self, path: Path, wanted: Mapping[StepKey, StepStatus]) -> None:
        """Set boxes, in the editor if the document is open there; a `ToolError` if that did not work."""
        async with self._one_at_a_time:
            text = self._files.read(path).text
            if missing := [title for title, twin in wanted if (title, twin) not in {it.key for it in steps_of(text)}]:
                raise ToolError(f"“{missing[0]}” is not a step of {_shown(path)} any more")
            new = marked(text, wanted)
            if new == text:
                return
            buffer = self._files.buffers.of_path(path)
            if buffer is None:
                disk.write_text(path, replace(disk.read_text(path), text=new), expected=text)
                return
            was_saved = not buffer.unsaved
            edit = edit_of(path, text, new)
            for hunk in edit.hunks:
                hunk.state = "accepted"
            await self._applier.apply(edit)
            if failed := next((hunk for hunk in edit.hunks if hunk.state != "accepted"), None):
                raise ToolError(f"could not update the checkboxes in {_shown(path)}: {failed.reason}")
            if was_saved:
                await self._editor.save((buffer.uri,))

    def _places(self, session_id: str) -> Iterator[Path]:
        """Folders of one document each, which so has its title as its name."""
        yield self._folder() / f"{session_id}.plan"
        yield from (self._folder() / f"{session_id}.plan-{number}" for number in range(2, MAX_PLANS))
        raise SessionError(f"the session has {MAX_PLANS:,} plans; begin a new one")


@dataclass(slots=True)
class PlanRun:
    """Steps that one turn carries out. They are its todo list, and the document follows the list."""

    plans: Plans
    plan: Plan
    steps: tuple[Step, ...]
    turn_id: str
    emit: Emit
    _done: set[StepKey] = field(default_factory=set[StepKey])
    _writing: "asyncio.Task[None] | None" = None

    @property
    def words(self) -> str:
        """What the user has said by it."""
        return f"Run {self._which} of the plan “{self.plan.title}”."

    @property
    def meaning(self) -> str:
        """What the model is told to do."""
        which = f"{self._which} of {len(self.plan.steps)}"
        steps = "\n\n".join(f"{step.number}. {step.text}" for step in self.steps)
        return prompt_text("execute_plan").format(title=self.plan.title, which=which, steps=steps)

    @property
    def _which(self) -> str:
        return f"step{'' if len(self.steps) == 1 else 's'} {', '.join(str(step.number) for step in self.steps)}"

    @property
    def todos(self) -> tuple[Todo, ...]:
        return tuple(Todo(f"step-{step.number}", step.title, "pending") for step in self.steps)

    @asynccontextmanager
    async def followed(self, stream: EventStream) -> AsyncGenerator[None]:
        """While the turn goes on, and until all that it has done is ticked."""
        unsubscribe = stream.subscribe(self.follow)
        try:
            yield
        finally:
            unsubscribe()
            await self.written()

    def follow(self, record: EventRecord) -> None:
        event: Event = record.event
        if record.turn_id != self.turn_id or not isinstance(event, TodosChanged):
            return
        completed = [todo for todo in event.todos if todo.status == "completed"]
        names = {todo.id for todo in completed} | {todo.content for todo in completed}
        done = {step.key for step in self.steps if not names.isdisjoint((f"step-{step.number}", step.title))}
        if new := done - self._done:
            self._done |= new
            self._writing = asyncio.create_task(self._write(new, self._writing))

    async def written(self) -> None:
        """Until all that is done is ticked, or cannot be."""
        if self._writing is not None:
            await self._writing

    async def _write(self, steps: set[StepKey], before: "asyncio.Task[None] | None") -> None:
        if before is not None:
            await before
        for key in steps:
            try:
                await self.plans.mark(self.plan.path, {key: "done"})
            except ToolError as error:
                self.emit(Notice("warning", f"a step is done and not ticked: {error}"))


def _title(text: str) -> str:
    headings = (_HEADING.fullmatch(line) for line in split_lines(text))
    return next((found[1].strip() for found in headings if found), "")


def _file_name(title: str) -> str:
    """One that every file system takes."""
    return _NOT_IN_NAMES.sub(" ", title)[:MAX_NAME].strip(" .") or "Plan"


def _is_taken(place: Path) -> bool:
    return place.exists() or _old_document(place).exists()


def _document_in(place: Path) -> Path | None:
    return next(iter(sorted(place.glob("*.md"))), None) if place.is_dir() else _old_document(place)


def _old_document(place: Path) -> Path:
    """Plans were files beside the session once."""
    return place.with_name(f"{place.name}.md")


def _shown(path: Path) -> str:
    return printable(str(path))
