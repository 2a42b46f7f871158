"""A release, built and tried: `python -m tests.release TOOLS [FOLDER]`.

What is committed is built twice, in folders of different names, and must come out the same. Then each package is
installed where nothing is, and answers a question. `TOOLS` is a folder with the programs of the group `release`; what
was built stays in `FOLDER`, else in `dist`."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.release import contents, installing
from tests.release.building import Built, build, committed

HEAD = ("package", "bytes", "twice the same", "contents", "installed by, and answers")


def main(tools: Path, folder: Path) -> int:
    with tempfile.TemporaryDirectory(prefix="odin-release-") as name:
        place = Path(name)
        release = committed()
        first, again = (build(release, place / it, tools) for it in ("first", "the second time"))
        rows = list(_rows(release.version, first, again, place, tools))
        folder.mkdir(parents=True, exist_ok=True)
        for it in first:
            (folder / it.path.name).write_bytes(it.path.read_bytes())
    _print(rows)
    sys.stdout.write(f"\nOdin {release.version} at {release.commit[:7]}, in {folder}/\n")
    problems = [*release.problems, *(cell for row in rows for cell in row if cell.startswith("✗"))]
    sys.stdout.writelines(f"{it}\n" for it in problems)
    return int(bool(problems))


def _rows(version: str, first: list[Built], again: list[Built], place: Path, tools: Path) -> Iterator[tuple[str, ...]]:
    tried = installing.tried({it.kind: it.path for it in first}, place, tools)
    wheel = next(it.path for it in first if it.kind == "wheel")
    for one, other in zip(first, again, strict=True):
        data = one.path.read_bytes()
        same = "✓" if data == other.path.read_bytes() else "✗ the bytes differ"
        wrong = contents.problems(one, version)
        if one.kind == "vsix" and not wrong and not contents.has_inside(one.path, wheel):
            wrong = [f"its server is not {wheel.name}"]
        inside = f"✗ {'; '.join(wrong)}" if wrong else f"✓ {len(contents.names(one.path))} files"
        yield one.path.name, f"{len(data):,}", same, inside, tried[one.kind]


def _print(rows: list[tuple[str, ...]]) -> None:
    table = [HEAD, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(HEAD))]
    for row in table:
        sys.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path((*sys.argv, "dist")[2])))
