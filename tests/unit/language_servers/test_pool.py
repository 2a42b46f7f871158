"""Servers start when somebody asks, end when nobody does, and are not trusted to live."""

import asyncio
import os
import signal
import threading

import pytest

from odin_lsp.config import LanguageServerSettings
from odin_lsp.intelligence.servers import Unavailable
from odin_lsp.language_servers import choosing
from odin_lsp.language_servers.choosing import Around
from tests.support.language_servers import at, own_processes, processes_below

REFERENCES = "textDocument/references"


async def killed(world, server):
    """Kill it, and wait until that is known."""
    for pid in processes_below(server.pid):
        os.kill(pid, signal.SIGKILL)
    while any(it.state in ("ready", "loading") for it in world.servers.states()):
        await asyncio.sleep(0.01)


async def test_nothing_starts_before_somebody_asks(world):
    before = own_processes()
    servers = world.script({})

    assert await servers.problems([], 1) == {}
    assert await servers.of(world.write("a.txt", "")) == []
    assert servers.states() == []
    assert own_processes() <= before


async def test_what_is_installed_is_looked_up_beside_the_loop(world, monkeypatch):
    """It resolves each folder of `PATH` for each server that there might be."""
    threads, resolve = list[int](), choosing.trusted_path

    def resolving(path, roots):
        threads.append(threading.get_ident())
        return resolve(path, roots)

    monkeypatch.setattr(choosing, "trusted_path", resolving)
    servers = world.script({})

    assert await servers.problems([world.write("a.py", ""), world.write("b.ts", "")], 10) == {}
    assert threads
    assert threading.get_ident() not in threads


async def test_one_server_is_for_all_files_of_a_project_and_all_who_ask_at_once(world):
    servers = world.script({})
    paths = [world.write(name, "x\n") for name in ("a.toy", "b.toy")]

    found = await asyncio.gather(*(servers.of(path) for path in paths * 3))

    assert len({id(server) for [server] in found}) == 1


async def test_what_runs_is_listed_with_its_memory(world):
    world.script({})
    path = world.write("a.toy", "x\n")
    server = await world.first(path)
    await server.ask(REFERENCES, at(path))

    [state] = world.servers.states()

    assert (state.name, state.root, state.state, state.problem) == ("scripted", str(world.root), "ready", None)
    assert state.memory > 1024 * 1024


async def test_nothing_is_left_when_they_are_closed(world):
    before = own_processes()
    servers = world.script({})
    await world.first(world.write("a.toy", "x\n"))
    assert not own_processes() <= before

    await servers.close()

    assert own_processes() <= before
    assert await servers.of(world.write("a.toy", "x\n")) == []


async def test_one_that_is_still_starting_is_ended_too(world):
    before = own_processes()
    servers = world.script({"initialize": []}, timeout=0.5)
    assert await servers.of(world.write("a.toy", "x\n")) == []
    assert [it.state for it in servers.states()] == ["starting"]

    await servers.close()

    assert own_processes() <= before


async def test_one_that_died_is_started_again(world):
    world.script({REFERENCES: [{"answer": [1]}]})
    path = world.write("a.toy", "x\n")
    first = await world.first(path)
    await killed(world, first)
    assert [it.state for it in world.servers.states()] == ["stopped"]
    with pytest.raises(Unavailable, match="scripted has stopped"):
        await first.ask(REFERENCES, at(path))

    second = await world.first(path)

    assert (await second.ask(REFERENCES, at(path))).result == [1]
    assert world.told == []


async def test_one_that_died_is_left_alone_for_a_moment(world):
    world.script({}, pauses=(60.0,))
    path = world.write("a.toy", "x\n")
    await killed(world, await world.first(path))

    assert await world.servers.of(path) == []


async def test_one_that_keeps_dying_is_given_up_and_told_of_once(world):
    servers = world.script({"initialize": [{"complain": 1}, {"exit": 3}]})
    path = world.write("a.toy", "x\n")

    for _ in range(6):
        assert await servers.of(path) == []

    [state] = servers.states()
    assert (state.state, state.problem) == ("given up", "scripted has stopped with code 3: complaint")
    [(level, message)] = world.told
    assert level == "warning"
    assert message.startswith("The language server scripted keeps stopping, and Odin goes on without it (scripted has")


async def test_other_settings_give_another_chance(world):
    servers = world.script({"initialize": [{"exit": 3}]})
    path = world.write("a.toy", "x\n")
    for _ in range(4):
        await servers.of(path)

    servers.adapt(Around(roots=(world.root,)))

    assert servers.states() == []


async def test_one_that_is_disabled_ends_at_once(world):
    before = own_processes()
    servers = world.script({})
    path = world.write("a.toy", "x\n")
    await servers.of(path)

    servers.adapt(Around(roots=(world.root,), settings=LanguageServerSettings(enabled=False)))

    assert await servers.of(path) == []
    assert servers.states() == []
    while not own_processes() <= before:
        await asyncio.sleep(0.01)


async def test_one_that_nobody_asks_is_ended_and_started_when_it_is_needed(world):
    before = own_processes()
    servers = world.script({REFERENCES: [{"answer": [1]}]}, idle=1)
    path = world.write("a.toy", "x\n")
    await servers.of(path)

    while not own_processes() <= before:
        await asyncio.sleep(0.01)

    assert servers.states() == []
    assert (await (await world.first(path)).ask(REFERENCES, at(path))).result == [1]
