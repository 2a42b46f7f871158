"""What an edit broke and mended, who wrote a line, and a rename over several files, for the docs."""

import json
from pathlib import Path

from playwright.async_api import expect

from tests.e2e.steps import play_calls, says
from tests.editors.vscode import VSCode
from tests.editors.vscode_chat import Chat
from tests.pictures.vscode import PICTURES, picture, widen, window
from tests.support.wire import Wire, serving

PROJECT = {"compilerOptions": {"strict": True, "noEmit": True, "module": "esnext", "moduleResolution": "bundler"}}
SHAPES = """\
export function area(width: number, height: number): number {
  return width * height;
}
"""
WALLS = """\
import { area } from "./shapes";

export function paint(rooms: [number, number][]): number {
  return rooms.map(([width, height]) => area(width, height)).reduce((sum, it) => sum + it, 0);
}
"""
CALLER = """\
import {{ area }} from "./shapes";

export const {name} = area({width}, {height});
"""
FILES = {
    "tsconfig.json": json.dumps(PROJECT),
    "odinconfig.json": json.dumps({"diagnostics": {"wait": 30}}),
    "src/shapes.ts": SHAPES,
    "src/walls.ts": WALLS,
    **{f"src/{name}.ts": CALLER.format(name=name, width=4, height=2) for name in ("door", "floor", "window")},
}
OLD, NEW = "area(width: number, height: number)", "area(width: number, height: number, scale: number)"
MENDED = NEW.replace("scale: number", "scale = 1")


async def take() -> None:
    async with serving() as wire, window(wire, "shapes", FILES) as (vscode, project):
        chat, shapes = Chat(vscode), project / "src" / "shapes.ts"
        await vscode.open_file(shapes)
        await chat.open()
        await widen(vscode)
        await _problems(vscode, wire, shapes)
        await _hover(vscode, shapes)
        await _rename(vscode, wire, shapes)


async def _problems(vscode: VSCode, wire: Wire, shapes: Path) -> None:
    chat, file = Chat(vscode), {"file_path": str(shapes)}
    await vscode.configure("odin.review.policy", "auto")
    play_calls(wire, ("Read", file))
    play_calls(wire, ("EditTool", file | {"old_string": OLD, "new_string": NEW}))
    play_calls(wire, ("EditTool", file | {"old_string": NEW, "new_string": MENDED}))
    wire.play(says("`area` takes a `scale`. It has a default, so all callers still compile."))
    await chat.say("let area take a scale", "Edit")
    await expect(chat.turn.locator(".end")).to_contain_text("claude")
    await expect(chat.turn.get_by_role("region", name="Problems")).to_have_count(2)
    await picture(vscode, "problems", ["dark"])


async def _hover(vscode: VSCode, shapes: Path) -> None:
    await vscode.open_file(shapes)
    await vscode.select(1, 1)
    await vscode.command("editor.action.showHover")
    await expect(vscode.page.locator(".monaco-hover:visible")).to_contain_text("Odin wrote this line")
    await vscode.screenshot(PICTURES / "vscode-hover-dark.png")
    await vscode.press("Escape")


async def _rename(vscode: VSCode, wire: Wire, shapes: Path) -> None:
    chat = Chat(vscode)
    await vscode.configure("odin.review.policy", "each")
    place = {"file_path": str(shapes), "line": 1, "symbol": "area"}
    play_calls(wire, ("Refactor", {"what": "rename", "new_name": "surface", **place}))
    wire.play(says("`area` is `surface` now, in five files."))
    await chat.say("rename area to surface", "Edit")
    await expect(vscode.lens("Accept").first).to_be_visible()
    await expect(chat.review).to_be_visible()
    await picture(vscode, "rename", ["dark"])
    await vscode.palette("Odin: Accept All Changes")
    await expect(chat.turn.get_by_text("in five files")).to_be_visible()
