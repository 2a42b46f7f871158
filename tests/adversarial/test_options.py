"""What Odin believes of options against what the programs do with them.

Where Odin believes in a value and the program does not, the word behind is opened or obeyed without being judged."""

import shutil
import subprocess

import pytest

from odin_lsp.permissions.shell import readers
from odin_lsp.permissions.shell.grammar import ATTACHED, Grammar, NotUnderstood
from odin_lsp.workspace.search import find_ripgrep
from tests.adversarial.option_probe import knows, letters_go_on, takes_next_word
from tests.editors.debian import MAY_FETCH, Program, fetched

PACKAGES = {"file": "file", "free": "procps", "jq": "jq", "tree": "tree", "uptime": "procps"}
"""What is not on every machine: then it is asked where it may be fetched."""
ASKED = [name for name in readers.GRAMMARS if name not in PACKAGES or MAY_FETCH or shutil.which(name)]
CONNECTIVES = frozenset({"-a", "-and", "-o", "-or", "-not"})
"""Of find: they stand behind another test, and are refused alone."""


@pytest.fixture(scope="module")
def command():
    """The beginning of a command line that starts the program."""

    def command(name: str) -> list[str]:
        if name in readers.BUILTINS:
            return ["bash", "-c", f'{name} "$@"', name]
        found = find_ripgrep([]) if name == "rg" else shutil.which(name)
        return [str(found or fetched(Program("trixie", PACKAGES[name], f"usr/bin/{name}")))]

    return command


@pytest.mark.parametrize("name", ASKED)
def test_an_option_takes_the_next_word_where_odin_takes_it(command, tmp_path, name):
    for option, kind in readers.GRAMMARS[name].options.items():
        if kind == ATTACHED:
            continue
        assert knows(command(name), option, tmp_path), option
        assert takes_next_word(command(name), option, tmp_path) == (kind not in (None, "?")), option


@pytest.mark.parametrize("name", ASKED)
def test_letters_go_on_behind_an_option_where_odin_reads_on(command, tmp_path, name):
    grammar = readers.GRAMMARS[name]
    for option, kind in grammar.options.items():
        if option.startswith("--"):
            continue
        go_on = letters_go_on(command(name), option, tmp_path)
        if kind is None:
            assert go_on, option
        elif go_on:
            with pytest.raises(NotUnderstood):
                grammar.read([f"{option}x", "y"])


def test_a_test_of_find_takes_the_next_word_where_odin_takes_it(command, tmp_path):
    takes = readers.FIND_TESTS_OF | readers.FIND_FILES
    for option in {it for it in readers.FIND_TESTS if it.startswith("-")} | takes:
        before = ["-true"] if option in CONNECTIVES else []
        assert takes_next_word([*command("find"), ".", *before], option, tmp_path) == (option in takes), option


def test_an_optional_value_is_never_the_next_word():
    reading = Grammar("--color=? -w=?").read(["--color", "a", "-w", "b", "-w5", "--color=never"])

    assert reading.operands == ["a", "b"]
    assert [value for _, value in reading.values if value] == ["5", "never"]


def test_a_value_that_has_to_be_attached_is():
    grammar = Grammar("--since==")

    assert grammar.read(["--since=x"]).values == [("--since", "x")]
    with pytest.raises(NotUnderstood):
        grammar.read(["--since", "x"])


@pytest.mark.parametrize("words", [["-L", "--output=x"], ["-L", "-o"], ["--label", "-x"], ["-L"]])
def test_what_looks_like_an_option_is_no_value(words):
    with pytest.raises(NotUnderstood):
        Grammar("-L= --label=").read(words)


def test_a_negative_number_is_a_value():
    assert Grammar("-n=").read(["-n", "-5"]).values == [("-n", "-5")]


def test_the_letters_of_tree_go_on_behind_one_with_a_value(command, tmp_path):
    subprocess.run([*command("tree"), "-Po", "*", "PWNED"], cwd=tmp_path, check=True)

    assert (tmp_path / "PWNED").exists()
    for words in (["-Po", "*", "PWNED"], ["-L2o", "PWNED"], ["-aP", "x"]):
        with pytest.raises(NotUnderstood):
            readers.GRAMMARS["tree"].read(words)
    assert readers.GRAMMARS["tree"].read(["-ad", "-L", "2", "src"]).paths == ["src"]
