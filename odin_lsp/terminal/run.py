"""One turn in a terminal, from the prompt to the exit code."""

import asyncio
import contextlib
import signal
import sys
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from odin_lsp import state_folder
from odin_lsp.agent.context import gathered
from odin_lsp.agent.core import Core
from odin_lsp.agent.plans import PlanRun
from odin_lsp.agent.turn import Compact, RunCommand, Turn, UserMessage
from odin_lsp.errors import OdinError, RequestError
from odin_lsp.modes import MODES
from odin_lsp.project.project import Project, Told
from odin_lsp.records import ExitReason, Outcome
from odin_lsp.terminal.editor import Policy, TerminalEditor, say
from odin_lsp.terminal.output import PipedOutput

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
BAD_USAGE = 2
DENIED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    task: Literal["ask", "plan", "edit", "continue", "compact", "run"]
    text: str
    """What is said; of `compact`: what to keep above all."""
    cwd: Path
    policy: Policy
    json: bool
    session: str | None
    settings: Mapping[str, Any]
    plan: Path | None = None
    """A document whose steps are to be carried out, in place of a text."""
    steps: tuple[int, ...] | None = None
    """Which of them; none: all that are open."""


def run(options: Options) -> int:
    try:
        return asyncio.run(_run(options))
    except RequestError as error:
        say(f"odin: {error}")
        return BAD_USAGE
    except OdinError as error:
        say(f"odin: {error}")
        return EXIT_CODES["failed"]


async def _run(options: Options) -> int:
    editor = TerminalEditor(options.policy)
    project = Project(Told(roots=(options.cwd,), flags=options.settings), can_pick=False)
    for problem in (*project.now.problems, *filter(None, [await asyncio.to_thread(state_folder.problem)])):
        editor.notify("warning", str(problem))
    core = Core(project, editor)
    output = PipedOutput()
    renderer = _renderer(output, json=options.json)
    editor.pause = renderer.paused
    core.stream.subscribe(renderer.show)
    try:
        outcome = await _turn(core, options, output)
    finally:
        renderer.close()
        await core.close()
        _when_interrupted(output.give_up)
        is_read = await output.close()
    if not is_read:
        return EXIT_CODES["interrupted"]
    if editor.denied and outcome.reason == "end_turn":
        return DENIED
    return EXIT_CODES[outcome.reason]


async def _turn(core: Core, options: Options, output: PipedOutput) -> Outcome:
    if options.plan is None:
        return await _seen_through(await _begun(core, options), output)
    plan = core.plans.read(options.plan.as_uri())
    steps = plan.chosen(options.steps)
    live = await core.sessions.take_up(options.session or core.plans.session_of(plan))
    turn_id = uuid.uuid4().hex
    run = PlanRun(core.plans, plan, steps, turn_id, core.stream.emitter(turn_id, live.session.id))
    document = gathered((plan.context,), core.files).texts
    message = UserMessage(turn_id=turn_id, text=run.message, mode="edit_mode", context=document, todos=run.todos)
    async with run.followed(core.stream):
        return await _seen_through(live.turns.start(message), output)


async def _seen_through(turn: Turn, output: PipedOutput) -> Outcome:
    def interrupt() -> None:
        """Nobody could decide later on what waits: there is no editor that would show it."""
        turn.progress.review.drops_rest = True
        turn.cancel()

    output.if_lost = interrupt
    _when_interrupted(interrupt)
    return await turn.outcome()


async def _begun(core: Core, options: Options) -> Turn:
    turn_id = uuid.uuid4().hex
    match options.task:
        case "continue":
            return (await core.sessions.open(options.session)).turns.go_on()
        case "compact":
            turns = (await core.sessions.open(options.session)).turns
            return turns.start(Compact(options.text).message(turn_id, turns.mode))
        case mode:
            errand = RunCommand.of(options.text)
            message = UserMessage(turn_id=turn_id, text=options.text, mode=MODES[mode], errand=errand)
            return (await core.sessions.take_up(options.session)).turns.start(message)


def _when_interrupted(action: Callable[[], object]) -> None:
    loop = asyncio.get_running_loop()
    with contextlib.suppress(NotImplementedError):
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, action)


def _renderer(output: PipedOutput, *, json: bool) -> "Renderer":
    from odin_lsp.terminal import render

    if json:
        return render.JsonRenderer(output)
    return render.RichRenderer() if sys.stdout.isatty() else render.PlainRenderer(output)
