"""A comment that is done by a command in a real Neovim, and the line that tells afterwards who wrote it."""

import pytest

from tests.e2e.steps import play_calls, says
from tests.editors.conftest import Write
from tests.editors.neovim import NEWEST, Neovim
from tests.support.wire import Wire

pytestmark = [pytest.mark.asyncio(loop_scope="module"), NEWEST]

CODE = ["def add(a, b):", "    return a - b"]
DONE = ["def add(a, b):", "    return a + b"]
COMMENT = "# turn the sign AI!"
HOVERS = """vim.iter(vim.api.nvim_list_wins()):filter(function(it)
  return vim.api.nvim_win_get_config(it).relative ~= ""
end):any(function(it)
  local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(it), 0, -1, false)
  return table.concat(lines, "\\n"):find("wrote this line", 1, true) ~= nil
end)"""
UNDO = """
vim.ui.select = function(items, opts, choose)
  choose(vim.iter(items):find(function(it) return opts.format_item(it):find("Undo the change", 1, true) end))
end
vim.lsp.buf.code_action()
"""
TEXT = "table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n') == ..."


async def test_a_comment_is_done_and_the_line_says_by_whom_and_undoes_it(
    neovim: Neovim, wire: Wire, write: Write
) -> None:
    file = write("code.py", COMMENT, *CODE)
    await neovim.command(f"edit {file}")
    await neovim.until("#vim.lsp.get_clients({ name = 'odin', bufnr = 0 }) == 1")
    play_calls(wire, ("Read", {"file_path": str(file)}))
    texts = {"old_string": "\n".join([COMMENT, *CODE]), "new_string": "\n".join(DONE)}
    play_calls(wire, ("EditTool", {"file_path": str(file), **texts}))
    wire.play(says("The sign is turned."))

    await neovim.command("OdinComments")
    await neovim.until("#require('odin.review').pending() > 0")
    await neovim.command("OdinAccept!")
    await neovim.until("#_G.finished == 1")
    await neovim.until(TEXT, "\n".join(DONE))

    await neovim.command(f"edit {file} | 2")
    await neovim.lua("vim.lsp.buf.hover()")
    if await neovim.lua("return vim.fn.has('nvim-0.11') == 1"):
        await neovim.until(HOVERS)
    assert "No information available" not in await neovim.messages()
    await neovim.lua(UNDO)
    await neovim.until(TEXT, "\n".join(CODE))
