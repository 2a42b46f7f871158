import codecs
import os
import re

import pytest

from odin_lsp.config import CacheSettings, FileRules
from odin_lsp.errors import PermissionDenied, ToolError
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.text import Change, Position


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.txt").write_text("disk\n")
    return root


@pytest.fixture
def files(root):
    return Files([root], Buffers(), FileCache())


def read(files, path):
    return files.read(files.resolve(str(path)).path)


def test_an_open_document_is_read_as_it_is_on_the_screen(files, root):
    path = root / "a.txt"
    files.buffers.open(path.as_uri(), 1, "disk\n")
    files.buffers.change(path.as_uri(), 2, [Change("typed")])

    text = read(files, path)

    assert (text.text, text.unsaved, text.note) == ("typed", True, "unsaved changes are shown")


def test_a_document_whose_text_is_not_known_is_read_from_disk_and_says_so(files, root):
    path = root / "a.txt"
    files.buffers.open(path.as_uri(), 5, "disk\n")
    files.buffers.change(path.as_uri(), 3, [Change("x", Position(0, 0), Position(0, 0))])

    assert (read(files, path).text, read(files, path).note) == (
        "disk\n",
        "the editor's text of this file is not known; this is what is on disk",
    )


def test_a_file_that_moved_under_its_document_says_so(files, root):
    path = root / "a.txt"
    files.buffers.open(path.as_uri(), 1, "disk\n")
    path.write_text("newer\n")

    assert read(files, path).text == "disk\n"
    assert "changed on disk under the editor" in read(files, path).note


def test_a_second_read_comes_from_memory_and_a_changed_file_from_disk(files, root, monkeypatch):
    path = root / "a.txt"
    read(files, path)
    with monkeypatch.context() as patch:
        patch.setattr("odin_lsp.workspace.loading.decode", lambda data: pytest.fail("read again"))
        assert read(files, path).text == "disk\n"

    path.write_text("changed\n")

    assert read(files, path).text == "changed\n"


def test_a_file_that_was_only_touched_keeps_its_entry(files, root):
    path = root / "a.txt"
    read(files, path)
    cached = files.cache.peek(path).cached_at
    os.utime(path, ns=(1, 1))

    read(files, path)

    assert files.cache.peek(path).cached_at == cached


async def test_after_a_command_what_has_changed_is_known(files, root):
    for name in ("b.txt", "c.txt", "open.txt", "same.txt"):
        (root / name).write_text(name)
    for name in ("a.txt", "b.txt", "c.txt"):
        read(files, root / name)
    for name in ("open.txt", "same.txt"):
        files.buffers.open((root / name).as_uri(), 1, name)
    files.buffers.open("untitled:new", 1, "new")
    (root / "a.txt").write_text("new")
    (root / "b.txt").unlink()
    (root / "open.txt").write_text("new")

    assert sorted(path.name for path in await files.recheck()) == ["a.txt", "b.txt", "open.txt"]
    assert [path.name for path, _ in files.cache] == ["c.txt"]


def test_a_large_file_is_read_in_parts(root):
    files = Files([root], Buffers(), FileCache(CacheSettings(maxFileSize=1000)))
    (root / "big.txt").write_bytes(b"".join(b"line %d\r\n" % number for number in range(1, 5001)))
    path = files.resolve(str(root / "big.txt")).path

    window = files.window(path, 4000, 3)

    assert window.lines == ["line 4000", "line 4001", "line 4002"]
    assert [segment.key for segment in files.cache.peek(path).segments] == ["4000-4002"]
    assert files.window(path, 4001, 1).lines == ["line 4001"]
    assert files.window(path, 4999, 10).total == 5000
    with pytest.raises(ToolError, match="read a part of it"):
        files.read(path)


def test_a_file_that_is_too_large_to_be_kept_is_read_whole_to_be_edited(root):
    large = root / "large.txt"
    large.write_text("line\n" * 21)
    files = Files([root], Buffers(), FileCache(CacheSettings(maxFileSize=100)))

    assert files.read(large, to_edit=True).text == "line\n" * 21
    assert large not in files.cache
    with pytest.raises(ToolError, match=r"105 bytes; read a part of it, or use Grep$"):
        files.read(large)


def test_a_file_that_is_too_large_to_be_edited_says_what_would_help(root, monkeypatch):
    monkeypatch.setattr("odin_lsp.workspace.loading.MAX_EDIT_BYTES", 100)
    large = root / "large.txt"
    large.write_text("line\n" * 21)
    files = Files([root], Buffers(), FileCache(CacheSettings(maxFileSize=10)))

    with pytest.raises(ToolError, match=r"105 bytes; .* more than 100 .* open them .* or raise cache\.maxFileSize"):
        files.read(large, to_edit=True)

    files.buffers.open(large.as_uri(), 1, large.read_text())
    assert files.read(large, to_edit=True).text == large.read_text()
    files = Files([root], Buffers(), FileCache(CacheSettings(maxFileSize=105)))
    assert files.read(large, to_edit=True).text == large.read_text()


def test_the_mark_at_the_start_of_a_large_file_is_not_in_its_first_line(root):
    (root / "big.txt").write_bytes(codecs.BOM_UTF8 + b"first\n" * 20)
    files = Files([root], Buffers(), FileCache(CacheSettings(maxFileSize=100)))
    path = files.resolve(str(root / "big.txt")).path

    assert files.window(path, 1, 1).lines == files.read(path, to_edit=True).text.splitlines()[:1]


def test_roots_can_be_nested_and_change(tmp_path, root):
    inner = root / "inner"
    inner.mkdir()
    (inner / "x").write_text("x")
    files = Files([root, inner, root], Buffers(), FileCache())

    assert files.roots == (root, inner)
    assert files.search_roots == [root]
    files.configure([tmp_path / "other"], FileRules())
    assert not files.resolve(str(inner / "x")).inside


@pytest.mark.parametrize("whole", ["/", "home"])
def test_the_whole_disk_as_a_folder_vouches_for_nothing(tmp_path, monkeypatch, whole):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "x").write_text("x")
    files = Files([tmp_path if whole == "home" else __import__("pathlib").Path("/")], Buffers(), FileCache())

    assert not files.resolve(str(tmp_path / "x")).inside


@pytest.mark.parametrize(
    "name", ["secret/x.txt", "a.secret", "deep/er/secret/y", "~/.config/tool/token", "$HOME/.other/key"]
)
def test_what_the_settings_deny_is_denied_in_every_spelling(root, name):
    rules = FileRules(deny=("secret/", "*.secret", "~/.config/tool/", "$HOME\\.other"))
    files = Files([root], Buffers(), FileCache(), rules)
    path = os.path.expandvars(name.replace("~", "$HOME"))

    with pytest.raises(PermissionDenied, match="is hidden: it looks like a secret"):
        files.resolve(path if path.startswith("/") else str(root / path))


def test_what_the_user_allows_may_be_read_although_it_looks_secret(root):
    (root / ".env").write_text("KEY=1")
    files = Files([root], Buffers(), FileCache(), FileRules(allow=(".env",)))

    assert read(files, root / ".env").text == "KEY=1"


def test_nested_odinignores_are_read_as_git_reads_its_own(files, root):
    (root / "src" / "deep").mkdir(parents=True)
    (root / ".odinignore").write_text("*.log\nprivate/\n!keep.log\n")
    (root / "src" / ".odinignore").write_text("!special.log\nextra\n")

    def hidden(name):
        return files.ignore.hides(root / name)

    assert hidden("x.log")
    assert hidden("src/deep/x.log")
    assert not hidden("keep.log")
    assert not hidden("src/special.log")
    assert hidden("special.log")
    assert hidden("src/extra")
    assert not hidden("extra")
    assert hidden("private/deep/keep.log")
    (root / ".odinignore").write_text("")
    os.utime(root / ".odinignore", ns=(5, 5))
    assert not hidden("x.log")


@pytest.mark.parametrize("name", ["a.txt", "./a.txt", "none/../a.txt", "../ws/a.txt"])
def test_a_relative_name_is_below_the_workspace_folder(files, root, monkeypatch, tmp_path, name):
    monkeypatch.chdir(tmp_path)

    assert files.resolve(name).path == root / "a.txt"
    assert files.resolve(name).inside


@pytest.mark.parametrize("name", ["a.txt", "~", "~x", "src/b.py", "http:/x", "null"])
def test_what_a_file_is_called_leads_to_it(files, root, name):
    assert files.resolve(files.shown(root / name)).path == root / name


def test_a_relative_name_that_leads_out_of_the_workspace_is_outside(files, root):
    assert not files.resolve("../other/a.txt").inside


def test_without_a_folder_only_a_path_in_full_is_one(root):
    with pytest.raises(ToolError, match="not an absolute path"):
        Files([], Buffers(), FileCache()).resolve("a.txt")


@pytest.mark.parametrize(
    ("folders", "labels"),
    [
        (["one/app", "two/lib"], ["app", "lib"]),
        (["one/app", "two/app"], ["one/app", "two/app"]),
        (["one/app", "two/app", "lib"], ["one/app", "two/app", "{above}/lib"]),
    ],
)
def test_of_several_folders_the_end_of_their_paths_tells_which(tmp_path, folders, labels):
    files = Files([tmp_path / it for it in folders], Buffers(), FileCache())

    for folder, label in zip(folders, labels, strict=True):
        named = label.format(above=tmp_path.name)
        assert files.shown(tmp_path / folder / "x.py") == f"{named}/x.py"
        assert files.shown(tmp_path / folder) == named
        assert files.resolve(f"{named}/x.py").path == tmp_path / folder / "x.py"


def test_with_several_folders_a_name_that_begins_in_one_only_means_that(tmp_path):
    (tmp_path / "app" / "src").mkdir(parents=True)
    (tmp_path / "lib").mkdir()
    files = Files([tmp_path / "app", tmp_path / "lib"], Buffers(), FileCache())

    assert files.resolve("src/new.py").path == tmp_path / "app" / "src" / "new.py"


@pytest.mark.parametrize("name", ["x.py", "src/x.py", "../app/x.py", ".", ".env"])
def test_with_several_folders_a_name_that_could_be_in_more_of_them_is_refused_with_these(tmp_path, name):
    for folder in ("app", "lib"):
        (tmp_path / folder / "src").mkdir(parents=True)
    (tmp_path / "lib" / ".env").write_text("secret")
    files = Files([tmp_path / "app", tmp_path / "lib"], Buffers(), FileCache())

    with pytest.raises(ToolError, match=re.escape(f"name app/{name} or lib/{name}")):
        files.resolve(name)


def test_a_folder_in_another_one_is_called_by_its_place_there(tmp_path):
    files = Files([tmp_path, tmp_path / "inner"], Buffers(), FileCache())

    assert files.shown(tmp_path / "inner" / "x.py") == "inner/x.py"
    assert files.resolve("inner/x.py").path == tmp_path / "inner" / "x.py"


async def test_nothing_is_held_of_files_that_a_new_rule_hides(files, root):
    (root / "b.txt").write_text("x\n")
    for name in ("a.txt", "b.txt"):
        read(files, root / name)

    files.configure([root], FileRules(deny=("a.txt",)))

    assert [path.name for path, _ in await files.held()] == ["b.txt"]


async def test_what_is_held_follows_the_screen_without_being_used(files, root):
    path = root / "a.txt"
    files.buffers.open(path.as_uri(), 1, "disk\n")
    read(files, path)
    files.buffers.change(path.as_uri(), 2, [Change("typed\n")])

    [(_, file)] = await files.held()

    assert (file.full_content.text, file.access_count, file.is_modified) == ("typed\n", 1, False)


async def test_a_part_of_a_document_stays_held_when_its_file_was_only_touched(files, root):
    path = root / "a.txt"
    path.write_text("one\ntwo\n")
    files.buffers.open(path.as_uri(), 1, path.read_text())
    os.utime(path, ns=(1, 1))
    files.window(path, 1, 1)

    assert [(held, file.is_partial) for held, file in await files.held()] == [(path, True)]


async def test_a_document_that_is_closed_is_read_from_disk_again(files, root):
    path = root / "a.txt"
    files.buffers.open(path.as_uri(), 1, "disk\n")
    files.buffers.change(path.as_uri(), 2, [Change("typed\n")])
    read(files, path)
    files.buffers.close(path.as_uri())

    assert await files.held() == []
    assert read(files, path).text == "disk\n"


def test_a_part_of_a_small_file_is_held_as_a_part(files, root, monkeypatch):
    path = root / "a.txt"
    path.write_text("one\ntwo\nthree\n")
    window = files.window(path, 2, 1)

    assert (window.lines, window.total, files.cache.peek(path).is_partial) == (["two"], 3, True)
    with monkeypatch.context() as patch:
        patch.setattr("odin_lsp.workspace.loading.decode", lambda data: pytest.fail("read again"))
        assert files.window(path, 2, 1).lines == ["two"]
    files.window(path, 1, 1)
    files.window(path, 3, 2000)
    assert (files.cache.peek(path).full_content.text, files.cache.peek(path).segments) == ("one\ntwo\nthree\n", [])


def test_a_file_is_read_again_once_when_its_time_is_over(root, monkeypatch):
    now = [1000.0]
    files = Files([root], Buffers(), FileCache(CacheSettings(ttl=1), lambda: now[0]))
    read(files, root / "a.txt")
    now[0] += 2
    read(files, root / "a.txt")

    monkeypatch.setattr("odin_lsp.workspace.loading.decode", lambda data: pytest.fail("read again"))
    assert read(files, root / "a.txt").text == "disk\n"


async def test_without_auto_refresh_a_file_is_compared_when_somebody_says_so_and_for_an_edit(root):
    files = Files([root], Buffers(), FileCache(CacheSettings(autoRefresh=False)))
    path = root / "a.txt"
    read(files, path)
    path.write_text("changed\n")

    assert [file.full_content.text for _, file in await files.held()] == ["disk\n"]
    assert read(files, path).text == "disk\n"
    files.heed([path])
    assert read(files, path).text == "changed\n"
    path.write_text("again\n")
    assert files.read(path, to_edit=True).text == "again\n"


def test_lines_of_an_open_document_say_that_they_are_not_saved(files, root):
    path = root / "a.txt"
    files.buffers.open(path.as_uri(), 1, "disk\n")
    assert not files.window(path, 1, 1).unsaved
    files.buffers.change(path.as_uri(), 2, [Change("typed\n")])

    window = files.window(path, 1, 1)

    assert (window.lines, window.unsaved) == (["typed"], True)
