"""What a server wants to know of the person: asked as Odin asks, and never for secrets."""

import re
import uuid
from collections.abc import Mapping
from typing import Any

from odin_lsp.mcp.values import Asked, Form, Visit
from odin_lsp.ports import Answer, Asker, Option, Question
from odin_lsp.redaction import SECRET_NAME
from odin_lsp.values import is_list, is_object
from odin_lsp.web.untrusted import visible

MAX_FIELDS = 10
MAX_TEXT = 500
MAX_CHOICES = 30
_SECRET = re.compile(
    r"pass(word|code|phrase)|secret|token|api.?key|private key|credential|\bpin\b|\bcvv\b|card number", re.I
)
DECLINED: Asked = ("decline", {})


async def ask(asker: Asker, server: str, wanted: Form | Visit) -> Asked:
    """No answer is a no."""
    if isinstance(wanted, Visit):
        return await _visit(asker, server, wanted)
    if (secret := _secret(wanted)) is not None:
        asker.notify(
            "warning",
            f"The MCP server {server} has asked you for {secret}, which looks like a secret. Odin has refused: put "
            "secrets into the server's environment instead.",
        )
        return DECLINED
    if not wanted.properties or len(wanted.properties) > MAX_FIELDS:
        return DECLINED
    given: dict[str, str | int | float | bool | list[str] | None] = {}
    for name, schema in wanted.properties.items():
        field = schema if is_object(schema) else {}
        answer = await asker.ask(_question(server, wanted.message, name, field))
        if answer is None or answer.option_ids == (_REFUSE.id,):
            return DECLINED if answer is not None else ("cancel", {})
        value = _value(field, answer)
        if value is not None:
            given[name] = value
        elif name in wanted.required:
            return ("cancel", {})
    return "accept", given


_REFUSE = Option("decline", "Do not answer")
_VISITED = Option("visited", "I have opened it")


async def _visit(asker: Asker, server: str, wanted: Visit) -> Asked:
    if not wanted.url.startswith(("https://", "http://localhost", "http://127.0.0.1")):
        return DECLINED
    question = Question(
        question_id=uuid.uuid4().hex,
        kind="question",
        header=f"MCP {_shown(server)}",
        title=f"The MCP server {_shown(server)} wants you to open an address.",
        detail=f"{_shown(wanted.message)}\n{_shown(wanted.url)}",
        options=(_VISITED, _REFUSE),
    )
    answer = await asker.ask(question)
    return ("accept", {}) if answer is not None and answer.option_ids == (_VISITED.id,) else DECLINED


def _secret(form: Form) -> str | None:
    for name, schema in form.properties.items():
        field = schema if is_object(schema) else {}
        texts = (name, str(field.get("title", "")), str(field.get("description", "")))
        is_text = field.get("type", "string") == "string" and "enum" not in field and "oneOf" not in field
        if is_text and (
            field.get("format") == "password" or SECRET_NAME.search(name) or any(map(_SECRET.search, texts))
        ):
            return f"`{_shown(name)}`"
    if _SECRET.search(form.message) and any(
        is_object(it) and it.get("type", "string") == "string" and "enum" not in it for it in form.properties.values()
    ):
        return f"“{_shown(form.message)}”"
    return None


def _question(server: str, message: str, name: str, field: Mapping[str, Any]) -> Question:
    about = field.get("description") or field.get("title") or name
    choices = _choices(field)
    return Question(
        question_id=uuid.uuid4().hex,
        kind="question",
        header=f"MCP {_shown(server)}",
        title=f"The MCP server {_shown(server)} asks: {_shown(str(about))}",
        detail=_shown(message),
        options=(*(Option(value, _shown(label)) for value, label in choices), _REFUSE),
        multiple=field.get("type") == "array",
        allow_text=not choices,
    )


def _choices(field: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What is sent, and what people read."""
    items = field.get("items")
    within = items if is_object(items) else field
    if field.get("type") == "boolean":
        return [("true", "Yes"), ("false", "No")]
    named = within.get("oneOf") or within.get("anyOf")
    if is_list(named):
        pairs = [(str(it.get("const")), str(it.get("title") or it.get("const"))) for it in named if is_object(it)]
        return pairs[:MAX_CHOICES]
    values = within.get("enum")
    return [(str(it), str(it)) for it in values[:MAX_CHOICES]] if is_list(values) else []


def _value(field: Mapping[str, Any], answer: Answer) -> str | int | float | bool | list[str] | None:
    chosen = [it for it in answer.option_ids if it != _REFUSE.id]
    text = answer.text if not chosen else chosen[0]
    match field.get("type"):
        case "array":
            return chosen
        case "boolean":
            return text == "true" if text in ("true", "false") else None
        case "integer" | "number" as kind:
            try:
                return int(text or "") if kind == "integer" else float(text or "")
            except ValueError:
                return None
        case _:
            return text or None


def _shown(text: str) -> str:
    text = visible(text)[0]
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"
