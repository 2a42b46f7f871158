"""One turn in a terminal, from the prompt to the exit code."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from odin_lsp.errors import OdinError, RequestError
from odin_lsp.modes import MODES
from odin_lsp.printing import say
from odin_lsp.records import ExitReason, Outcome
from odin_lsp.tasks import run_to_end
from odin_lsp.terminal.answering import Answering, Policy
from odin_lsp.terminal.opening import opened
from odin_lsp.terminal.output import PipedOutput
from odin_lsp.terminal.seam import Turn, Workspace
from odin_lsp.workspace.uris import path_of

if TYPE_CHECKING:
    from odin_lsp.terminal.render import Renderer

EXIT_CODES: Mapping[ExitReason, int] = {
    "end_turn": 0,
    "failed": 1,
    "max_turns": 3,
    "max_budget": 3,
    "max_tokens": 3,
    "loop": 3,
    "refused": 4,
    "interrupted": 130,
    "aborted": 130,
}
WayToShow = Callable[[PipedOutput], "Renderer"]
BAD_USAGE = 2
DENIED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    task: Literal["ask", "plan", "edit", "continue", "compact", "run"]
    text: str
    """What is said; of `compact`: what to keep above all; of `run`: the plan's document."""
    cwd: Path
    policy: Policy
    json: bool
    session: str | None
    settings: Mapping[str, Any]
    images: Sequence[Path] = ()
    steps: Sequence[int] | None = None
    """Of the plan; none: all that are open."""
    then_run: bool = False
    """Of `plan`: carry it out."""
    is_new: bool = False
    """Not in the session that an editor shows."""
    attaches: bool = True
    """Whether a host may do it that has the folder open."""


def run(options: Options) -> int:
    try:
        return run_to_end(_run(options, _way_to_show(json=options.json)))
    except RequestError as error:
        say(f"odin: {error}")
        return BAD_USAGE
    except OdinError as error:
        say(f"odin: {error}")
        return EXIT_CODES["failed"]


async def _run(options: Options, way: WayToShow) -> int:
    output = PipedOutput()
    try:
        opening = opened(options.cwd, options.settings, options.policy, attaches=options.attaches)
        async with opening as (workspace, answering):
            outcome = await _turn(workspace, options, answering, output, way(output))
    finally:
        _when_interrupted(output.give_up)
        is_read = await output.close()
    if not is_read:
        return EXIT_CODES["interrupted"]
    if answering.denied and outcome.reason == "end_turn":
        return DENIED
    return EXIT_CODES[outcome.reason]


async def _turn(
    workspace: Workspace, options: Options, answering: Answering, output: PipedOutput, renderer: "Renderer"
) -> Outcome:
    answering.pause = renderer.paused
    workspace.subscribe(renderer.show)
    try:
        outcome = await _taken(await _begun(workspace, options), output)
        if options.then_run and outcome.reason == "end_turn" and (plan := path_of(outcome.plan or "")):
            outcome = await _taken(await workspace.carry_out(plan), output)
        return outcome
    finally:
        renderer.close()


async def _taken(turn: Turn, output: PipedOutput) -> Outcome:
    output.if_lost = turn.cancel
    _when_interrupted(turn.cancel)
    return await turn.outcome()


async def _begun(workspace: Workspace, options: Options) -> Turn:
    match options.task:
        case "continue":
            return (await workspace.resume(options.session)).go_on()
        case "compact":
            return (await workspace.resume(options.session)).compact(options.text)
        case "run":
            return await workspace.carry_out(Path(options.text), options.steps, session_id=options.session)
        case mode if options.session:
            return (await workspace.resume(options.session)).send(MODES[mode], options.text, images=options.images)
        case mode:
            session = workspace.begin() if options.is_new else workspace.session
            return session.send(MODES[mode], options.text, images=options.images)


def _when_interrupted(action: Callable[[], object]) -> None:
    loop = asyncio.get_running_loop()
    with contextlib.suppress(NotImplementedError):
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, action)


def _way_to_show(*, json: bool) -> WayToShow:
    """Imported before a loop runs."""
    from odin_lsp.terminal.render import JsonRenderer, PlainRenderer

    if json or not sys.stdout.isatty():
        return JsonRenderer if json else PlainRenderer
    from odin_lsp.terminal.rich_renderer import RichRenderer

    return lambda _: RichRenderer()
