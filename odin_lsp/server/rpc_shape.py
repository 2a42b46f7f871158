"""What makes a value a message of JSON-RPC."""

from typing import Any, TypeGuard, cast

Id = str | int


def fault_of(message: Any) -> str | None:
    """What makes it no message of JSON-RPC, if anything does."""
    if not isinstance(message, dict):
        return "a message is one object"
    members = cast("dict[str, Any]", message)
    if members.get("jsonrpc") != "2.0":
        return 'jsonrpc must be "2.0"'
    return _fault_of_call(members) if "method" in members else _fault_of_answer(members)


def _fault_of_call(call: dict[str, Any]) -> str | None:
    if "id" in call and not is_id(call["id"]):
        return "id must be a string or an integer"
    if not isinstance(call["method"], str):
        return "method must be a string"
    if not isinstance(call.get("params"), dict | list | None):
        return "params must be an object or an array"
    return None


def _fault_of_answer(answer: dict[str, Any]) -> str | None:
    match answer:
        case {"id": None, "error": _}:
            return None  # about a message of ours that was unreadable; complaining back might never end
        case {"id": answered} if not is_id(answered):
            return "id must be a string or an integer"
        case {"id": _}:
            return None
        case _:
            return "neither a call nor an answer"


def usable_id(message: Any) -> Id | None:
    match message:
        case {"id": usable} if is_id(usable):
            return usable
        case _:
            return None


def is_id(value: Any) -> TypeGuard[Id]:
    return isinstance(value, str | int) and not isinstance(value, bool)
