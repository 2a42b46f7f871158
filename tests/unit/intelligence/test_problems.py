"""Problems before and after a change, against a slow reference."""

from hypothesis import example, given
from hypothesis import strategies as st

from odin_lsp.intelligence.problems import MAX_MESSAGE, compare, diagnostic, ordered
from odin_lsp.intelligence.servers import Problem
from odin_lsp.workspace.comparing import changed_lines
from odin_lsp.workspace.text import whole_lines

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "é😀\n", "\r", "  x\n", "y"]), max_size=10)
TEXTS = LINES.map("".join)


def problem(line, message="broken", *, character=0, severity="error", source="pyright", code=""):
    return Problem(
        line=line,
        character=character,
        end_line=line,
        end_character=character + 1,
        severity=severity,
        message=message,
        source=source,
        code=code,
    )


PROBLEMS = st.lists(
    st.builds(
        problem,
        st.integers(0, 12),
        st.sampled_from(["one", "two"]),
        character=st.integers(0, 1),
        severity=st.sampled_from(["error", "hint"]),
        source=st.sampled_from(["", "ruff"]),
    ),
    max_size=8,
)


def slow(old, before, new, after):
    """Pairs each problem with the first that is left and the same, one by one."""
    lines, new_lines = whole_lines(old), whole_lines(new)
    moved, at = {len(lines): len(new_lines)}, 0
    steps = changed_lines(lines, new_lines)
    for first, last, new_first, _ in [*steps, (len(lines), len(lines), len(new_lines), len(new_lines))]:
        while at < first:
            moved[at] = new_first - (first - at)
            at += 1
        at = last
    left, remaining, introduced = list(ordered(before)), [], []
    for it in ordered(after):
        line = min(it.line, len(new_lines))
        place = (line, it.character) if line in moved.values() else None
        for candidate in left:
            there = moved.get(min(candidate.line, len(lines)))
            told = candidate.source, candidate.code, candidate.message
            is_there = (None if there is None else (there, candidate.character)) == place
            if is_there and told == (it.source, it.code, it.message):
                left.remove(candidate)
                remaining.append(it)
                break
        else:
            introduced.append(it)
    return introduced, left, remaining


@given(TEXTS, PROBLEMS, TEXTS, PROBLEMS)
@example("", [problem(0)], "", [problem(3)])
def test_a_comparison_is_that_of_the_slow_reference(old, before, new, after):
    compared = compare(old, before, new, after)

    introduced, fixed, remaining = slow(old, before, new, after)

    def told(problems):
        return sorted((it.source, it.message, it.character) for it in problems)

    assert told(compared.introduced) == told(introduced)
    assert told(compared.fixed) == told(fixed)
    assert told(compared.remaining) == told(remaining)
    assert sorted([*compared.introduced, *compared.remaining], key=str) == sorted(after, key=str)
    assert len(compared.fixed) + len(compared.remaining) == len(before)


@given(TEXTS, PROBLEMS)
def test_nothing_is_new_where_nothing_has_changed(text, problems):
    compared = compare(text, problems, text, problems)

    assert not compared.introduced
    assert not compared.fixed


@given(LINES.filter(bool), st.data())
def test_lines_put_in_move_problems_and_make_none(lines, data):
    lines = [line if line.endswith(("\n", "\r")) else f"{line}\n" for line in lines]
    at = data.draw(st.integers(0, len(lines)))
    put_in = data.draw(st.lists(st.sampled_from(["new\n", "other\n"]), min_size=1, max_size=3))
    on = data.draw(st.lists(st.integers(0, len(whole_lines("".join(lines)))), max_size=4))
    old, new = "".join(lines), "".join([*lines[:at], *put_in, *lines[at:]])
    before_it = len(whole_lines("".join(lines[:at])))
    moved = [it + len(put_in) if it >= before_it else it for it in on]

    compared = compare(old, [problem(it) for it in on], new, [problem(it) for it in moved])

    assert not compared.introduced
    assert not compared.fixed
    assert len(compared.remaining) == len(on)


def test_a_problem_on_a_line_that_was_edited_is_the_same_if_it_is_told_so():
    compared = compare("x = f(1)\n", [problem(0, character=4)], "xs = f(2)\n", [problem(0, character=5)])

    assert compared.remaining == (problem(0, character=5),)


def test_a_problem_that_moved_with_its_function_is_the_same():
    old, new = "def a():\n    x\n\ndef b():\n    y\n", "def b():\n    y\n\ndef a():\n    x\n"

    compared = compare(old, [problem(1, "x")], new, [problem(4, "x")])

    assert compared.remaining == (problem(4, "x"),)


def test_the_same_words_on_another_line_are_another_problem():
    compared = compare("a\nb\n", [problem(0)], "a\nb\nc\n", [problem(1)])

    assert compared.introduced == (problem(1),)
    assert compared.fixed == (problem(0),)


def test_errors_come_first():
    after = [problem(0, "hint", severity="hint"), problem(2, "late"), problem(1, "early")]

    assert [it.message for it in compare("", [], "a\nb\nc\n", after).introduced] == ["early", "late", "hint"]


def test_a_problem_is_told_in_one_short_line():
    found = diagnostic(problem(2, "no\n  such name", code="F821"), "file:///a.py")

    assert found.words == "3 no such name [pyright F821]"
    assert (
        diagnostic(problem(0, "m" * 1000, severity="warning", source=""), "").words
        == f"1 warning: {'m' * MAX_MESSAGE}…"
    )
