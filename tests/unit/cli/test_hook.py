"""Whatever goes wrong in Odin itself, an edit that nobody has reviewed is not made."""

import io
from argparse import ArgumentParser, Namespace
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

    assert hook.run(Namespace(agent="claude", patience=None)) == hook.REFUSED
    assert "so it was not made" in capsys.readouterr().err


@pytest.mark.parametrize("given", ["0", "-1", "nan", "inf", "21601", "soon"])
def test_a_time_that_is_none_is_refused(given, capsys):
    parser = ArgumentParser()
    hook.add_arguments(parser)

    with pytest.raises(SystemExit) as ended:
        parser.parse_args(["claude", f"--patience={given}"])

    assert ended.value.code == hook.REFUSED
    assert "is not a number of seconds" in capsys.readouterr().err
