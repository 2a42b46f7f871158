"""What edits did to the problems of a workspace: told with the receipt, before a turn ends, and in its outcome."""

import asyncio

import pytest

from odin_lsp.agent.edit_checks import MAX_TOLD
from odin_lsp.events import DiagnosticsCompared, ToolFinished
from odin_lsp.intelligence.servers import NoServers, Unavailable
from odin_lsp.sessions.export import exported, transcript
from odin_lsp.sessions.publish import plain
from odin_lsp.terminal.output import PipedOutput
from odin_lsp.terminal.render import PlainRenderer
from odin_lsp.terminal.rich_renderer import RichRenderer
from odin_lsp.values import to_wire
from odin_lsp.workspace.text import Change, Position
from tests.support.reviewing import ScriptedEditor, reject
from tests.support.servers_in_memory import CheckingServers

LIBRARY = "def total():\n    code\n\n\ndef other(): ...\n"
CALLER = "# calls\nuse(total)\n"


@pytest.fixture
def checked(odin):
    """A workspace of two files, in which what one uses the other defines, and a server that says so."""

    def make(files):
        odin.person.files = files
        odin.checker = CheckingServers(files)
        return odin.checker

    for path in odin.root.iterdir():
        path.unlink()
    (odin.root / "library.py").write_text(LIBRARY)
    (odin.root / "caller.py").write_text(CALLER)
    odin.settings["review"] = {"policy": "auto"}
    odin.person = ScriptedEditor(None)
    odin.servers = make
    return odin


def edit(call, odin, old, new, name="library.py"):
    path = str(odin.root / name)
    return {"calls": [call("EditTool", file_path=path, old_string=old, new_string=new)]}


def read(call, odin, *names):
    return {"calls": [call("Read", file_path=str(odin.root / it)) for it in names or ("library.py", "caller.py")]}


def told(odin):
    """All that the model was told, message by message."""
    parts = [(part for part in message.parts) for message in odin.session.messages if message.role == "user"]
    return ["\n".join(getattr(it, "content", getattr(it, "text", "")) for it in message) for message in parts]


async def test_a_broken_caller_is_introduced_and_its_mend_fixed(checked, call):
    checked.script(
        read(call, checked),
        edit(call, checked, "def total", "def sum_up"),
        edit(call, checked, "use(total)", "use(sum_up)", "caller.py"),
        {"text": "done"},
    )

    outcome = await checked.take("rename it", "edit_mode")

    broken, mended = checked.of(DiagnosticsCompared)
    assert [(it.uri, it.words) for it in broken.introduced] == [
        ((checked.root / "caller.py").as_uri(), "2 total is not defined [toy E1]")
    ]
    assert (broken.fixed, broken.remaining, broken.unknown) == ((), 0, ())
    assert (mended.introduced, [it.line for it in mended.fixed]) == ((), [2])
    assert (
        "(line 1).\nDiagnostics after your edits: 1 introduced, 0 fixed, 0 remaining.\n"
        "Introduced:\n- caller.py:2 total is not defined [toy E1]"
    ) in told(checked)[2]
    assert "0 introduced, 1 fixed, 0 remaining.\nFixed:\n- caller.py:2 total is not defined" in told(checked)[3]
    assert (outcome.answer, outcome.diagnostics) == ("done", ())


async def test_what_was_wrong_before_and_has_moved_is_only_counted(checked, call):
    (checked.root / "library.py").write_text(LIBRARY + "use(nothing)\n")
    checked.script(read(call, checked), edit(call, checked, "def other", "# a\n# b\ndef other"), {"text": "done"})

    outcome = await checked.take("comment on it", "edit_mode")

    (compared,) = checked.of(DiagnosticsCompared)
    assert (compared.introduced, compared.fixed, compared.remaining) == ((), (), 1)
    assert "Diagnostics after your edits: 0 introduced, 0 fixed, 1 remaining." in told(checked)[2]
    assert outcome.diagnostics == ()


async def test_a_turn_that_would_end_with_errors_of_its_own_is_told_so_once(checked, call):
    checked.script(
        read(call, checked), edit(call, checked, "def total", "def sum_up"), {"text": "done"}, {"text": "so be it"}
    )

    outcome = await checked.take("rename it", "edit_mode")

    assert outcome.answer == "so be it"
    reminded = [it for it in told(checked) if "these errors were not there before it" in it]
    assert len(reminded) == 1
    assert "- caller.py:2 total is not defined [toy E1]" in reminded[0]
    assert [it.words for it in outcome.diagnostics] == ["2 total is not defined [toy E1]"]


async def test_errors_that_were_there_before_the_turn_do_not_hold_it_up(checked, call):
    (checked.root / "caller.py").write_text("use(nothing)\n")
    checked.script(read(call, checked), edit(call, checked, "code", "more"), {"text": "done"})

    outcome = await checked.take("go", "edit_mode")

    assert (outcome.answer, outcome.steps, outcome.diagnostics) == ("done", 3, ())


async def test_what_is_not_known_in_time_is_said_so_and_told_at_the_next_step(checked, call):
    checked.settings["diagnostics"] = {"wait": 30}
    checked.script(
        read(call, checked),
        edit(call, checked, "def total", "def sum_up"),
        read(call, checked),
        {"text": "a"},
        {"text": "b"},
    )
    checked.start()
    checked.checker.is_current = lambda _: len(checked.of(ToolFinished)) != 3  # of the edit
    outcome = await checked.take("rename it", "edit_mode")

    late, known = checked.of(DiagnosticsCompared)
    assert [it.rpartition("/")[2] for it in late.unknown] == ["library.py", "caller.py"]
    assert "Diagnostics after your edits are not known yet for library.py, caller.py." in told(checked)[2]
    assert "introduced" not in told(checked)[2]
    assert known.unknown == ()
    assert "Diagnostics after your earlier edits: 1 introduced, 0 fixed, 0 remaining." in told(checked)[3]
    assert [it.line for it in outcome.diagnostics] == [2]


async def test_problems_of_which_the_past_is_unknown_are_not_called_new(checked, call):
    checked.settings["diagnostics"] = {"wait": 0.2}
    checked.script(
        read(call, checked), edit(call, checked, "def total():", "use(nothing)\ndef total():"), {"text": "done"}
    )
    checked.start()
    checked.checker.is_current = lambda path: bool(checked.of(ToolFinished)[2:]) and path.name == "library.py"

    outcome = await checked.take("go", "edit_mode")

    (compared,) = checked.of(DiagnosticsCompared)
    assert (compared.introduced, [it.line for it in compared.unsure]) == ((), [1])
    assert "There now; not known whether they are new:\n- library.py:1 nothing is not defined" in told(checked)[2]
    assert outcome.diagnostics == ()


async def test_a_caller_of_which_the_past_is_unknown_is_told_of_where_it_has_the_changed_name(checked, call):
    checked.settings["diagnostics"] = {"wait": 0.2}
    (checked.root / "caller.py").write_text("use(other_trouble)\nuse(total)\n")
    checked.script(read(call, checked), edit(call, checked, "def total", "def sum_up"), {"text": "done"})
    checked.start()
    checked.checker.is_current = lambda _: bool(checked.of(ToolFinished)[2:])

    await checked.take("go", "edit_mode")

    (compared,) = checked.of(DiagnosticsCompared)
    assert [(it.line, it.message) for it in compared.unsure] == [(2, "total is not defined")]


async def test_what_was_known_after_the_last_edit_is_what_there_was_before_the_next(checked, call):
    """Though nobody could say it again in time."""
    checked.settings["diagnostics"] = {"wait": 30}
    (checked.root / "caller.py").write_text("# not sum_up\nuse(total)\n")
    checked.script(
        read(call, checked),
        edit(call, checked, "def total", "def sum_up"),
        edit(call, checked, "def sum_up", "def total"),
        {"text": "done"},
    )
    checked.start()
    library = checked.root / "library.py"
    checked.checker.is_current = lambda _: not checked.of(DiagnosticsCompared) or "total" in library.read_text()

    await checked.take("go, and back", "edit_mode")

    _, mended = checked.of(DiagnosticsCompared)
    assert (mended.unsure, [it.message for it in mended.fixed]) == ((), ["total is not defined"])


async def test_the_person_sees_the_edit_before_the_problems_are_known(checked, call):
    checked.script(read(call, checked), edit(call, checked, "def total", "def sum_up"), {"text": "a"}, {"text": "b"})
    checked.start()
    seen = []

    async def note():
        seen.append(((checked.root / "library.py").read_text()[:9], len(checked.of(ToolFinished))))

    checked.checker.before_answer = note
    await checked.take("go", "edit_mode")

    assert ("def sum_u", 3) in seen
    assert ("def total", 2) in seen
    assert all(count == 3 for text, count in seen if text == "def sum_u")


async def test_a_review_is_not_held_back_by_servers_that_do_not_answer(checked, call):
    checked.settings |= {"review": {"policy": "each"}, "diagnostics": {"wait": 60}}
    checked.script(read(call, checked), edit(call, checked, "def total", "def sum_up"), {"text": "done"})
    checked.start()
    is_made, apply = asyncio.Event(), checked.person.apply
    checked.checker.before_answer = is_made.wait

    async def applied(*edit):
        result = await apply(*edit)
        is_made.set()
        return result

    checked.person.apply = applied

    async with asyncio.timeout(30):
        await checked.take("go", "edit_mode")

    (compared,) = checked.of(DiagnosticsCompared)
    assert compared.introduced == compared.fixed == ()
    assert (checked.root / "library.py").read_text().startswith("def sum_up")


async def test_a_caller_is_not_missed_by_who_accepts_before_it_is_known_who_calls(checked, call):
    """As with a server that is still starting."""
    checked.settings |= {"review": {"policy": "each"}, "diagnostics": {"wait": 60}}
    checked.script(read(call, checked), edit(call, checked, "def total", "def sum_up"), {"text": "done"})
    checked.start()
    servers, is_made = checked.checker.of, asyncio.Event()
    checked.person.at_last = is_made.set

    async def started(path):
        await is_made.wait()
        return await servers(path)

    checked.checker.of = started
    async with asyncio.timeout(30):
        await checked.take("go", "edit_mode")

    (compared,) = checked.of(DiagnosticsCompared)
    assert [(it.line, it.message) for it in compared.unsure] == [(2, "total is not defined")]
    assert "There now; not known whether they are new:\n- caller.py:2 total is not defined" in told(checked)[2]


async def test_cancelling_ends_the_waiting_at_once(checked, call):
    checked.settings["diagnostics"] = {"wait": 60}
    checked.script(read(call, checked), edit(call, checked, "def total", "def sum_up"), {"text": "done"})
    core = checked.start()

    async def cancel():
        if (checked.root / "library.py").read_text().startswith("def sum_up"):
            core.cancel(None)
            await asyncio.Event().wait()

    checked.checker.before_answer = cancel
    async with asyncio.timeout(30):
        outcome = await checked.take("go", "edit_mode")

    assert outcome.reason == "interrupted"
    assert (checked.root / "library.py").read_text().startswith("def sum_up")
    assert [it.status for it in outcome.tools][-1] == "success"


async def test_where_nobody_says_anything_nothing_is_said(checked, call):
    checked.servers = lambda files: setattr(checked.person, "files", files) or NoServers()
    checked.script(read(call, checked), edit(call, checked, "def total", "def sum_up"), {"text": "done"})

    outcome = await checked.take("go", "edit_mode")

    assert (outcome.answer, checked.of(DiagnosticsCompared)) == ("done", [])
    assert "iagnostics" not in "".join(told(checked))


async def test_a_file_that_nobody_serves_is_not_waited_for(checked, call):
    (checked.root / "notes.md").write_text("total\n")
    checked.script(read(call, checked, "notes.md"), edit(call, checked, "total", "sum", "notes.md"), {"text": "done"})

    await checked.take("go", "edit_mode")

    assert checked.of(DiagnosticsCompared) == []
    assert all(patience < 1 for _, patience in checked.checker.asked)


async def test_nobody_looks_if_the_setting_says_so(checked, call):
    checked.settings["diagnostics"] = {"wait": 0}
    checked.script(read(call, checked), edit(call, checked, "def total", "def sum_up"), {"text": "done"})

    await checked.take("go", "edit_mode")

    assert checked.checker.asked == []


async def test_an_edit_does_not_fail_because_its_problems_cannot_be_asked_for(checked, call):
    checked.script(read(call, checked), edit(call, checked, "def total", "def sum_up"), {"text": "done"})
    checked.start()

    async def fail():
        raise Unavailable("it has died")

    checked.checker.before_answer = fail
    outcome = await checked.take("go", "edit_mode")

    assert outcome.answer == "done"
    assert "introduced" not in "".join(told(checked))


async def test_what_was_rejected_has_done_nothing(checked, call):
    checked.settings["review"] = {"policy": "each"}
    checked.person.decide = reject
    checked.script(read(call, checked), edit(call, checked, "def total", "def sum_up"), {"text": "done"})
    checked.start()

    outcome = await checked.take("go", "edit_mode")

    assert (outcome.answer, checked.of(DiagnosticsCompared)) == ("done", [])


async def test_a_new_file_has_no_problems_before_and_fixes_those_of_others(checked, call):
    (checked.root / "caller.py").write_text("use(lacking)\n")
    new = call("WriteFile", file_path=str(checked.root / "new.py"), content="def lacking(): ...\nuse(nothing)\n")
    checked.script({"calls": [new]}, {"text": "a"}, {"text": "b"})

    outcome = await checked.take("go", "edit_mode")

    (compared,) = checked.of(DiagnosticsCompared)
    assert [it.words for it in compared.introduced] == ["2 nothing is not defined [toy E1]"]
    assert [it.words for it in compared.fixed] == ["1 lacking is not defined [toy E1]"]
    assert [it.words for it in outcome.diagnostics] == ["2 nothing is not defined [toy E1]"]


async def test_a_deleted_file_breaks_who_uses_it_and_has_no_problems_itself(checked, call):
    (checked.root / "library.py").write_text(LIBRARY + "use(nothing)\n")
    checked.script(
        read(call, checked),
        {"calls": [call("DeleteFile", file_path=str(checked.root / "library.py"))]},
        {"text": "a"},
        {"text": "b"},
    )

    await checked.take("go", "edit_mode")

    (compared,) = checked.of(DiagnosticsCompared)
    assert [it.words for it in compared.introduced] == ["2 total is not defined [toy E1]"]
    assert compared.fixed == ()


async def test_a_moved_file_keeps_its_problems(checked, call):
    (checked.root / "caller.py").write_text("use(nothing)\n")
    move = call("MoveFile", file_path=str(checked.root / "caller.py"), new_path=str(checked.root / "moved.py"))
    checked.script(read(call, checked), {"calls": [move]}, {"text": "done"})

    await checked.take("go", "edit_mode")

    (compared,) = checked.of(DiagnosticsCompared)
    assert (compared.introduced, compared.fixed, compared.remaining) == ((), (), 1)


async def test_with_all_reviews_at_the_end_the_turn_goes_on_with_what_they_broke(checked, call, monkeypatch):
    monkeypatch.setattr("odin_lsp.agent.edit_checks.AT_ONCE", 30)
    checked.settings["review"] = {"policy": "end"}
    checked.script(read(call, checked), edit(call, checked, "def total", "def sum_up"), {"text": "a"}, {"text": "b"})
    checked.start()

    outcome = await checked.take("go", "edit_mode")

    assert outcome.answer == "b"
    assert "Diagnostics after your edits: 1 introduced" in told(checked)[3]
    assert [it.line for it in outcome.diagnostics] == [2]


async def test_a_step_is_told_of_once_at_its_last_edit(checked, call):
    path = str(checked.root / "library.py")
    edits = [
        call("EditTool", file_path=path, old_string="def total", new_string="def sum_up"),
        call("EditTool", file_path=path, old_string="def other", new_string="def another"),
    ]
    checked.script(read(call, checked), {"calls": edits}, {"text": "a"}, {"text": "b"})

    await checked.take("go", "edit_mode")

    (results,) = [
        it.results for it in checked.session.messages if len(it.results) == 2 and it.results[0].name == "EditTool"
    ]
    assert ["iagnostics" in it.content for it in results] == [False, True]


async def test_many_problems_are_counted_and_some_of_them_told(checked, call):
    (checked.root / "caller.py").write_text("use(total)\n" * 30)
    checked.script(read(call, checked), edit(call, checked, "def total", "def sum_up"), {"text": "a"}, {"text": "b"})

    await checked.take("go", "edit_mode")

    result = told(checked)[2]
    assert "30 introduced" in result
    assert result.count("total is not defined") == MAX_TOLD
    assert "(10 more)" in result


async def test_what_the_user_types_after_the_last_look_is_not_called_known(checked, call):
    checked.script(read(call, checked), edit(call, checked, "def total", "def sum_up"), {"text": "a"}, {"text": "b"})
    core = checked.start()
    caller = (checked.root / "caller.py").as_uri()
    core.files.buffers.open(caller, 1, CALLER)

    def type_at_the_end(record):
        if record.event.kind == "messageFinished" and record.event.text == "b":
            core.files.buffers.change(caller, 2, [Change("# ", Position(1, 0), Position(1, 0))])

    core.stream.subscribe(type_at_the_end)
    outcome = await checked.take("go", "edit_mode")

    assert outcome.diagnostics == ()


async def test_transcripts_exports_and_terminals_tell_what_was_introduced_and_left(checked, call, capfd):
    checked.script(read(call, checked), edit(call, checked, "def total", "def sum_up"), {"text": "a"}, {"text": "b"})
    records = []
    checked.start().stream.subscribe(records.append)

    await checked.take("go", "edit_mode")

    page = "".join(exported(checked.session.log.path.parent, checked.session.id, "html"))
    assert "<li>introduced: caller.py:2 total is not defined [toy E1]</li>" in page
    assert "<em>left by this turn: caller.py:2 total is not defined [toy E1]</em>" in page
    assert "introduced: caller.py:2 total is not defined" in transcript(checked.session)
    output = PipedOutput()
    renderers = PlainRenderer(output), RichRenderer()
    for record in records:
        for it in renderers:
            it.show(record)
    await output.close()
    shown = capfd.readouterr()
    named = f"{checked.root / 'caller.py'}:2 total is not defined [toy E1]"
    assert f"left by this turn: {named}\n" in shown.err
    assert f"+ {named}" in shown.out.replace("\n", "")


async def test_what_is_published_of_problems_are_their_numbers(checked, call):
    checked.script(read(call, checked), edit(call, checked, "def total", "def sum_up"), {"text": "a"}, {"text": "b"})

    await checked.take("go", "edit_mode")

    (compared,) = checked.of(DiagnosticsCompared)
    assert plain(compared.kind, to_wire(compared)) == {"introduced": 1, "fixed": 0, "remaining": 0}


async def test_what_a_helper_broke_is_told_to_it_and_left_by_the_turn(checked, call):
    task = call("AgentTool", description="rename", prompt="rename it", mode="edit")
    checked.script(
        {"calls": [task]},
        read(call, checked),
        edit(call, checked, "def total", "def sum_up"),
        {"text": "renamed"},
        {"text": "it has to be so"},
        {"text": "all done"},
        {"text": "I know"},
    )

    outcome = await checked.take("have it renamed", "edit_mode")

    assert [it.words for it in outcome.diagnostics] == ["2 total is not defined [toy E1]"]
    assert outcome.answer == "I know"
    (record,) = checked.session.subagents.values()
    assert record.summary == "it has to be so"
    assert record.known_risks == (
        f"introduced and left: {(checked.root / 'caller.py').as_uri()}:2 total is not defined [toy E1]",
    )
