"""What a pattern of a rule matches: exactly to allow, generously to forbid."""

import pytest

from odin_lsp.patterns import CommandPattern


@pytest.mark.parametrize(
    ("pattern", "command", "reached"),
    [
        ("rm -rf", "rm -rf x", True),
        ("rm -rf", "rm -fR x", True),
        ("rm -rf", "rm -R x -F", True),
        ("rm -rf", "rm --recursive --force x", True),
        ("rm -rf", "rm --rec -f x", True),
        ("rm -rf", "rm -r x", False),
        ("rm -rf", "rm --recursive x", False),
        ("rm -rf", "rm -- r f", False),
        ("rm --force", "rm --force x", True),
        ("rm --force", "rm --forc x", True),
        ("rm --force", "rm --f x", True),
        ("rm --force", "rm -rf x", True),
        ("rm --force", "rm -rF x", True),
        ("rm --force", "rm -- x", False),
        ("rm --force", "rm --forced x", False),
        ("git push --force", "git push origin --force-with-lease", False),
        ("tool --out=/etc/*", "tool --ou=/etc/x", True),
        ("tool --out=/etc/*", "tool --out=x", False),
        ("npm exec --", "npm exec -- x", True),
        ("npm exec --", "npm exec -y x", False),
    ],
)
def test_options_are_forbidden_however_they_are_written(pattern, command, reached):
    assert CommandPattern.of(pattern).reaches(command.split()) == reached
    assert not CommandPattern.of(pattern).covers(command.split()) or command.startswith(pattern)


@pytest.mark.parametrize("command", ["nodemon x.js", "nodemon x.js --exec", "nodemon", "nodemon y.js"])
def test_an_exact_pattern_allows_one_command(command):
    assert CommandPattern.of("nodemon x.js $").covers(command.split()) == (command == "nodemon x.js")


def test_an_exact_pattern_forbids_what_goes_on_as_well():
    assert CommandPattern.of("git push $").reaches(["git", "push", "origin"])


@pytest.mark.parametrize("text", ["npm test", "nodemon x.js $", "tool 'a b' $", "tool '*' $", "tool '$' $"])
def test_a_pattern_is_read_as_it_was_written(text):
    pattern = CommandPattern.of(text)

    assert pattern.text == text
    assert pattern.exact == text.endswith(" $")
    assert CommandPattern.of(pattern.text) == pattern


@pytest.mark.parametrize("text", ["", "$", "'' x", "' $"])
def test_a_pattern_without_a_word_is_none(text):
    with pytest.raises(ValueError, match=r"empty|quotation"):
        CommandPattern.of(text)
