"""What the project says to a session is read once, beside the event loop."""

import threading

import pytest

from odin_lsp.agent import scope


@pytest.fixture
def threads(monkeypatch):
    """In which something was read."""
    threads, look = list[int](), scope.has_notebooks

    def looking(roots):
        threads.append(threading.get_ident())
        return look(roots)

    monkeypatch.setattr(scope, "has_notebooks", looking)
    return threads


async def test_a_turn_reads_it_in_a_thread_and_later_ones_know_it(odin, threads):
    odin.script({"text": "one"}, {"text": "two"})
    await odin.take()
    await odin.take()

    assert len(threads) == 1
    assert threading.get_ident() not in threads


async def test_so_does_whoever_asks_for_the_state(odin, threads):
    assert odin.live
    await odin.state()

    assert threads
    assert threading.get_ident() not in threads


async def test_other_settings_are_read_with_the_next_turn(odin, threads):
    odin.script({"text": "one"}, {"text": "two"})
    await odin.take()
    odin.live.brief(odin.project.now)
    assert len(threads) == 1
    await odin.take()

    assert len(threads) == 2
    assert threading.get_ident() not in threads
