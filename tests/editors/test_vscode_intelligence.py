"""What VS Code's own TypeScript and a server from PyPI know about code, as Odin hears it by `odin/editor/*`. The tests
go on from each other in one window, which is cold at first, and the test itself stands where the server should be; for
the last ones it is Odin's."""

import json
import re
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.e2e.steps import play_calls, results, results_of, says
from tests.editors.asker import Asker
from tests.editors.code_server import EXTENSION
from tests.editors.conftest import StartVSCode, at_home
from tests.editors.neovim import until
from tests.editors.vscode import NEWEST, VSCode
from tests.editors.vscode_chat import Chat
from tests.support.wire import Wire

pytestmark = [pytest.mark.asyncio(loop_scope="module"), NEWEST]

PYRIGHT = Path(__file__).parent / "pyright"
CLIENT = EXTENSION / "node_modules" / "vscode-languageclient" / "lib" / "node" / "main.js"
PROJECT = {"compilerOptions": {"strict": True, "noEmit": True, "module": "esnext", "moduleResolution": "bundler"}}
SHAPES = "export function area(width: number, height: number): number {\n  return width * height;\n}\n"
CALLER = 'import {{ area }} from "./shapes";\n\n// area\nexport const {name} = /* 😀 */ area(1, 2);\n'
CALLERS = ("a.ts", "b.ts", "c.ts", "d.ts")
AREA = {"position": {"line": 0, "character": 18}}
PYTHON_AREA = {"position": {"line": 0, "character": 4}}
NOWHERE = {"position": {"line": 2, "character": 0}}
REPLACE = """
    const edit = new vscode.WorkspaceEdit();
    const document = await vscode.workspace.openTextDocument(args[0]);
    const start = document.positionAt(document.getText().indexOf(args[1]));
    const end = start.translate(0, args[1].length);
    edit.replace(document.uri, new vscode.Range(start, end), args[2]);
    await vscode.workspace.applyEdit(edit);
"""
HANG = """
    const never = { provideReferences: () => new Promise(() => {}) };
    vscode.languages.registerReferenceProvider({ language: "plaintext" }, never);
"""


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def asker(place: Path) -> AsyncIterator[Asker]:
    asker = Asker()
    await asker.listen(place / "asker")
    yield asker
    await asker.close()


@pytest.fixture(scope="module")
def src(root: Path) -> Path:
    """A method that five files of TypeScript have, and two of Python."""
    src = root / "src"
    src.mkdir()
    (root / "tsconfig.json").write_text(json.dumps(PROJECT))
    settings = Path(at_home(root.parent)["XDG_CONFIG_HOME"]) / "odin" / "odinconfig.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"diagnostics": {"wait": 30}}))
    (src / "shapes.ts").write_text(SHAPES)
    for name in CALLERS:
        (src / name).write_text(CALLER.format(name=name[0]))
    (root / "shapes.py").write_text("def area(width: int, height: int) -> int:\n    return width * height\n")
    (root / "caller.py").write_text("from shapes import area\n\nprint(area(1, 2))\n")
    (root / "notes.txt").write_text("area\n")
    return src


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def vscode(start_vscode: StartVSCode, vsix: Path, place: Path, root: Path, src: Path, asker: Asker) -> VSCode:
    settings = {
        "files.autoSave": "off",
        "odin.review.policy": "auto",
        "odin.server.path": str(place / "asker"),
    }
    server = Path(sys.executable).parent / "pyright-langserver"
    variables = {"LANGUAGE_CLIENT": str(CLIENT), "LANGUAGE_SERVER": str(server), "ODIN_TITLES": "false"}
    vscode = await start_vscode(vsix, PYRIGHT, settings=settings, **variables)
    await vscode.open_file(root / "notes.txt")
    return vscode


async def test_a_rename_by_a_cold_server_is_complete_or_says_that_it_is_not(
    vscode: VSCode, asker: Asker, src: Path
) -> None:
    declared = await asker.declared
    assert declared["experimental"]["odin"]["editor"] == ["request", "diagnostics"]
    assert declared["general"]["positionEncodings"] == ["utf-16"]

    rename = {"newName": "surface"}
    cold = await ask(asker, "textDocument/rename", src.parent / "shapes.py", PYTHON_AREA | rename)
    assert not any(it["ready"] for it in cold["answers"])
    edit = await complete(asker, "textDocument/rename", src / "shapes.ts", AREA | rename)
    by_file = {Path(it["textDocument"]["uri"]).name: starts(it["edits"]) for it in edit["documentChanges"]}
    assert by_file == {"shapes.ts": {(0, 16)}, **{name: {(0, 9), (3, 26)} for name in CALLERS}}


async def test_typescript_answers_on_the_text_in_the_buffer(vscode: VSCode, asker: Asker, src: Path) -> None:
    shapes, caller = src / "shapes.ts", src / "a.ts"
    call = {"position": {"line": 4, "character": 28}}
    await vscode.eval(REPLACE, str(caller), "// area", "// area 😀\n")

    found = await answer(asker, "textDocument/references", shapes, AREA | {"context": {"includeDeclaration": False}})
    in_file = [it for it in found if it["uri"] == caller.as_uri()]
    assert (starts(in_file), len(found)) == ({(0, 9), (4, 26)}, 8)
    with_it = await answer(asker, "textDocument/references", shapes, AREA | {"context": {"includeDeclaration": True}})
    assert len(with_it) == 9
    defined = await answer(asker, "textDocument/definition", caller, call)
    assert [(it["uri"], *starts([it])) for it in defined] == [(shapes.as_uri(), (0, 16))]
    assert "area(width: number" in (await answer(asker, "textDocument/hover", caller, call))["contents"]["value"]
    outline = await answer(asker, "textDocument/documentSymbol", shapes)
    assert [(it["name"], it["kind"]) for it in outline] == [("area", 12)]
    symbols = await answer(asker, "workspace/symbol", shapes, {"query": "area"})
    assert "area" in [it["name"] for it in symbols if it["location"]["uri"] == shapes.as_uri()]

    [item] = await answer(asker, "textDocument/prepareCallHierarchy", shapes, AREA)
    calls = await answer(asker, "callHierarchy/incomingCalls", shapes, {"item": item})
    assert {it["from"]["name"] for it in calls} == set(CALLERS)
    called = await answer(asker, "callHierarchy/outgoingCalls", caller, {"item": calls[0]["from"]})
    assert [it["to"]["name"] for it in called] == ["area"]

    name = {"start": {"line": 0, "character": 16}, "end": {"line": 0, "character": 20}}
    actions = await answer(
        asker, "textDocument/codeAction", shapes, {"range": name, "context": {"diagnostics": [], "only": ["refactor"]}}
    )
    [moved] = [it for it in actions if it["title"] == "Move to a new file"]
    assert {"kind": "create", "uri": (src / "area.ts").as_uri(), "options": {"ignoreIfExists": True}} in moved["edit"][
        "documentChanges"
    ]


async def test_an_edit_that_breaks_a_caller_in_no_tab_is_told_and_so_is_the_mend(
    vscode: VSCode, asker: Asker, src: Path
) -> None:
    shapes, caller = src / "shapes.ts", src / "b.ts"
    assert await problems(asker, shapes, caller) == {"shapes.ts": (True, []), "b.ts": (True, [])}
    await vscode.eval(REPLACE, str(shapes), "height: number", "height: number, depth: number")
    broken = await problems(asker, shapes, caller)
    assert broken["b.ts"] == (True, ["Expected 3 arguments, but got 2."])
    assert await vscode.diagnostics(caller) == []
    await vscode.eval(REPLACE, str(caller), "area(1, 2)", "area(1, 2, 3)")
    assert (await problems(asker, caller))["b.ts"] == (True, [])


async def test_a_server_of_another_extension_reports_what_is_in_tabs(vscode: VSCode, asker: Asker, root: Path) -> None:
    shapes, caller = root / "shapes.py", root / "caller.py"
    params = PYTHON_AREA | {"context": {"includeDeclaration": True}}
    assert len(await complete(asker, "textDocument/references", shapes, params)) == 3
    assert await problems(asker, shapes, caller) == {"shapes.py": (False, []), "caller.py": (False, [])}

    await vscode.open_file(caller)
    await vscode.open_file(shapes)
    assert await problems(asker, shapes, caller) == {"shapes.py": (True, []), "caller.py": (True, [])}
    await vscode.eval(REPLACE, str(shapes), "height: int", "height: int, depth: int")
    broken = await problems(asker, shapes, caller)
    assert broken["shapes.py"] == (True, ['"depth" is not accessed'])
    assert broken["caller.py"] == (True, ['Argument missing for parameter "depth"'])
    known = await asker.ask("odin/editor/diagnostics", {"uris": [], "patienceMs": 0})
    assert {it["uri"] for it in known["items"] if it["current"]} >= {shapes.as_uri(), caller.as_uri()}


async def test_nobody_is_waited_for_who_does_not_answer(vscode: VSCode, asker: Asker, root: Path) -> None:
    notes = root / "notes.txt"
    params = AREA | {"context": {"includeDeclaration": True}}
    assert await ask(asker, "textDocument/references", notes, params) == {"answers": []}
    assert await ask(asker, "textDocument/semanticTokens/full", notes) == {"answers": []}
    for patience_ms in (1000, 50_000):
        assert await problems(asker, notes, patience_ms=patience_ms) == {"notes.txt": (False, [])}
    await vscode.eval(HANG)
    late = await ask(asker, "textDocument/references", notes, params, timeout_ms=100)
    assert late == {"answers": [], "late": ["plaintext in VS Code"]}
    refused = await ask(asker, "textDocument/rename", root / "src" / "shapes.ts", NOWHERE | {"newName": "x"})
    assert "You cannot rename this element" in refused["error"]["message"]


async def test_the_model_is_told_what_vscode_knows(vscode: VSCode, wire: Wire, src: Path) -> None:
    """From here on the server is Odin's."""
    await vscode.configure("odin.server.path", str(Path(sys.executable).parent / "odin-lsp"))
    await expect(vscode.status("claude")).to_be_visible()
    play_calls(wire, ("Lookup", {"what": "references", "symbol": "area", "file_path": str(src / "shapes.ts")}))
    wire.play(says("In four files."))
    await vscode.palette("Odin: Ask…")
    await vscode.answer("who uses it?")
    await expect(Chat(vscode).turn.get_by_text("In four files.")).to_be_visible()
    [told] = results(wire)
    assert [line for line in told.split("\n") if ":" not in line] == [
        *(f"src/{name}" for name in CALLERS),
        "src/shapes.ts",
        "(typescript in VS Code)",
    ]
    assert "5:export const a = /* 😀 */ area(1, 2);" in told
    assert told.count("area(") == 5


async def test_all_problems_of_a_file_are_given_to_the_model(vscode: VSCode, wire: Wire, src: Path) -> None:
    await vscode.open_file(src / "c.ts")
    await vscode.until("vscode.languages.getDiagnostics(vscode.Uri.file(args[0])).length > 0", str(src / "c.ts"))
    await vscode.select(4, 4)
    await vscode.code_actions()
    wire.play(says("One is there."))
    await vscode.take_action("Odin: Fix all problems in this file")
    await expect(Chat(vscode).turn.get_by_text("One is there.")).to_be_visible()
    assert "line 4: error: ts: Expected 3 arguments, but got 2. [2554]" in str(wire.request["messages"])


async def test_an_edit_tells_what_it_breaks_in_another_file_and_what_it_mends(
    vscode: VSCode, wire: Wire, src: Path
) -> None:
    chat, shapes = Chat(vscode), {"file_path": str(src / "shapes.ts")}
    broken = "src/b.ts:4 Argument of type 'number' is not assignable to parameter of type 'string'. [ts 2345]"
    play_calls(wire, ("Read", shapes))
    for old, new in (("depth: number", "depth: string"), ("depth: string", "depth: number")):
        play_calls(wire, ("EditTool", shapes | {"old_string": old, "new_string": new}))
    wire.play(says("It is as it was."))
    await vscode.palette("Odin: Edit…")
    await vscode.answer("try a string")
    await expect(chat.turn.get_by_text("It is as it was.")).to_be_visible()
    introduced, fixed = await chat.turn.get_by_role("region", name="Problems").all_inner_texts()
    assert "Problems: 1 introduced" in introduced
    assert "Problems: 1 fixed" in fixed
    assert f"Introduced:\n- {broken}" in results_of({"messages": wire.request["messages"][:-1]})[0]
    assert f"Fixed:\n- {broken}" in results(wire)[0]


async def test_a_rename_is_right_in_five_files_some_of_them_not_saved(vscode: VSCode, wire: Wire, src: Path) -> None:
    paths = [src / name for name in ("shapes.ts", *CALLERS)]
    assert {"shapes.ts", "a.ts", "b.ts"} & set(await vscode.dirty())
    expected = {path: re.sub(r"(?<!// )\barea\b", "surface", await vscode.text(path)) for path in paths}
    place = {"file_path": str(paths[0]), "line": 1, "symbol": "area"}
    play_calls(wire, ("Refactor", {"what": "rename", "new_name": "surface", **place}))
    wire.play(says("Renamed."))
    await vscode.palette("Odin: Edit…")
    await vscode.answer("rename it")
    await expect(Chat(vscode).turn.get_by_text("Renamed.")).to_be_visible()
    assert {path: await vscode.text(path) for path in paths} == expected, results(wire)


async def ask(
    asker: Asker, method: str, path: Path, params: Mapping[str, Any] | None = None, timeout_ms: int = 9000
) -> Any:
    whole = {"textDocument": {"uri": path.as_uri()}, **(params or {})}
    request = {"method": method, "uri": path.as_uri(), "params": whole, "timeoutMs": timeout_ms}
    return await asker.ask("odin/editor/request", request)


async def answer(asker: Asker, method: str, path: Path, params: Mapping[str, Any] | None = None) -> Any:
    """The one that is complete."""
    told = await ask(asker, method, path, params)
    assert [it["ready"] for it in told["answers"]] == [True], told
    return told["answers"][0]["result"]


async def complete(asker: Asker, method: str, path: Path, params: Mapping[str, Any]) -> Any:
    """Ask until somebody says that it is."""

    async def told() -> Any:
        answers = (await ask(asker, method, path, params))["answers"]
        return next((it["result"] for it in answers if it["ready"]), None)

    return await until(told, f"{method} of {path.name}, complete")


async def problems(asker: Asker, *paths: Path, patience_ms: int = 10_000) -> dict[str, tuple[bool, list[str]]]:
    """By the file's name: whether they are current, and what they say."""
    params = {"uris": [it.as_uri() for it in paths], "patienceMs": patience_ms}
    told = await asker.ask("odin/editor/diagnostics", params)
    return {
        Path(it["uri"]).name: (it["current"], [problem["message"] for problem in it["diagnostics"]])
        for it in told["items"]
    }


def starts(places: list[dict[str, Any]]) -> set[tuple[int, int]]:
    return {(it["range"]["start"]["line"], it["range"]["start"]["character"]) for it in places}
