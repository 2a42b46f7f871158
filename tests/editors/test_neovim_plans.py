"""A plan in a real Neovim: what stands above its steps, and the commands that carry them out."""

from pathlib import Path

import pytest

from tests.e2e.steps import says
from tests.editors.neovim import Neovim
from tests.editors.test_neovim import CHOOSE, attached, carries_out, chat, comes, outcome, told
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="module")

LENSES = """
local found = vim.lsp.codelens.enable and vim.lsp.codelens.get({ bufnr = 0 }) or vim.lsp.codelens.get(0)
local titles = vim.iter(found):map(function(it) return (it.lens or it).command.title end):totable()
table.sort(titles)
return titles
"""
HEIGHTS = """
local heights = {}
for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
  local name = vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(window))
  local kind = name:match("^odin://(%a+)") or name:match("plan%.md$") or vim.fs.basename(name)
  local is_ours = vim.startswith(name, "odin://")
  heights[kind] = is_ours and vim.api.nvim_win_get_height(window) or 0
end
return heights
"""
"""Of the chat's windows, by what they show."""
OF_PLAN = ["Odin: Plan on…", "Odin: Run the open steps"]
OF_STEP = ["Odin: Done", "Odin: Run", "Odin: Skip"]


async def planned(neovim: Neovim, wire: Wire) -> Path:
    """A plan of two steps."""
    wire.play(says("First this.\n\n- [ ] Look\n- [ ] Write\n"))
    await neovim.command("OdinPlan make it better")
    return Path((await outcome(neovim))["plan"].removeprefix("file://"))


async def test_what_can_be_done_with_steps_stands_above_them(neovim: Neovim, wire: Wire) -> None:
    await attached(neovim, await planned(neovim, wire))
    await comes(neovim, LENSES, sorted([*OF_PLAN, *OF_STEP, *OF_STEP]))
    await neovim.command("/Write")
    await neovim.lua(CHOOSE, "Odin: Done")
    await neovim.lua("vim.lsp.codelens.run()")
    await neovim.until("vim.fn.getline('.') == '- [x] Write'")
    await comes(neovim, LENSES, sorted([*OF_PLAN, *OF_STEP, "Odin: Open again"]))
    carries_out(wire, "step-1", "Looked.")
    await neovim.command("/Look")
    await neovim.lua(CHOOSE, "Odin: Run")
    await neovim.lua("vim.lsp.codelens.run()")
    run = await outcome(neovim, 2)
    assert (run["answer"], run["reason"]) == ("Looked.", "end_turn")
    assert (await chat(neovim))[0] == "## Edit"


async def test_a_plan_is_shown_above_the_code_while_the_user_stays_in_the_prompt(neovim: Neovim, wire: Wire) -> None:
    wire.play(says("First this.\n\n- [ ] Look\n"))
    await neovim.command("OdinChat")
    await neovim.until("vim.fn.mode() == 'i'")
    before = await neovim.lua(HEIGHTS)
    await neovim.press("<Esc><Tab>imake it better<C-s>")
    await outcome(neovim)
    await comes(neovim, HEIGHTS, {**before, "plan.md": 0})
    assert (await neovim.lua("return vim.api.nvim_buf_get_name(0)")).startswith("odin://prompt")


async def test_a_plan_is_run_from_anywhere_and_steps_by_their_numbers(neovim: Neovim, wire: Wire) -> None:
    await neovim.command("OdinPlan run")
    assert "no plan yet" in await neovim.messages()
    await planned(neovim, wire)
    carries_out(wire, "step-2", "Written.")
    await neovim.command("OdinPlan run 2")
    run = await outcome(neovim, 2)
    assert (run["answer"], run["reason"]) == ("Written.", "end_turn")
    carried_out = told(wire).rpartition("in this order.")[2].partition("These steps")[0]
    assert "Write" in carried_out
    assert "Look" not in carried_out
    carries_out(wire, "step-1", "Done.")
    await neovim.command("OdinSteps run")
    run = await outcome(neovim, 3)
    assert (run["answer"], run["reason"]) == ("Done.", "end_turn")
    assert await neovim.lua("return vim.fn.getcompletion('OdinPlan r', 'cmdline')") == ["run"]
