"""What the user picked: what it goes before, what goes before it, and what becomes of it."""

import json

import pytest

from odin_lsp.config import Config
from odin_lsp.models.selection import KEY_VARIABLES, choose
from odin_lsp.project.picks import MAX_WORKSPACES, Picks

KEYS = {"anthropic": "a-key", "google": "a-key"}
SONNET, OPUS, FLASH = "anthropic/claude-sonnet-5-5", "anthropic/claude-opus-5-5", "google/gemini-3.8-flash"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    for name in (*(name for names in KEY_VARIABLES.values() for name in names), "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state" / "models.json"


@pytest.fixture
def restart(tmp_path, path):
    """What a new process finds."""
    return lambda: Picks(tmp_path, path)


def model(picks, config, secrets=KEYS):
    return choose(config, secrets, picks.in_force(config, secrets))[0]


def test_each_goes_before_those_after_it(restart):
    settings = Config(model=SONNET)
    insisted = Config(model=f"{OPUS}@high").with_fixed({"model"})
    restart().pick({"model": f"{FLASH}@low"}, settings)
    picks = restart()
    picks.pick({"model": f"{OPUS}@low"}, settings)
    restart().pick({"model": FLASH}, settings)  # in another window, meanwhile

    assert model(picks, insisted) == f"{OPUS}@high"
    assert model(picks, settings) == f"{OPUS}@low"
    assert model(restart(), settings) == FLASH
    picks.pick({"model": ""}, settings)
    assert model(picks, settings) == SONNET
    assert model(restart(), settings) == SONNET
    assert model(picks, Config()) == SONNET
    assert model(picks, Config(), {"google": "a-key"}) == FLASH
    assert model(picks, Config(), {}) == "offline/odin"


def test_the_small_model_is_picked_and_remembered_by_itself(restart):
    first, second = restart(), restart()
    first.pick({"model": SONNET}, Config())
    second.pick({"small_model": f"{FLASH}@low"}, Config())

    assert choose(Config(), KEYS, restart().in_force(Config(), KEYS)) == (SONNET, f"{FLASH}@low")


def test_what_the_environment_insists_on_changes_nothing_that_was_picked(restart):
    restart().pick({"model": OPUS}, Config(model=SONNET))

    assert list(restart().settle(Config(model=FLASH).with_fixed({"model"}), KEYS)) == []
    assert model(restart(), Config(model=SONNET)) == OPUS


def test_other_settings_make_it_forgotten_for_good(restart):
    restart().pick({"model": OPUS}, Config(model=SONNET))
    picks = restart()

    assert model(picks, Config(model=FLASH)) == FLASH
    [told] = picks.settle(Config(model=FLASH), KEYS)
    assert OPUS in told
    assert list(picks.settle(Config(model=FLASH), KEYS)) == []
    assert model(picks, Config(model=SONNET)) == model(restart(), Config(model=SONNET)) == SONNET


def test_a_terminal_does_not_know_the_settings_of_an_editor(tmp_path, path, restart):
    restart().pick({"model": OPUS}, Config(model=SONNET))
    picks = Picks(tmp_path, path, can_pick=False)

    assert model(picks, Config(model=FLASH)) == FLASH
    assert list(picks.settle(Config(model=FLASH), KEYS)) == []
    assert model(restart(), Config(model=SONNET)) == OPUS


def test_no_setting_and_an_empty_one_are_the_same(restart):
    restart().pick({"model": OPUS}, Config(model=""))

    assert model(restart(), Config()) == OPUS


def test_settings_that_come_late_make_nothing_forgotten(restart):
    restart().pick({"model": OPUS}, Config(model=SONNET))
    picks = restart()

    assert model(picks, Config()) == SONNET
    assert list(picks.settle(Config(model=SONNET), KEYS)) == []
    assert model(picks, Config(model=SONNET)) == OPUS


def test_what_another_window_picked_is_not_forgotten_with_it(restart):
    restart().pick({"model": OPUS}, Config(model=SONNET))
    picks = restart()
    restart().pick({"model": f"{OPUS}@low"}, Config(model=FLASH))

    assert len(list(picks.settle(Config(model=FLASH), KEYS))) == 1
    assert model(restart(), Config(model=FLASH)) == f"{OPUS}@low"


def test_without_its_key_it_is_left_out_until_there_is_one(restart):
    restart().pick({"model": OPUS}, Config())
    picks = restart()

    assert model(picks, Config(), {}) == "offline/odin"
    [told] = picks.settle(Config(), {})
    assert f"The selected model {OPUS} is not available" in told
    assert list(picks.settle(Config(), {})) == []
    assert model(restart(), Config()) == OPUS


def test_what_is_picked_now_is_tried_without_a_key_too(restart):
    picks = restart()
    picks.pick({"model": OPUS}, Config())

    assert model(picks, Config(), {}) == OPUS
    assert list(picks.settle(Config(), {})) == []


def test_a_script_is_not_kept_for_the_next_time(restart):
    restart().pick({"model": OPUS}, Config())
    picks = restart()
    picks.pick({"model": "scripted/replies.json"}, Config())

    assert model(picks, Config()) == "scripted/replies.json"
    assert model(restart(), Config()) == SONNET


@pytest.mark.parametrize(
    "garbage",
    [
        *(b"", b"{", b"null", b"[]", b"\xff\xfe", b"[" * 100_000),
        *("MINE: 3", "MINE: []", 'MINE: {"model": 3}', 'MINE: {"small_model": {"model": "x/y"}}'),
        'MINE: {"model": {"model": 3, "configured": null}}',
    ],
    ids=lambda garbage: repr(garbage)[:40],
)
def test_garbage_is_told_of_once_and_replaced(tmp_path, path, restart, garbage):
    path.parent.mkdir()
    mine = json.dumps(str(tmp_path.resolve()))
    path.write_bytes(garbage if isinstance(garbage, bytes) else f"{{{garbage.replace('MINE', mine)}}}".encode())
    path.chmod(0o600)
    picks = restart()

    assert model(picks, Config()) == SONNET
    assert len(list(picks.settle(Config(), KEYS))) == 1
    assert list(picks.settle(Config(), KEYS)) == list(restart().settle(Config(), KEYS)) == []
    picks.pick({"model": OPUS}, Config())
    assert model(restart(), Config()) == OPUS


def test_what_is_newer_than_this_does_no_harm(tmp_path, path, restart):
    restart().pick({"model": OPUS}, Config())
    stored = json.loads(path.read_text())
    stored[str(tmp_path.resolve())]["model"]["since"] = 3
    stored[str(tmp_path.resolve())]["title_model"] = {"name": "x"}
    path.write_text(json.dumps(stored))

    assert model(restart(), Config()) == OPUS
    assert list(restart().settle(Config(), KEYS)) == []


def test_only_the_user_can_read_or_have_written_it(path, restart):
    restart().pick({"model": OPUS}, Config())
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700

    path.chmod(0o666)
    assert model(restart(), Config()) == SONNET


def test_where_nothing_can_be_kept_it_counts_until_the_end(path, restart):
    path.parent.write_text("no folder")
    picks = restart()
    picks.pick({"model": OPUS}, Config())

    assert model(picks, Config()) == OPUS
    [told] = picks.settle(Config(), KEYS)
    assert "Could not save your model selection" in told


def test_the_latest_workspaces_are_kept(tmp_path, path):
    for number in range(3):
        Picks(tmp_path / str(number), path).pick({"model": OPUS}, Config())
    stored = json.loads(path.read_text())
    [one, *_] = stored.values()
    path.write_text(json.dumps({**{f"/old/{number}": one for number in range(MAX_WORKSPACES)}, **stored}))
    path.chmod(0o600)

    Picks(tmp_path / "0", path).pick({"model": FLASH}, Config())

    kept = json.loads(path.read_text())
    assert len(kept) == MAX_WORKSPACES
    assert list(kept)[-3:] == [str((tmp_path / name).resolve()) for name in "120"]
