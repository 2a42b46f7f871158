"""What `/name words` stands for."""

import pytest

from odin_lsp.extensions.custom_commands import CustomCommand, Include, Run

FILLED = [
    ("Fix $ARGUMENTS.", "issue 12", ["Fix issue 12."]),
    ("Fix $1 for $2, not $3.", "'issue 12' me", ["Fix issue 12 for me, not ."]),
    ("First $ARGUMENTS[0]", "a b", ["First a"]),
    ("Just this.", "", ["Just this."]),
    ("Just this.", "with that", ["Just this.", "\n\nwith that"]),
    ("It's $1", "don't stop", ["It's don't"]),
    ("Price: $10 and $ARGUMENTSX", "", ["Price:  and $ARGUMENTSX"]),
    ("Log: !`git log $1` end", "-3", ["Log: ", Run("git log -3"), " end"]),
    ("Say $1", "!`rm -rf /`", ["Say !`rm"]),
]


@pytest.mark.parametrize(("body", "arguments", "parts"), FILLED)
def test_words_take_their_places(body, arguments, parts):
    assert CustomCommand("x", "", body).filled(arguments) == parts


def test_what_the_user_says_is_no_command():
    assert not any(isinstance(it, Run) for it in CustomCommand("x", "", "Say $ARGUMENTS").filled("!`rm -rf /`"))


INCLUDED = [
    ("See @src/a.py, please.", "", ["See ", Include("src/a.py"), ", please."]),
    ("See @$1!", "b.py", ["See ", Include("b.py"), "!"]),
    ("Say $ARGUMENTS", "@secret", ["Say @secret"]),
    ("mail me@example.org", "", ["mail me@example.org"]),
    ("run `@x`", "", ["run `@x`"]),
]


@pytest.mark.parametrize(("body", "arguments", "parts"), INCLUDED)
def test_files_are_those_that_the_text_names(body, arguments, parts):
    assert CustomCommand("x", "", body).filled(arguments) == parts
