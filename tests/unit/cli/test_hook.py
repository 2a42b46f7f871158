"""Whatever goes wrong in Odin itself, an edit that nobody has reviewed is not made."""

import io
from argparse import Namespace
from types import SimpleNamespace

import pytest

from odin_lsp.cli import hook
from odin_lsp.hook_door import door


@pytest.mark.parametrize("fault", [RuntimeError("a bug"), OSError("the disk is full"), RecursionError()])
def test_a_fault_of_odins_own_refuses_the_edit(fault, monkeypatch, capsys):
    async def fails(*_):
        raise fault

    monkeypatch.setattr(door, "answer", fails)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"{}")))

    assert hook.run(Namespace(agent="claude")) == hook.REFUSED
    assert "so it was not made" in capsys.readouterr().err
