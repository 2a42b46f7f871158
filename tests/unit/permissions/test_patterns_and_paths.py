"""Which word of a search is its pattern and which are its files, and what a question shows of a command."""

import pytest

from odin_lsp.config import Config
from odin_lsp.permissions.gate import exact
from odin_lsp.permissions.rules import Rules
from odin_lsp.permissions.shell import judge


@pytest.fixture
def decided(tmp_path):
    (tmp_path / "a.txt").write_text("x\n")
    (tmp_path / "words").write_text("x\n")

    def decided(command):
        return judge(command, mode="ask_mode", cwd=tmp_path, roots=(tmp_path,), rules=Rules.of(Config())).decision

    return decided


@pytest.mark.parametrize("given", ["x", "-e x", "-ie x", "-f words", "--regexp=x", "--file=words"])
@pytest.mark.parametrize("program", ["grep", "rg"])
def test_all_words_behind_the_pattern_are_files_however_it_is_given(decided, program, given):
    assert decided(f"{program} {given} a.txt") == "allow"
    assert decided(f"{program} {given} /etc/shadow") == "deny"
    assert decided(f"{program} {given} a.txt /etc/shadow") == "deny"


@pytest.mark.parametrize("program", ["grep", "rg"])
def test_a_pattern_that_looks_like_a_file_is_none(decided, program):
    assert decided(f"{program} /etc/shadow a.txt") == "allow"
    assert decided(f"{program} -e /etc/shadow a.txt") == "allow"
    assert decided(f"{program} -f /etc/shadow a.txt") == "deny"


def test_a_list_of_files_has_no_pattern(decided):
    assert decided("rg --files .") == "allow"
    assert decided("rg --files /etc") == "deny"


def test_nothing_of_a_command_hides_from_whoever_is_asked():
    assert exact("ls -l 'ü😀'\nrm x") == "ls -l 'ü😀'\nrm x"
    assert exact("a\rb\x1b[2Kc\u202ed\u00a0e\ud800") == "a\\rb\\x1b[2Kc\\u202ed\\xa0e\\ud800"
