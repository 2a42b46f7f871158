"""What people and models read is plain American English, with one word for each thing (docs/contributing.md)."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BRITISH = (
    "behaviour|cancell(?:ed|ing)|catalogue|centre|colour|favour|judgement|labelled|neighbour|"
    "(?:initial|normal|organ|recogn|serial|summar)is(?:e|ing)"
)
LEFT_BEHIND = "and its kin|and their kin|own safe|was picked|the helper"
WRONG = re.compile(rf"\b(?:(?:{BRITISH})[a-z]*|(?:{LEFT_BEHIND})\b)", re.IGNORECASE)
IN_CODE = re.compile(r"`[^`\n]*`|^```.*?^```", re.DOTALL | re.MULTILINE)
MADE = ("protocol.md", "neovim-screens.md")
"""From the code, whose docstrings are for developers; and what is on a screen."""
NOT_SAID = {"odin_lsp/models/offline/terms.py", "odin_lsp/permissions/shell/readers.py", "odin_lsp/sessions/helpers.py"}
"""Words that users say, options of programs, and what earlier versions have written."""
PAGES = [
    ROOT / "README.md",
    *sorted(it for it in (ROOT / "docs").glob("*.md") if it.name not in MADE),
    *sorted((ROOT / "editors").glob("*/README.md")),
    *sorted((ROOT / "odin_lsp").rglob("*.md")),
]
MODULES = sorted((ROOT / "odin_lsp").rglob("*.py"))


@pytest.mark.parametrize("page", PAGES, ids=lambda it: it.relative_to(ROOT).as_posix())
def test_a_page_is_plain(page):
    prose = IN_CODE.sub("", page.read_text(encoding="utf-8"))

    assert [it[0] for it in WRONG.finditer(prose)] == []


def test_messages_are_plain():
    said = [
        (place, wrong[0])
        for module in MODULES
        if (place := module.relative_to(ROOT).as_posix()) not in NOT_SAID
        for text in texts(ast.parse(module.read_text(encoding="utf-8")))
        for wrong in WRONG.finditer(text)
    ]

    assert said == []


def texts(tree: ast.AST) -> Iterator[str]:
    """Of more than one word, but for docstrings: those are for developers."""
    bodies = [getattr(it, "body", None) for it in ast.walk(tree)]
    notes = {
        id(statement.value)
        for body in bodies
        if isinstance(body, list)
        for statement in body
        if isinstance(statement, ast.Expr)
    }
    for it in ast.walk(tree):
        if isinstance(it, ast.Constant) and isinstance(it.value, str) and id(it) not in notes and " " in it.value:
            yield it.value
