"""What a turn's first step costs by how many files were shown, and by how deep they lie."""

import os
from pathlib import Path

from odin_lsp.agent.held_files import HeldFiles
from odin_lsp.agent.nested_instructions import FolderInstructions, NestedInstructions
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.shown import Shown
from tests.bench import held
from tests.bench.table import Row

PER_FOLDER = 10
FEW, MANY, SHALLOW, DEEP = 100, 10_000, 30, 300
NAMES = ("ODIN.md", "AGENTS.md", "CLAUDE.md", ".git")
"""What a turn looks for in a folder."""
MOST_TIMES, MOST_LOOKS, MOST_HELD = 1.2, 5, 0.05


async def rows(folder: Path) -> list[Row]:
    less, more = [await many(folder / f"many-{number}", number) for number in (FEW, MANY)]
    most = MOST_TIMES * MANY / FEW
    growth = more.seconds / less.seconds
    above, below = [await deep(folder / f"deep-{depth}", depth) for depth in (SHALLOW, DEEP)]
    few, lots = (_looks(folder / f"deep-{depth}", depth) for depth in (SHALLOW, DEEP))
    deeper, looks = below.seconds / above.seconds, lots / few
    what = f"a turn's first step with a file {DEEP} folders deep shown"
    return [
        Row(
            f"a turn's first step with {MANY:,} files shown; with {FEW}",
            *(_ms(more.seconds), _ms(less.seconds), f"{growth:.2f}"),
            *(f"≤ {most:g} ×", growth <= most),
        ),
        *held.rows(more, less, MOST_HELD),
        Row(
            f"{what}; a look for {len(NAMES)} names in each of these folders",
            *(_ms(below.seconds), _ms(lots), f"{below.seconds / lots:.2f}"),
            *(f"≤ {MOST_LOOKS} × the looks", below.seconds <= MOST_LOOKS * lots),
        ),
        Row(
            f"… {SHALLOW} folders deep",
            *(_ms(below.seconds), _ms(above.seconds), f"{deeper:.2f}"),
            *(f"grows as the looks: {looks:.2f}", deeper <= looks),
        ),
        *held.rows(below, above, MOST_HELD),
    ]


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.2f} ms"


def _looks(root: Path, depth: int) -> float:
    """Seconds: the system goes from the root to each name, so they are more for a deep one."""

    def look() -> float:
        began, folder = held.spent(), f"{root}{f'{os.sep}d' * depth}"
        for _ in range(depth):
            for name in NAMES:
                os.path.exists(f"{folder}{os.sep}{name}")  # noqa: PTH110 - as fast as can be
            folder = folder.rpartition(os.sep)[0]
        return held.spent() - began

    return min(look() for _ in range(5))


async def many(folder: Path, number: int) -> held.Hold:
    return await _turn(folder, [folder / f"{it // PER_FOLDER}" / f"{it}.py" for it in range(number)])


async def deep(folder: Path, depth: int) -> held.Hold:
    return await _turn(folder, [folder.joinpath(*["d"] * depth, "code.py")])


async def _turn(root: Path, paths: list[Path]) -> held.Hold:
    """Of a turn's first step, with all that is looked at before and behind it. A busy machine only ever adds."""
    root.mkdir()
    root = root.resolve()
    files, shown = Files([root], Buffers(), FileCache()), Shown()
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n", encoding="utf-8")
        window = files.window(path, 1, 20)
        shown.note(path, 1, window.lines, size=window.size, total=window.total, stamp=window.stamp)
    folders, known = FolderInstructions(files), HeldFiles(files, shown)

    async def step() -> None:
        folders.begin(root)
        await known.listed([])
        await known.changed()
        await NestedInstructions(folders).due([path for path, _ in shown], [])

    return min([await held.watched(step()) for _ in range(5)], key=lambda it: it.seconds)
