from pathlib import Path

import pytest

from odin_lsp.workspace.uris import document_key, folded, is_relative, path_of, printable, refusal


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b%20c.py", "/a/b c.py"),
        ("file://localhost/a", "/a"),
        ("file:///a%23b", "/a#b"),
        ("FILE:///a", "/a"),
        ("file:///a%252e", "/a%2e"),
        ("file:///ws/a#b.txt", None),
        ("file:///ws/a?b.txt", None),
        ("untitled:Untitled-1", None),
        ("vscode-notebook-cell:/a.ipynb#1", None),
        ("vscode-remote://wsl/a", None),
        ("git:/a/b.py", None),
        ("http://example.test/a", None),
        ("file://host/share", None),
        ("file:///a%00b", None),
        ("file:///%FF.txt", None),
        ("file:relative", None),
    ],
)
def test_only_uris_of_files_are_paths(uri, path):
    assert path_of(uri, windows=False) == (Path(path) if path else None)


@pytest.mark.parametrize(
    "name", ["a b", "a#b", "a?b", "100%", "a;b&c", "'quoted\"", "new\nline", "-dash", "~", "$(x)", "😀", "אב", "é"]
)
def test_names_survive_the_journey_through_a_uri(name):
    path = Path("/ws") / name

    assert path_of(path.as_uri(), windows=False) == path


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("file:///C:/k", "file:///c:/k"),
        ("file:///c%3A/k", "file:///C:/k"),
        ("file:///a%20b", "file:///a b"),
        ("file://localhost/a", "file:///a"),
    ],
)
def test_spellings_of_one_document_have_one_key(one, two):
    assert document_key(one) == document_key(two)


@pytest.mark.parametrize(
    "name",
    [
        "\\\\evil\\share\\x", "//evil/share/x", "\\\\?\\C:\\x", "\\??\\C:\\x", "C:foo", "foo\\bar", "\\foo",
        "C:\\CON", "c:\\x\\nul.txt", "C:\\settings.json::$DATA", "C:\\settings.json.", "C:\\settings.json ",
        "C:\\VSCODE~1\\x", "", "undefined", "C:\\a\0b", "C:/CON", "c:/x/nul.txt", "/foo",
    ],
)  # fmt: skip
def test_on_windows_what_means_something_else_is_refused(name):
    assert refusal(name, windows=True)


@pytest.mark.parametrize("name", ["C:\\ws\\a.py", "c:/ws/a.py", "C:\\ws\\.\\a", "C:\\console\\contact.txt"])
def test_on_windows_plain_paths_are_fine(name):
    assert refusal(name, windows=True) is None


@pytest.mark.parametrize("name", ["a.txt", "./a", "~/a", "", "  ", "null", "undefined", "/a\0b", "/\udcff.txt"])
def test_elsewhere_only_absolute_names_that_are_text_are_fine(name):
    assert refusal(name, windows=False)


def test_what_no_system_opens_is_not_looked_up():
    assert "4,096 characters" in (refusal("/" + "d/" * 2047 + "x") or "")
    assert refusal("/" + "d/" * 2047) is None


@pytest.mark.parametrize("name", ["a.txt", "./a", "../a", "~x", "a:1:b", "C:a", " a", "a/~"])
def test_a_name_may_be_below_a_folder(name):
    assert is_relative(name, windows=False)


@pytest.mark.parametrize(
    "name", ["/a", "~", "~/a", "file:///a", "git:/a", "C:\\a", "C:/a", "", " ", "null", "undefined"]
)
@pytest.mark.parametrize("windows", [False, True])
def test_what_means_something_by_itself_is_below_no_folder(name, windows):
    assert not is_relative(name, windows=windows)


def test_on_windows_a_backslash_begins_at_the_top():
    assert not is_relative("\\a", windows=True)
    assert is_relative("\\a", windows=False)


@pytest.mark.parametrize("name", [".ENV", ".env.", ".env ", ".e\u200bnv", "．ｅｎｖ", ".env\u202e"])
def test_names_that_must_not_be_reached_are_found_in_any_disguise(name):
    assert folded(name) == ".env"


def test_composed_and_decomposed_names_are_the_same():
    assert folded("caf\u00e9") == folded("cafe\u0301")


def test_names_are_shown_so_that_they_cannot_mislead():
    assert printable("a\udcff.txt") == "a\\xff.txt"
    assert printable("a\u202egpj.exe") == "a\\u202egpj.exe"
    assert printable("line\nbreak") == "line\\u000abreak"
    assert printable("émoji 😀") == "émoji 😀"
