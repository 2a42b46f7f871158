"""What a command has changed is noticed, told and listed."""

import pytest

from odin_lsp.agent.touched import touched_files
from tests.support.reviewing import Bench


@pytest.fixture
async def bench(tmp_path):
    bench = Bench(tmp_path)
    for name in ("a.py", "b.py", "src/c.py"):
        bench.write(name, "old = 1\n")
    yield bench
    await bench.executor.close()


async def run(bench, command, **more):
    return (await bench.use("ExecuteCommand", command=command, **more)).content


async def test_what_a_command_has_changed_is_told_and_listed(bench):
    told = await run(bench, "sed -i s/old/new/ a.py src/c.py && echo >> b.py && echo > d.py")

    assert told.splitlines()[-1] == "Changed while it ran: a.py, b.py, d.py, src/c.py."
    [ended] = bench.events_of("toolFinished")
    files = tuple(str(bench.root / name) for name in ("a.py", "b.py", "d.py", "src/c.py"))
    assert ended.files == files
    assert ended.description.endswith(", 4 files changed")
    assert touched_files(bench.executor.records) == list(files)


async def test_what_was_changed_before_is_not_the_commands(bench):
    await bench.read(bench.root / "a.py")
    await bench.edit(bench.root / "a.py", "old", "new")

    assert "Changed" not in await run(bench, "touch -c nothing")


async def test_files_that_were_read_are_told_as_such_and_once(bench):
    await bench.read(bench.root / "a.py")

    told = await run(bench, "sed -i s/old/new/ a.py b.py")

    assert told.splitlines()[-2:] == [
        "Files that you have read have changed: a.py.",
        "Changed while it ran: b.py.",
    ]


async def test_of_ignored_and_hidden_files_nothing_is_told(bench):
    bench.write(".gitignore", "build/\n")

    assert "Changed" not in await run(bench, "mkdir build && echo > build/x && echo > .env")


async def test_of_many_files_some_are_named(bench):
    assert (await run(bench, "for n in $(seq 30); do echo > $n.txt; done")).endswith("(+10 more).")


async def test_a_command_that_is_ended_tells_what_it_had_changed(bench):
    told = await run(bench, "echo > new.py; exec sleep 60", timeout=5000)

    assert "timed out after 5 s" in told
    assert told.endswith("Changed while it ran: new.py.")


@pytest.mark.parametrize(("written", "ran"), [("echo two > b.py", "two\n"), ("cat a.py", "old = 1\n")])
async def test_c_057_a_command_is_edited_judged_anew_run_and_told(bench, written, ran):
    bench.editor.command = written

    told = await run(bench, "echo one > b.py")

    [question] = bench.editor.questions
    assert question.editable
    assert told.startswith(f"The user changed this call before allowing it, to: {written}\n")
    assert ran in (told + (bench.root / "b.py").read_text())
    assert "one" not in (bench.root / "b.py").read_text()


@pytest.mark.parametrize("written", ["sudo true", " ", "echo \0"])
async def test_c_057_a_command_that_is_edited_into_one_that_never_runs_does_not(bench, written):
    bench.editor.command = written

    await run(bench, "echo one > b.py")

    assert (bench.root / "b.py").read_text() == "old = 1\n"
    assert bench.events_of("toolFinished")[0].status == "error"


async def test_c_057_a_command_that_is_left_as_it_was_shown_is_the_models(bench):
    bench.editor.command = "echo one > b.py"

    assert "changed this call" not in await run(bench, "echo one > b.py")
