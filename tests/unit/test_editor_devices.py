"""In editors, too, text reaches people by few modules only, which make it fit to be shown."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support import hostile_wire

EDITORS = Path(__file__).parents[2] / "editors"
LUA = re.compile(
    r"nvim_buf_set_(?:lines|text|name|extmark|virtual_text)\b|nvim_put\b|nvim_echo\b|nvim_(?:err|out)_write|"
    r"\bvim\.notify|(?<![\w.:])print\(|vim\.ui\.(?:select|input)\b|vim\.fn\.(?:set(?:qf|loc)list|setline|append|input"
    r"|confirm|inputlist|inputdialog|bufadd\(name)|\bopen_floating_preview|\b(?:title|footer)\s*=\s*[^=]*\.\.|"
    r"\b(?:winbar|statusline|tabline)\s*=|\bvirt_(?:text|lines)\s*=|vim\.health|nvim_chan_send|nvim_open_term|"
    r"io\.(?:write|stdout|stderr)"
)
LUA_BOUNDARY = "lua/odin/screen.lua"
LUA_ELSEWHERE = {
    "lua/odin/review/marks.lua": "marks, which the boundary puts: `screen.mark`",
    "lua/odin/chat/transcript.lua": "marks, which the boundary puts: `screen.mark`",
    "lua/odin/chat/paste.lua": "the path of a file that Odin has named itself, into the user's own text",
    "lua/odin/chat/window.lua": "bars that are made by `display.bar` and `display.line`, or are Odin's own words",
    "lua/odin/chat/question.lua": "a title, which the boundary puts: `screen.float`",
    "lua/odin/health.lua": "a report of Neovim's own, whose words go through `display.text`",
    "plugin/odin.lua": "speaks of Neovim's version before anything of Odin is loaded",
}
TYPESCRIPT = re.compile(
    r"\bshow(?:Information|Warning|Error)Message\b|\bshowQuickPick\b|\bcreateQuickPick\b|\bshowInputBox\b|"
    r"\bsetStatusBarMessage\b|\bwithProgress\b|\bcreateStatusBarItem\b|\bcreateInputBox\b|\bnew CodeLens\b|"
    r"\bnew TreeItem\b|\bnew MarkdownString\b|\"vscode\.diff\"|\bcreateWebviewPanel\b|\bcreateCommentController\b|"
    r"\bview\.description = |\bcontentText\b"
)
TYPESCRIPT_BOUNDARY = "src/telling.ts"
TYPESCRIPT_ELSEWHERE = {
    "src/extension.ts": "the item of the status bar, which `status.ts` fills",
    "src/session-tree.ts": "items, which the boundary makes fit: `treeItemOf`",
    "src/review/tree.ts": "items, which the boundary makes fit: `treeItemOf`",
    "src/inline/threads.ts": "a thread of comments, whose body is made by the boundary: `markdownOf`",
    "src/setting-commands.ts": "the box for a key, in Odin's own words",
}
PAGE = re.compile(
    r"\b(?:inner|outer)HTML\b|\binsertAdjacent|\bdocument\.write|\.(?:textContent|innerText|title|placeholder|alt) = |"
    r"\bcreateTextNode\b|\.setAttribute\(\"(?:title|alt|aria-label|placeholder)\"|\bnew Option\("
)
PAGE_BOUNDARY = "webview/dom.ts"
PAGE_ELSEWHERE = {"webview/markdown.ts": "the word Code, for a region; what is in it is made fit by `fitTexts`"}
EXACT = {
    "lua/odin/chat/prompt.lua": "what the user writes, and sends as it is",
    "lua/odin/float.lua": "what the user changes, and takes as it is",
    "lua/odin/review/diff.lua": "the proposed text, of which Neovim makes a diff",
    "lua/odin/review/preview.lua": "a new file, as it would be",
}
"""What stays as it is, since it is edited or decided on. Neovim itself writes out what it cannot show."""


def found(sources: Mapping[str, str], pattern: re.Pattern[str], comment: str) -> set[str]:
    def code(text: str) -> str:
        return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(comment))

    return {name for name, text in sources.items() if pattern.search(code(text))}


def sources(folder: str, pattern: str) -> dict[str, str]:
    root = EDITORS / folder
    return {it.relative_to(root).as_posix(): it.read_text(encoding="utf-8") for it in sorted(root.glob(pattern))}


def test_dev_12_the_plugin_shows_nothing_past_its_boundary():
    plugin = sources("neovim", "lua/**/*.lua") | sources("neovim", "plugin/*.lua") | sources("neovim", "lsp/*.lua")

    assert found(plugin, LUA, "--") == {LUA_BOUNDARY, *LUA_ELSEWHERE}
    assert found(plugin, re.compile(r"put_exactly\b"), "--") == {LUA_BOUNDARY, *EXACT}


@pytest.mark.parametrize(
    "code",
    [
        "vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)",
        "local put = vim.api.nvim_buf_set_text",
        "vim.notify(text)",
        "print(text)",
        "vim.ui.select(items, {}, use)",
        "vim.fn.setqflist({}, 'r', {})",
        'title = "Odin " .. name,',
        "mark.virt_text = { { text } }",
        "vim.wo.winbar = text",
    ],
)
def test_what_the_plugin_would_show_is_found(code):
    assert found({"x": code}, LUA, "--")
    assert not found({"x": f"-- {code}"}, LUA, "--")


def test_dev_15_the_extension_shows_nothing_past_its_boundaries():
    extension = sources("vscode", "src/**/*.ts")
    page = sources("vscode", "webview/**/*.ts")

    assert found(extension, TYPESCRIPT, "//") == {TYPESCRIPT_BOUNDARY, *TYPESCRIPT_ELSEWHERE}
    assert found(page, PAGE, "//") == {PAGE_BOUNDARY, *PAGE_ELSEWHERE}


@pytest.mark.parametrize(
    ("code", "pattern"),
    [
        ("window.showErrorMessage(why)", TYPESCRIPT),
        ("await window.showQuickPick(items)", TYPESCRIPT),
        ("new CodeLens(range, command)", TYPESCRIPT),
        ("this.#view.description = title", TYPESCRIPT),
        ('commands.executeCommand("vscode.diff", left, right, title)', TYPESCRIPT),
        ("element.innerHTML = text", PAGE),
        ("element.textContent = text", PAGE),
        ("button.title = text", PAGE),
        ('element.setAttribute("aria-label", text)', PAGE),
    ],
)
def test_what_the_extension_would_show_is_found(code, pattern):
    assert found({"x": code}, pattern, "//")


def test_what_the_front_ends_are_tried_with_is_made_of_the_types_as_they_are():
    said = "what the server sends has changed; run `python -m tests.support.hostile_wire`"
    assert json.loads(hostile_wire.FILE.read_text(encoding="ascii")) == json.loads(hostile_wire.written()), said
