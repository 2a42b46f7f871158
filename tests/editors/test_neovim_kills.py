"""A review in a real Neovim that goes on whatever is killed: nothing decided is lost or made twice, nothing that waits
is lost."""

import random
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.e2e.steps import play_calls, says
from tests.editors.conftest import StartNeovim
from tests.editors.neovim import NEWEST, NOTE_EVENTS, READY, Neovim, until
from tests.editors.test_neovim import happened, outcome, reads
from tests.editors.test_neovim_trouble import kill_server
from tests.support.wire import Wire

pytestmark = [pytest.mark.asyncio(loop_scope="module"), NEWEST]

FILES, HUNKS, KILLS = 3, 4, 5
ALL = """
return vim.iter(require("odin.review").all()):map(function(it)
  return { it.hunk.id, it.hunk.state or "pending" }
end):totable()
"""
DECIDE = """
local id, how = ...
for _, it in ipairs(require("odin.review").all()) do
  if it.hunk.id == id then
    require("odin.review")[how]({ it })
  end
end
"""
TEXT = """
local bufnr = vim.fn.bufnr("^" .. ... .. "$")
return bufnr > 0 and vim.fn.bufloaded(bufnr) == 1 and vim.api.nvim_buf_get_lines(bufnr, 0, -1, false) or vim.NIL
"""
ASK_NOTHING = "vim.ui.select = function() end"


@pytest.fixture(scope="module")
def programs(installed: Path) -> Path:
    return installed


@dataclass
class Reviewer:
    """Decides one after the other, and knows what should have become of each."""

    start: StartNeovim
    files: list[Path]
    neovim: Neovim
    places: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    """Of hunks: which of its file's it is."""
    states: dict[str, str] = field(default_factory=dict[str, str])

    async def begin(self) -> None:
        ids = [hunk_id for hunk_id, _ in await self.neovim.lua(ALL)]
        self.places = {hunk_id: divmod(number, HUNKS) for number, hunk_id in enumerate(ids)}
        self.states = dict.fromkeys(ids, "pending")

    async def decide(self, hunk_id: str, how: str) -> None:
        await self.neovim.lua(DECIDE, hunk_id, how)

    async def heard(self, hunk_id: str, state: str) -> None:
        self.states[hunk_id] = state
        await until(self._is_as_known, f"{hunk_id} is {state}")

    async def settle(self, unsure: Iterable[str]) -> None:
        """All hunks are there as they were, but for those of which nobody can be sure; and the texts fit."""

        async def is_there() -> bool:
            seen = dict(await self.neovim.lua(ALL))
            if seen.keys() != self.states.keys():
                return False
            self.states |= {hunk_id: seen[hunk_id] for hunk_id in unsure}
            return seen == self.states and await self._fit()

        try:
            await until(is_there, "the review is as it was")
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.states}, but {await self.neovim.lua(ALL)}") from None

    async def _is_as_known(self) -> bool:
        return dict(await self.neovim.lua(ALL)) == self.states

    async def _fit(self) -> bool:
        return all([await self.text(number) == self.expected(number) for number in range(FILES)])

    async def text(self, number: int) -> list[str]:
        shown = await self.neovim.lua(TEXT, str(self.files[number]))
        return shown if shown is not None else self.files[number].read_text().splitlines()

    def expected(self, number: int) -> list[str]:
        accepted = {self.places[hunk_id] for hunk_id, state in self.states.items() if state == "accepted"}
        return lines(number, {hunk for file, hunk in accepted if file == number})

    async def lose_server(self) -> set[str]:
        await kill_server(self.neovim)
        await self.neovim.until("#require('odin.review').all() == 0")
        await self.neovim.command("OdinRestart")
        return set()

    async def lose_neovim(self) -> set[str]:
        """What was accepted and not saved is gone with its text: it waits again, or is made again. Which they are."""
        await self.neovim.close()
        self.neovim = await started(self.start)
        return {
            hunk_id
            for hunk_id, (number, hunk) in self.places.items()
            if self.states[hunk_id] == "accepted" and value(number, hunk, 1) not in self.files[number].read_text()
        }


def value(number: int, hunk: int, value: int) -> str:
    return f"f{number}_h{hunk} = {value}"


def lines(number: int, changed: set[int]) -> list[str]:
    return [line for hunk in range(HUNKS) for line in (value(number, hunk, int(hunk in changed)), "", "")]


async def started(start: StartNeovim) -> Neovim:
    neovim = await start("--cmd", "set noswapfile", "first.py")
    await neovim.lua(NOTE_EVENTS)
    await neovim.lua(ASK_NOTHING)
    await neovim.until(READY)
    return neovim


async def reviewing(start: StartNeovim, wire: Wire, root: Path) -> Reviewer:
    (root / "first.py").write_text("first = 1\n")
    files = [root / f"file_{number}.py" for number in range(FILES)]
    for number, file in enumerate(files):
        file.write_text("".join(f"{line}\n" for line in lines(number, set())))
    reviewer = Reviewer(start, files, await started(start))
    reads(wire, *files)
    edits = [
        [{"old_string": value(number, hunk, 0), "new_string": value(number, hunk, 1)} for hunk in range(HUNKS)]
        for number in range(FILES)
    ]
    calls = zip(files, edits, strict=True)
    play_calls(wire, *(("MultiEditTool", {"file_path": str(file), "edits": them}) for file, them in calls))
    await reviewer.neovim.command("OdinEdit change them")
    await happened(reviewer.neovim, "OdinReviewOpened")
    await reviewer.begin()
    return reviewer


@pytest.mark.parametrize(("lose", "seed"), [(Reviewer.lose_server, 0), (Reviewer.lose_neovim, 1)])
async def test_a_review_outlives_what_is_killed_between_decisions(
    start_own_neovim: StartNeovim,
    wire: Wire,
    own_root: Path,
    lose: Callable[[Reviewer], Awaitable[set[str]]],
    seed: int,
) -> None:
    chance = random.Random(seed)
    wire.answers.clear()
    reviewer = await reviewing(start_own_neovim, wire, own_root)
    order = list(reviewer.states)
    chance.shuffle(order)
    points = set(chance.sample(range(len(order) - 1), KILLS))

    for number, hunk_id in enumerate(order[:-1]):
        how = chance.choice(("accept", "reject"))
        await reviewer.decide(hunk_id, how)
        is_heard = number not in points or chance.random() < 0.5
        if is_heard:
            await reviewer.heard(hunk_id, f"{how}ed")
        if chance.random() < 0.3:
            await reviewer.neovim.command("silent wall")
        if number in points:
            unsure = await lose(reviewer)
            await reviewer.settle(unsure if is_heard else unsure | {hunk_id})

    wire.play(says())
    for hunk_id in [hunk_id for hunk_id, state in reviewer.states.items() if state == "pending"]:
        await reviewer.decide(hunk_id, "accept")
        reviewer.states[hunk_id] = "accepted"
    end = await outcome(reviewer.neovim)
    assert end["reason"] == "end_turn"
    assert {it["hunkId"]: it["state"] for it in end["receipts"]} == reviewer.states
    texts = [await reviewer.text(number) for number in range(FILES)]
    assert texts == [reviewer.expected(number) for number in range(FILES)]
    assert not wire.answers
