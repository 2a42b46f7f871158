"""JSON as people keep it: members are put in and taken out, and every other character stays, comments too."""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from odin_lsp.values import is_list, is_object

_ASIDE = re.compile(r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"?|//[^\n]*+|/\*(?:.*?\*/|.*)', re.DOTALL)
"""Each alternative matches wherever it begins, so nothing is looked at twice."""
_BLANK = re.compile(r"\s*")
_INDENTED = re.compile(r"^([ \t]+)\S", re.MULTILINE)
_DECODER = json.JSONDecoder()

Path = tuple[str, ...]
"""The names that lead to a value."""


class Unsuitable(ValueError):
    """What is there cannot be changed by a program; the text says where, and why."""


@dataclass(frozen=True, slots=True)
class Node:
    start: int
    end: int
    value: Any
    parts: "tuple[Part, ...]" = ()
    """Of an object or a list."""

    def member(self, name: str) -> "Part | None":
        return next((it for it in reversed(self.parts) if it.name == name), None) if is_object(self.value) else None


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    start: int
    node: Node


def parse(text: str) -> Node:
    """A JSON object."""
    plain = _without_comments(text)
    try:
        root = _node(plain, _skip(plain, 0))
        rest = _skip(plain, root.end)
        if rest != len(plain):
            raise json.JSONDecodeError("Extra data", plain, rest)
    except json.JSONDecodeError as error:
        raise Unsuitable(f"line {error.lineno} is no JSON ({error.msg})") from None
    except ValueError:  # digits
        raise Unsuitable("a number in it has too many digits") from None
    except RecursionError:
        raise Unsuitable("it is nested too deep") from None
    if not is_object(root.value):
        raise Unsuitable("it is no JSON object")
    return root


def value_at(text: str, path: Path) -> Any:
    """`None` if there is nothing."""
    node = _found(parse(text), path)
    return node.value if node else None


def made_by(text: str, path: Path) -> int:
    """How many of the path's names, from the last one, are not there yet."""
    return next(count for count in range(len(path) + 1) if _found(parse(text), path[: len(path) - count]))


def put(text: str, path: Path, value: Any) -> str:
    """A new member, behind all others."""
    root = parse(text)
    *above, name = path
    group = _found(root, tuple(above))
    if group is None:
        return put(text, tuple(above), {name: value})
    if not is_object(group.value):
        raise Unsuitable(f"`{'.'.join(above)}` is no object")
    changed = _inserted(text, group, f"{json.dumps(name)}: ", value)
    return _checked(changed, _with(root.value, path, value))


def add(text: str, path: Path, item: Any) -> str:
    """A new item of a list, behind all others."""
    root = parse(text)
    group = _found(root, path)
    if group is None:
        return put(text, path, [item])
    if not is_list(group.value):
        raise Unsuitable(f"`{'.'.join(path)}` is no list")
    return _checked(_inserted(text, group, "", item), _with(root.value, path, [*group.value, item]))


def drop(text: str, path: Path) -> str:
    """Without this member, if it is there."""
    root = parse(text)
    *above, name = path
    group = _found(root, tuple(above))
    part = group.member(name) if group else None
    if group is None or part is None:
        return text
    rest = {key: value for key, value in group.value.items() if key != name}
    return _checked(_removed(text, group, group.parts.index(part)), _with(root.value, tuple(above), rest))


def drop_item(text: str, path: Path, item: Any) -> str:
    """Without the last such item of a list, if there is one."""
    root = parse(text)
    group = _found(root, path)
    if group is None or not is_list(group.value) or item not in group.value:
        return text
    number = max(index for index, it in enumerate(group.value) if it == item)
    rest = [it for index, it in enumerate(group.value) if index != number]
    return _checked(_removed(text, group, number), _with(root.value, path, rest))


def _node(text: str, at: int) -> Node:
    if text[at : at + 1] == "{":
        return _group(text, at, "}")
    if text[at : at + 1] == "[":
        return _group(text, at, "]")
    value, end = _DECODER.raw_decode(text, at)
    return Node(at, end, value)


def _group(text: str, start: int, close: str) -> Node:
    """A comma behind the last part is forgiven."""
    parts: list[Part] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != close:
        first, name = at, ""
        if close == "}":
            if text[at : at + 1] != '"':
                raise json.JSONDecodeError("a name in double quotes is wanted", text, at)
            name, at = _DECODER.raw_decode(text, at)
            at = _expect(text, at, ":")
        parts.append(Part(name, first, _node(text, at)))
        at = _skip(text, parts[-1].node.end)
        if text[at : at + 1] != close:
            at = _expect(text, at, ",")
    value = {it.name: it.node.value for it in parts} if close == "}" else [it.node.value for it in parts]
    return Node(start, at + 1, value, tuple(parts))


def _expect(text: str, at: int, mark: str) -> int:
    """The place behind this mark, and what is blank behind it."""
    at = _skip(text, at)
    if text[at : at + 1] != mark:
        raise json.JSONDecodeError(f"`{mark}` is wanted", text, at)
    return _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _without_comments(text: str) -> str:
    """Everything else is where it was."""
    return _ASIDE.sub(lambda it: it[0] if it[0].startswith('"') else re.sub(r"[^\n]", " ", it[0]), text)


def _found(node: Node, path: Path) -> Node | None:
    for name in path:
        part = node.member(name)
        if part is None:
            return None
        node = part.node
    return node


def _inserted(text: str, group: Node, head: str, value: Any) -> str:
    """In the style of what is there."""
    end = "\r\n" if "\r\n" in text else "\n"
    unit = found[1] if (found := _INDENTED.search(text)) else "  "
    close = group.end - 1
    outer = _indentation(text, group.start)
    if not group.parts:
        at = group.start + 1 + len(text[group.start + 1 : close].rstrip())
        rest = text[at:close]
        piece = f"{end}{outer}{unit}{head}{_written(value, unit, outer + unit, end)}"
        return f"{text[:at]}{piece}{rest if chr(10) in rest else end + outer}{text[close:]}"
    last = group.parts[-1]
    tail = text[last.node.end : close].rstrip()
    at = last.node.end + len(tail)
    if "\n" in text[group.start : group.end]:
        inner = _indentation(text, last.start)
        piece = f"{end}{inner}{head}{_written(value, unit, inner, end)}"
    else:
        piece = f" {head}{json.dumps(value, ensure_ascii=False)}"
    if "," in _without_comments(text)[last.node.end : close]:
        return f"{text[:at]}{piece},{text[at:]}"
    return f"{text[: last.node.end]},{tail}{piece}{text[at:]}"


def _removed(text: str, group: Node, number: int) -> str:
    """The opposite of `_inserted`."""
    plain = _without_comments(text)
    part = group.parts[number]
    start = len(text[: part.start].rstrip())
    comma = _skip(plain, part.node.end)
    if plain[comma] == "," and not number:
        return f"{text[: part.start]}{text[part.node.end : comma]}{text[_skip(text, comma + 1) :]}"
    if plain[comma] == ",":
        return f"{text[:start]}{text[part.node.end : comma]}{text[comma + 1 :]}"
    if number:
        comma = _skip(plain, group.parts[number - 1].node.end)
        return f"{text[:comma]}{text[comma + 1 : start]}{text[part.node.end :]}"
    inside = f"{text[group.start + 1 : start]}{text[part.node.end : group.end - 1]}"
    return f"{text[: group.start + 1]}{inside if inside.strip() else ''}{text[group.end - 1 :]}"


def _indentation(text: str, at: int) -> str:
    """Of the line."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _written(value: Any, unit: str, indentation: str, end: str) -> str:
    """Lists of plain values stand on one line."""
    if is_list(value) and not any(is_object(it) or is_list(it) for it in value):
        return json.dumps(value, ensure_ascii=False)
    inner = indentation + unit
    if is_list(value):
        lines: Sequence[str] = [_written(it, unit, inner, end) for it in value]
        return f"[{end}{f',{end}'.join(inner + line for line in lines)}{end}{indentation}]"
    if is_object(value) and value:
        lines = [f"{json.dumps(name)}: {_written(it, unit, inner, end)}" for name, it in value.items()]
        return f"{{{end}{f',{end}'.join(inner + line for line in lines)}{end}{indentation}}}"
    return json.dumps(value, ensure_ascii=False)


def _with(root: Any, path: Path, value: Any) -> Any:
    return {**root, path[0]: _with(root.get(path[0], {}), path[1:], value)} if path else value


def _checked(text: str, expected: Any) -> str:
    with suppress(Unsuitable):
        if parse(text).value == expected:
            return text
    raise Unsuitable("it is written in a way that no program can change safely")
