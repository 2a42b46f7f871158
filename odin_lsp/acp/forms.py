"""A question as a form, for clients that can show one: several choices, and words."""

from collections.abc import Mapping
from typing import Any

from odin_lsp.ports import Answer, Question
from odin_lsp.values import is_list, is_object

CHOICE, WORDS = "choice", "text"


def form(question: Question) -> dict[str, Any]:
    """What `elicitation/create` is asked with."""
    choices = [
        {"const": it.id, "title": it.label} | ({"description": it.description} if it.description else {})
        for it in question.options
    ]
    properties: dict[str, Any] = {}
    if choices and question.multiple:
        properties[CHOICE] = {"type": "array", "title": question.header or "Choices", "items": {"anyOf": choices}}
    elif choices:
        properties[CHOICE] = {"type": "string", "title": question.header or "Choice", "oneOf": choices}
    if question.allow_text or not choices:
        properties[WORDS] = {"type": "string", "title": "In your own words" if choices else "Answer"}
    required = list(properties) if len(properties) == 1 else []
    return {
        "mode": "form",
        "message": f"{question.title}\n{question.full_detail}".strip(),
        "requestedSchema": {"type": "object", "properties": properties, "required": required},
    }


def answered(question: Question, answer: object) -> Answer | None:
    """What was said; `None` if nothing was."""
    content: object = answer.get("content") if is_object(answer) and answer.get("action") == "accept" else None
    if not is_object(content):
        return None
    chosen, words = _chosen(question, content), content.get(WORDS)
    said = words.strip() if isinstance(words, str) else ""
    return Answer(chosen, said or None) if chosen or said else None


def _chosen(question: Question, content: Mapping[str, Any]) -> tuple[str, ...]:
    given: object = content.get(CHOICE)
    wanted = given if is_list(given) else [given]
    return tuple(it.id for it in question.options if it.id in wanted)
