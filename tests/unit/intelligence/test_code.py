from pathlib import Path

import pytest

from odin_lsp.intelligence.code import MAX_CHARACTERS, around, code_of
from odin_lsp.intelligence.grammars import LANGUAGES

EXAMPLES = {
    "a.py": "class Cart:\n    def total(self):\n        return total  # total\n\n\nprint(Cart().total(), 'total')\n",
    "a.js": "class Cart {\n  total() { return total /* total */ }\n}\n\n\nconsole.log(new Cart().total(), 'total')\n",
    "a.ts": "class Cart {\n  total(): number { return total }\n}\n\n\nconsole.log(new Cart().total(), `total`)\n",
    "a.tsx": "class Cart {\n  total() { return <b>{total}</b> }\n}\n\n\nconsole.log(new Cart().total(), 'total')\n",
    "a.go": "package a\n\nfunc total() int { return total // total\n}\n\nvar x = total() + len(`total`)\n",
    "a.rs": 'struct Cart;\nimpl Cart {\nfn total(&self) -> i32 { total }\n}\n\nfn main() { total(); f("total") }\n',
    "a.java": 'class A {\n  int total() { return 1; /* total */ }\n\n\n\n  int x() { return total() + "total"; }\n}\n',
    "a.c": 'int x;\nint total(void) { return 1; /* total */ }\n\n\n\nint y(void) { return total() + "total"; }\n',
    "a.cpp": 'class Cart {\n  int total() { return 1; /* total */ }\n};\n\n\nint y() { return total() + "total"; }\n',
    "a.cs": 'class Cart {\n  int total() { return 1; /* total */ }\n\n\n\n  int x() { return total() + "total"; }\n}\n',
    "a.rb": "class Cart\n  def total\n    total # total\n  end\nend\nputs total, 'total'\n",
    "a.php": "<?php\nfunction total() { return total; /* total */ }\n\n\n\necho total() . 'total';\n",
    "a.lua": "local x = 1\nlocal function total() return total --[[ total ]] end\n\n\n\nprint(total(), 'total')\n",
}


NESTED = """\
class Outer:
    class Inner:
        def f(self):
            def g(): ...

    def h(self): ...


def f(): ...
"""


@pytest.mark.parametrize("name", EXAMPLES)
def test_names_are_told_from_comments_and_strings_in_every_language(name):
    code = code_of(Path(name), EXAMPLES[name])
    assert code is not None
    (defined,) = [it for it in code.symbols if it.name == "total"]
    lines = EXAMPLES[name].splitlines()
    named = [at for at, line in enumerate(lines, 1) if "total" in line]
    assert code.uses("total") == named
    assert named[-1] == 6
    assert defined.line == named[0]
    assert not code.uses("tota")


def test_every_language_has_its_example():
    assert {LANGUAGES[Path(it).suffix] for it in EXAMPLES} == set(LANGUAGES.values())


def test_what_stands_in_something_else_says_so():
    code = code_of(Path("a.py"), NESTED)
    assert code is not None
    assert [(it.full_name, it.kind, it.line, it.last) for it in code.symbols] == [
        ("Outer", "class", 1, 6),
        ("Outer.Inner", "class", 2, 4),
        ("Outer.Inner.f", "method", 3, 4),
        ("Outer.Inner.f.g", "function", 4, 4),
        ("Outer.h", "method", 6, 6),
        ("f", "function", 9, 9),
    ]
    assert [around(code.symbols, line) for line in (1, 3, 4, 5, 9)] == ["", "Outer.Inner", "Outer.Inner.f", "Outer", ""]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_those_of_the_editor(end):
    text = f'# "é😀"{end}class A:{end}    def f(self):{end}        return "😀" + g(){end}'
    code = code_of(Path("a.py"), text)
    assert code is not None
    assert [(it.full_name, it.line, it.last) for it in code.symbols] == [("A", 2, 4), ("A.f", 3, 4)]
    assert code.uses("g") == [4]


def test_what_is_put_into_a_string_is_code():
    code = code_of(Path("a.py"), 'f"total {total} total"\n"total"\n')
    assert code is not None
    assert code.uses("total") == [1]


def test_broken_code_is_taken_apart_as_far_as_it_goes():
    code = code_of(Path("a.py"), "def g():\n    pass\n\nclass A\n    def (:\n\udcff")
    assert code is not None
    assert "g" in [it.name for it in code.symbols]


def test_unknown_languages_and_very_large_texts_are_left_alone():
    assert code_of(Path("a.txt"), "def f(): ...") is None
    assert code_of(Path("a.py"), " " * (MAX_CHARACTERS + 1)) is None
