"""What in a word is a revision, and what a path."""

import pytest

from odin_lsp.permissions.shell.git_words import commits, is_pattern, path_in
from odin_lsp.permissions.shell.grammar import NotUnderstood


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("HEAD:a.txt", ("HEAD", "a.txt")),
        ("HEAD:", ("HEAD", "")),
        ("HEAD:./a:b", ("HEAD", "./a:b")),
        ("HEAD^{/fix: start}", None),
        ("HEAD^{/fix: start}:.env", ("HEAD^{/fix: start}", ".env")),
        ("HEAD@{00:00}:.env", ("HEAD@{00:00}", ".env")),
        ("HEAD@{{a}:b}:c", ("HEAD@{{a}:b}", "c")),
        ("a}:b", ("a}", "b")),
        ("main", None),
        (":a.txt", ("", "a.txt")),
    ],
)
def test_the_path_begins_at_the_first_colon_outside_of_braces(word, parts):
    assert path_in(word) == parts


@pytest.mark.parametrize(
    ("word", "written"),
    [
        ("HEAD", "HEAD"),
        ("@", "@"),
        ("HEAD~2", "HEAD~2"),
        ("main^", "main^"),
        ("v1^{commit}", "v1^{commit}"),
        ("main", "main^0"),
        ("1a2b3c4", "1a2b3c4^0"),
        ("v1^{}", "v1^{}^0"),
        ("v1^{tag}", "v1^{tag}^0"),
        ("v1^{tree}", "v1^0^{tree}"),
        ("HEAD^{/a~1}", "HEAD^{/a~1}^0"),
        ("@{u}", "@{u}^0"),
        ("stash@{0}", "stash@{0}^0"),
        ("^main", "^main^0"),
        ("main..side", "main^0..side^0"),
        ("main...HEAD", "main^0...HEAD"),
        ("@{u}..", "@{u}^0.."),
        ("..side", "..side^0"),
        ("main^!", "main^0^!"),
        ("main^@", "main^0^@"),
        ("main^-", "main^0^-"),
        ("HEAD~1^-2", "HEAD~1^-2"),
    ],
)
def test_a_revision_is_written_so_that_it_is_a_commit(word, written):
    assert commits(word) == written


@pytest.mark.parametrize(
    "word", ["HEAD:a.txt", "main..HEAD:.env", "HEAD^{/a..b}", "a..b..c", "a....b", ":a", "^HEAD:a"]
)
def test_what_may_be_something_else_is_no_revision(word):
    with pytest.raises(NotUnderstood):
        commits(word)


def test_a_pattern_of_file_names_is_no_revision():
    assert is_pattern("*.py")
    assert is_pattern("src/[a-z].py")
    assert not is_pattern("HEAD^{/fix.*}")
