"""Write ODIN.md: what every later session should know of the project."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from odin_lsp.errors import ToolError
from odin_lsp.intelligence.map import main_symbols
from odin_lsp.permissions.rules import Effect
from odin_lsp.review.proposals import Wish, edit_of, operation_of
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput
from odin_lsp.tools.editing import carry_out, readable
from odin_lsp.workspace.survey import Survey, survey

NAME = "ODIN.md"
_SECTION = re.compile(r"^## +(?P<title>[^\r\n]+)\r?\n(?P<body>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


class InitParams(Params):
    overview: str = ""
    """What the project is and does. Left out: the README's words."""
    architecture: str = ""
    """The main parts, what depends on what, where to start reading. Left out: a list of folders."""


class InitTool(Tool[InitParams]):
    """Write ODIN.md: overview, architecture, components, and the commands that run, build and test the project. Look
    around first and pass what you found. Other sections of an existing file are kept."""

    name = "InitTool"
    effect = Effect.MUTATING
    params = InitParams

    def describe(self, params: InitParams) -> str:
        return f"write {NAME}"

    async def execute(self, params: InitParams, context: ToolContext) -> ToolOutput:
        if not context.files.roots:
            raise ToolError("no folder is open; open one in the editor and ask again")
        root = context.files.roots[0]
        await context.reach(str(root))
        path = await context.reach(str(root / NAME))
        found = await context.search.files(root)
        facts = await asyncio.to_thread(survey, found, lambda it: _text(it, context))
        symbols = await asyncio.to_thread(main_symbols, found, lambda it: _text(it, context))
        notes = [] if found.is_whole else ["Note: the project is too large to be looked at as a whole."]
        sections = _sections(facts, symbols, params)
        if not path.exists():
            wish = Wish(context.call_id, f"new file {NAME}")
            return await carry_out(operation_of(path, "create", _page(facts, sections), wish), context, notes)
        old = await readable(path, context)
        wish = Wish(context.call_id, f"new {NAME}")
        return await carry_out(edit_of(path, old.text, _updated(old.text, sections), wish), context, notes)


def _text(path: Path, context: ToolContext) -> str | None:
    try:
        return context.files.read(path).text
    except ToolError:
        return None


def _sections(facts: Survey, symbols: Mapping[str, Sequence[str]], params: InitParams) -> Mapping[str, str]:
    folders = "\n".join(f"- `{it.name}/`: {_files(it.files)}" for it in facts.parts)
    components = [f"- `{it.name}/` ({it.language or 'no code'}){_named(symbols.get(it.name))}" for it in facts.parts]
    languages = ", ".join(f"{name} ({_files(count)})" for name, count in facts.languages)
    commands = [f"- `{command}` (from `{source}`)" for command, source in facts.commands]
    return {
        "Overview": params.overview or facts.summary or f"{facts.name}: nothing is written about it yet.",
        "Architecture": params.architecture or folders or "All files are in one folder.",
        "Components": "\n".join([f"Languages: {languages or 'none that is known'}.", "", *components]).strip(),
        "Commands": "\n".join(commands) or "No build files were found that name any.",
    }


def _named(symbols: Sequence[str] | None) -> str:
    return f": {', '.join(f'`{it}`' for it in symbols)}" if symbols else ""


def _page(facts: Survey, sections: Mapping[str, str]) -> str:
    body = "\n\n".join(f"## {title}\n\n{text.strip()}" for title, text in sections.items())
    return f"# {facts.name}\n\n{body}\n"


def _updated(old: str, sections: Mapping[str, str]) -> str:
    """The old text with these sections new, and those added that it does not have."""
    end = "\r\n" if "\r\n" in old else "\n"
    new = {title: text.strip().replace("\r\n", "\n").replace("\n", end) for title, text in sections.items()}
    seen = {match["title"].strip() for match in _SECTION.finditer(old)}

    def renewed(match: re.Match[str]) -> str:
        title = match["title"].strip()
        text = new.get(title)
        last = match.end() == len(old)
        return match[0] if text is None else f"## {title}{end}{end}{text}{end}{'' if last else end}"

    kept = _SECTION.sub(renewed, old)
    added = [f"## {title}{end}{end}{text}{end}" for title, text in new.items() if title not in seen]
    return end.join([kept.rstrip() + end, *added]) if added else kept


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"
