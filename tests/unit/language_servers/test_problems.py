"""Problems are those of the text as it stands now, or are said not to be."""

import asyncio

import pytest

from odin_lsp.intelligence.servers import Problem, Problems, Unavailable
from tests.support.language_servers import at, diagnostic

NOT_KNOWN = Problems((), is_current=False)
PULL = "textDocument/diagnostic"
OPENED, CHANGED = "textDocument/didOpen", "textDocument/didChange"
PULLS = {"capabilities": {"diagnosticProvider": {"interFileDependencies": True}}}
SHORT, LONG = 0.3, 20


def messages(problems):
    return [it.message for it in problems.found], problems.is_current


async def test_a_report_of_this_version_counts(world):
    servers = world.script({OPENED: [{"report": [diagnostic("bad", code=7)], "version": 1}]})
    path = world.write("a.toy", "é😀x\n")

    told = await servers.problems([path], LONG)

    problem = Problem(
        line=0, character=0, end_line=0, end_character=0, severity="error", message="bad", code="7", source="scripted"
    )
    assert told == {path: Problems((problem,), is_current=True)}


async def test_a_report_of_an_earlier_version_does_not(world):
    table = {
        OPENED: [{"report": [diagnostic("old")], "version": 1}],
        CHANGED: [{"report": [diagnostic("stale")], "version": 1}],
    }
    servers = world.script(table)
    path = world.write("a.toy", "x\n")
    assert messages((await servers.problems([path], LONG))[path]) == (["old"], True)
    world.buffers.open(path.as_uri(), 1, "changed\n")

    assert (await servers.problems([path], SHORT))[path] == NOT_KNOWN


async def test_a_report_without_a_version_counts_after_the_change_once_it_is_quiet(world):
    table = {
        OPENED: [{"report": [diagnostic("old")]}],
        CHANGED: [{"report": [diagnostic("old still")]}, {"report": [diagnostic("new")]}],
    }
    servers = world.script(table)
    path = world.write("a.toy", "x\n")
    assert messages((await servers.problems([path], LONG))[path]) == (["old"], True)
    world.buffers.open(path.as_uri(), 1, "changed\n")

    assert messages((await servers.problems([path], LONG))[path]) == (["new"], True)


async def test_a_change_elsewhere_makes_a_report_old(world):
    """A caller is broken by what it calls."""
    table = {OPENED: [{"report": [], "version": 1}], CHANGED: [{"report": [], "version": 2}]}
    servers = world.script(table)
    caller, called = (world.write(name, "x\n") for name in ("caller.toy", "called.toy"))
    told = await servers.problems([caller, called], LONG)
    assert [messages(told[path]) for path in (caller, called)] == [([], True), ([], True)]
    world.buffers.open(called.as_uri(), 1, "changed\n")

    told = await servers.problems([caller, called], LONG)

    assert (told[called].is_current, told[caller]) == (True, NOT_KNOWN)
    assert not (await servers.problems([], LONG)).get(caller, NOT_KNOWN).is_current


async def test_a_save_and_what_is_no_code_make_no_report_old(world):
    servers = world.script({OPENED: [{"report": [], "version": 1}], CHANGED: [{"report": [], "version": 2}]})
    path, readme = world.write("a.toy", "x\n"), world.write("README.md", "x\n")
    await servers.problems([path], LONG)
    world.buffers.open(path.as_uri(), 1, "changed\n")
    assert (await servers.problems([path], LONG))[path].is_current

    world.write("a.toy", "changed\n")
    world.buffers.save(path.as_uri())
    readme.write_text("other\n")

    assert (await servers.problems([path], LONG))[path].is_current


async def test_silence_is_not_a_clean_document(world):
    servers = world.script({})
    path = world.write("a.toy", "x\n")

    assert await servers.problems([path], SHORT) == {path: NOT_KNOWN}


async def test_one_that_can_be_asked_is_asked(world):
    servers = world.script({**PULLS, PULL: [{"answer": {"kind": "full", "items": [diagnostic("asked")]}}]})
    paths = [world.write(name, "x\n") for name in ("a.toy", "b.toy")]

    told = await servers.problems(paths, LONG)

    assert {path.name: messages(it) for path, it in told.items()} == {
        "a.toy": (["asked"], True),
        "b.toy": (["asked"], True),
    }


async def test_an_answer_is_not_believed_while_the_project_is_being_read(world):
    busy = [{"message": {"method": "$/progress", "params": {"token": 1, "value": {"kind": "begin"}}}}]
    servers = world.script({**PULLS, "initialized": busy, PULL: [{"answer": {"kind": "full", "items": []}}]})
    path = world.write("a.toy", "x\n")

    assert await servers.problems([path], SHORT) == {path: NOT_KNOWN}


async def test_one_that_never_says_whether_it_is_ready_is_believed_about_the_text_that_it_names(world):
    servers = world.script({"initialized": [], OPENED: [{"report": [diagnostic("bad")], "version": 1}]})
    path = world.write("a.toy", "x\n")

    assert messages((await servers.problems([path], LONG))[path]) == (["bad"], True)
    assert not (await (await world.first(path)).ask("textDocument/references", at(path))).is_ready


async def test_what_is_typed_while_it_answers_makes_the_answer_old(world):
    servers = world.script({**PULLS, PULL: [{"late": {"kind": "full", "items": []}}]})
    path = world.write("a.toy", "x\n")
    server = await world.first(path)
    asking = asyncio.create_task(servers.problems([path], LONG))
    while not await world.received(server, PULL):
        await asyncio.sleep(0)
    world.buffers.open(path.as_uri(), 1, "typed\n")

    await server.ask("test/release", {})

    assert await asking == {path: NOT_KNOWN}


async def test_places_are_counted_in_characters_whatever_the_server_counts_in(world):
    end = {"line": 0, "character": 5}
    for encoding, units in (("utf-8", 6), ("utf-16", 3), ("utf-32", 2)):
        reported = diagnostic("here", 0, units, {**end, "character": units + 1})
        servers = world.script(
            {"capabilities": {"positionEncoding": encoding}, OPENED: [{"report": [reported], "version": 1}]}
        )
        path = world.write("a.toy", "é😀x\n")

        [problem] = (await servers.problems([path], LONG))[path].found

        assert (problem.character, problem.end_character) == (2, 3)
        await servers.close()


async def test_what_is_no_diagnostic_is_left_out_and_places_past_the_end_are_the_end(world):
    far = {"line": 10**9, "character": 10**9}
    items = [None, 3, {}, {"range": None, "message": "x"}, diagnostic(7), diagnostic("far", 10**9, -5, far)]
    servers = world.script({OPENED: [{"report": items, "version": 1}]})
    path = world.write("a.toy", "one\ntwo")

    [problem] = (await servers.problems([path], LONG))[path].found

    assert (problem.line, problem.character, problem.end_line, problem.end_character) == (1, 3, 1, 3)


async def test_without_paths_only_what_is_known_is_told_and_nobody_is_asked(world):
    servers = world.script({OPENED: [{"report": [diagnostic("bad")], "version": 1}]})
    path, other = world.write("a.toy", "x\n"), world.write("b.toy", "x\n")
    await servers.problems([path], LONG)
    assert {it: messages(problems) for it, problems in (await servers.problems([], LONG)).items()} == {
        path: (["bad"], True)
    }
    world.buffers.open(path.as_uri(), 1, "changed\n")

    [(found, problems)] = (await servers.problems([], LONG)).items()

    assert (found, problems.is_current) == (path, False)
    assert other not in await servers.problems([], LONG)


async def test_documents_that_nobody_serves_are_left_out(world):
    servers = world.script({})

    assert await servers.problems([world.write("a.txt", "x\n")], SHORT) == {}


async def test_a_server_that_has_died_has_fixed_nothing(world):
    table = {OPENED: [{"report": [diagnostic("bad")], "version": 1}], "textDocument/hover": [{"exit": 1}]}
    servers = world.script(table, pauses=(60.0,))
    path = world.write("a.toy", "x\n")
    assert messages((await servers.problems([path], LONG))[path]) == (["bad"], True)
    with pytest.raises(Unavailable):
        await (await world.first(path)).ask("textDocument/hover", at(path))

    assert await servers.problems([path], LONG) == {path: NOT_KNOWN}


async def test_errors_and_warnings_are_counted_as_they_were_told_last(world):
    table = {
        OPENED: [{"report": [diagnostic("one"), diagnostic("two", severity=1), diagnostic("hm", severity=2)]}],
        CHANGED: [{"report": [diagnostic("three"), diagnostic("note", severity=3)]}],
    }
    servers = world.script(table)
    path = world.write("a.toy", "x\n")
    await servers.problems([path], LONG)
    [before] = servers.states()
    world.buffers.open(path.as_uri(), 1, "changed\n")
    await servers.problems([path], LONG)

    [after] = servers.states()
    assert [(it.errors, it.warnings) for it in (before, after)] == [(2, 1), (1, 0)]
