"""What the other language servers of a real Neovim know, asked as Odin asks: pyright, cold, warm, hung and killed."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.e2e.steps import play_calls, results, says
from tests.editors.conftest import StartNeovim
from tests.editors.neovim import NOTE_EVENTS, READY, Neovim, until
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATIENCE = 30_000
"""Milliseconds: nobody waits so long unless something hangs."""
CALLER = 'from a import shout\n\nprint("😀😀", shout("x"))\n'
CALLERS = [f"use{number}.py" for number in range(1, 5)]
REFERENCES = 1 + 2 * len(CALLERS)
CLEAN: tuple[bool, list[str]] = (True, [])
"""Current, and no errors."""
PYRIGHT = """
local root, pid = ...
vim.api.nvim_create_autocmd("FileType", { pattern = "python", callback = function()
  local cmd = { "sh", "-c", ("echo $$ > '%s'; exec pyright-langserver --stdio"):format(pid) }
  vim.lsp.start({ name = "pyright", cmd = cmd, root_dir = root })
end })
vim.cmd.edit("a.py")
"""
ASK = """
local method, params = ...
local odin = vim.lsp.get_clients({ name = "odin" })[1]
_G.told = nil
coroutine.wrap(function()
  _G.told = require("odin.handlers")[method](nil, params, { client_id = odin.id })
end)()
"""
LISTED = """
return vim.iter(vim.api.nvim_list_bufs()):filter(function(it) return vim.bo[it].buflisted end)
  :map(function(it) return vim.fs.basename(vim.api.nvim_buf_get_name(it)) end):totable()
"""


class Asked:
    """Neovim, asked as Odin does."""

    def __init__(self, neovim: Neovim, root: Path) -> None:
        self.neovim = neovim
        self.root = root

    async def request(self, method: str, name: str, milliseconds: int = PATIENCE, **params: Any) -> dict[str, Any]:
        uri = (self.root / name).as_uri()
        asked = {"textDocument": {"uri": uri}, **params}
        return await self._answer(
            "odin/editor/request", {"method": method, "uri": uri, "params": asked, "timeoutMs": milliseconds}
        )

    async def references(self, milliseconds: int = PATIENCE) -> dict[str, Any]:
        place = {"position": {"line": 0, "character": 5}, "context": {"includeDeclaration": True}}
        return await self.request("textDocument/references", "a.py", milliseconds, **place)

    async def problems(self, *names: str, milliseconds: int = PATIENCE) -> dict[str, tuple[bool, list[str]]]:
        """Errors by file: whether they are current, and what they say of which line."""
        uris = [(self.root / name).as_uri() for name in names]
        told = await self._answer("odin/editor/diagnostics", {"uris": uris, "patienceMs": milliseconds})
        return {
            Path(item["uri"]).name: (
                item["current"],
                [
                    f"{it['range']['start']['line']}: {it['message'].splitlines()[0]}"
                    for it in item["diagnostics"]
                    if it["severity"] == 1
                ],
            )
            for item in told["items"]
        }

    async def _answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        await self.neovim.lua(ASK, method, params)
        return await self.neovim.until("_G.told")


def place_of(encoding: str, text: str) -> int:
    return len(text.encode()) if encoding == "utf-8" else len(text.encode("utf-16-le")) // 2


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def asked(start_neovim: StartNeovim, root: Path) -> Asked:
    """Just started: pyright is not yet."""
    (root / "a.py").write_text("def shout(word: str) -> str:\n    return word.upper()\n")
    for name in CALLERS:
        (root / name).write_text(CALLER)
    neovim = await start_neovim("-n")
    await neovim.lua(PYRIGHT, str(root), str(root.parent / "pid"))
    await neovim.until(READY)
    return Asked(neovim, root)


async def test_a_cold_server_is_said_to_be_or_its_answer_is_complete(asked: Asked) -> None:
    async def is_ready() -> bool:
        told = await asked.references(milliseconds=400)
        ready = [len(it["result"]) for it in told["answers"] if it["ready"]]
        assert ready in ([], [REFERENCES])
        return bool(ready)

    await until(is_ready, "pyright is ready")


async def test_positions_are_right_in_files_that_nobody_shows(asked: Asked) -> None:
    [answer] = [it["result"] for it in (await asked.references())["answers"]]

    encoding = await asked.neovim.lua("return vim.lsp.get_clients({ name = 'odin' })[1].offset_encoding")
    column = place_of(encoding, CALLER.splitlines()[2].partition("shout")[0])
    found = {(Path(it["uri"]).name, it["range"]["start"]["line"], it["range"]["start"]["character"]) for it in answer}
    assert found == {("a.py", 0, 4), *((name, 0, 14) for name in CALLERS), *((name, 2, column) for name in CALLERS)}
    assert await asked.neovim.lua(LISTED) == ["a.py"]


async def test_a_rename_has_all_files_and_the_text_of_the_buffers(asked: Asked) -> None:
    await asked.neovim.lua("vim.api.nvim_buf_set_lines(0, 0, 0, false, { '# unsaved' })")

    told = await asked.request("textDocument/rename", "a.py", position={"line": 1, "character": 5}, newName="whisper")

    [answer] = told["answers"]
    assert answer["ready"]
    edits = {Path(it["textDocument"]["uri"]).name: it["edits"] for it in answer["result"]["documentChanges"]}
    assert {name: len(found) for name, found in edits.items()} == {"a.py": 1, **dict.fromkeys(CALLERS, 2)}
    assert edits["a.py"][0]["range"]["start"] == {"line": 1, "character": 4}
    await asked.neovim.command("undo")


async def test_an_edit_that_breaks_callers_elsewhere_is_told_and_so_is_its_mend(asked: Asked) -> None:
    assert await asked.problems("a.py", *CALLERS) == dict.fromkeys(["a.py", *CALLERS], CLEAN)

    await asked.neovim.lua("vim.api.nvim_buf_set_text(0, 0, 10, 0, 10, { 'times: int, ' })")
    broken = await asked.problems("a.py", *CALLERS)

    assert broken.pop("a.py") == CLEAN
    assert {name: current for name, (current, _) in broken.items()} == dict.fromkeys(CALLERS, True)
    assert all(found[0].startswith('2: Argument missing for parameter "word"') for _, found in broken.values())
    assert await asked.problems() == {"a.py": CLEAN, **broken}
    await asked.neovim.command("undo")
    assert await asked.problems("use1.py") == {"use1.py": CLEAN}
    assert await asked.neovim.lua(LISTED) == ["a.py"]


async def test_the_model_is_answered_by_the_servers_of_neovim(asked: Asked, wire: Wire) -> None:
    await asked.neovim.lua(NOTE_EVENTS)
    play_calls(wire, ("Lookup", {"what": "references", "symbol": "shout"}))
    wire.play(says())

    await asked.neovim.command("OdinAsk who shouts?")
    await asked.neovim.until("#_G.finished > 0")

    [told] = results(wire)
    assert told.splitlines()[-1] == "(pyright in Neovim)"
    assert told.count('\n3:print("😀😀", shout("x"))') == len(CALLERS)


async def test_a_server_that_hangs_or_dies_leaves_every_answer_bounded(asked: Asked) -> None:
    group = int((asked.root.parent / "pid").read_text())
    await asked.neovim.lua("vim.api.nvim_buf_set_lines(0, -1, -1, false, { 'nothing' })")

    os.killpg(group, signal.SIGSTOP)
    assert await asked.references(milliseconds=200) == {"answers": [], "late": ["pyright in Neovim"], "failed": []}
    [(current, _)] = (await asked.problems("a.py", milliseconds=200)).values()
    assert not current
    os.killpg(group, signal.SIGCONT)
    assert [len(it["result"]) for it in (await asked.references())["answers"]] == [REFERENCES]

    os.killpg(group, signal.SIGKILL)
    assert (await asked.references(milliseconds=200))["answers"] == []
    assert not any(current for current, _ in (await asked.problems("a.py", milliseconds=200)).values())
