import pytest

from odin_lsp.config import Config
from odin_lsp.models.selection import KEY_VARIABLES, OFFLINE, available


def test_models_with_a_key_are_available(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (name for names in KEY_VARIABLES.values() for name in names):
        monkeypatch.delenv(name, raising=False)

    assert available(Config(), {}) == (OFFLINE,)
    assert {it.partition("/")[0] for it in available(Config(), {"google": "a-key"})} == {"google", "offline"}
