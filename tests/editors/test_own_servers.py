"""Language servers that Odin starts itself, in projects of other languages than its own: cold, and asked at once."""

import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from odin_lsp.config import LanguageServerSettings
from odin_lsp.language_servers.choosing import Around
from odin_lsp.language_servers.pool import OwnServers
from odin_lsp.workspace.search import Search
from tests.editors.code_server import typescript_server
from tests.editors.conftest import skipped_if_unavailable
from tests.support.closing import closing
from tests.support.reviewing import Bench

PROJECT = {
    "package.json": '{"type": "module"}\n',
    "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "nodenext"}}\n',
    "shapes.ts": "export class Shape {\n  area(scale: number): number {\n    return scale;\n  }\n}\n",
    **{
        f"user_{n}.ts": f"import {{ Shape }} from './shapes.js';\nexport const u = ['😀 area', new Shape().area({n})]\n"
        for n in range(4)
    },
    "field.ts": "class Field {\n  area() {\n    return 1;\n  }\n}\n"
    + "".join(f"export const a{n} = new Field().area(); // the area of a field\n" for n in range(12)),
}
UNSAVED = "// not saved: 😀 area\r\n" + PROJECT["user_0.ts"].replace("\n", "\r\n")
PATIENCE = 120.0


@pytest_asyncio.fixture
async def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bench]:
    """A project that nobody has looked at, in a folder that is trusted."""
    with skipped_if_unavailable():
        program = typescript_server()
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    async with closing():
        bench = Bench(tmp_path)
        for name, text in PROJECT.items():
            bench.write(name, text)
        settings = LanguageServerSettings.model_validate({"timeout": PATIENCE})
        around = Around(roots=(bench.root,), settings=settings, is_trusted=True)
        servers = OwnServers(bench.files, Search(bench.files), around, lambda *_: None)
        bench.context = bench.executor.context = replace(bench.context, servers=servers)
        yield bench
        await servers.close()


async def test_a_cold_rename_over_five_files_with_one_not_saved_is_one_review_and_right_byte_for_byte(
    bench: Bench,
) -> None:
    bench.open(bench.root / "user_0.ts", UNSAVED)

    result = await bench.use("Refactor", what="rename", file_path="shapes.ts", symbol="area", new_name="surface")

    assert result.content == (
        "Accepted: 5 changes in 5 files (shapes.ts 1, user_0.ts 1, user_1.ts 1, user_2.ts 1, user_3.ts 1)."
        " (typescript-language-server)"
    )
    assert [(it.atomic, len(it.files)) for it in bench.editor.reviews] == [(True, 5)]
    renamed = {name: text.replace(".area(", ".surface(") for name, text in PROJECT.items() if name.startswith("user")}
    renamed |= {"shapes.ts": PROJECT["shapes.ts"].replace("area", "surface")}
    renamed |= {"user_0.ts": UNSAVED.replace(".area(", ".surface(")}
    assert {name: bench.text(bench.root / name) for name in PROJECT} == {**PROJECT, **renamed}


async def test_a_cold_server_knows_all_references_and_no_others_of_the_name(bench: Bench) -> None:
    told = (await bench.use("Lookup", what="references", file_path="shapes.ts", symbol="area")).content.splitlines()

    assert told[-1] == "(typescript-language-server)"
    assert [line for line in told if line.endswith(".ts")] == ["shapes.ts", *(f"user_{n}.ts" for n in range(4))]
    by_name = sum(text.count("area") for text in PROJECT.values())
    assert by_name >= 3 * sum(line[0].isdigit() for line in told)
