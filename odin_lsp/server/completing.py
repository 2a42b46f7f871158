"""Commands, files and symbols by what was typed of them, for `textDocument/completion`."""

import asyncio
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from lsprotocol import types

from odin_lsp.agent import symbol_words
from odin_lsp.agent.attaching import quoted_name
from odin_lsp.agent.own_commands import SlashCommand
from odin_lsp.agent.plans import is_plan
from odin_lsp.errors import ToolError
from odin_lsp.server.host import Host
from odin_lsp.workspace.text import Position

PROMPT = "odin://prompt"
"""How the names of documents begin in which editors have messages written."""
SPECIAL = {"@selection": "what you selected last", "@problems": "errors and warnings of the workspace"}
MAX_FILES = 50
MAX_SYMBOLS = 20
_COMMAND = re.compile(r"(?P<typed>/(?P<word>[\w:-]*))\Z")
_STEP = re.compile(r"\s*(?:[-*+] (?:\[.\] )?)?")
_MENTION = re.compile(r"(?:^|[\s(])(?P<typed>@(?P<word>[^\s@]*))\Z")


async def completions(server: Host, uri: str, position: types.Position) -> types.CompletionList | None:
    buffer = server.buffers.of_uri(uri)
    is_document = server.instructions.knows(uri)
    is_prompt = is_document or uri.startswith(PROMPT)
    is_first = server.instructions.is_first_line(uri, position.line) if is_document else position.line == 0
    if buffer is None or not buffer.synchronised or not (is_prompt or is_plan(buffer.text)):
        return None
    encoding = server.buffers.encoding
    here = Position(position.line, position.character)
    before = buffer.lines.between(Position(here.line, 0), here, encoding)
    if found := _MENTION.search(before):
        items = [_special(word) for word in _special_words(uri) if word.startswith(found["typed"])]
        items += [_place(name) for name in await _files(server, found["word"])]
        symbols = await symbol_words.completed(found["word"], server.core.files, server.core.search)
        items += [
            _item(f"@{name}", file, "", types.CompletionItemKind.Function) for name, file in symbols[:MAX_SYMBOLS]
        ]
    elif found := _COMMAND.fullmatch(_without_step(before, is_prompt=is_prompt, is_first=is_first)):
        listed = await asyncio.to_thread(server.core.own.listed)
        items = [
            _item(f"/{it.name}", it.hint, it.description, types.CompletionItemKind.Function)
            for it in _meant(listed, is_prompt=is_prompt)
        ]
    else:
        return None
    line, start = buffer.lines.position(buffer.lines.offset(here, encoding) - len(found["typed"]), encoding)
    span = types.Range(types.Position(line, start), position)
    for item in items:
        item.text_edit = types.TextEdit(span, item.label)
    return types.CompletionList(is_incomplete=found["typed"].startswith("@"), items=items)


def _without_step(before: str, *, is_prompt: bool, is_first: bool) -> str:
    """A command stands at the beginning of a message, or of a line or step of a plan."""
    if is_prompt:
        return before if is_first else ""
    return _STEP.sub("", before, count=1)


def _meant(listed: Iterable[SlashCommand], *, is_prompt: bool) -> Iterator[SlashCommand]:
    """What Odin does itself is no step of a plan."""
    return (it for it in listed if is_prompt or it.kind != "builtin")


async def _files(server: Host, word: str) -> list[str]:
    """Files and folders with the word in their names, those first that begin with it."""
    core, typed = server.core, word.lower()
    names: set[str] = set()
    for root in core.files.search_roots:
        try:
            found, _ = await core.search.files(root)
        except ToolError:
            continue
        for path in found:
            name = PurePath(core.files.shown(path))
            names.update([name.as_posix(), *(f"{it.as_posix()}/" for it in name.parents if it.name)])
    fitting = [name for name in names if typed in name.lower()]
    return sorted(fitting, key=lambda name: (_rank(name.lower(), typed), len(name), name))[:MAX_FILES]


def _rank(name: str, typed: str) -> int:
    own = name.rstrip("/").rpartition("/")[2]
    return 0 if name.startswith(typed) else 1 if own.startswith(typed) else 2


def _special_words(uri: str) -> tuple[str, ...]:
    """An editor that has a prompt of its own knows what is selected."""
    return tuple(SPECIAL) if uri.startswith(PROMPT) else ("@problems",)


def _special(word: str) -> types.CompletionItem:
    return _item(word, SPECIAL[word], "", types.CompletionItemKind.Keyword)


def _place(name: str) -> types.CompletionItem:
    """In quotes if there is a space in it, and found without them."""
    item = _item(f"@{quoted_name(name)}", "", "", types.CompletionItemKind.File)
    item.filter_text = f"@{name}"
    return item


def _item(label: str, hint: str, about: str, kind: types.CompletionItemKind) -> types.CompletionItem:
    is_folder = label.endswith("/")
    return types.CompletionItem(
        label=label,
        kind=types.CompletionItemKind.Folder if is_folder else kind,
        detail=hint or None,
        documentation=about or None,
        filter_text=label,
    )
