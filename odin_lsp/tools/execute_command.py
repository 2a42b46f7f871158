"""Run a command."""

import asyncio
import hashlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import Field

from odin_lsp.commands.background import BackgroundCommand, how_it_ended
from odin_lsp.commands.holding import Order
from odin_lsp.commands.session import Result
from odin_lsp.errors import PermissionDenied, ToolError
from odin_lsp.events import BackgroundFinished, ToolProgress
from odin_lsp.permissions.gate import Want, exact
from odin_lsp.permissions.rules import Effect
from odin_lsp.permissions.shell import CommandVerdict
from odin_lsp.records import CommandRun
from odin_lsp.tools.base import NonEmpty, Params, Tool, ToolContext, ToolFailed, ToolOutput, output_of
from odin_lsp.tools.editing import report_receipts
from odin_lsp.workspace.buffers import moved
from odin_lsp.workspace.changes import moment
from odin_lsp.workspace.uris import printable

MAX_TIMEOUT_MS = 600_000
LONGER = (
    f"If it needs more time, set `timeout` (at most {MAX_TIMEOUT_MS} ms). If it does not end by itself, set"
    " `run_in_background`. If it waits for input, pass an option that answers it."
)
LIVE_SECONDS = 0.1
MAX_LIVE_CHARS = 4000
MAX_NAMED_FILES = 20
MAX_LISTED_FILES = 100
LOOK_SECONDS = 2.0
"""For what a command has changed."""
MAX_HASHED = 16 * 1024 * 1024
MAX_COMMAND = MAX_TAIL = 2000
"""Characters of a command and of what it printed that are kept with the turn."""


class ExecuteCommandParams(Params):
    command: NonEmpty
    """A bash command line. It gets no input."""
    description: str = ""
    """What it does, for the user."""
    timeout: Annotated[int, Field(ge=1, le=MAX_TIMEOUT_MS)] | None = None
    """Milliseconds after which it is ended. Default: 120000."""
    cwd: str | None = None
    """Default: the workspace."""
    run_in_background: bool = False
    """Return at once, for servers and watchers; CommandStatus shows output and stops it."""


class ExecuteCommand(Tool[ExecuteCommandParams]):
    """Run a command in bash and get its output and exit code; long output is kept in a file. Each call starts a shell
    of its own, with NO_COLOR, TERM=dumb and EDITOR=true, which sees your reviewed edits. In Ask and Plan only read-only
    commands run. To find or read files use Glob, Grep and Read."""

    name = "ExecuteCommand"
    effect = Effect.BLOCKING
    params = ExecuteCommandParams
    runs_commands = True

    @property
    def changes_files(self) -> bool:
        return True

    def describe(self, params: ExecuteCommandParams) -> str:
        return params.description or f"run {printable(params.command.strip().partition(chr(10))[0])[:200]}"

    def wants(self, params: ExecuteCommandParams, context: ToolContext) -> Want | None:
        return _looked_at(params, _folder(params, context), context)[1]

    def edited(self, params: ExecuteCommandParams, what: str) -> ExecuteCommandParams:
        return params.model_copy(update={"command": what})

    async def execute(self, params: ExecuteCommandParams, context: ToolContext) -> ToolOutput:
        decided = await context.draft.review()  # a command sees the disk, not what is only proposed
        saved = await context.saver.save()
        order = await _ordered(params, context)
        said = "\n".join(filter(None, (report_receipts(decided, context.files.shown) if decided else "", saved)))
        context.outside.admit(context.commands.folder)
        live = _Live(lambda text: context.emit(ToolProgress(context.call_id, text)))
        since = await moment() if order.held_to is None else None
        has_failed = False
        try:
            if params.run_in_background:
                output = await _started(params, order, live, context)
            else:
                output = await _finished(params, order, live, context)
        except ToolError as error:
            has_failed, output = True, output_of(error)
        finally:
            live.close()
            changed = await _look_again(since, context)
        told = "\n".join(filter(None, (output.data, said, changed.told)))
        files = tuple(printable(str(path)) for path in changed.files[:MAX_LISTED_FILES])
        output = replace(output, data=told, description=f"{output.description}{changed.counted}", files=files)
        if has_failed:
            raise ToolFailed(output)
        return output


async def _ordered(params: ExecuteCommandParams, context: ToolContext) -> Order:
    """What is allowed, where it would run now. Meanwhile edits were reviewed and files saved: what is neither allowed
    as things are now, nor what the user has allowed, is asked about again."""
    granted = context.granted
    while True:
        cwd = await context.reach(params.cwd) if params.cwd is not None else _folder(params, context)
        verdict, want = await asyncio.to_thread(_looked_at, params, cwd, context)
        if want is None:
            return Order(
                command=verdict.hardened,
                cwd=cwd,
                roots=context.files.roots,
                mode=context.mode,
                reads=verdict.reads,
                write_scope=context.write_scope,
                programs=verdict.programs,
            )
        if want == granted:
            return Order(
                command=params.command,
                cwd=cwd,
                roots=context.files.roots,
                mode=context.mode,
                write_scope=context.write_scope,
                programs=verdict.programs,
            )
        await context.gate.ask(replace(want, editable=False))
        granted = want


def _looked_at(params: ExecuteCommandParams, cwd: Path, context: ToolContext) -> tuple[CommandVerdict, Want | None]:
    """What the policy says of it, and what the user has to allow. Many files may have to be looked at for that."""
    verdict = _judged(params, cwd, context)
    return verdict, _wanted(params, cwd, verdict, context)


def _wanted(params: ExecuteCommandParams, cwd: Path, verdict: CommandVerdict, context: ToolContext) -> Want | None:
    if verdict.decision == "allow":
        return None
    background = "runs in background" if params.run_in_background or verdict.background else ""
    return Want(
        tool=ExecuteCommand.name,
        title="May Odin run this command?",
        reason="; ".join(filter(None, (verdict.reason, background, context.commands.holding.rights_of_allowed))),
        what=exact(params.command),
        mode=context.mode,
        cwd=printable(str(cwd)),
        files=tuple(_programs(verdict, cwd, context)),
        pattern=verdict.offer_rule,
        editable=True,
    )


def _judged(params: ExecuteCommandParams, cwd: Path, context: ToolContext) -> CommandVerdict:
    """What the policy says of it, unless that is no."""
    if "\0" in params.command or any("\ud800" <= character <= "\udfff" for character in params.command):
        raise ToolError("a command cannot contain NUL characters or text that is not valid Unicode")
    verdict = context.commands.judge(params.command, context.mode, cwd, context.files.roots)
    if verdict.decision == "deny":
        raise PermissionDenied(f"the command was not run: {verdict.reason}")
    return verdict


def _folder(params: ExecuteCommandParams, context: ToolContext) -> Path:
    if params.cwd is None and not context.files.roots:
        raise ToolError("no folder is open; open one in the editor and ask again")
    folder = context.files.resolve(params.cwd).path if params.cwd is not None else context.files.roots[0]
    if not folder.is_dir():
        raise ToolError(f"{printable(str(folder))} is not a folder; leave out cwd to run in the workspace")
    return folder


def _programs(verdict: CommandVerdict, cwd: Path, context: ToolContext) -> Iterator[tuple[str, str]]:
    """The workspace's own files that the command runs or hands to a program: what they hold is what is allowed."""
    for word in dict.fromkeys(word for command in verdict.commands for word in command.argv):
        try:
            path = (cwd / word).resolve()
            if path.is_file() and context.files.contains(path) and path.stat().st_size <= MAX_HASHED:
                yield printable(context.files.shown(path)), hashlib.sha256(path.read_bytes()).hexdigest()
        except (OSError, ValueError, RuntimeError):
            continue


async def _finished(params: ExecuteCommandParams, order: Order, live: "_Live", context: ToolContext) -> ToolOutput:
    timeout = params.timeout / 1000 if params.timeout else context.commands.default_timeout
    result = await context.commands.run(order, timeout, live.feed)
    timed_out = result.ended.how == "timed out"
    ending = f"timed out after {timeout:g} s" if timed_out else how_it_ended(result.ended)
    text = _text(result, ending)
    ran = replace(
        _run(params),
        exit_code=result.ended.exit_code,
        duration_ms=round(result.ended.seconds * 1000),
        output=result.text[-MAX_TAIL:],
    )
    if result.ended.how != "exited":
        raise ToolFailed(ToolOutput(data=f"{text}\n{LONGER}" if timed_out else text, description=ending, ran=ran))
    return ToolOutput(data=text, description=ending, ran=ran)


def _run(params: ExecuteCommandParams) -> CommandRun:
    command = exact(params.command.strip())
    return CommandRun(command=command if len(command) <= MAX_COMMAND else f"{command[:MAX_COMMAND]}…")


def _text(result: Result, ending: str) -> str:
    printed = result.text if not result.text or result.text.endswith("\n") else f"{result.text}\n"
    return "\n".join([f"{printed}({ending})", *result.notes])


async def _started(params: ExecuteCommandParams, order: Order, live: "_Live", context: ToolContext) -> ToolOutput:
    def ended(command: BackgroundCommand) -> None:
        live.close()
        context.emit(_finished_event(command, context.call_id))

    command = await context.commands.start(order, params.description, live.feed, ended)
    return ToolOutput(
        data=f"It runs in the background as {command.id}. Its output is in {command.output.path};"
        " CommandStatus shows what is new, and stops it.",
        description=f"started {command.id}",
        ran=_run(params),
    )


def _finished_event(command: BackgroundCommand, call_id: str) -> BackgroundFinished:
    ended = command.ended
    exit_code = ended.exit_code if ended else None
    how = ended.how if ended else "stopped"
    return BackgroundFinished(
        call_id=call_id,
        background_id=command.id,
        command=printable(command.command),
        description=command.description,
        status=how if how in ("exited", "stopped") else "failed",
        message="; ".join((command.status, *command.notes)),
        log=str(command.output.path),
        exit_code=exit_code,
        duration_ms=round(ended.seconds * 1000) if ended else 0,
    )


@dataclass(frozen=True, slots=True)
class _Changed:
    files: list[Path]
    told: str

    @property
    def counted(self) -> str:
        count = len(self.files)
        return f", {count} file{'' if count == 1 else 's'} changed" if count else ""


async def _look_again(since: int | None, context: ToolContext) -> _Changed:
    """A command may have changed any file: forget what has, and have the editor show what is. Of one that could write,
    all that has changed while it ran is told."""
    known = await context.files.recheck()
    stale = tuple(it.uri for it in context.files.buffers if it.path in known and not it.unsaved and moved(it))
    if stale:
        await context.editor.reload(stale)
    seen = await context.shown.newly_outdated(context.files, context.draft.texts)
    others = [path for path in await _changed(since, context) if path not in {*seen}] if since is not None else []
    told = [
        f"Files that you have read have changed: {_listed(seen, context)}." if seen else "",
        f"Changed while it ran: {_listed(others, context)}." if others else "",
    ]
    return _Changed([*seen, *others], "\n".join(filter(None, told)))


async def _changed(since: int, context: ToolContext) -> list[Path]:
    """In a workspace that takes too long to look through nobody is told: the command's result does not wait for it."""
    with suppress(TimeoutError, ToolError):
        async with asyncio.timeout(LOOK_SECONDS):
            roots = context.files.vouching_roots
            found = [path for root in roots for path in await context.search.changed(root, since)]
            return await asyncio.to_thread(sorted, found)
    return []


def _listed(paths: list[Path], context: ToolContext) -> str:
    more = f" (+{len(paths) - MAX_NAMED_FILES} more)" if len(paths) > MAX_NAMED_FILES else ""
    return ", ".join(context.files.shown(path) for path in paths[:MAX_NAMED_FILES]) + more


class _Live:
    """What a command prints, while it does: often enough to follow, seldom enough for any editor."""

    def __init__(self, send: Callable[[str], None]) -> None:
        self._send = send
        self._held = ""
        self._timer: asyncio.TimerHandle | None = None

    def feed(self, text: str) -> None:
        self._held = (self._held + text)[-MAX_LIVE_CHARS:]
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LIVE_SECONDS, self._flush)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._flush()

    def _flush(self) -> None:
        self._timer = None
        if self._held:
            self._send(self._held)
            self._held = ""
