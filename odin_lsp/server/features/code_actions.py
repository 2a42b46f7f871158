"""What Odin can do with a selection or a problem of any language server, Accept and Reject on a pending hunk: never
preferred, only if asked for their kind."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from odin_lsp.server.diagnostics import is_hint
from odin_lsp.server.host import Client, Host
from odin_lsp.workspace.text import Position

if TYPE_CHECKING:
    from odin_lsp.intelligence.servers import Problem

SELECTION = "odin"
ACCEPT, REJECT = "odin.review.accept", "odin.review.reject"
PROBLEM = "quickfix.odin"
CANCEL = "odin.cancel"
MENTION = "Odin: Mention these lines to the connected agent"
SEND = "Odin: Send this message"
TURNS = ("odin.ask", "odin.plan", "odin.edit", "odin.prompt", "odin.send", "odin.executePlan", "odin.plan.refuse")
WAITING = (*TURNS, "odin.undoTurn", "odin.provenance.open")
"""Commands that wait for the editor, or for a person."""
MAX_PROBLEMS = 10
FIX_ALL = "Fix all problems of this file that language servers report."
DOCUMENT = "Document the selected code as this project documents its code. Change nothing but comments and docs."
TESTS = "Write tests for the selected code, where and how this project keeps its tests."


def register(server: Host) -> None:
    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[SELECTION, types.CodeActionKind.QuickFix]),
    )
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction] | list[types.Command]:
        if not server.abilities.selection:
            server.sight.look(params.text_document.uri, _place(params.range.start), _place(params.range.end))
        offered = await _offered(server, params)
        if not server.abilities.events:
            offered = [*_of_plan(server, params), *offered]
        if not server.abilities.question:
            offered = [*_answers(server), *await _messages(server, params.text_document.uri, offered)]
        actions = [it for it in offered if _wanted(_name(it.kind), params.context.only)]
        if not server.abilities.events:
            for action in actions:
                action.command = unwaited(action.command)
            if server.is_working and _wanted(CANCEL, params.context.only):
                actions.append(_cancel())
        if server.abilities.code_action_literals:
            return actions
        return [action.command for action in actions if action.command]


async def _offered(server: Host, params: types.CodeActionParams) -> list[types.CodeAction]:
    from odin_lsp.server import comment_requests, provenance

    hints = [*_named(params), *_unnamed(server, params)]
    return [
        *_quick_fixes(params.text_document.uri, hints),
        *_actions(params, await _problems(server, params), has_input=server.abilities.question),
        *_mentions(server, params),
        *await comment_requests.actions_at(server, params),
        *await provenance.actions_at(server, params),
    ]


def _of_plan(server: Host, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
    """For editors without a plugin, which may show no lenses: the step that is asked for comes first."""
    from odin_lsp.server.plan_offers import offers

    first, last = params.range.start.line, params.range.end.line
    found = list(offers(server, params.text_document.uri))
    here = [it for it in found if it.lines and it.lines.start <= last and first < it.lines.stop]
    for it in (*here, *(it for it in found if it.lines is None)):
        command = types.Command(it.title, it.command, arguments=[it.argument])
        yield types.CodeAction(it.title, kind=f"{SELECTION}.steps", command=command)


async def _messages(server: Host, uri: str, others: list[types.CodeAction]) -> list[types.CodeAction]:
    """In a document with a message it can be sent, and nothing else."""
    if server.instructions.knows(uri):
        return [_sending(uri)]
    elsewhere = await asyncio.to_thread(list, server.instructions.elsewhere())
    return [*others, *(_sending(it.as_uri(), f"Odin: Send the message saved in {it.name}") for it in elsewhere)]


def _answers(server: Client) -> Iterator[types.CodeAction]:
    """To what Odin has asked, for editors that may not show it."""
    for title, question, option in server.editor.questions.offered():
        argument = {"questionId": question.question_id, "optionId": option.id}
        command = types.Command(title, "odin.answer", arguments=[argument])
        yield types.CodeAction(title, kind=f"{SELECTION}.answer", command=command)


def _named(params: types.CodeActionParams) -> list[types.Diagnostic]:
    """Hints of pending hunks, as the editor tells them."""
    return [it for it in params.context.diagnostics if is_hint(it)]


def _unnamed(server: Client, params: types.CodeActionParams) -> list[types.Diagnostic]:
    """Those on the lines that it asks for of which it does not tell: it has not drawn them yet, or never would."""
    named = {it.code for it in _named(params)}
    hints = server.editor.hints.at(params.text_document.uri, params.range)
    return [it for it in hints if it.code not in named]


async def _problems(server: Host, params: types.CodeActionParams) -> list[types.Diagnostic]:
    """Those on the lines that it asks for. Some editors name none but Odin's own: where a person has asked and none is
    named, what language servers have already reported counts."""
    named = [it for it in params.context.diagnostics if not is_hint(it)]
    buffer = server.buffers.of_uri(params.text_document.uri)
    if named or params.context.trigger_kind == types.CodeActionTriggerKind.Automatic or not buffer or not buffer.path:
        return named
    known = (await server.core.servers.problems((), 0)).get(buffer.path)
    first, last = params.range.start.line, params.range.end.line
    found = known.found if known else ()
    return [_diagnostic(it) for it in found if it.line <= last and it.end_line >= first]


def _diagnostic(problem: "Problem") -> types.Diagnostic:
    start = types.Position(problem.line, problem.character)
    end = types.Position(problem.end_line, problem.end_character)
    code, source = problem.code or None, problem.source or None
    return types.Diagnostic(types.Range(start, end), problem.message, code=code, source=source)


def _quick_fixes(uri: str, hints: Sequence[types.Diagnostic]) -> Iterator[types.CodeAction]:
    """Never preferred: no editor may accept on its own. What is stale decides nothing."""
    for hint in hints:
        yield _fix("Odin: Accept this change", ACCEPT, {"hunkIds": [hint.code]}, [hint])
        yield _fix("Odin: Reject this change", REJECT, {"hunkIds": [hint.code]}, [hint])
    if hints:
        yield _fix("Odin: Accept all changes in this file", ACCEPT, {"uri": uri}, hints)


def _fix(title: str, command: str, argument: dict[str, Any], hints: Sequence[types.Diagnostic]) -> types.CodeAction:
    return types.CodeAction(
        title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=hints,
        command=types.Command(title, command, arguments=[argument]),
    )


def _actions(
    params: types.CodeActionParams, problems: Sequence[types.Diagnostic], *, has_input: bool
) -> list[types.CodeAction]:
    actions: list[types.CodeAction] = []
    uri, selection = params.text_document.uri, params.range
    around = {"kind": "file", "uri": uri}
    for problem in problems[:MAX_PROBLEMS]:
        about = {"kind": "diagnostics", "uri": uri, "range": _range(problem.range), "content": _described(problem)}
        title, message = problem.message.partition("\n")[0][:60], problem.message
        actions += [
            _action(f"Odin: Explain “{title}”", PROBLEM, "odin.ask", f"Explain this problem: {message}", about, around),
            _action(
                f"Odin: Plan a fix for “{title}”", PROBLEM, "odin.plan", f"Plan a fix for: {message}", about, around
            ),
            _action(f"Odin: Fix “{title}”", PROBLEM, "odin.edit", f"Fix: {message}", about, around),
        ]
    here = [{"kind": "diagnostics", "uri": uri, "content": "\n".join(map(_described, problems))}] if problems else []
    if problems:
        every = {"kind": "diagnostics", "uri": uri}
        actions.append(
            _action("Odin: Fix all problems in this file", PROBLEM, "odin.edit", FIX_ALL, every, *here, around)
        )
    if selection.start != selection.end:
        selected = [{"kind": "selection", "uri": uri, "range": _range(selection)}, *here]
        actions += [
            _action("Odin: Explain", f"{SELECTION}.explain", "odin.ask", "Explain the selected code.", *selected),
            *([] if has_input else [_asking("Odin: Ask…", f"{SELECTION}.ask", "ask", selected)]),
            _asking("Odin: Plan…", f"{SELECTION}.plan", "plan", selected),
            _asking("Odin: Edit…", f"{SELECTION}.edit", "edit", selected),
            _action("Odin: Document", f"{SELECTION}.document", "odin.edit", DOCUMENT, *selected),
            _action("Odin: Write tests", f"{SELECTION}.tests", "odin.edit", TESTS, *selected),
        ]
    return actions


def _mentions(server: Host, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
    """For agents that use the editor as their IDE."""
    if server.sight.is_shared and params.range.start != params.range.end:
        argument = {"uri": params.text_document.uri, "range": _range(params.range)}
        command = types.Command(MENTION, "odin.mention", arguments=[argument])
        yield types.CodeAction(MENTION, kind=f"{SELECTION}.mention", command=command)


def unwaited(command: types.Command | None) -> types.Command | None:
    """Some editors stand still until a command is answered: they could not review what the turn proposes."""
    if command is None or command.command not in WAITING:
        return command
    argument = {"command": command.command, "argument": (command.arguments or [{}])[0]}
    return types.Command(command.title, "odin.begin", arguments=[argument])


def _cancel() -> types.CodeAction:
    """For editors that cannot cancel what they show the progress of."""
    title = "Odin: Cancel the running turn"
    return types.CodeAction(title, kind=CANCEL, command=types.Command(title, "odin.cancel", arguments=[{}]))


def _sending(uri: str, title: str = SEND) -> types.CodeAction:
    command = types.Command(title, "odin.send", arguments=[{"uri": uri}])
    return types.CodeAction(title, kind=f"{SELECTION}.send", command=command)


def _asking(title: str, kind: str, mode: str, context: list[dict[str, Any]]) -> types.CodeAction:
    argument = {"mode": mode, "context": context}
    return types.CodeAction(title, kind=kind, command=types.Command(title, "odin.prompt", arguments=[argument]))


def _action(title: str, kind: str, command: str, text: str, *context: dict[str, Any]) -> types.CodeAction:
    argument = {"text": text, "context": list(context)}
    return types.CodeAction(title, kind=kind, command=types.Command(title, command, arguments=[argument]))


def _wanted(kind: str, only: Any) -> bool:
    return not only or any(f"{kind}.".startswith(f"{_name(it)}.") for it in only)


def _name(kind: Any) -> str:
    return str(getattr(kind, "value", kind))


def _described(problem: types.Diagnostic) -> str:
    source = f"{problem.source}: " if problem.source else ""
    code = f" [{problem.code}]" if problem.code is not None else ""
    return f"line {problem.range.start.line + 1}: {source}{problem.message}{code}"


def _place(value: types.Position) -> Position:
    return Position(value.line, value.character)


def _range(value: types.Range) -> dict[str, Any]:
    return {
        "start": {"line": value.start.line, "character": value.start.character},
        "end": {"line": value.end.line, "character": value.end.character},
    }
