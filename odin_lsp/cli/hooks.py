"""`odin-lsp hooks test`: which hooks an event would run, and what they answer to it."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from odin_lsp.cli.extensions import STATES
from odin_lsp.extensions.hook_events import EVENTS
from odin_lsp.printing import print_lines
from odin_lsp.tasks import run_to_end

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from odin_lsp.agent.command_hooks import Answered

ABOUT: dict[str, dict[str, Any]] = {
    "UserPromptSubmit": {"prompt": "hello"},
    "SessionStart": {"source": "startup"},
    "SessionEnd": {"reason": "other"},
    "Stop": {"stop_hook_active": False},
    "SubagentStart": {"agent_id": "ask-1", "agent_type": "ask_mode"},
    "SubagentStop": {"agent_id": "ask-1", "agent_type": "ask_mode", "stop_hook_active": False},
    "PreCompact": {"trigger": "manual", "custom_instructions": ""},
    "PostCompact": {"trigger": "manual", "compact_summary": ""},
    "Notification": {"message": "May Odin do this?", "title": "Odin", "notification_type": "permission_prompt"},
}
"""What hooks are told if nobody says otherwise."""


def add_arguments(parser: "ArgumentParser", folder: Any) -> None:
    """`folder` is the type of an option that names one."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    about = "run the hooks of an event as Odin would, and show what they answer"
    test = actions.add_parser("test", help=about, description=about)
    test.add_argument("event", choices=sorted(EVENTS), metavar="EVENT", help=", ".join(sorted(EVENTS)))
    test.add_argument("--tool", metavar="NAME", default="Bash", help="the tool of a call (default: Bash)")
    test.add_argument(
        "--input", metavar="JSON", help="what the tool would be given; at other events, what else hooks are told"
    )
    test.add_argument("--cwd", type=folder, default=".", help="the workspace")


def run(parser: "ArgumentParser", options: "Namespace") -> int:
    from odin_lsp.agent.command_hooks import NAMES, SUBJECTS, CommandHooks, Surroundings
    from odin_lsp.project.project import Project, Told
    from odin_lsp.sessions.store import sessions_folder
    from odin_lsp.values import is_object

    try:
        given = json.loads(options.input or "{}")
    except ValueError as error:
        parser.error(f"--input is no JSON: {error}")
    if not is_object(given):
        parser.error("--input must be an object")
    now = Project(Told(roots=(options.cwd,))).now
    root = now.root or options.cwd
    about = {**ABOUT.get(options.event, {}), **given}
    if SUBJECTS.get(options.event) == "tool":
        tool = {other: own for own, other in NAMES.items()}.get(options.tool, options.tool)
        about = {"tool": tool, "arguments": given, "callId": "test"}
        about |= {"result": ""} if options.event.startswith("Post") else {}
    around = Surroundings(
        "test",
        root,
        "edit_mode",
        sessions_folder(root) / "test.jsonl",
        now.roots,
        frozenset(name for names in now.config.keys.values() for name in names),
        network=now.config.commands.network if now.config.extensions.sandbox_hooks else None,
    )
    found = now.extensions
    hooks = CommandHooks(found.hooks, around, lambda _: None)
    answered = run_to_end(hooks.answers(options.event, about))
    for it in answered:
        first, *more = _lines(it)
        print_lines(first, *(f"  {line}" for line in more))
    unused = [it for it in found.listed if it.kind == "hook" and it.state != "on"]
    for it in [it for it in unused if it.name.startswith((f"{options.event}:", f"{options.event}("))]:
        print_lines(it.name, f"  {it.source}", f"  {STATES[it.state]}")
    if not answered:
        print_lines(f"no hook is run at {options.event}")
    return 0


def _lines(it: "Answered") -> Iterator[str]:
    decision = it.decision
    yield it.hook.name
    yield str(it.hook.source.path)
    yield it.failure or f"exit code {it.exit_code} after {it.seconds:.2f} s"
    for name, text in (("stdout", it.printed), ("stderr", it.complaints)):
        yield from (f"{name}: {line}" for line in text.splitlines())
    yield from ([f"refused: {decision.message}"] if not decision.allow else ["not refused"])
    if decision.approve:
        yield "the user is not asked"
    if not decision.go_on:
        yield "the turn ends"
    if decision.arguments is not None:
        yield f"other input: {json.dumps(decision.arguments)}"
    if decision.for_user:
        yield f"shown to you: {decision.for_user}"
    if decision.system_message:
        yield f"told to the model: {decision.system_message}"
