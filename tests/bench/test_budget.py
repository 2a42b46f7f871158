"""The budget, as ratios to a baseline of the same run: times depend on the machine, these hardly do."""

from statistics import median

import pytest

from tests.bench import (
    attaching,
    commands,
    guests,
    mapping,
    measure,
    neovim,
    providers,
    recorded,
    recorded_tasks,
    review,
    sessions,
    steps,
    undo,
    workspace,
)
from tests.bench.wires import WIRES


async def test_initialize_is_answered_before_an_empty_server_would(tmp_path):
    assert (await measure.startup(tmp_path, 7)).ratio <= 0.75


async def test_a_step_costs_little_more_than_the_bare_loop_does(tmp_path):
    turns = await measure.turns(tmp_path, 2)

    assert turns.overhead.ratio <= 6
    assert turns.prefix <= 16_000


async def test_a_step_costs_the_same_after_any_number_of_messages():
    first, *_, last = steps.HISTORIES
    taken = await steps.seconds(3, (first, last))

    assert await steps.calls(last) <= 1.02 * await steps.calls(first)
    assert median(taken[last]) <= 1.3 * median(taken[first])


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
async def test_a_step_takes_hardly_more_work_than_the_sdks_own_loop_and_as_much_after_many_others(wire, tmp_path):
    (workspace := tmp_path / "workspace").mkdir()
    found = await providers.steps(workspace, wire, 1, 150)

    assert found.early.ratio <= 1.5
    assert found.growth <= 1.3


async def test_a_command_starts_before_the_sdk_would_and_one_that_attaches_is_small_and_does_little(tmp_path):
    (workspace := tmp_path / "workspace").mkdir()
    found = await attaching.attaching(workspace, WIRES[0], 1)

    assert found.alone.work.ratio <= 0.9
    assert found.alone.memory.ratio <= 0.9
    assert found.attached.work.ratio <= 0.4
    assert found.attached.memory.ratio <= 0.55


async def test_one_more_front_end_takes_little_of_an_odin_that_many_share(tmp_path):
    alone, many = await guests.guests(tmp_path / "alone", 1), await guests.guests(tmp_path / "many", guests.TOGETHER)

    assert many.work <= 6 * alone.work
    assert many.memory <= 0.5


async def test_commands_that_follow_each_other_start_at_once(tmp_path):
    (tmp_path / "a.txt").write_text("a\n")
    series = await commands.back_to_back(tmp_path, "cat a.txt", 20)

    assert min(series.odin) <= 12 * min(series.bare)


async def test_a_word_reaches_the_editor_soon_after_it_left_the_provider(tmp_path):
    assert (await measure.first_tokens(tmp_path, 1)).ratio <= 5


async def test_an_idle_server_is_small(tmp_path):
    offline, warmed = await measure.idle_memory(tmp_path, 1)

    assert offline.ratio <= 2.3
    assert warmed.ratio <= 3.2


async def test_sessions_that_are_listed_or_long_make_a_server_hardly_larger(tmp_path):
    for grown in (await sessions.listed(tmp_path, 1), await sessions.resumed(tmp_path, 1)):
        assert grown.ratio <= 1.2


async def test_a_language_server_behind_it_makes_an_idle_server_hardly_larger(tmp_path):
    found = await measure.own_language_server(tmp_path, 1)

    assert found.odin.ratio <= 1.4
    assert found.pyright[0] > 20


def test_the_map_of_a_tree_costs_what_its_list_of_files_does_and_little_after_a_change(tmp_path):
    for files in (500, 5_000):
        mapping.make_tree(tmp_path / f"{files}", files)
    few, many = (mapping.mapping(tmp_path / f"{files}", 1) for files in (500, 5_000))

    assert median(many.first.odin) <= 12 * median(few.first.odin)
    assert median(many.again.odin) <= 0.9 * median(many.first.odin)
    assert many.memory[0] <= 30


async def test_a_cancelled_turn_lets_go_of_the_provider(tmp_path):
    cancelling = await measure.cancelling(tmp_path, 1)

    assert cancelling.odin[0] == pytest.approx(cancelling.bare[0], abs=1)


def test_a_keystroke_costs_the_same_in_a_document_of_any_length():
    short, long = workspace.keystrokes(1_000, 200), workspace.keystrokes(100_000, 200)

    assert median(long.odin) <= 3 * median(short.odin)
    assert long.ratio <= 0.1


async def test_an_edit_costs_as_much_more_as_it_has_more_matches(tmp_path):
    few, many = [await review.replacing(tmp_path, matches, 5) for matches in (200, 2_000)]

    assert median(many.odin) <= 20 * median(few.odin)
    assert many.ratio <= 20


async def test_typing_beside_pending_hunks_costs_little_and_grows_with_them_at_most(tmp_path):
    few, many = [await review.typing(tmp_path / f"{hunks}", hunks, 50) for hunks in (50, 500)]
    broken = await review.typing(tmp_path / "broken", 500, 50, "\n")

    assert median(many.odin) <= 10 * median(few.odin)
    assert many.ratio <= 1
    assert broken.ratio <= 4


async def test_what_an_editor_is_told_of_a_keystroke_does_not_depend_on_how_many_hunks_wait(tmp_path):
    few, many = [await review.told(tmp_path / f"{hunks}", hunks, 5) for hunks in (50, 500)]

    assert 0 < median(many.odin) <= 1.1 * median(few.odin)


async def test_accepting_one_hunk_or_all_costs_little_more_than_changing_the_document(tmp_path):
    few, many = [await review.accepting(tmp_path / f"{hunks}", hunks, 3) for hunks in (50, 500)]

    for less, more, most in zip(few, many, (5, 0.5), strict=True):
        assert median(more.odin) <= 15 * median(less.odin)
        assert more.ratio <= most


async def test_neovim_draws_a_hunk_that_changed_and_not_all_of_them(tmp_path):
    found = await neovim.plugin(tmp_path, 1)

    assert found.redraws.ratio <= 4
    assert median(found.redraws.odin) <= median(found.opening) / 4


async def test_a_search_takes_hardly_longer_than_ripgrep(tmp_path):
    workspace.make_tree(tmp_path)

    assert (await workspace.searching(tmp_path, 5)).ratio <= 1.2
    assert (await workspace.searching(tmp_path, 5, dirty=workspace.DIRTY)).ratio <= 1.2
    most, bound, _ = workspace.reading_many(tmp_path)
    assert most <= bound


async def test_what_is_kept_for_undo_costs_the_same_for_the_last_file_as_for_the_first(tmp_path):
    noting = await undo.noting(tmp_path)

    assert noting.growth <= 3
    assert noting.each.ratio <= 20
    assert noting.longest_hold <= sum(noting.each.odin) / 5


@pytest.mark.parametrize("task", recorded_tasks.TASKS, ids=lambda task: task.name)
async def test_a_recorded_piece_of_work_is_done_and_takes_hardly_more_than_it_once_did(task):
    """The answer to the research is a fact from its third step, as the last request has it."""
    now, before = await recorded.count(task), recorded.BEFORE[task.name]

    assert now.sent <= before.sent
    assert now.small <= before.small
    assert now.receipts <= before.receipts
    assert now.compactions >= (3 if task.max_context else 0)


@pytest.mark.parametrize(("first", "then"), recorded.SWITCHES)
async def test_a_switch_finds_the_tools_that_both_modes_list_in_the_providers_cache(first, then):
    switch = await recorded.switched(first, then)

    assert 0 < switch.tools <= switch.cached < switch.sent
