"""Real servers in a real project: pyright, and ruff beside it."""

import os
import sys
from pathlib import Path

import pytest

from tests.support.language_servers import at

PROJECT = {
    "shapes.py": "class Shape:\n    def area(self, scale: int) -> int:\n        return scale\n",
    **{
        f"user_{n}.py": f"from shapes import Shape\n\n\ndef use_{n}() -> int:\n    return Shape().area({n})\n"
        for n in range(4)
    },
    "others.py": "class Field:\n    def area(self) -> int:\n        return 1\n\n\n"
    + "".join(f"a{n} = Field().area()  # the area of a field\n" for n in range(12)),
}
AREA = 1, 9
REFERENCES = "textDocument/references"
PATIENCE = 60.0


@pytest.fixture
def python(world, monkeypatch):
    """A project in Python, and the servers of this environment."""
    programs = world.outside / "bin"
    programs.mkdir()
    for name in ("pyright-langserver", "ruff"):
        (programs / name).symlink_to(Path(sys.executable).with_name(name))
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    for name, text in PROJECT.items():
        world.write(name, text)
    disabled = {"basedpyright": {"enabled": False}}
    world.use(timeout=PATIENCE, servers=disabled)
    return world


def places(result):
    return sorted((it["uri"].rpartition("/")[2], it["range"]["start"]["line"]) for it in result)


def messages(problems):
    assert problems.is_current
    return [(it.line, it.source, it.code) for it in problems.found]


async def test_a_cold_server_finds_all_references_and_no_others_of_the_name(python):
    shapes = python.root / "shapes.py"

    told = await (await python.first(shapes)).ask(REFERENCES, at(shapes, *AREA))

    assert told.is_ready
    assert places(told.result) == [("shapes.py", 1), *((f"user_{n}.py", 4) for n in range(4))]
    by_name = sum(text.count("area") for text in PROJECT.values())
    assert by_name >= 3 * len(told.result)


async def test_what_is_not_saved_and_what_is_new_is_seen(python):
    shapes, user = python.root / "shapes.py", python.root / "user_0.py"
    pyright = await python.first(shapes)
    await pyright.ask(REFERENCES, at(shapes, *AREA))
    python.buffers.open(user.as_uri(), 1, PROJECT["user_0.py"] + "\n\nx = '😀', Shape().area(7)\n")
    python.write("new.py", "from shapes import Shape\n\nShape().area(8)\n")

    told = await pyright.ask(REFERENCES, at(shapes, *AREA))

    assert {("user_0.py", 7), ("new.py", 2)} < set(places(told.result))
    [unsaved] = [it["range"]["start"] for it in told.result if it["range"]["start"]["line"] == 7]
    assert (pyright.encoding, unsaved["character"]) == ("utf-16", len("x = '##', Shape()."))


async def test_a_rename_is_of_all_files_also_of_what_is_not_saved(python):
    shapes, user = python.root / "shapes.py", python.root / "user_0.py"
    python.buffers.open(user.as_uri(), 1, "# not saved\n" + PROJECT["user_0.py"])
    pyright = await python.first(shapes)
    assert pyright.offers("textDocument/rename")

    told = await pyright.ask("textDocument/rename", {**at(shapes, *AREA), "newName": "surface"})

    assert told.is_ready
    changes = {it["textDocument"]["uri"]: it["edits"] for it in told.result["documentChanges"]}
    assert len(changes) == 5
    assert [it["range"]["start"]["line"] for it in changes[user.as_uri()]] == [5]


async def test_a_caller_that_an_edit_breaks_is_reported_and_its_mend_too(python):
    shapes, users = python.root / "shapes.py", [python.root / f"user_{n}.py" for n in (1, 2)]
    before = await python.servers.problems([shapes, *users], PATIENCE)
    assert [messages(before[path]) for path in (shapes, *users)] == [[], [], []]
    broken = PROJECT["shapes.py"].replace("scale: int", "scale: str")
    python.buffers.open(shapes.as_uri(), 1, broken)

    after = await python.servers.problems([shapes, *users], PATIENCE)

    argument = (4, "Pyright", "reportArgumentType")
    assert [messages(after[path]) for path in users] == [[argument], [argument]]
    assert messages(after[shapes]) == [(2, "Pyright", "reportReturnType")]
    python.buffers.open(shapes.as_uri(), 2, PROJECT["shapes.py"])
    mended = await python.servers.problems([shapes, *users], PATIENCE)
    assert [messages(mended[path]) for path in (shapes, *users)] == [[], [], []]


async def test_ruff_speaks_beside_the_one_that_knows_the_language(python):
    path = python.write("unused.py", "import os\n")

    servers = await python.servers.of(path)
    told = await python.servers.problems([path], PATIENCE)

    assert [it.name for it in servers] == ["pyright", "ruff"]
    assert [it.offers(REFERENCES) for it in servers] == [True, False]
    assert [it.offers("textDocument/formatting") for it in servers] == [False, True]
    assert (0, "Ruff", "F401") in messages(told[path])
