"""What the other language servers of a real Neovim know, asked as Odin asks: cold, warm, hung and killed."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.e2e.steps import play_calls, results, results_of, says
from tests.editors.code_server import typescript_server
from tests.editors.conftest import StartNeovim, skipped_if_unavailable
from tests.editors.neovim import NOTE_EVENTS, READY, Neovim, until
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATIENCE = 30_000
"""Milliseconds: nobody waits so long unless something hangs."""
FILES = {
    "a.py": "def shout(word: str) -> str:\n    return word.upper()\n",
    **{f"use{n}.py": 'from a import shout\n\nprint("😀😀", shout("x"))\n' for n in range(1, 5)},
    "a.ts": "export function shout(word: string): string {\n    return word.toUpperCase();\n}\n",
    **{f"use{n}.ts": 'import { shout } from "./a";\n\nconsole.log("😀😀", shout("x"));\n' for n in range(1, 5)},
    "tsconfig.json": '{"compilerOptions": {"strict": true, "target": "es2020", "module": "commonjs"}}',
}
CALLERS = [f"use{n}.py" for n in range(1, 5)]
REFERENCES = 1 + 2 * len(CALLERS)
CLEAN: tuple[bool, list[str]] = (True, [])
"""Current, and no errors."""
SERVERS = """
local root, pid, pyright, typescript = ...
local python = ("echo $$ > '%s'; exec '%s' --stdio"):format(pid, pyright)
local cmds = { python = { "sh", "-c", python }, typescript = { typescript, "--stdio" } }
vim.api.nvim_create_autocmd("FileType", { pattern = { "python", "typescript" }, callback = function(event)
  local name = event.match == "python" and "pyright" or "ts_ls"
  vim.lsp.start({ name = name, cmd = cmds[event.match], root_dir = root })
end })
vim.cmd.edit("a.ts")
vim.cmd.edit("a.py")
"""
ODD = """
_G.answers = {}
local function odd()
  return {
    request = function(method, _, answer)
      local told = _G.answers[method]
      if method == "initialize" then
        told = { result = { capabilities = { referencesProvider = true, positionEncoding = "utf-32" } } }
      end
      if told then
        answer(told.err, told.result)
      end
      return true, 1
    end,
    notify = function() return true end,
    is_closing = function() return false end,
    terminate = function() end,
  }
end
vim.cmd.edit(...)
vim.lsp.start({ name = "odd", cmd = odd, root_dir = vim.fn.getcwd() })
"""
"""A server in Neovim itself, which answers at once, as the test says, or never."""
ASK = """
local method, params = ...
local odin = vim.lsp.get_clients({ name = "odin" })[1]
_G.told = nil
coroutine.wrap(function()
  _G.told = require("odin.client.handlers")[method](nil, params, { client_id = odin.id })
end)()
"""
CHAT = "return vim.api.nvim_buf_get_lines(vim.fn.bufnr('odin://chat'), 0, -1, false)"
CONFIGURE = """
local odin = vim.lsp.get_clients({ name = "odin" })[1]
odin.rpc.notify("workspace/didChangeConfiguration", { settings = ... })
"""
TEXT = "return table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, false), '\\n') .. '\\n'"
COUNT_LOOKS = """
local problems = require("odin.intelligence.problems")
local answer = problems.answer
_G.looked_at = 0
problems.answer = function(...)
  local told = answer(...)
  _G.looked_at = #told.items
  return told
end
"""
FORGET_EVENTS = "_G.events, _G.finished = {}, {}"
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

    async def references(self, name: str = "a.py", milliseconds: int = PATIENCE) -> dict[str, Any]:
        position = {"line": 0, "character": FILES[name].index("shout")}
        context = {"includeDeclaration": True}
        return await self.request("textDocument/references", name, milliseconds, position=position, context=context)

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


def write(root: Path) -> None:
    for name, text in FILES.items():
        (root / name).write_text(text)


def place_of(encoding: str, text: str) -> int:
    return len(text.encode()) if encoding == "utf-8" else len(text.encode("utf-16-le")) // 2


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def asked(start_neovim: StartNeovim, root: Path) -> Asked:
    """Just started: no server has loaded the project."""
    write(root)
    with skipped_if_unavailable():
        typescript = typescript_server()
    neovim = await start_neovim("-n")
    pyright = Path(sys.executable).with_name("pyright-langserver")
    await neovim.lua(SERVERS, str(root), str(root.parent / "pid"), str(pyright), str(typescript))
    await neovim.lua(NOTE_EVENTS)
    await neovim.until(READY)
    return Asked(neovim, root)


@pytest.mark.parametrize("name", ["a.py", "a.ts"])
async def test_a_cold_server_is_said_to_be_or_its_answer_is_complete(asked: Asked, name: str) -> None:
    async def is_ready() -> bool:
        told = await asked.references(name, milliseconds=1000)
        ready = [len(it["result"]) for it in told["answers"] if it["ready"]]
        assert ready in ([], [REFERENCES])
        return bool(ready)

    await until(is_ready, "the server is ready")


async def test_positions_are_right_in_files_that_nobody_shows(asked: Asked) -> None:
    [answer] = [it["result"] for it in (await asked.references())["answers"]]

    encoding = await asked.neovim.lua("return vim.lsp.get_clients({ name = 'odin' })[1].offset_encoding")
    column = place_of(encoding, FILES["use1.py"].splitlines()[2].partition("shout")[0])
    found = {(Path(it["uri"]).name, it["range"]["start"]["line"], it["range"]["start"]["character"]) for it in answer}
    assert found == {("a.py", 0, 4), *((name, 0, 14) for name in CALLERS), *((name, 2, column) for name in CALLERS)}
    assert await asked.neovim.lua(LISTED) == ["a.ts", "a.py"]


@pytest.mark.parametrize(
    ("name", "words"),
    [("a.py", 'Argument missing for parameter "word"'), ("a.ts", "Expected 2 arguments, but got 1.")],
    ids=["a.py", "a.ts"],
)
async def test_an_edit_that_breaks_callers_elsewhere_is_told_and_so_is_its_mend(
    asked: Asked, name: str, words: str
) -> None:
    callers = [f"use{n}{Path(name).suffix}" for n in range(1, 5)]
    await asked.neovim.command(f"buffer {name}")
    assert await asked.problems(name, *callers) == dict.fromkeys([name, *callers], CLEAN)

    await asked.neovim.command(f"substitute/(word/(times: {'int' if name == 'a.py' else 'number'}, word/")
    broken = dict.fromkeys(callers, (True, [f"2: {words}"]))
    assert await asked.problems(name, *callers) == {name: CLEAN, **broken}

    await asked.neovim.command("undo")
    assert await asked.problems(callers[0]) == {callers[0]: CLEAN}
    assert await asked.neovim.lua(LISTED) == ["a.ts", "a.py"]


async def test_all_that_is_known_is_told_at_once(asked: Asked) -> None:
    await asked.problems("a.py")

    assert (await asked.problems())["a.py"] == CLEAN


async def test_quick_fixes_come_with_their_edits(asked: Asked) -> None:
    await asked.neovim.command("buffer a.ts")
    await asked.neovim.command("substitute/$/ whisper();/")
    place = {"line": 0, "character": len(FILES["a.ts"].splitlines()[0]) + 3}

    told = await asked.request(
        "textDocument/codeAction", "a.ts", range={"start": place, "end": place}, context={"diagnostics": []}
    )

    edits = {it["title"]: it.get("edit") for it in told["answers"][0]["result"]}
    assert edits["Add missing function declaration 'whisper'"]
    await asked.neovim.command("undo")


async def test_the_model_is_answered_by_the_servers_of_neovim(asked: Asked, wire: Wire) -> None:
    await asked.references()
    await asked.neovim.lua(FORGET_EVENTS)
    play_calls(wire, ("Lookup", {"what": "references", "symbol": "shout", "file_path": "a.py"}))
    wire.play(says())

    await asked.neovim.command("OdinAsk who shouts?")
    await asked.neovim.until("#_G.finished > 0")

    [told] = results(wire)
    assert told.splitlines()[-1] == "(pyright in Neovim)"
    assert told.count('\n3:print("😀😀", shout("x"))') == len(CALLERS)


async def test_the_model_is_told_which_callers_its_edit_has_broken_and_that_they_are_mended(
    asked: Asked, wire: Wire
) -> None:
    def change(old: str, new: str) -> None:
        edit = {"file_path": "a.py", "edits": [{"old_string": old, "new_string": new}]}
        play_calls(wire, ("MultiEditTool", edit))

    async def accept(number: int) -> None:
        """As a person does: not before Odin has looked at the callers."""
        await asked.neovim.until("(_G.events.OdinReviewOpened or 0) >= ... and _G.looked_at > 1", number)
        await asked.neovim.lua("_G.looked_at = 0; vim.cmd('OdinAccept!')")

    await asked.neovim.lua(CONFIGURE, {"odin": {"diagnostics": {"wait": PATIENCE // 1000}}})
    await asked.neovim.command("buffer a.py")
    await asked.neovim.lua(FORGET_EVENTS)
    await asked.neovim.lua(COUNT_LOOKS)
    play_calls(wire, ("Read", {"file_path": "a.py"}))
    change("(word: str", "(times: int, word: str")
    change("(times: int, word: str", "(word: str")
    wire.play(says())
    await asked.neovim.command("OdinEdit shout more often")
    await accept(1)
    await accept(2)
    await asked.neovim.until("#_G.finished > 0")

    listed = [f'- {name}:3 Argument missing for parameter "word" [Pyright reportCallIssue]' for name in CALLERS]
    told = ["".join(results_of(it.body)).splitlines()[1:] for it in wire.sent[-2:]]
    assert told == [
        ["Diagnostics after your edits: 4 introduced, 0 fixed, 0 remaining.", "Introduced:", *listed],
        ["Diagnostics after your edits: 0 introduced, 4 fixed, 0 remaining.", "Fixed:", *listed],
    ]


async def test_a_rename_is_one_review_of_all_files_with_what_is_not_saved(asked: Asked, wire: Wire) -> None:
    await asked.neovim.command("buffer a.py | call append(0, '# 😀 not saved')")
    await asked.neovim.lua(FORGET_EVENTS)
    rename = {"what": "rename", "symbol": "shout", "file_path": "a.py", "new_name": "whisper"}
    play_calls(wire, ("Refactor", rename))
    wire.play(says())
    await asked.neovim.command("OdinEdit be quiet")
    await asked.neovim.until("(_G.events.OdinReviewOpened or 0) > 0")
    await asked.neovim.command("OdinAccept!")
    await asked.neovim.until("#_G.finished > 0")

    renamed = {name: FILES[name].replace("shout", "whisper") for name in ["a.py", *CALLERS]}
    texts = {name: await asked.neovim.lua(TEXT, name) for name in renamed}
    assert texts == {**renamed, "a.py": f"# 😀 not saved\n{renamed['a.py']}"}
    write(asked.root)
    await asked.neovim.command("silent bufdo edit!")


async def test_whatever_a_server_answers_reaches_odin_or_is_said_to_have_failed(asked: Asked) -> None:
    (asked.root / "odd.txt").write_text("one 😀 line\n")
    await asked.neovim.lua(ODD, "odd.txt")

    async def told(answer: Any) -> Any:
        await asked.neovim.lua("_G.answers['textDocument/references'] = ... or nil", answer)
        return await asked.request("textDocument/references", "odd.txt", milliseconds=100)

    def at(line: Any, character: Any) -> list[dict[str, Any]]:
        spot = {"line": line, "character": character}
        return [{"uri": (asked.root / "odd.txt").as_uri(), "range": {"start": spot, "end": dict(spot)}}]

    odd = "odd in Neovim"
    for result in ("nonsense", 7, [], [[[]]], [{"uri": "file:///nowhere"}], at(10**9, 5), at(0, 10**9), at(-1, -1)):
        [answer] = (await told({"result": result}))["answers"]
        assert (answer["server"], answer["ready"]) == (odd, False)
    for result in (at(1e300, 0), [{"uri": 5, "range": at(0, 0)[0]["range"]}]):
        assert [it["server"] for it in (await told({"result": result}))["failed"]] == [odd]
    assert (await told({"err": {"code": 1, "message": "No Project"}}))["failed"] == [
        {"server": odd, "reason": "No Project"}
    ]
    assert (await told(False))["late"] == [odd]


async def test_the_model_and_the_user_are_told_what_an_edit_broke_elsewhere(asked: Asked, wire: Wire) -> None:
    neovim, path = asked.neovim, str(asked.root / "a.py")
    await neovim.lua(FORGET_EVENTS)
    change = {"old_string": "def shout(word", "new_string": "def shout(times: int, word"}
    play_calls(wire, ("Read", {"file_path": path}))
    play_calls(wire, ("EditTool", {"file_path": path, **change}))
    wire.play(says("done"))
    wire.play(says("as it was wanted"))

    await neovim.lua(CONFIGURE, {"odin": {"review": {"policy": "auto"}, "diagnostics": {"wait": PATIENCE // 1000}}})
    await neovim.command("OdinEdit let it shout several times")
    await neovim.until("#_G.finished > 0")

    [told] = results(wire)
    assert "Diagnostics after your edits: 4 introduced, 0 fixed, 0 remaining.\nIntroduced:\n- use1.py:3 " in told
    [outcome] = await neovim.lua("return _G.finished")
    assert outcome["answer"] == "as it was wanted"
    assert sorted(Path(it["uri"]).name for it in outcome["diagnostics"]) == CALLERS
    chat = await neovim.lua(CHAT)
    shown = chat[chat.index("let it shout several times") :]
    assert sum(line.startswith("- ✗ introduced: use") for line in shown) == len(CALLERS)
    assert sum(line.startswith("*left by this turn: use") for line in shown) == len(CALLERS)
    await neovim.command("OdinUndo")
    await neovim.until("not vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.py'), 0, 1, false)[1]:find('times')")


async def test_a_server_that_hangs_or_dies_leaves_every_answer_bounded(asked: Asked) -> None:
    group = int((asked.root.parent / "pid").read_text())
    await asked.neovim.command("buffer a.py | call append('$', 'nothing')")

    os.killpg(group, signal.SIGSTOP)
    assert await asked.references(milliseconds=200) == {"answers": [], "late": ["pyright in Neovim"], "failed": []}
    [(current, _)] = (await asked.problems("a.py", milliseconds=200)).values()
    assert not current
    os.killpg(group, signal.SIGCONT)
    assert [len(it["result"]) for it in (await asked.references())["answers"]] == [REFERENCES]

    os.killpg(group, signal.SIGKILL)
    assert (await asked.references(milliseconds=200))["answers"] == []
    assert not any(current for current, _ in (await asked.problems("a.py", milliseconds=200)).values())
