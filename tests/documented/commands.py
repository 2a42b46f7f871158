"""The commands that README and the docs show, and how each is shown to work. Those that are not named here are run as
they stand."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CHAT = "tests/editors/test_terminal_chat.py::"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PLAN = "# Say nothing\n\n## Steps\n\n- [ ] Add `--quiet`\n- [ ] Test it\n- [ ] Describe it\n"


@dataclass(frozen=True)
class Command:
    page: str
    line: int
    text: str
    """Without its comment."""


@dataclass(frozen=True)
class Way:
    shown_by: str = ""
    """A test or a session of nox: it needs an editor, a browser, a person or a lot of time."""
    replies: tuple[Any, ...] = ()
    """Of the scripted model."""
    types: Mapping[str, str] = field(default_factory=dict[str, str])
    """What a person answers at a terminal, by what Odin says."""
    code: int = 0
    """How it ends."""
    in_clone: bool = False
    """Not in a workspace with a bit of code."""


def _done(*numbers: int) -> dict[str, Any]:
    """The model's list, with these steps done."""
    titles = [it.removeprefix("- [ ] ") for it in PLAN.splitlines() if it.startswith("- [")]
    todos = [{"id": f"step-{it}", "content": titles[it - 1], "status": "completed"} for it in numbers]
    return {"calls": [{"name": "TodoWrite", "arguments": {"todos": todos}}]}


VENV = "python3 -m venv .venv"
PACKAGE = "npm install --ignore-scripts && npm run package"
IN_CLONE = Way(in_clone=True)
ANSWERED = Way(replies=({"text": "Because it is a queue."},))
WAYS: Mapping[str, Way] = {
    f'{VENV} && .venv/bin/pip install -q . && .venv/bin/odin-lsp ask "where is the planner loop?"': IN_CLONE,
    f"{VENV} && .venv/bin/pip install -q nox && .venv/bin/nox": Way("nox: docs"),
    VENV: IN_CLONE,
    ".venv/bin/pip install nox -e .": IN_CLONE,
    ".venv/bin/odin-lsp doctor": IN_CLONE,
    "nox -s adversarial": Way("nox: adversarial"),
    "odin-lsp chat": Way(f"{CHAT}test_a_question_is_asked_and_its_words_are_completed"),
    "odin-lsp chat --continue": Way(f"{CHAT}test_a_turn_that_was_killed_is_continued"),
    "odin-lsp chat --resume": Way(f"{CHAT}test_an_earlier_session_is_chosen_and_an_earlier_message_is_at_hand"),
    "odin-lsp chat --resume 3f2a": Way(f"{CHAT}test_an_earlier_session_is_chosen_and_an_earlier_message_is_at_hand"),
    'odin-lsp ask "why does the queue keep its order?"': ANSWERED,
    'odin-lsp ask --session 3f2a "and why?"': ANSWERED,
    'odin-lsp plan "add a --quiet flag"': Way(replies=({"text": PLAN},)),
    "odin-lsp run PLAN.md": Way(replies=(_done(1, 2, 3), {"text": "Done."})),
    "odin-lsp run PLAN.md --steps 2 3": Way(replies=(_done(2, 3), {"text": "Done."})),
    'odin-lsp plan --run "add a --quiet flag"': Way(replies=({"text": PLAN}, _done(1, 2, 3), {"text": "Done."})),
    'odin-lsp edit "rename total to sum in invoice.py"': Way(types={"Accept this hunk?": "A\n"}),
    "odin-lsp connect claude": Way(types={"Write this?": "y\n"}),
    "odin-lsp permissions check --json --config rules.json -- 'make deploy'": Way(code=10),
    "odin-lsp permissions remove 1f0c9a2b": Way(
        "tests/unit/cli/test_permissions.py::test_what_was_allowed_is_listed_and_removed"
    ),
    "odin-lsp mcp test git": Way("tests/editors/test_mcp_servers.py::test_their_tools_answer"),
    "odin-lsp mcp login docs": Way("tests/unit/mcp/test_login.py::test_in_a_terminal"),
    'OPENAI_BASE_URL=http://127.0.0.1:11434/v1 odin-lsp ask --model openai/qwen3 "where is the entry point?"': Way(
        "tests/providers/test_openai_chat.py::test_a_server_of_ones_own_wants_no_key"
    ),
    "source <(odin-lsp completion zsh)": Way(f"{CHAT}test_shells_complete_commands_and_options"),
    'acpx --agent "odin-lsp acp" exec "where is the entry point?"': Way(
        "tests/editors/test_acp_client.py::test_a_question_is_answered"
    ),
    f"cd editors/vscode && {PACKAGE} && code --install-extension dist/odin.vsix": Way("nox: release"),
}


def documented() -> Iterator[Command]:
    made = {it.name.replace(".intro.", ".") for it in (ROOT / "docs").glob("*.intro.md")}
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "editors").glob("*/README.md"))]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for block in BLOCK.finditer(text) if page.name not in made or page.parent != ROOT / "docs" else ():
            first = text.count("\n", 0, block.start(1)) + 1
            for number, line in enumerate(block[1].splitlines(), first):
                if command := re.sub(r"(^|\s+)#\s.*", "", line):
                    yield Command(page.relative_to(ROOT).as_posix(), number, command)
