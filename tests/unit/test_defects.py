"""The table of what was once wrong fits the code as it is: `python -m tests.defects` can put all of it back."""

import ast

from tests.defects import ROOT, defects
from tests.unit.test_capabilities import is_there


def test_each_defect_has_a_name_of_its_own_a_change_and_tests_that_exist():
    names = [it.name.partition(" ")[0] for it in defects()]
    named = {(it.name, test) for it in defects() for test in it.tests}

    assert sorted(names) == sorted(set(names))
    assert [it.name for it in defects() if not it.changes or not it.tests] == []
    assert sorted(f"{name} names {test}" for name, test in named if not is_there(test)) == []


def test_what_each_defect_would_change_is_there_once():
    gone = [(it.name, change) for it in defects() for change in it.changes if not change.is_possible(ROOT)]

    assert [f"{name}: not once in {change.file}:\n{change.now}" for name, change in gone] == []


def test_with_each_defect_the_code_is_still_python(tmp_path):
    for defect in defects():
        files = {it.file for it in defect.changes}
        for file in files:
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file).write_bytes((ROOT / file).read_bytes())
        for change in defect.changes:
            change.make(tmp_path)
        for file in (it for it in files if it.endswith(".py")):
            ast.parse((tmp_path / file).read_text(encoding="utf-8"), f"{file} with {defect.name}")
