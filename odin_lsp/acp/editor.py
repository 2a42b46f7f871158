"""The editor's side of a turn over ACP: a question is a request for permission, and so is each hunk of a review."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from odin_lsp.acp.client_files import ClientFiles
from odin_lsp.acp.forms import answered, form
from odin_lsp.acp.telling import Telling, text_content
from odin_lsp.json_rpc import ClientError
from odin_lsp.library.disk_editor import DiskEditor, replaced
from odin_lsp.ports import Answer, Decision, FileChange, Level, Option, Question, Review, ReviewAnswer
from odin_lsp.values import is_object
from odin_lsp.workspace.uris import path_of

ACCEPT, REST, REJECT, REJECT_REST = "accept", "accept_rest", "reject", "reject_rest"
HUNK_OPTIONS = (
    (ACCEPT, "Accept this change", "allow_once"),
    (REST, "Accept the rest of this file", "allow_always"),
    (REJECT, "Reject this change", "reject_once"),
    (REJECT_REST, "Reject the rest of this file", "reject_always"),
)
WHOLE_OPTIONS = ((ACCEPT, "Accept all: they belong together", "allow_once"), (REJECT, "Reject all", "reject_once"))
KINDS = {
    "allow_once": "allow_once",
    "allow_session": "allow_always",
    "allow_workspace": "allow_always",
    "allow_always": "allow_always",
    "deny": "reject_once",
    "stop": "reject_once",
    "restrict": "reject_once",
    "decline": "reject_once",
}
"""Of Odin's own options; all others are choices, which are allowed once."""
NO_ANSWER = ("no_answer", "Give no answer", "reject_once")
NOT_DECIDED = "the client was gone, or the turn canceled, before it was decided"
UNSAVED = "the client has unsaved changes in it; save the file first"

Ask = Callable[[str, Mapping[str, Any]], Awaitable[Any]]
Decide = Callable[[Decision], Awaitable[object]]


class AcpEditor(DiskEditor):
    def __init__(
        self,
        ask: Ask,
        update: Callable[[Mapping[str, Any]], None],
        telling: Telling,
        files: ClientFiles,
        *,
        shows_forms: bool,
    ) -> None:
        self._ask = ask
        self._shows_forms = shows_forms
        self._update = update
        self._telling = telling
        self._files = files
        self.decide: Decide
        """Set by who has a workspace."""
        self._one_at_a_time = asyncio.Lock()

    async def ask(self, question: Question) -> Answer | None:
        """What the model wants to know is a form, where the client shows these. All else is one choice, without words:
        permissions know no others."""
        if question.kind == "question" and self._shows_forms:
            async with self._one_at_a_time:
                with suppress(ClientError):  # then it is a choice
                    return answered(question, await self._ask("elicitation/create", form(question)))
        if not question.options:
            return None
        known = self._telling.call_under_way
        call_id, title = known or (question.question_id, _title(question))
        call: dict[str, Any] = {
            "toolCallId": call_id,
            "title": question.command or title,
            "status": "pending",
            "content": [text_content(it) for it in (question.full_detail,) if it],
        }
        if known is None or question.command:
            call["kind"] = "execute" if question.command else "other"
        if known is None:
            self._update({"sessionUpdate": "tool_call", **call})
        chosen = await self._permitted(call, list(_choices(question)))
        answer = Answer((chosen,)) if chosen in {it.id for it in question.options} else None
        if known is None:
            status = "completed" if answer and KINDS.get(chosen or "") != "reject_once" else "failed"
            self._update({"sessionUpdate": "tool_call_update", "toolCallId": call_id, "status": status})
        else:
            self._update({"sessionUpdate": "tool_call_update", "toolCallId": call_id, "status": "in_progress"})
        return answer

    async def review(self, review: Review) -> ReviewAnswer | None:
        """Each hunk is decided as soon as it is answered, so that what was accepted is made even if the client
        vanishes before the next."""
        if review.atomic:
            return await self._decide_on_whole(review)
        decisions: list[Decision] = []
        for file in review.files:
            rest: Decision | None = None
            for hunk in (it for it in file.hunks if it.state == "pending"):
                if rest is None:
                    chosen = await self._asked(hunk.id)
                else:
                    chosen = REST if rest.decision == "accept" else REJECT_REST
                decision = _decision(hunk.id, chosen)
                rest = decision if chosen in (REST, REJECT_REST) else None
                decisions.append(decision)
                await self.decide(decision)
        return ReviewAnswer(decisions=tuple(decisions))

    def notify(self, level: Level, message: str) -> None:
        super().notify(level, message)
        text = {"type": "text", "text": f"\n\n{level}: {message}\n\n"}
        self._update({"sessionUpdate": "agent_thought_chunk", "content": text})

    async def apply(self, change: FileChange) -> str | None:
        path = path_of(change.uri)
        if path is None or not self._files.is_unsaved(path):
            return await super().apply(change)
        if change.operation != "edit" or change.before is None:
            return UNSAVED
        return await self._files.write(path, change.before, replaced(change.before, change.edits))

    async def _decide_on_whole(self, review: Review) -> ReviewAnswer:
        """All of it is shown in the call that is asked about."""
        hunks = [self._telling.hunks[it.id] for file in review.files for it in file.hunks if it.state == "pending"]
        call = {
            "toolCallId": f"review-{review.proposal_id}",
            "title": review.reason or f"Make {len(hunks)} changes that belong together",
            "kind": "edit",
            "status": "pending",
            "content": [part for it in hunks for part in it.call["content"]],
            "locations": [place for it in hunks for place in it.call["locations"]],
        }
        self._update({"sessionUpdate": "tool_call", **call})
        chosen = await self._permitted(call, list(WHOLE_OPTIONS))
        status = "completed" if chosen == ACCEPT else "failed"
        self._update({"sessionUpdate": "tool_call_update", "toolCallId": call["toolCallId"], "status": status})
        return ReviewAnswer(decisions=tuple(_decision(it.hunk.id, chosen) for it in hunks))

    async def _asked(self, hunk_id: str) -> str | None:
        return await self._permitted(self._telling.hunks[hunk_id].call, list(HUNK_OPTIONS))

    async def _permitted(self, call: Mapping[str, Any], options: list[tuple[str, str, str]]) -> str | None:
        """The id of what was chosen; `None` if nothing was."""
        offered = [{"optionId": it, "name": name, "kind": kind} for it, name, kind in options]
        async with self._one_at_a_time:
            try:
                answer = await self._ask("session/request_permission", {"toolCall": call, "options": offered})
            except ClientError:
                return None
        match answer.get("outcome") if is_object(answer) else None:
            case {"outcome": "selected", "optionId": str(chosen)} if chosen in {it for it, _, _ in options}:
                return chosen
            case _:
                return None


def _title(question: Question) -> str:
    """Some clients show nothing else of what is to be allowed."""
    is_permission = question.kind == "permission"
    return f"{question.title}\n{question.full_detail}".strip() if is_permission else question.title


def _choices(question: Question) -> Iterator[tuple[str, str, str]]:
    for it in question.options:
        yield it.id, _label(it), KINDS.get(it.id, "allow_once")
    if question.kind == "question":
        yield NO_ANSWER


def _label(option: Option) -> str:
    return f"{option.label}: {option.description}" if option.description else option.label


def _decision(hunk_id: str, chosen: str | None) -> Decision:
    """No answer is a no."""
    if chosen in (ACCEPT, REST):
        return Decision(hunk_id=hunk_id, decision="accept")
    return Decision(hunk_id=hunk_id, decision="reject", reason=None if chosen else NOT_DECIDED)
