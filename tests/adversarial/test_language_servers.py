"""Language servers that are broken or hostile: no wrong statement, no hang, and nothing is left of them."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from odin_lsp.intelligence.servers import Problems, Unavailable
from tests.support.language_servers import World, at, diagnostic, own_processes

ASKED = "textDocument/references"
OPENED = "textDocument/didOpen"
PLACE = {"uri": "file:///x", "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}}
HEADER = "Content-Length: "
ROOT = Path(__file__).parents[2]
PATIENCE = 60.0
SHORT = 5


@pytest.fixture
async def world(tmp_path):
    before = own_processes()
    world = World(tmp_path, timeout=PATIENCE)
    yield world
    await world.servers.close()
    assert own_processes() <= before


@pytest.fixture
def path(world):
    return world.write("a.toy", "x\n")


def framed(body):
    return f"{HEADER}{len(body)}\r\n\r\n{body}"


ANSWERS = {
    "null": ([{"answer": None}], None),
    "a place past the end, as it is": ([{"answer": [PLACE]}], [PLACE]),
    "twice": ([{"answer": [1]}, {"answer": [2]}], [1]),
    "to a question that nobody asked, and then this one": ([{"message": {"id": 999, "result": 1}}, {"answer": 2}], 2),
    "after a flood of complaints": ([{"complain": 100_000}, {"answer": [1]}], [1]),
    "after notifications that are nonsense": (
        [
            *({"message": {"method": it, "params": 3}} for it in ("$/progress", "textDocument/publishDiagnostics")),
            {"message": {"method": "textDocument/publishDiagnostics", "params": {"uri": 3, "diagnostics": {}}}},
            {"message": {"method": "window/logMessage"}},
            {"answer": [1]},
        ],
        [1],
    ),
    "10,000 places": ([{"many": 10_000, "of": PLACE}], [PLACE] * 10_000),
}


@pytest.mark.parametrize("case", ANSWERS)
async def test_what_can_be_understood_is_handed_on(world, path, case):
    acts, expected = ANSWERS[case]
    world.script({ASKED: acts})

    told = await (await world.first(path)).ask(ASKED, at(path))

    assert told.result == expected


REFUSALS = {
    "never": ([], r"scripted has not answered textDocument/references in [\d.]+ s"),
    "late": ([{"late": [1]}], r"scripted has not answered textDocument/references in [\d.]+ s"),
    "dies": ([{"exit": 7}], "scripted has stopped with code 7"),
    "dies in the middle of a message": ([{"raw": f"{HEADER}100\r\n\r\n{{"}, {"exit": 0}], "scripted has stopped"),
    "an error without words": ([{"message": {"id": "same", "error": 3}}], "scripted refuses: 3"),
    "an error of many words": (
        [{"message": {"id": "same", "error": {"code": 1, "message": "x" * 10_000}}}],
        r"\Ascripted refuses: x{300}\Z",
    ),
    "no JSON": ([{"raw": framed("garbage")}], "scripted has sent something that is no message of LSP"),
    "no object": ([{"raw": framed("[1]")}], "scripted has sent something that is no message of LSP"),
    "neither result nor error": ([{"message": {"id": "same"}}], "something that is no message of LSP"),
    "nested without end": ([{"raw": framed("[" * 100_000)}], "something that is no message of LSP"),
    "no frames": ([{"raw": "Hello, I am a server\n\n"}], "scripted does not speak LSP"),
    "a header that does not end": ([{"raw": "x" * 100_000}], "scripted does not speak LSP"),
    "a length that is none": ([{"raw": f"{HEADER}-1\r\n\r\n"}], "scripted does not speak LSP"),
    "20 MiB": ([{"many": 5_000_000, "of": 1234}], "scripted has sent more than 16 MiB in one message"),
    "a million values": ([{"many": 1_500_000, "of": 1}], "scripted has sent more than 1,000,000 values in one message"),
    "100 MiB, announced": ([{"raw": f"{HEADER}{100 * 2**20}\r\n\r\n"}], "more than 16 MiB in one message"),
}


@pytest.mark.parametrize("case", REFUSALS)
async def test_what_cannot_be_understood_is_not_available_and_the_next_question_is_answered(world, path, case):
    acts, said = REFUSALS[case]
    timeout = SHORT if case in ("never", "late") else PATIENCE
    world.script({ASKED: acts, "textDocument/hover": [{"answer": "x"}]}, timeout=timeout)
    server = await world.first(path)

    with pytest.raises(Unavailable, match=said):
        await server.ask(ASKED, at(path))

    if case == "100 MiB, announced":
        return  # nobody knows where the next message begins, until that is through
    while not (again := await world.servers.of(path)):
        await asyncio.sleep(0.01)
    assert (await again[0].ask("textDocument/hover", at(path))).result == "x"


async def test_an_answer_that_comes_after_all_is_not_taken_for_another(world, path):
    world.script({ASKED: [{"late": ["late"]}], "textDocument/hover": [{"answer": "x"}]}, timeout=SHORT)
    server = await world.first(path)
    with pytest.raises(Unavailable):
        await server.ask(ASKED, at(path))

    released, hover = await asyncio.gather(server.ask("test/release", {}), server.ask("textDocument/hover", at(path)))

    assert (released.result, hover.result) == (None, "x")


STARTS = {
    "never answers": [],
    "answers null": [{"answer": None}],
    "says nothing of itself": [{"answer": {"capabilities": 3}}],
    "refuses": [{"message": {"id": "same", "error": {"code": -1, "message": "not today"}}}],
    "dies": [{"exit": 1}],
    "speaks something else": [{"raw": "HTTP/1.1 400 Bad Request\r\n\r\n"}],
}


@pytest.mark.parametrize("case", STARTS)
async def test_one_that_does_not_start_is_left_out_and_given_up_after_some_tries(world, path, case):
    servers = world.script({"initialize": STARTS[case]}, start_seconds=SHORT)

    for _ in range(5):
        assert await servers.of(path) == []
        assert await servers.problems([path], PATIENCE) == {}

    assert [it.state for it in servers.states()] == ["given up"]
    assert len(world.told) == 1


@pytest.mark.parametrize("acts", [[], [{"complain": 100_000}], [{"message": {"id": "same", "error": {}}}]])
async def test_one_that_refuses_to_end_is_ended(world, path, acts):
    world.script({"shutdown": acts, "exit": [{"complain": 1}]})
    await world.first(path)

    async with asyncio.timeout(PATIENCE):
        await world.servers.close()


REPORTS = {
    "of the version before": [{"report": [diagnostic("stale")], "version": 0}],
    "of no document": [{"message": {"method": "textDocument/publishDiagnostics", "params": {"diagnostics": []}}}],
    "that are no list": [{"report": {"a": 1}, "version": 1}],
    "of another document": [
        {
            "message": {
                "method": "textDocument/publishDiagnostics",
                "params": {"uri": "file:///other", "version": 9, "diagnostics": [diagnostic("other")]},
            }
        }
    ],
}


@pytest.mark.parametrize("case", REPORTS)
async def test_reports_that_are_not_of_this_text_say_nothing(world, path, case):
    servers = world.script({OPENED: REPORTS[case]})

    assert await servers.problems([path], 0.5) == {path: Problems((), is_current=False)}


async def test_more_problems_than_anybody_reads_are_cut(world, path):
    servers = world.script({OPENED: [{"report": [diagnostic("x" * 3000)] * 3000, "version": 1}]})

    found = (await servers.problems([path], PATIENCE))[path].found

    assert (len(found), len(found[0].message)) == (1000, 2000)


FACTS = """#!/bin/sh
echo "key $TOY_API_KEY, preload $LD_PRELOAD, temporary files $(touch "$TMPDIR/x" && echo yes), \\
workspace $(touch "$PWD/written" 2>&-  && echo yes || echo no)" >&2
exit 1
"""


@pytest.mark.held
async def test_it_gets_no_secrets_and_can_write_nothing_but_temporary_files(world, monkeypatch):
    monkeypatch.setenv("TOY_API_KEY", "sk-secret")
    monkeypatch.setenv("LD_PRELOAD", "")
    script = world.outside / "server.sh"
    script.write_text(FACTS)
    script.chmod(0o755)
    servers = world.use(servers={"toy": {"command": [str(script)], "languages": {".toy": "toy"}}}, pauses=(60.0,))

    await servers.of(world.write("a.toy", "x\n"))

    [state] = servers.states()
    assert state.problem.endswith("key , preload , temporary files yes, workspace no")
    assert not (world.root / "written").exists()


async def test_what_a_server_has_started_ends_with_it(world, path):
    script = world.outside / "server.sh"
    script.write_text(f"#!/bin/sh\nsetsid sleep 300 &\nexec {os.environ.get('SHELL', '/bin/sh')} -c 'sleep 300'\n")
    script.chmod(0o755)
    servers = world.use(
        servers={"toy": {"command": [str(script)], "languages": {".toy": "toy"}}}, timeout=0.5, start_seconds=0.5
    )
    before = own_processes()

    assert await servers.of(path) == []

    await servers.close()
    assert own_processes() <= before


KILLED = """
import asyncio, sys
from pathlib import Path
from tests.support.language_servers import World, own_processes

async def main():
    world = World(Path(sys.argv[1]))
    world.script({"exit": [{"complain": 1}], "shutdown": []})
    await world.servers.of(world.write("a.toy", "x"))
    print(*own_processes(), flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_no_server_outlives_an_odin_that_is_killed(tmp_path):
    killed = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED, str(tmp_path), stdout=PIPE, cwd=ROOT)
    started = [int(pid) for pid in (await killed.stdout.readline()).split()]
    assert len(started) >= 2

    killed.kill()
    await killed.wait()

    async with asyncio.timeout(PATIENCE):
        while any(is_alive(pid) for pid in started):
            await asyncio.sleep(0.01)


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
