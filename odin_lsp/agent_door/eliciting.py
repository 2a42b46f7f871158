"""Who decides on what an agent of others proposes: the person, by way of the agent's own questions (elicitation)."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from difflib import unified_diff
from typing import Any

from odin_lsp.json_rpc import ClientError
from odin_lsp.ports import Answer, Decision, Question, Review, ReviewAnswer, ReviewFile, ReviewHunk
from odin_lsp.values import is_object
from odin_lsp.workspace.uris import path_of, printable

ACCEPT, REST, REJECT, REJECT_REST = "accept", "accept the rest of this file", "reject", "reject the rest of this file"
WHOLE = (ACCEPT, REJECT)
EACH = (ACCEPT, REST, REJECT, REJECT_REST)
NOT_DECIDED = "the user has not decided on it"
VERBS = {"edit": "Change", "create": "Create", "delete": "Delete", "rename": "Move"}
MAX_SHOWN = 20_000
"""Characters of a question."""

Ask = Callable[[str, Mapping[str, Any]], Awaitable[Any]]
Decide = Callable[[Decision], Awaitable[None]]


class Eliciting:
    def __init__(self, ask: Ask, decide: Decide) -> None:
        self._ask = ask
        self._decide = decide

    async def ask(self, question: Question) -> Answer | None:
        labels = {it.label: it.id for it in question.options}
        if not labels:
            return None
        chosen, said = await self._chosen(f"{question.title}\n{question.full_detail}".strip(), tuple(labels))
        return Answer((labels[chosen],), said) if chosen in labels else None

    async def review(self, review: Review) -> ReviewAnswer | None:
        """Each hunk is decided as soon as it is answered."""
        if review.atomic:
            return await self._decide_on_whole(review)
        decisions: list[Decision] = []
        for file in review.files:
            rest = ""
            for number, (hunk, old, new) in enumerate(_sides(file), 1):
                if hunk.state != "pending":
                    continue
                said: str | None = None
                if rest not in (REST, REJECT_REST):
                    place = f" ({number} of {len(file.hunks)})" if len(file.hunks) > 1 else ""
                    rest, said = await self._chosen(_shown(file, old, new, place, hunk.reason), EACH)
                decisions.append(_decision(hunk.id, rest, said))
                await self._decide(decisions[-1])
        return ReviewAnswer(decisions=tuple(decisions))

    async def _decide_on_whole(self, review: Review) -> ReviewAnswer:
        each = [(file, *it) for file in review.files for it in _sides(file)]
        text = "\n\n".join(_shown(file, old, new, "", "") for file, _, old, new in each)
        chosen, said = await self._chosen(f"{review.reason}\nThese changes belong together.\n{text}".strip(), WHOLE)
        return ReviewAnswer(decisions=tuple(_decision(hunk.id, chosen, said) for _, hunk, _, _ in each))

    async def _chosen(self, message: str, choices: tuple[str, ...]) -> tuple[str, str | None]:
        """What was chosen, and the words with it; nothing is chosen by whoever does not answer."""
        schema = {
            "type": "object",
            "properties": {
                "decision": {"type": "string", "title": "Decision", "enum": list(choices)},
                "reason": {"type": "string", "title": "Why (optional)"},
            },
            "required": ["decision"],
        }
        shown = message if len(message) <= MAX_SHOWN else f"{message[:MAX_SHOWN]}\n(and more, which is not shown)"
        try:
            answer = await self._ask("elicitation/create", {"message": shown, "requestedSchema": schema})
        except ClientError:
            return "", None
        match answer:
            case {"action": "accept", "content": {"decision": str(chosen)} as content} if chosen in choices:
                said = content.get("reason") if is_object(content) else None
                return chosen, said if isinstance(said, str) and said.strip() else None
            case {"action": "decline"}:
                return choices[-1] if choices == WHOLE else REJECT, None
            case _:
                return "", None


def _sides(file: ReviewFile) -> Iterator[tuple[ReviewHunk, str, str]]:
    from odin_lsp.library.sides import sides  # all of the library comes with it, and an editor may do the asking

    return sides(file)


def _shown(file: ReviewFile, old: str, new: str, place: str, reason: str) -> str:
    to = f" to {_name(file.new_uri)}" if file.new_uri else ""
    diff = unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=3)
    lines = [line for line in diff if not line.startswith(("---", "+++", "@@"))]
    head = f"{VERBS[file.operation]} {_name(file.uri)}{to}{place}?"
    return "\n".join(filter(None, (head, reason, file.note, *map(_visible, lines))))


def _decision(hunk_id: str, chosen: str, said: str | None) -> Decision:
    """No answer is a no."""
    if chosen in (ACCEPT, REST):
        return Decision(hunk_id=hunk_id, decision="accept")
    return Decision(hunk_id=hunk_id, decision="reject", reason=said if chosen else NOT_DECIDED)


def _name(uri: str) -> str:
    return printable(str(path_of(uri) or uri))


def _visible(line: str) -> str:
    return "".join(it if it.isprintable() or it == "\t" else it.encode("unicode_escape").decode() for it in line)
