"""Names of many files, and patterns for them."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odin_lsp.workspace import name_list
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.globs import NamePattern, as_text, braces, compiled
from odin_lsp.workspace.name_list import FileNames, by_folder, folders_of, joined, newest, parse_names, suffix_of

NAMES = st.lists(st.sampled_from(["a", "b", ".py", ".", "/", "\u00e9", "\udcff", "\n", " "]), min_size=1).map("".join)


@given(st.lists(NAMES), st.sampled_from(["", "./", "./cut"]))
def test_names_are_read_as_they_were_printed_but_for_one_that_is_cut_short(names, rest):
    printed = os.fsencode("".join(f"./{name}\0" for name in names) + rest)

    assert parse_names(printed) == names


@given(st.lists(NAMES.filter(lambda name: not name.startswith("/")), unique=True))
def test_what_is_taken_apart_by_folders_can_be_joined(names):
    assert sorted(joined(by_folder(names))) == sorted(names)


@given(NAMES)
def test_a_suffix_is_that_of_the_path(name):
    assert suffix_of(name) == Path(name).suffix.lower() or name.rpartition("/")[2] in ("", ".", "..")


def test_folders_are_those_around_the_files_up_to_the_one_that_all_are_in():
    assert folders_of(["a/b/c.py", "a/d.py", "top.py", "./~x/y"]) == {"a/", "a/b/", "./~x/"}


PIECES = ["a", "b", "ab", ".py", "/", "*", "**", "?", "[ab]", "[!a]", "\\", "{a,b}", " ", "!", "#", "\u00e9"]
PATTERNS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=7).map("".join)
PATHS = st.lists(st.sampled_from(["a", "b", "ab", ".py", "*", " ", "!", "#", "\u00e9", "\udcff", "["]), min_size=1).map(
    "".join
)


@given(PATTERNS, st.lists(st.lists(PATHS, min_size=1, max_size=3).map("/".join), unique=True))
def test_many_names_match_a_pattern_as_each_by_itself(pattern, names):
    try:
        wanted = compiled(f"/{it.lstrip('/')}" for it in braces(pattern))
    except ValueError:
        return
    assert sorted(NamePattern(pattern).among(names)) == sorted(it for it in names if wanted.match_file(as_text(it)))


def test_only_names_that_may_match_are_compared_with_the_pattern(monkeypatch):
    pattern = NamePattern("src/**/*_test.{py,ts}")
    compared = []
    spec = pattern._spec
    monkeypatch.setattr(type(spec), "match_file", lambda _, name: compared.append(name))

    pattern.among([f"src/{number}.py" for number in range(1000)] + ["src/a_test.py"])

    assert compared == ["src/a_test.py"]


def test_the_newest_files_are_found_with_one_look_at_each(tmp_path, monkeypatch):
    for number in range(20):
        (tmp_path / f"{number:02}").touch()
        os.utime(tmp_path / f"{number:02}", (number // 2, number // 2))
    looked_at = []
    look = os.lstat
    monkeypatch.setattr(name_list.os, "lstat", lambda path: looked_at.append(path) or look(path))
    listed = FileNames(tmp_path, [*(f"{number:02}" for number in range(20)), "gone"], is_whole=True)

    assert newest([listed], 3) == [tmp_path / "18", tmp_path / "19", tmp_path / "16"]
    assert len(looked_at) == 21


@pytest.mark.parametrize("roots", [["ws"], ["ws", "other"], ["ws", "ws/inner", "x/ws"], ["ws/inner"], ["other"]])
@pytest.mark.parametrize("folder", ["ws", "ws/inner"])
def test_many_files_are_called_as_each_by_itself(tmp_path, roots, folder):
    for root in (*roots, "ws/inner"):
        (tmp_path / root).mkdir(parents=True, exist_ok=True)
    files = Files([tmp_path / root for root in roots], Buffers(), FileCache())
    names = ["a.py", "deep/b.py", "~/c", "null", "C:/x", "odd\n", "\udcff"]

    shown = list(files.shown_below(FileNames(tmp_path / folder, names, is_whole=True)))

    assert shown == [files.shown(tmp_path / folder / name) for name in names]
