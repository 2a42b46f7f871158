"""`odin-lsp init`: which models can be used here, the settings for one of them, and how to start in the editors."""

import json
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from odin_lsp.printing import ask_line, fail, print_lines, say
from odin_lsp.tasks import run_to_end

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

ABOUT = "find models and editors, write the settings for a model, and say how to start"
MOST_OF_A_SERVER = 5
KEYS_STAY = "API keys stay where they are: Odin writes none into a file."
NO_MODEL = (
    "No API key is set, and no model server answers on this computer. Odin answers by searching your code. To use a "
    "language model, set one of these variables: {variables}; or start Ollama, LM Studio, llama.cpp or vLLM."
)
EDITORS = {
    "nvim": "Neovim: add the folder of `odin-lsp neovim` to 'runtimepath', open a file, run :OdinAsk (docs/neovim.md)",
    "code": "VS Code: install the extension, and run Odin: Ask… (docs/vscode.md)",
    "emacs": "Emacs: M-x eglot with odin-lsp (docs/editors.md#emacs)",
    "hx": "Helix: add odin-lsp to languages.toml (docs/editors.md#helix)",
    "zed": "Zed: add `odin-lsp acp` to agent_servers (docs/acp.md#zed)",
    "kate": "Kate: add odin-lsp to the LSP client's settings (docs/editors.md#kate)",
    "subl": "Sublime Text: add odin-lsp to the settings of the package LSP (docs/editors.md#sublime-text)",
}
IN_A_TERMINAL = 'Terminal: odin-lsp chat, or odin-lsp ask "where is the entry point?"'


@dataclass(frozen=True, slots=True)
class Offer:
    ref: str
    why: str


def add_arguments(parser: "ArgumentParser") -> None:
    parser.add_argument("--model", metavar="PROVIDER/MODEL", help="write this model, and ask nothing")
    parser.add_argument("--yes", action="store_true", help="write the first model that is offered, and ask nothing")


def run(options: "Namespace") -> int:
    from odin_lsp.config import user_file
    from odin_lsp.errors import ModelError
    from odin_lsp.models import selection

    offers = list(_offers())
    print_lines(*_listed(offers))
    try:
        chosen = str(selection.named(options.model)) if options.model else _chosen(offers, yes=options.yes)
    except ModelError as error:
        say(f"odin: {error}")
        return 2
    is_wanted = options.yes or options.model or sys.stdin.isatty()
    status = _write(user_file().resolve(), chosen, is_wanted=bool(is_wanted)) if chosen else 0
    print_lines("", "Start here:", *(f"  {it}" for it in _editors()), "`odin-lsp doctor` checks the rest.")
    return status


def _offers() -> Iterator[Offer]:
    """In the order in which they are worth taking."""
    from odin_lsp import config
    from odin_lsp.models import catalog, local_servers, selection
    from odin_lsp.models.platforms.known import PLATFORMS

    settings, _ = config.load(None)
    for provider in selection.KEY_VARIABLES:
        if names := [name for name, _ in selection.keys(provider, settings, {})]:
            yield Offer(f"{provider}/{catalog.DEFAULTS[provider][0]}", f"API key in {names[0]}")
        elif helper := selection.helper(provider, settings):
            yield Offer(f"{provider}/{catalog.DEFAULTS[provider][0]}", f"API key printed by {helper[0]}")
    for name, platform in PLATFORMS.items():
        if sign := selection.sign_of(name, settings):
            yield Offer(selection.first_on(name, settings), f"{platform.title}, by {sign}")
    for server in run_to_end(local_servers.find()):
        for ref in server.models[:MOST_OF_A_SERVER]:
            yield Offer(ref, f"{server.name} at {server.url}")


def _listed(offers: list[Offer]) -> Iterator[str]:
    from odin_lsp.models import selection

    if not offers:
        variables = ", ".join(name for names in selection.KEY_VARIABLES.values() for name in names)
        yield NO_MODEL.format(variables=variables)
        return
    yield "Models that you can use:"
    width = max(len(it.ref) for it in offers)
    yield from (f"  {number}  {it.ref.ljust(width)}  {it.why}" for number, it in enumerate(offers, 1))


def _chosen(offers: list[Offer], *, yes: bool) -> str | None:
    if not offers or yes or not sys.stdin.isatty():
        return offers[0].ref if offers else None
    while True:
        try:
            answer = ask_line(f"Select a model, 1 to {len(offers)}, or 0 for none [1]:")
        except KeyboardInterrupt:
            return None
        if answer in ("0", None):
            return None
        answer = answer or "1"
        if answer.isdecimal() and 1 <= int(answer) <= len(offers):
            return offers[int(answer) - 1].ref


def _write(file: Path, model: str, *, is_wanted: bool) -> int:
    from odin_lsp import private_files
    from odin_lsp.config import content_of, variable_of
    from odin_lsp.config.loading import MAX_FILE_BYTES
    from odin_lsp.config.writing import with_setting

    setting = f'"model": {json.dumps(model)}'
    if not is_wanted:
        print_lines(
            "", f"Nobody can answer here, so nothing is written. `odin-lsp init --yes` writes {setting} to {file}."
        )
        return 0
    try:
        text = content_of(file) if file.exists() else b""
        if text is None or len(text) > MAX_FILE_BYTES:
            return fail(
                f"{file} is not an ordinary file of at most 1 MiB; move it away, then run `odin-lsp init` again"
            )
        changed = with_setting(text.decode(), "model", model)
        file.parent.mkdir(parents=True, exist_ok=True)
        private_files.replace_file(file, [changed.encode()])
    except OSError as error:
        return fail(f"could not write {file}: {error.strerror}")
    except ValueError as error:
        return fail(f"{file} cannot be changed by a program ({error}); correct it, then run `odin-lsp init` again")
    print_lines("", f"Wrote {setting} to {file}. {KEYS_STAY}")
    if over := os.environ.get(variable_of("model")):
        print_lines(f"{variable_of('model')} is set to {over}, and overrides this.")
    return 0


def _editors() -> Iterator[str]:
    yield IN_A_TERMINAL
    yield from (about for program, about in EDITORS.items() if shutil.which(program))
