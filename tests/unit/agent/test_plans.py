"""What of a text are steps, what becomes of their boxes, and which plans are refused."""

import os

import pytest

from odin_lsp.agent.plans import MARK, Plans, document_of, is_plan, marked, steps_of
from odin_lsp.errors import RequestError, ToolError
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from tests.support.context import tool_context

PLAN = """# Greet louder

## Steps

- [ ] Shout in `greet.py`
  at the end of the line
  ```md
  - [ ] this is code
  ```
* [x] Done before
+ [-] Left out
  - [ ] a part of it
- [ ] Shout in `greet.py`

## Risks

- [none] really
"""


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "state" / "sessions"


@pytest.fixture
def plans(tmp_path, folder, person):
    root = tmp_path / "workspace"
    root.mkdir()
    files = Files([root], Buffers(), FileCache())
    context = tool_context(files, person, tmp_path)
    return Plans(files, person, context.draft.desk.applier, lambda: folder)


def test_steps_are_boxes_at_the_margin_with_all_that_belongs_to_them():
    steps = steps_of(PLAN)

    assert [(step.number, step.title, step.status) for step in steps] == [
        (1, "Shout in `greet.py`", "open"),
        (2, "Done before", "done"),
        (3, "Left out", "skipped"),
        (4, "Shout in `greet.py`", "open"),
    ]
    assert steps[0].text.endswith("- [ ] this is code\n  ```")
    assert "a part of it" in steps[2].text
    assert "Risks" not in steps[3].text
    assert steps[0].key != steps[3].key


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_box_is_all_that_changes(end):
    text = PLAN.replace("\n", end)

    ticked = marked(text, {steps_of(text)[3].key: "done", ("gone", 0): "done"})

    before, after = text.split(end), ticked.split(end)
    assert [(old, new) for old, new in zip(before, after, strict=True) if old != new] == [
        ("- [ ] Shout in `greet.py`", "- [x] Shout in `greet.py`")
    ]
    assert marked(ticked, {steps_of(text)[3].key: "open"}) == text


def test_an_answer_with_boxes_or_numbered_steps_is_a_plan():
    boxes = document_of(PLAN)
    numbers = document_of("# Go\n\n## Steps\n\n1. Read\n2) Write\n\n## Notes\n\n1. no step")

    assert boxes is not None
    assert is_plan(boxes)
    assert len(steps_of(boxes)) == 4
    assert numbers is not None
    assert [step.title for step in steps_of(numbers)] == ["Read", "Write"]
    assert "1. no step" in numbers


@pytest.mark.parametrize("answer", ["", "Which one do you want?\n\n1. This\n2. That", "```\n- [ ] code\n```"])
def test_another_answer_is_none(answer):
    assert document_of(answer) is None


def test_a_plan_loads_nothing_when_it_is_rendered():
    text = document_of("- [ ] look ![x](https://evil.test/?d=1) <img src='https://evil.test'>")

    assert text is not None
    assert "![" not in text
    assert "\n<img" not in text
    assert len(steps_of(text)) == 1


def test_each_plan_of_a_session_has_a_document_of_its_own_that_only_the_user_can_read(plans, folder):
    first, second = plans.keep("abc", PLAN), plans.keep("abc", PLAN.replace("louder", "lower"))

    places = [path.relative_to(folder).as_posix() for path in (first, second)]
    assert places == ["abc.plan/Greet louder.plan.md", "abc.plan-2/Greet lower.plan.md"]
    assert first.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    assert first.read_text().startswith(MARK)
    assert "lower" in plans.latest("abc").text
    assert plans.latest("other") is None
    assert plans.keep("abc", "no plan") is None


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Rename `total`: part 1/2", "Rename total part 1 2"),
        ("../../../etc/passwd", "etc passwd"),
        ("..", "Plan"),
        ("Größer\u202e", "Größer"),
        ("x" * 300, "x" * 60),
    ],
)
def test_a_plan_is_named_by_its_title_in_letters_that_every_file_system_takes(plans, folder, title, name):
    path = plans.keep("abc", PLAN.replace("Greet louder", title))
    assert path.relative_to(folder).as_posix() == f"abc.plan/{name}.plan.md"


def test_a_plan_of_an_older_odin_is_still_one(plans, folder):
    plans.keep("other", PLAN)
    (folder / "abc.plan.md").write_text(PLAN)
    (folder / "abc.jsonl").touch()
    assert plans.session_of(plans.latest("abc")) == "abc"
    assert plans.keep("abc", PLAN).parent.name == "abc.plan-2"
    assert plans.latest("abc").path.parent.name == "abc.plan-2"


def test_a_plan_knows_its_session_as_long_as_both_are_there(plans, folder, tmp_path):
    path = plans.keep("abc", PLAN)
    assert plans.session_of(plans.read(path.as_uri())) is None

    (folder / "abc.jsonl").touch()
    copy = tmp_path / "workspace" / "abc.plan.md"
    copy.write_text(PLAN)

    assert plans.session_of(plans.read(path.as_uri())) == "abc"
    assert plans.session_of(plans.read(copy.as_uri())) is None


def deleted(path):
    path.unlink()


def binary(path):
    path.write_bytes(b"\x00\xff\xfe")


def without_steps(path):
    path.write_text(f"{MARK}\n\n# Nothing to do\n\n1. one\n")


def huge(path):
    path.write_text(PLAN + "x" * 300_000)


def a_pipe(path):
    path.unlink()
    os.mkfifo(path)


def a_folder(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("mangle", "reason"),
    [
        (deleted, "does not exist"),
        (binary, "is not text"),
        (without_steps, "has no steps; a step is a line that begins with"),
        (huge, "at most 200,000"),
        (a_pipe, "the plan cannot be used"),
        (a_folder, "the plan cannot be used"),
    ],
)
def test_a_plan_that_cannot_be_used_is_refused_with_the_reason(plans, mangle, reason):
    path = plans.keep("abc", PLAN)
    mangle(path)

    with pytest.raises(RequestError, match=reason):
        plans.read(path.as_uri())


@pytest.mark.parametrize(
    ("steps", "reason"),
    [((9,), "no step 9"), ((0, 1), "no step 0"), ((2,), "done already"), ((3,), "skipped already"), ((), "is empty")],
)
def test_steps_that_cannot_be_carried_out_are_named(plans, steps, reason):
    plan = plans.read(plans.keep("abc", PLAN).as_uri())

    with pytest.raises(RequestError, match=reason):
        plan.chosen(steps)


def test_without_numbers_the_open_steps_are_meant_and_some_must_be(plans):
    plan = plans.read(plans.keep("abc", PLAN).as_uri())
    done = plans.read(plans.keep("abc", PLAN.replace("[ ]", "[x]")).as_uri())

    assert [step.number for step in plan.chosen(None)] == [1, 4]
    with pytest.raises(RequestError, match="all steps"):
        done.chosen(None)


@pytest.mark.parametrize("uri", ["untitled:plan", "https://example.org/plan.md", "file:///none/plan.md"])
def test_what_is_no_file_is_no_plan(plans, uri):
    with pytest.raises(RequestError):
        plans.read(uri)


async def test_a_document_that_is_not_open_is_ticked_on_disk_byte_for_byte(plans):
    path = plans.keep("abc", PLAN)
    path.write_bytes(b"\xef\xbb\xbf- [ ] one\r\n- [ ] two\r\n")

    await plans.mark(path, {("two", 0): "done"})

    assert path.read_bytes() == b"\xef\xbb\xbf- [ ] one\r\n- [x] two\r\n"
    assert path.stat().st_mode & 0o777 == 0o600


async def test_what_another_program_writes_into_a_plan_meanwhile_stays(plans, monkeypatch):
    path = plans.keep("abc", PLAN)

    def marked_late(text, wanted):
        path.write_text("- [ ] written meanwhile\n")
        return marked(text, wanted)

    monkeypatch.setattr("odin_lsp.agent.plans.marked", marked_late)
    with pytest.raises(ToolError, match="changed by another program"):
        await plans.mark(path, {("Shout in `greet.py`", 0): "done"})

    assert path.read_text() == "- [ ] written meanwhile\n"
