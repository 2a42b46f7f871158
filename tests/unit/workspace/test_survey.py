"""What a project's files say about it."""

import json

import pytest

from odin_lsp.workspace.name_list import FileNames
from odin_lsp.workspace.survey import Part, survey

FILES = {
    "README.md": "# Thing\n\n[![badge](x)](y)\n\nThing counts things.\nQuickly.\n\nMore.\n",
    "pyproject.toml": "[project]\nname='thing'\n[project.scripts]\nthing='thing:main'\n[tool.pytest.ini_options]\n",
    "noxfile.py": "import nox\n@nox.session\ndef lint(session: nox.Session) -> None: ...\n",
    "Makefile": "VAR := 1\nbuild: x\n\tcc x\n.PHONY: build\n",
    "package.json": json.dumps({"scripts": {"dev": "vite"}}),
    "thing/a.py": "",
    "thing/b.py": "",
    "web/c.ts": "",
}


@pytest.fixture
def facts(tmp_path):
    def facts(files):
        listed = FileNames(tmp_path, list(files), is_whole=True)
        return survey(listed, lambda it: files[str(it.relative_to(tmp_path))])

    return facts


def test_it_tells_summary_languages_parts_and_commands(facts):
    found = facts(FILES)

    assert found.summary == "Thing counts things.\nQuickly."
    assert found.languages == (("Python", 3), ("TypeScript", 1))
    assert found.parts == (Part("thing", 2, "Python"), Part("web", 1, "TypeScript"))
    assert found.commands == (
        ("nox -s lint", "noxfile.py"),
        ("make build", "Makefile"),
        ("npm run dev", "package.json"),
        ("thing", "pyproject.toml"),
        ("pytest", "pyproject.toml"),
    )


def test_files_that_make_no_sense_say_nothing(facts):
    found = facts({"pyproject.toml": "[[[", "package.json": "[1", "README.md": ""})

    assert (found.summary, found.commands, found.parts) == ("", (), ())
