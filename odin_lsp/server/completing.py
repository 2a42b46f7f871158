"""Commands, files, symbols and models by what was typed of them, for `textDocument/completion`."""

import asyncio
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from heapq import nsmallest

from lsprotocol import types

from odin_lsp.agent import symbol_words
from odin_lsp.agent.attaching import quoted_name
from odin_lsp.agent.own_commands import SlashCommand
from odin_lsp.agent.plans import is_plan
from odin_lsp.config.loading import FILE_NAME
from odin_lsp.errors import ToolError
from odin_lsp.server.host import Host
from odin_lsp.workspace.buffers import Buffer
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.name_list import FileNames, folders_of
from odin_lsp.workspace.text import Position

PROMPT = "odin://prompt"
"""How the names of documents begin in which editors have messages written."""
SPECIAL = {"@selection": "what you selected last", "@problems": "errors and warnings of the workspace"}
MAX_FILES = 50
MAX_SYMBOLS = 20
_COMMAND = re.compile(r"(?P<typed>/(?P<word>[\w:-]*))\Z")
_MODEL = re.compile(r"/model +(?P<typed>\S*)\Z")
_MODEL_SETTING = re.compile(
    r'"(?:(?:model|smallModel|subagentModel)"\s*:|(?:fallbackModels|models)"\s*:\s*\[(?:\s*"[^"\n]*"\s*,)*)'
    r'\s*"(?P<typed>[^"\\\n]*)\Z'
)
MAX_BEFORE = 2000
"""Characters before the cursor that say which setting it is in."""
_STEP = re.compile(r"\s*(?:[-*+] (?:\[.\] )?)?")
_MENTION = re.compile(r"(?:^|[\s(])(?P<typed>@(?P<word>[^\s@]*))\Z")


async def completions(server: Host, uri: str, position: types.Position) -> types.CompletionList | None:
    buffer = server.buffers.of_uri(uri)
    if buffer is not None and buffer.synchronised and uri.endswith(f"/{FILE_NAME}"):
        return _settings_completions(server, buffer, position)
    is_document = server.instructions.knows(uri)
    is_prompt = is_document or uri.startswith(PROMPT)
    is_first = server.instructions.is_first_line(uri, position.line) if is_document else position.line == 0
    if buffer is None or not buffer.synchronised or not (is_prompt or is_plan(buffer.text)):
        return None
    here = Position(position.line, position.character)
    before = buffer.lines.between(Position(here.line, 0), here, server.buffers.encoding)
    without_step = _without_step(before, is_prompt=is_prompt, is_first=is_first)
    is_incomplete = False
    if found := _MENTION.search(before):
        items = [_special(word) for word in _special_words(uri) if word.startswith(found["typed"])]
        items += [_place(name) for name in await _files(server, found["word"])]
        symbols = await symbol_words.completed(found["word"], server.core.files, server.core.search)
        items += [
            _item(f"@{name}", file, "", types.CompletionItemKind.Function) for name, file in symbols[:MAX_SYMBOLS]
        ]
        is_incomplete = True
    elif is_prompt and (found := _MODEL.fullmatch(without_step)):
        items, is_incomplete = _models(server)
    elif found := _COMMAND.fullmatch(without_step):
        listed = await asyncio.to_thread(server.core.own.listed)
        items = [
            _item(f"/{it.name}", it.hint, it.description, types.CompletionItemKind.Function)
            for it in _meant(listed, is_prompt=is_prompt)
        ]
    else:
        return None
    return _in_place(server, buffer, position, found["typed"], (items, is_incomplete))


def _settings_completions(server: Host, buffer: Buffer, position: types.Position) -> types.CompletionList | None:
    """Names of models, where Odin's settings want one."""
    end = buffer.lines.offset(Position(position.line, position.character), server.buffers.encoding)
    found = _MODEL_SETTING.search(buffer.text[max(0, end - MAX_BEFORE) : end])
    if found is None:
        return None
    return _in_place(server, buffer, position, found["typed"], _models(server))


def _models(server: Host) -> tuple[list[types.CompletionItem], bool]:
    """Those that are known now, and whether there may be more: accounts are asked beside that."""
    models = server.core.models
    is_asking = bool(models.accounts.begin())
    return [_item(name, about, "", types.CompletionItemKind.Value) for name, about in models.names.items()], is_asking


def _in_place(
    server: Host, buffer: Buffer, position: types.Position, typed: str, found: tuple[list[types.CompletionItem], bool]
) -> types.CompletionList:
    """They take the place of what was typed."""
    items, is_incomplete = found
    encoding = server.buffers.encoding
    end = buffer.lines.offset(Position(position.line, position.character), encoding)
    line, start = buffer.lines.position(end - len(typed), encoding)
    span = types.Range(types.Position(line, start), position)
    for item in items:
        item.text_edit = types.TextEdit(span, item.label)
    return types.CompletionList(is_incomplete=is_incomplete, items=items)


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
    core, found = server.core, list[FileNames]()
    for root in core.files.search_roots:
        with suppress(ToolError):
            found.append(await core.search.files(root))
    return await asyncio.to_thread(_fitting, found, core.files, word.lower())


def _fitting(found: Sequence[FileNames], files: Files, typed: str) -> list[str]:
    names = {name.removeprefix("./") for it in found for name in files.shown_below(it)}
    names |= folders_of(names)
    fitting = ((_rank(name.lower(), typed), len(name), name) for name in names if typed in name.lower())
    return [name for *_, name in nsmallest(MAX_FILES, fitting)]


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
