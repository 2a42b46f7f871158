"""Measurements of questions about code: what Odin adds to the answer of a language server."""

from dataclasses import replace
from pathlib import Path
from time import perf_counter

from odin_lsp.tools.base import all_tools
from odin_lsp.workspace.text import split_lines
from tests.bench.measure import Series
from tests.support.reviewing import Bench
from tests.support.servers_in_memory import ScriptedServer, ScriptedServers, place

FILES, PLACES, FUNCTIONS = 10, 3, 100


async def references(folder: Path, times: int) -> Series:
    """Seconds for a Lookup of references that a server tells at once; beside it, reading the files that they are in.
    The first time, in which the files are taken apart, is not counted."""
    series = Series()
    bench = Bench(folder, mode="ask_mode")
    text = "".join(f"def f{number}(x):\n    y = total(x)\n    return y\n\n\n" for number in range(FUNCTIONS))
    paths = [bench.write(f"m{number}.py", text) for number in range(FILES)]
    found = [place(path.as_uri(), number * 5 + 1) for path in paths for number in range(PLACES)]
    servers = ScriptedServers([ScriptedServer({"textDocument/references": found})])
    context = replace(bench.context, servers=servers)
    tool = all_tools()["Lookup"]
    asked = tool.parse({"what": "references", "symbol": "total", "file_path": "m0.py", "line": 2})
    for _ in range(times + 1):
        began = perf_counter()
        await tool.run(asked, context)
        series.odin.append(perf_counter() - began)
        began = perf_counter()
        for path in paths:
            split_lines(path.read_text(encoding="utf-8"))
        series.bare.append(perf_counter() - began)
    return Series(series.odin[1:], series.bare[1:])
