"""What a server wants to know of the person: asked as Odin asks, and never for secrets."""

import uuid
from collections.abc import Mapping
from typing import Any

from odin_lsp.display import shown_line
from odin_lsp.errors import ToolError
from odin_lsp.mcp.secret_words import asks_for_secret, fold, names_secret
from odin_lsp.mcp.values import Asked, Form, Visit
from odin_lsp.ports import Answer, Asker, Option, Question
from odin_lsp.values import is_list, is_object
from odin_lsp.web.addresses import MAX_URL_CHARS, parse
from odin_lsp.web.addresses import shown as shown_host
from odin_lsp.web.untrusted import visible

MAX_FIELDS = 10
MAX_TEXT = 500
MAX_CHOICES = 30
WARNING = "Your answer goes to the MCP server {}. Do not type a password, a key or a code."
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
    """Only a page whose host has one meaning, for Odin as for a browser, and to which nothing is sent in clear."""
    try:
        target = parse(wanted.url)
    except ToolError:
        return DECLINED
    is_near = target.host == "localhost" or (target.literal is not None and target.literal.is_loopback)
    if target.scheme != "https" and not is_near:
        return DECLINED
    question = Question(
        question_id=uuid.uuid4().hex,
        kind="question",
        header=f"MCP {_shown(server)}",
        title=f"The MCP server {_shown(server)} wants you to open a page of {shown_host(target.bracketed)}.",
        detail=f"{shown_line(wanted.url, MAX_URL_CHARS)}\n{_shown(wanted.message)}",
        options=(_VISITED, _REFUSE),
    )
    answer = await asker.ask(question)
    return ("accept", {}) if answer is not None and answer.option_ids == (_VISITED.id,) else DECLINED


def _secret(form: Form) -> str | None:
    """What of the form looks as if it were for a secret, as people read it."""
    fields = {name: it if is_object(it) else {} for name, it in form.properties.items()}
    typed = [name for name, it in fields.items() if _is_typed(it)]
    for name, field in fields.items():
        is_number = field.get("type") in ("integer", "number")
        if (name in typed or _is_spelled(field)) and names_secret(name, is_number=is_number):
            return f"`{_shown(name)}`"
        if (typed or _is_spelled(field)) and any(asks_for_secret(it, is_number=is_number) for it in _words(field)):
            return f"`{_shown(name)}`"
        if name in typed and field.get("format") == "password":
            return f"`{_shown(name)}`"
    asks = typed or any(map(_is_spelled, fields.values()))
    return f"“{_shown(form.message)}”" if asks and asks_for_secret(form.message) else None


def _is_typed(field: Mapping[str, Any]) -> bool:
    """Whether the person writes the answer: all that is no choice, whatever it calls itself."""
    return not _choices(field)


def _is_spelled(field: Mapping[str, Any]) -> bool:
    """Whether its choices are the characters of something, such as the first digit of a PIN."""
    choices = _choices(field)
    return field.get("type") != "boolean" and bool(choices) and all(len(fold(label)) <= 2 for _, label in choices)


def _words(field: Mapping[str, Any]) -> list[str]:
    """All that may be read of it. A label of a word or two is a choice, a longer one may be a request."""
    labels = [label for _, label in _choices(field) if len(label.split()) > 2]
    return [*(str(field[key]) for key in ("title", "description", "format") if key in field), *labels]


def _question(server: str, message: str, name: str, field: Mapping[str, Any]) -> Question:
    about = field.get("description") or field.get("title") or name
    choices = _choices(field)
    warning = "" if choices else WARNING.format(_shown(server))
    return Question(
        question_id=uuid.uuid4().hex,
        kind="question",
        header=f"MCP {_shown(server)}",
        title=f"The MCP server {_shown(server)} asks: {_shown(str(about))}",
        detail="\n".join(filter(None, (_shown(message), warning))),
        options=(*(Option(value, _shown(label)) for value, label in choices), _REFUSE),
        multiple=field.get("type") == "array" and bool(choices),
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
        pairs = [
            (str(it.get("const")), str(it.get("title") or it.get("const")))
            for it in named
            if is_object(it) and "const" in it
        ]
        return pairs[:MAX_CHOICES]
    values = within.get("enum")
    return [(str(it), str(it)) for it in values[:MAX_CHOICES]] if is_list(values) else []


def _value(field: Mapping[str, Any], answer: Answer) -> str | int | float | bool | list[str] | None:
    chosen = [it for it in answer.option_ids if it != _REFUSE.id]
    text = answer.text if not chosen else chosen[0]
    match field.get("type"):
        case "array":
            return chosen or ([answer.text] if answer.text else [])
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
    """In one line, so that nothing passes for Odin's own words."""
    return shown_line(visible(text)[0], MAX_TEXT)
