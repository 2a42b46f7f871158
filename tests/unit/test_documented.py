"""Which commands of README and the docs are run by `nox -s documented`, and who shows the others."""

import ast
from pathlib import Path

from tests.documented.commands import ROOT, WAYS, documented
from tests.unit.test_capabilities import is_there

SHOWN = {text: way.shown_by for text, way in WAYS.items() if way.shown_by}


def test_a_command_that_is_shown_elsewhere_is_shown_there():
    missing = [it for it in SHOWN.values() if not it.startswith("nox: ") and not is_there(it)]

    assert missing == []
    assert {it.removeprefix("nox: ") for it in SHOWN.values() if it.startswith("nox: ")} <= sessions()


def test_every_way_is_of_a_command_that_stands_somewhere():
    assert WAYS.keys() - {it.text for it in documented()} == set()


def sessions() -> set[str]:
    noxfile = ast.parse(Path(ROOT / "noxfile.py").read_text(encoding="utf-8"))
    return {it.name for it in noxfile.body if isinstance(it, ast.FunctionDef) and it.decorator_list}
