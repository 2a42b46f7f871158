"""What a workspace has for all of its turns: settings, which hold from the next one on, and notes."""

import errno
import json
from types import SimpleNamespace

import pytest

from odin_lsp.config import CacheSettings, Retries, WebSettings
from odin_lsp.errors import ToolError
from odin_lsp.events import TurnUndone
from odin_lsp.terminal.editor import TerminalEditor
from tests.support.web import Host


async def test_new_settings_make_new_models(odin, tmp_path):
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"replies": [{"text": "from the other"}]}))
    odin.settings["retries"] = {"attempts": 3}
    odin.script(*[{"error": "down"}] * 6)
    assert (await odin.take()).reason == "failed"

    odin.configure(fallback_models=(f"scripted/{other}",), retries=Retries(attempts=6))

    assert (await odin.take()).answer == "from the other"


async def test_new_settings_say_which_pages_may_be_read_and_keep_the_users_secrets_from_all(odin):
    core = odin.start(secrets={"ANTHROPIC_API_KEY": "sk-very-secret-key"})
    async with Host() as host:
        host.page("/", "<p>hello</p>")
        url = f"http://127.0.0.1:{host.port}/"
        with pytest.raises(ToolError):
            await core.pages.read(url)

        odin.configure(web=WebSettings(privateHosts=(f"127.0.0.1:{host.port}",)))

        assert "hello" in (await core.pages.read(url)).text
    with pytest.raises(ToolError, match="key or password"):
        core.pages.refuse_secrets("http://example.org/?sk-very-secret-key")


async def test_new_settings_of_the_cache_hold_for_what_it_has(odin):
    core = odin.start()
    paths = [odin.root / name for name in ("one", "two")]
    for path in paths:
        path.write_text("text\n")
        core.files.read(path)

    odin.configure(cache=CacheSettings(maxEntries=1, evictionPolicy="lfu"))

    assert [path for path, _ in core.files.cache] == paths[1:]
    assert core.files.cache.settings.eviction_policy == "lfu"


async def test_a_turn_is_cancelled_wherever_it_runs_and_without_an_id_in_the_current_session(odin):
    odin.script(*[{"text": "late", "delayMs": 60_000}] * 2)
    first = odin.turns.start(odin.message("one"))
    odin.core.sessions.begin()
    second = odin.turns.start(odin.message("two"))

    assert not odin.core.cancel("another")
    assert odin.core.cancel(first.id)
    assert ((await first.outcome()).reason, second.task.done()) == ("interrupted", False)
    assert odin.core.cancel(None)
    assert (await second.outcome()).reason == "interrupted"


async def test_the_turns_of_all_sessions_end_with_odin(odin):
    odin.script(*[{"text": "late", "delayMs": 60_000}] * 2)
    first = odin.turns.start(odin.message("one"))
    odin.core.sessions.begin()
    second = odin.turns.start(odin.message("two"))

    odin.core.abort()

    assert [(await turn.outcome()).reason for turn in (first, second)] == ["aborted", "aborted"]


async def test_those_who_follow_can_tell_an_undo_from_one_that_is_taken_back(odin, call):
    odin.person = TerminalEditor("yes")
    path = odin.root / "new.py"
    odin.script({"calls": [call("WriteFile", file_path=str(path), content="x\n")]}, {"text": "done"})
    await odin.take("write it", "edit_mode")

    first = await odin.core.undo(None)
    again = await odin.core.undo(first.undo_id)
    await odin.core.undo("turn-1")

    assert again.restored == (path,)
    assert [it.again for it in odin.of(TurnUndone)] == [False, True, False]


async def test_what_was_noted_in_one_session_is_known_in_the_next(odin, call):
    odin.script(
        {"calls": [call("Memory", action="remember", text="tabs, not spaces")]},
        {"text": "noted"},
        {"calls": [call("Memory", action="recall", text="tabs")]},
        {"text": "I know"},
    )
    await odin.take("remember it", "edit_mode")
    odin.core.sessions.begin()

    await odin.take("what do I like?")

    [result] = odin.session.messages[2].results
    assert "tabs, not spaces" in result.content


async def test_a_review_that_cannot_be_shown_again_keeps_nobody_from_the_others(odin, monkeypatch):
    core = odin.start()
    kept = [SimpleNamespace(turn_id=it, session_id="s", origin="") for it in ("unreadable", "fine")]
    shown = []

    def restore(review, turn):
        if review.turn_id == "unreadable":
            raise OSError(errno.EIO, "Input/output error")
        shown.append(turn.turn_id)

    monkeypatch.setattr(core.desk.journal, "waiting", lambda: iter(kept))
    monkeypatch.setattr(core.desk, "restore", restore)

    await core.restore_reviews()

    assert shown == ["fine"]
