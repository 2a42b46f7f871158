"""PATH-01 to PATH-24 of the threat model: where a name leads decides, not how it is written.

Every test ends with the oracle of `conftest.py`: no text of a tool holds the canary or cannot be sent, and nothing
outside has changed. PATH-22 is in `test_search_safety.py`. Shown elsewhere, in `tests/unit`:

- PATH-02, PATH-13, PATH-17, PATH-21 for URIs: `test_only_uris_of_files_are_paths`,
  `test_names_survive_the_journey_through_a_uri`
- PATH-15, PATH-16 for names on Windows: `test_on_windows_what_means_something_else_is_refused`,
  `test_names_that_must_not_be_reached_are_found_in_any_disguise`
- PATH-19: `test_roots_can_be_nested_and_change`; PATH-20: `test_the_whole_disk_as_a_folder_vouches_for_nothing`
- PATH-23: `test_what_the_settings_deny_is_denied_in_every_spelling`
"""

import asyncio
import os
import re
import resource
import socket
import subprocess
import threading
import time
import tracemalloc
from contextlib import contextmanager
from pathlib import Path

import pytest

from odin_lsp.config import FileRules
from odin_lsp.errors import PermissionDenied, ToolError
from odin_lsp.permissions.protected import GIT, caution, protection
from odin_lsp.tools.base import ToolContext
from odin_lsp.workspace import disk, opening
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.text import Decoded
from odin_lsp.workspace.uris import document_key, path_of, refusal
from tests.support.sampling import SEED

READERS = ["Read", "LS", "Glob", "Grep"]


def of_file(tool: str, path: Path | str) -> dict[str, str]:
    return {"file_path": str(path)} if tool == "Read" else on(tool, path)


def on(tool: str, path: Path | str) -> dict[str, str]:
    """Arguments to look at a path; Read looks at the canary in it."""
    match tool:
        case "Read":
            return {"file_path": f"{path}/secret.txt"}
        case "LS":
            return {"path": str(path)}
        case "Glob":
            return {"pattern": "**/*", "path": str(path)}
        case _:
            return {"pattern": "", "path": str(path), "output_mode": "content"}


@contextmanager
def little_memory(more: int):
    """The process may grow by so many bytes only."""
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@contextmanager
def swapping(place: Path, target: Path):
    """Another thread makes `place` a link to `target` and back, as fast as it can."""
    kept, link, stop = place.with_name("kept"), place.with_name("link"), threading.Event()

    def swap() -> None:
        while not stop.is_set():
            link.symlink_to(target)
            place.rename(kept)
            link.rename(place)
            place.unlink()
            kept.rename(place)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


# PATH-01, PATH-02: what is inside


@pytest.mark.parametrize("tool", READERS)
async def test_path_01_a_neighbour_whose_name_starts_the_same_is_outside(world, tool):
    evil = world.root.with_name("ws-evil")
    evil.mkdir()
    (evil / "secret.txt").write_text(world.canary)

    with pytest.raises(PermissionDenied, match="did not allow"):
        await world.use(tool, **on(tool, evil))

    assert world.person.asked == [str(evil / "secret.txt" if tool == "Read" else evil)]


@pytest.mark.parametrize("tool", READERS)
@pytest.mark.parametrize(
    "name", ["../outside", "./a/../../outside", "none/../../outside", "a.txt/../../outside", "..//./outside/."]
)
@pytest.mark.parametrize("start", ["{root}/", ""])
async def test_path_02_dots_lead_where_they_lead(world, tool, name, start):
    with pytest.raises(PermissionDenied, match="did not allow"):
        await world.use(tool, **on(tool, start.format(root=world.root) + name))

    assert world.person.asked == [str(world.outside / "secret.txt" if tool == "Read" else world.outside)]


@pytest.mark.parametrize("tool", READERS)
@pytest.mark.parametrize("name", ["../outside", "../nothing", "docs", "docs/secret.txt", ".env", "nothing"])
async def test_path_02_with_several_roots_a_relative_name_tells_nothing_of_what_is_elsewhere_or_hidden(
    make_world, tmp_path, tool, name
):
    """Whether a name leads to something in one of them is not answered by what it leads to."""
    world = make_world(tmp_path / "ws", tmp_path / "other")
    (tmp_path / "other").mkdir(exist_ok=True)
    for root in world.context.files.roots:
        (root / "docs").symlink_to(world.outside)
    (world.root / ".env").write_text(world.canary)

    with pytest.raises(ToolError, match="could be in more than one workspace folder"):
        await world.use(tool, **on(tool, name))

    assert world.person.questions == []


@pytest.mark.parametrize(
    "name", ["%2e%2e/outside", "..%2foutside", "%252e%252e/outside", "．．／outside", "..∕outside"]
)
async def test_path_02_a_path_is_not_decoded_and_what_looks_like_dots_is_a_name(world, name):
    said = await world.every_tool(f"{world.root}/{name}")

    assert world.person.questions == []
    assert "does not exist" in said


@pytest.mark.parametrize("dots", ["%2e%2e", "..", ".%2E"])
def test_path_02_an_open_document_has_the_place_that_its_uri_leads_to(world, dots):
    buffers = Buffers()
    buffers.open(f"{world.root.as_uri()}/{dots}/outside/secret.txt", 1, "typed")

    assert [buffer.path for buffer in buffers] == [world.outside / "secret.txt"]
    assert not world.context.files.contains(world.outside / "secret.txt")


# PATH-03 to PATH-07: links


@pytest.mark.parametrize("tool", READERS)
async def test_path_03_a_link_to_a_folder_outside_is_shown_for_what_it_is(world, tool):
    (world.root / "docs").symlink_to(world.outside)

    with pytest.raises(PermissionDenied):
        await world.use(tool, **on(tool, world.root / "docs"))

    [question] = world.person.questions
    assert question.paths == (str(world.outside / "secret.txt" if tool == "Read" else world.outside),)
    assert question.paths[0] in question.title
    assert str(world.root / "docs") in question.detail


@pytest.mark.parametrize("tool", ["Read", "Grep", "Glob", "LS"])
async def test_path_03_a_link_to_a_file_outside_is_shown_for_what_it_is(world, tool):
    (world.root / "notes.md").symlink_to(world.outside / "secret.txt")

    with pytest.raises(PermissionDenied):
        await world.use(tool, **of_file(tool, world.root / "notes.md"))

    assert world.person.asked == [str(world.outside / "secret.txt")]


async def test_path_03_a_search_of_the_workspace_follows_no_link_out_of_it(world, engine):
    (world.root / "docs").symlink_to(world.outside)
    (world.root / "notes.md").symlink_to(world.outside / "secret.txt")

    said = await engine(world).survey()

    assert "secret.txt" not in said
    assert world.person.questions == []


async def test_path_03_a_listing_does_not_tell_what_is_outside(world):
    """A link to somewhere looks the same whatever is there."""
    (world.outside / "folder").mkdir()
    for name, target in [("link-1", "folder"), ("link-2", "secret.txt"), ("link-3", "nothing")]:
        (world.root / name).symlink_to(world.outside / target)
    try:
        lines = (await world.use("LS", path=str(world.root))).data.splitlines()
    finally:
        (world.outside / "folder").rmdir()

    assert [line for line in lines if "link" in line] == ["- link-1", "- link-2", "- link-3"]


async def test_path_03_an_approval_covers_what_was_shown_and_no_more(world):
    other = world.outside / "other"
    other.mkdir()
    (other / "b.txt").write_text("approved\n")
    world.person.answers = ["allow_session"]
    try:
        assert "approved" in (await world.use("Read", file_path=str(other / "b.txt"))).data
        with pytest.raises(PermissionDenied):
            await world.use("Read", file_path=str(other / ".." / "secret.txt"))
    finally:
        (other / "b.txt").unlink()
        other.rmdir()

    assert world.person.asked == [str(other / "b.txt"), str(world.outside / "secret.txt")]


async def test_path_03_an_approval_of_something_at_the_top_is_none_for_the_whole_disk(world):
    world.person.answers = ["allow_session"]
    await world.text("Read", file_path="/odin-no-such-file")

    with pytest.raises(PermissionDenied):
        await world.use("Read", file_path=str(world.outside / "secret.txt"))


@pytest.mark.parametrize("tool", READERS)
async def test_path_04_below_a_link_what_does_not_exist_yet_is_outside_too(world, tool):
    (world.root / "docs").symlink_to(world.outside)

    with pytest.raises(PermissionDenied):
        await world.use(tool, **of_file(tool, world.root / "docs" / "new" / "file.txt"))

    assert world.person.asked == [str(world.outside / "new" / "file.txt")]


async def test_path_04_without_a_yes_nobody_learns_whether_it_exists(world):
    (world.root / "docs").symlink_to(world.outside)

    there = await world.every_tool(world.root / "docs" / "secret.txt")
    not_there = await world.every_tool(world.root / "docs" / "absent.txt")

    assert there.replace("secret.txt", "absent.txt") == not_there


@pytest.mark.parametrize("tool", READERS)
async def test_path_05_a_link_to_nothing_is_where_it_points_and_creates_nothing(world, tool):
    (world.root / "new.txt").symlink_to(world.outside / "planted.txt")
    world.person.answers = [None, "allow_once"]

    with pytest.raises(PermissionDenied):
        await world.use(tool, **of_file(tool, world.root / "new.txt"))
    said = await world.text(tool, **of_file(tool, world.root / "new.txt"))

    assert world.person.asked == [str(world.outside / "planted.txt")] * 2
    assert said.startswith(f"{world.outside / 'planted.txt'} does not exist")


def test_path_05_nothing_is_written_through_a_link_to_nothing(world):
    (world.root / "new.txt").symlink_to(world.outside / "planted.txt")

    for write in (disk.create_text, disk.write_text):
        with pytest.raises(ToolError):
            write(world.root / "new.txt", Decoded("planted", "utf-8"))

    assert not (world.outside / "planted.txt").exists()


@pytest.mark.parametrize("tool", READERS)
@pytest.mark.parametrize("name", ["loop", "ring/x", "loop/below"])
async def test_path_06_a_loop_of_links_is_an_error(world, within, tool, name):
    (world.root / "loop").symlink_to("loop")
    (world.root / "ring").symlink_to("gnir")
    (world.root / "gnir").symlink_to("ring")

    async with within(1):
        with pytest.raises(ToolError, match="loop of symbolic links"):
            await world.use(tool, **of_file(tool, world.root / name))


async def test_path_06_a_search_survives_loops(world, engine, within):
    (world.root / "loop").symlink_to("loop")
    (world.root / "here").symlink_to(".")
    (world.root / "up").symlink_to("..")

    async with within(5):
        said = await engine(world).survey()

    assert "a.txt" in said
    assert "here/" not in said.replace("- here/", "")


def test_path_06_a_document_whose_uri_is_a_loop_can_be_opened(world):
    """The editor says what it says; the message must not be lost."""
    (world.root / "loop").symlink_to("loop")
    buffers = Buffers()

    buffers.open((world.root / "loop").as_uri(), 1, "typed")

    assert [buffer.text for buffer in buffers] == ["typed"]


async def test_path_07_a_long_chain_of_links_ends_inside_or_in_an_error(world, within):
    for number in range(60):
        (world.root / f"link-{number}").symlink_to(f"link-{number + 1}" if number < 59 else "../outside/secret.txt")

    async with within(2):
        await world.every_tool(world.root / "link-0")

    assert set(world.person.asked) <= {str(world.outside / "secret.txt")}


@pytest.mark.parametrize("name", ["n" * 256, "é" * 200, "d/" * 3000 + "x", "x/../" * 2000 + "a" * 300])
async def test_path_07_a_name_that_is_too_long_is_an_error(world, within, name):
    async with within(2):
        for tool in READERS:
            with pytest.raises(ToolError):
                await world.use(tool, **of_file(tool, f"{world.root}/{name}"))


# PATH-08 to PATH-10: what is also elsewhere, and what is exchanged between the decision and the deed


def test_path_08_what_is_also_outside_is_not_changed_there(world):
    inside = world.root / "linked.txt"
    inside.hardlink_to(world.outside / "secret.txt")

    disk.write_text(inside, Decoded("mine now\n", "utf-8"))

    assert inside.read_text() == "mine now\n"
    assert (world.outside / "secret.txt").stat().st_nlink == 1


@pytest.mark.parametrize("tool", READERS)
async def test_path_09_what_is_exchanged_while_the_person_thinks_is_not_what_was_allowed(world, tmp_path, tool):
    shown = tmp_path / "shown"
    shown.mkdir()
    (shown / "secret.txt").write_text("harmless\n")

    def swap() -> None:
        shown.rename(tmp_path / "kept")
        shown.symlink_to(world.outside)

    world.person.always, world.person.meanwhile = "allow_once", swap

    with pytest.raises(ToolError):
        await world.use(tool, **on(tool, shown))


async def test_path_09_a_file_exchanged_for_a_link_after_it_was_looked_up_is_not_read(world):
    path = (await world.context.reach(str(world.root / "a.txt"))).resolve()
    path.unlink()
    path.symlink_to(world.outside / "secret.txt")

    with pytest.raises(ToolError):
        world.context.files.window(path, 1, 10)
    with pytest.raises(ToolError):
        world.context.files.read(path)


async def test_path_09_a_file_exchanged_for_a_link_again_and_again_never_shows_the_other(world):
    good, reads = 0, 0
    with swapping(world.root / "a.txt", world.outside / "secret.txt"):
        while min(good, len(world.person.questions)) < 5 or reads < 1000:
            said = await world.text("Read", file_path=str(world.root / "a.txt"))
            good, reads = good + ("plain" in said), reads + 1
            world.context.files.cache.forget(world.root / "a.txt")
            assert world.canary not in said


async def test_path_10_a_folder_exchanged_for_a_link_again_and_again_never_shows_the_other(world):
    folder = world.root / "src"
    folder.mkdir()
    (folder / "secret.txt").write_text("plain\n")
    good, reads = 0, 0
    with swapping(folder, world.outside):
        while min(good, len(world.person.questions)) < 5 or reads < 1000:
            said = await world.text("Read", file_path=str(folder / "secret.txt"))
            good, reads = good + ("plain" in said), reads + 1
            world.context.files.cache.forget(folder / "secret.txt")
            assert world.canary not in said


def test_path_10_nothing_is_written_where_a_folder_exchanged_again_and_again_leads(world):
    folder = world.root / "src"
    folder.mkdir()
    (folder / "secret.txt").write_text("plain\n")
    written, refused = 0, 0
    with swapping(folder, world.outside):
        while written < 20 or refused < 500:
            try:
                disk.write_text(folder / "secret.txt", Decoded("written\n", "utf-8"))
                written += 1
            except ToolError:
                refused += 1

    assert (folder / "secret.txt").read_text() == "written\n"


@pytest.mark.parametrize("tool", ["LS", "Glob", "Grep"])
async def test_path_10_the_searched_folder_may_be_exchanged_too(world, engine, tool):
    folder = world.root / "src"
    folder.mkdir()
    (folder / "mine.txt").write_text("plain\n")
    times = {"LS": 400, "ripgrep": 30, "fallback": 5}
    with swapping(folder, world.outside):
        said = [
            await engine(world).text(tool, **on(tool, folder))
            for _ in range(times["LS" if tool == "LS" else engine.name])
        ]

    assert not any("secret.txt" in it for it in said)
    assert "mine.txt" in await world.text(tool, **on(tool, folder))


@pytest.mark.parametrize("tool", ["LS", "Glob", "Grep"])
async def test_path_10_a_folder_exchanged_right_after_the_decision_is_not_searched(world, engine, monkeypatch, tool):
    folder = world.root / "src"
    folder.mkdir()
    (folder / "mine.txt").write_text("plain\n")
    reach = ToolContext.reach

    async def reach_and_exchange(context, name):
        place = await reach(context, name)
        folder.rename(world.root / "kept")
        folder.symlink_to(world.outside)
        return place

    monkeypatch.setattr(ToolContext, "reach", reach_and_exchange)

    with pytest.raises(ToolError, match="exchanged for a link"):
        await engine(world).use(tool, **on(tool, folder))


async def test_path_10_a_search_starts_in_the_folder_that_was_opened(world, engine, monkeypatch):
    """Whatever its path leads to by then. Change times are made to say nothing here: they are a second line."""
    folder = world.root / "src"
    folder.mkdir()
    (folder / "secret.txt").write_text("plain\n")
    monkeypatch.setattr(opening, "CLOCK_TICK_NS", -(10**15))
    start = asyncio.create_subprocess_exec

    async def exchange_and_start(*command, **options):
        folder.rename(world.root / "kept")
        folder.symlink_to(world.outside)
        process = await start(*command, **options)
        folder.unlink()
        (world.root / "kept").rename(folder)
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", exchange_and_start)

    output = await engine(world).use("Grep", pattern="", path=str(folder), output_mode="content")

    assert output.data == "src/secret.txt\n1:plain"


@pytest.mark.parametrize("tool", ["Grep", "Glob"])
async def test_path_10_a_folder_below_the_searched_one_may_be_exchanged_too(world, engine, tool):
    folder = world.root / "src"
    folder.mkdir()
    (folder / "mine.txt").write_text("plain\n")
    with swapping(folder, world.outside):
        times = 30 if engine.name == "ripgrep" else 5
        said = [await engine(world).text(tool, **on(tool, world.root)) for _ in range(times)]

    assert not any("secret.txt" in it for it in said)


STAND_IN = """#!/bin/sh
mv src kept && ln -s {outside} src
printf '{printed}'
rm src && mv kept src
"""


@pytest.mark.parametrize(
    ("mode", "printed"),
    [
        ("content", "./src/{name}\\0001:{text}\\n"),
        ("count", "./src/{name}\\0007\\n"),
        ("files_with_matches", "./src/{name}\\0"),
    ],
)
@pytest.mark.parametrize("name", ["secret.txt", "mine.txt"])
async def test_path_10_what_was_found_while_a_folder_was_another_is_looked_at_again(
    world, tmp_path, mode, printed, name
):
    """A stand-in for ripgrep that searches at the worst moment: the folder is back before anybody can look."""
    folder = world.root / "src"
    folder.mkdir()
    (folder / "mine.txt").write_text("plain\n")
    rg = world.context.search._ripgrep
    printed = printed.format(name=name, text=world.canary)
    script = STAND_IN.format(outside=world.outside, printed=printed)
    (tmp_path / "rg").write_text(f"{script.rstrip()}\nmv {tmp_path}/rg {tmp_path}/done; ln -s {rg} {tmp_path}/rg\n")
    (tmp_path / "rg").chmod(0o755)
    world.context.search._ripgrep = tmp_path / "rg"

    said = await world.text("Grep", pattern="canary", path=str(world.root), output_mode=mode)

    assert (tmp_path / "done").exists()
    assert said.splitlines()[0] == "No matches found"


@pytest.mark.parametrize("name", ["secret.txt", "mine.txt"])
async def test_path_10_a_name_found_while_a_folder_was_another_is_looked_at_again(world, tmp_path, name):
    folder = world.root / "src"
    folder.mkdir()
    (folder / "mine.txt").write_text("plain\n")
    (tmp_path / "rg").write_text(STAND_IN.format(outside=world.outside, printed=f"./src/{name}\\0"))
    (tmp_path / "rg").chmod(0o755)
    world.context.search._ripgrep = tmp_path / "rg"

    said = (await world.use("Glob", pattern="**")).data

    assert said == ("src/mine.txt" if name == "mine.txt" else "No files found")


@pytest.mark.parametrize("in_proc", [True, False])
def test_path_10_what_has_moved_is_found_by_its_change_time(world, monkeypatch, in_proc):
    """Also where a process cannot be started in an open folder, and the searched one itself may have been another."""
    monkeypatch.setattr(opening, "IN_PROC", in_proc)
    files = [world.root / name for name in ("a/b/one", "a/two", "c/three", "four", "gone")]
    for path in files[:-1]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    late = time.time_ns() + 60_000_000_000

    with opening.opened_folder(world.root) as folder:
        assert opening.exchanged(files, world.root, folder, late) == {world.root / "gone"}
        (world.root / "a").rename(world.root / "kept")
        (world.root / "a").symlink_to("kept")
        assert opening.exchanged(files, world.root, folder, late) == {*files[:2], world.root / "gone"}
        assert opening.exchanged(files, world.root, folder, 0) == set(files)
        world.root.rename(world.root.with_name("moved"))
        found = opening.exchanged(files[2:4], world.root, folder, late)
        world.root.with_name("moved").rename(world.root)
    assert found == (set() if in_proc else set(files[2:4]))


# PATH-11, PATH-12: what is no file, and what is too much of one


@pytest.fixture
def odd_files(world):
    os.mkfifo(world.root / "fifo")
    listener = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    os.chdir(world.root)  # a socket's address must be short
    try:
        listener.bind("socket")
    finally:
        os.chdir(here)
    (world.root / "folder").mkdir()
    yield world
    listener.close()


KINDS = {
    "fifo": "is a pipe",
    "socket": "is a socket",
    "/dev/zero": "is a device",
    "/dev/null": "is a device",
    "/dev/tty": "is a device",
    "gone": "does not exist",
    "loop": "cannot be opened: a loop of symbolic links",
}


@pytest.mark.parametrize("tool", READERS)
@pytest.mark.parametrize(("name", "kind"), KINDS.items(), ids=KINDS)
async def test_path_11_every_tool_says_the_same_of_what_is_neither_file_nor_folder(
    odd_files, engine, within, tool, name, kind
):
    (odd_files.root / "gone").symlink_to("nowhere")
    (odd_files.root / "loop").symlink_to("loop")
    odd_files.person.always = "allow_once"
    path = odd_files.root / name
    shown = path.parent / "nowhere" if name == "gone" else path

    async with within(1):
        said = await engine(odd_files).text(tool, **of_file(tool, path))

    neither = ", neither a file nor a folder" if kind.startswith("is") else ""
    assert said.partition("; ")[0] in (f"{shown} {kind}{neither}", f"{shown.name} {kind}{neither}")


@pytest.mark.parametrize("name", ["/dev/stdin", "/proc/self/fd/0", "/proc/self/mem", "/proc/self/fd/none"])
@pytest.mark.parametrize("tool", READERS)
async def test_path_11_what_only_this_process_has_is_refused(odd_files, engine, within, tool, name):
    odd_files.person.always = "allow_once"
    async with within(1):
        with pytest.raises(ToolError):
            await engine(odd_files).use(tool, **of_file(tool, name))


@pytest.mark.parametrize("tool", ["Read", "Grep"])
async def test_path_11_memory_that_looks_like_a_file_cannot_be_read(world, engine, tool):
    world.person.always = "allow_once"

    said = await engine(world).text(tool, **of_file(tool, "/proc/self/mem"))

    as_root, as_another = "cannot be read: Input/output error", "cannot be opened: Permission denied"
    assert said in [f"/proc/{os.getpid()}/mem {why}" for why in (as_root, as_another)]


@pytest.mark.parametrize(("tool", "hint"), [("Read", "is a folder; list it with LS"), ("Grep", "No matches found")])
async def test_path_11_a_folder_is_no_file(odd_files, engine, tool, hint):
    said = await engine(odd_files).text(tool, **of_file(tool, odd_files.root / "folder"))

    assert hint in said


@pytest.mark.parametrize("tool", ["LS", "Glob"])
async def test_path_11_a_file_is_no_folder(world, engine, tool):
    said = await engine(world).text(tool, **of_file(tool, world.root / "a.txt"))

    assert said == f"{world.root / 'a.txt'} is a file; use Read"


async def test_path_11_a_search_around_pipes_and_sockets_ends(odd_files, engine, within):
    async with within(5):
        assert "a.txt" in await engine(odd_files).survey()


@pytest.mark.parametrize("target", ["/dev/zero", "fifo", "/dev/tty", "folder"])
async def test_path_11_a_list_of_what_to_ignore_that_is_no_file_stops_nothing(odd_files, within, target):
    (odd_files.root / ".odinignore").symlink_to(target)

    with little_memory(512 << 20):
        async with within(2):
            assert "a.txt" in (await odd_files.use("LS", path=str(odd_files.root))).data


async def test_path_11_a_file_that_says_it_is_empty_and_never_ends_is_bounded(world, within):
    world.person.always = "allow_once"
    with little_memory(512 << 20):
        async with within(5):
            assert len(await world.text("Read", file_path="/proc/self/pagemap")) < 40_000


@contextmanager
def growth_below(limit: int):
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < limit
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("offset", [1, 2, 10**12])
async def test_path_12_five_gibibytes_of_nothing_are_bounded(world, within, offset):
    with (world.root / "sparse").open("wb") as file:
        file.truncate(5 << 30)

    with growth_below(64 << 20):
        async with within(15):
            said = await world.text("Read", file_path=str(world.root / "sparse"), offset=offset)

    assert len(said) < 40_000


async def test_path_12_five_gibibytes_are_not_read_by_a_search(world, engine, within):
    with (world.root / "sparse").open("wb") as file:
        file.truncate(5 << 30)
    (world.root / "z.txt").write_text("needle\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss

    async with within(5):
        said = await engine(world).text("Grep", pattern="needle")

    assert said.startswith("z.txt\n1:needle\n")
    grown = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert grown == before or grown < 512 << 10  # KiB


async def test_path_12_a_line_of_two_hundred_mebibytes_is_cut(world, within):
    with (world.root / "wide.txt").open("wb") as file:
        for _ in range(200):
            file.write(b"w" * (1 << 20))
        file.write(b"\nlast\n")

    with growth_below(64 << 20):
        async with within(15):
            first = await world.text("Read", file_path=str(world.root / "wide.txt"), limit=1)
            last = await world.text("Read", file_path=str(world.root / "wide.txt"), offset=2, limit=1)

    assert len(first) < 3000
    assert f"{200 << 20:,} bytes" in first
    assert "     2\tlast" in last


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """A folder with 100,000 entries, fewer in a sample, whose names together are longer than any output may be."""
    folder = tmp_path_factory.mktemp("crowd")
    here = Path.cwd()
    os.chdir(folder)
    try:
        for number in range(20_000 if SEED else 100_000):
            os.close(os.open(f"{number:06}-{'n' * 80}", os.O_CREAT | os.O_WRONLY))
    finally:
        os.chdir(here)
    return folder.resolve()


@pytest.mark.thorough
async def test_path_12_names_without_number_are_told_in_part_and_it_is_said_so(make_world, crowd, engine, within):
    world = engine(make_world(crowd))
    async with within(5):
        listed = await world.use("LS", path=str(crowd))
    async with within(20):
        found = await world.use("Glob", pattern="**/*")
    async with within(20):
        some = await world.text("Glob", pattern="*9999*")

    for told in (listed.data, found.data):
        assert len(told) < 31_000
        assert "more" in told.splitlines()[-1]
    *names, _ = found.data.splitlines()
    assert set(map(os.path.basename, names)) <= set(os.listdir(crowd))  # noqa: PTH208 - thousands of names
    assert some.count("9999") >= (2 if SEED else 18) or "more" in some


@pytest.fixture
def deep(world):
    """1,000 folders in each other, with a file at the bottom, and one beside the top."""
    here = Path.cwd()
    os.chdir(world.root)
    try:
        for _ in range(1000):
            os.mkdir("d")  # noqa: PTH102 - a path cannot be this long in one piece on all systems
            os.chdir("d")
        Path("bottom.txt").write_text("needle\n")
    finally:
        os.chdir(here)
    (world.root / "zzz.txt").write_text("needle\n")
    yield world
    subprocess.run(["/bin/rm", "-rf", world.root / "d"], check=True)  # too deep for pytest to remove


@pytest.mark.thorough
async def test_path_12_a_thousand_folders_in_each_other_are_searched_in_time(deep, engine, within):
    async with within(5):
        found = (await engine(deep).use("Grep", pattern="needle")).data

    assert "zzz.txt" in found.splitlines()
    assert "bottom.txt" in found or "more" in found


@pytest.mark.thorough
async def test_path_12_a_thousand_folders_in_each_other_are_walked_in_time(deep, engine, within):
    async with within(5):
        found = (await engine(deep).use("Glob", pattern="**/*.txt")).data

    assert "zzz.txt" in found.splitlines()


async def test_path_12_the_bottom_of_a_thousand_folders_can_be_read(deep, within):
    async with within(5):
        said = await deep.text("Read", file_path=str(deep.root / ("d/" * 1000) / "bottom.txt"))

    assert "needle" in said or "cannot be opened" in said


# PATH-13 to PATH-18: names


@pytest.mark.parametrize("tool", READERS)
@pytest.mark.parametrize("name", ["a.txt\0", "a.txt\0b", "\0", "a\0/../a.txt"])
async def test_path_13_a_nul_is_refused_and_cuts_nothing_off(world, tool, name):
    with pytest.raises(ToolError, match="NUL"):
        await world.use(tool, **of_file(tool, f"{world.root}/{name}"))


@pytest.mark.parametrize(
    "arguments", [{"pattern": "a\0b"}, {"pattern": "a", "glob": "*\0"}, {"pattern": "a", "type": "p\0y"}]
)
async def test_path_13_a_nul_in_a_search_is_refused(world, arguments):
    with pytest.raises(ToolError, match="NUL"):
        await world.use("Grep", **arguments)


SECRETS = [
    ".ENV", ".Env.Local", "ID_RSA", "Server.PEM", ".SSH/config", ".Aws/Credentials", ".e\u200bnv", "．ｅｎｖ", ".env.",
    ".env ", ".NetRC", "ＩＤ_rsa", ".gnupg\u200d/x",
]  # fmt: skip


async def test_path_14_and_15_a_secret_in_disguise_is_one_for_every_tool(world, engine):
    for name in SECRETS:
        (world.root / name).parent.mkdir(exist_ok=True)
        (world.root / name).write_text(world.canary)

    said = await engine(world).survey()

    assert "a.txt" in said
    for name in SECRETS:
        with pytest.raises(PermissionDenied, match="is hidden: it looks like a secret"):
            await world.use("Read", file_path=str(world.root / name))
        assert not re.search(rf"(?m)(^- |/|^){re.escape(Path(name).name)}(:|$)", said)


PROTECTED = [
    ".VSCODE/Settings.json", "OdinConfig.JSON", ".Git/Hooks/x", ".vs\u200bcode/settings.json", ".vscode/settings.json.",
    "．vscode/tasks.json", ".GIT/config", "sub/.git/hooks/pre-commit", "AGENTS.MD", ".vscode./x", ".Vscode /x",
]  # fmt: skip


@pytest.mark.parametrize("name", PROTECTED)
def test_path_14_and_15_what_is_protected_is_so_in_every_disguise(name):
    assert protection(Path("/ws") / name)


DISGUISES = [
    "SECRETS/x", "Secrets/X", "ｓecrets/x", "se\u200bcrets/x", "caf\u00e9/x", "cafe\u0301/x", "CAFÉ/x",
]  # fmt: skip


@pytest.mark.parametrize("name", DISGUISES)
async def test_path_14_and_15_what_the_settings_deny_is_denied_in_every_disguise(make_world, name):
    world = make_world(deny=("secrets/**", "cafe\u0301/"))
    path = world.root / name
    path.parent.mkdir()
    path.write_text(world.canary)

    with pytest.raises(PermissionDenied):
        await world.use("Read", file_path=str(path))
    await world.survey()


@pytest.mark.parametrize(
    "uri",
    [
        "file://evil/share/x", "file:////evil/share/x", "file://///evil/share/x", "file:///%5C%5Cevil/share/x",
        "file:///%5C%3F%3F%5CC:/x", "file:///C:/x/NUL", "file:///C:/com1.txt", "file:///C:/a.json::$DATA", "file:///C:foo",
        "file:///C:/PROGRA~1/x", "file:///C:/x.", "file:///C:/x%20", "file://%5C%5C.%5Cpipe/x", "file:///C:/a%00b",
        "file:///C:/x/..%5C..%5C%5C%3F/aux",
    ],
)  # fmt: skip
def test_path_16_on_windows_no_uri_leads_to_a_share_or_a_device(uri):
    assert path_of(uri, windows=True) is None


@pytest.mark.parametrize(
    "device", ["CON", "prn", "Aux", "NUL", "com1", "LPT9", "nul.tar.gz", "CON ", "nul..", "COM¹", "CONIN$", "conout$"]
)
def test_path_16_on_windows_no_device_has_a_name(device):
    assert refusal(f"C:\\ws\\{device}", windows=True)


def test_path_16_on_windows_plain_uris_are_paths():
    assert str(path_of("file:///c%3A/ws/a%20b.py", windows=True)) == "c:\\ws\\a b.py"


NAMES = [
    "a b", "a#b", "a?b", "100%", "%41", "a;b&c", "'q\"", "new\nline", "cr\rreturn", "tab\there", "-dash", "--files",
    "~", "$(x)", "`id`", "😀", "אב", "e\u0301", "*", "[a]", "{a,b}", "!x", "#x", " lead", "trail ",
    "\\", "a:1:b", "a-1-b",
]  # fmt: skip


def shown(name: str) -> str:
    return {"~": "./~"}.get(name, name).replace("\n", "\\u000a").replace("\r", "\\u000d").replace("\t", "\\u0009")


async def test_path_17_every_tool_finds_a_file_of_any_name(world, engine):
    paths = [world.root / name for name in NAMES]
    for path in paths:
        path.write_text("needle\n")

    for tool, arguments, end in [
        ("Glob", {"pattern": "**/*"}, ""),
        ("Grep", {"pattern": "needle", "output_mode": "files_with_matches"}, ""),
        ("Grep", {"pattern": "needle", "output_mode": "count"}, ":1"),
        ("Grep", {"pattern": "needle"}, "\n1:needle"),
    ]:
        found = (await engine(world).use(tool, **arguments)).data.split("\n\n" if "\n" in end else "\n")
        assert set(found) - {"a.txt"} == {shown(name) + end for name in NAMES}
    for path in paths:
        assert (await world.use("Read", file_path=str(path))).data == "     1\tneedle"
        assert (await world.use("Read", file_path=f"./{path.name}")).data == "     1\tneedle"


@pytest.mark.parametrize("name", NAMES)
async def test_path_17_a_file_of_any_name_can_be_searched_alone(world, name):
    path = world.root / name
    path.write_text("needle\n")

    output = await world.use("Grep", pattern="needle", output_mode="content", path=str(path))

    assert output.data == f"{shown(name)}\n1:needle"


@pytest.mark.parametrize("name", NAMES)
async def test_path_17_what_is_typed_in_a_file_of_any_name_is_found_once(world, name):
    path = world.root / name
    path.write_text("needle\n")
    world.context.files.buffers.open(path.as_uri(), 1, "first\nneedle typed\n")

    output = await world.use("Grep", pattern="needle", output_mode="content")

    assert output.data == f"{shown(name)}\n2:needle typed"


@pytest.mark.parametrize("name", ["a#", "a?", "a#b", "a?b", "a?#", "a\tb", "a\nb", "a\rb", "\na", "a%00b", "a%"])
def test_path_17_a_uri_that_is_not_encoded_never_names_another_file(name):
    assert path_of(f"file:///ws/{name}", windows=False) in (None, Path("/ws") / name)


@pytest.mark.parametrize("uri", [" file:///ws/a", "\x00file:///ws/a", "fi\nle:///ws/a"])
def test_path_17_a_uri_with_something_before_it_is_none(uri):
    assert path_of(uri, windows=False) is None


async def test_path_18_a_name_that_is_no_text_is_listed_escaped_and_not_read(world, engine):
    (world.root / os.fsdecode(b"\xff\xfe.txt")).write_text("needle\n")
    shown = "\\xff\\xfe.txt"

    assert "- \\xff\\xfe.txt" in (await world.use("LS", path=str(world.root))).data.splitlines()
    assert shown in (await engine(world).use("Glob", pattern="*.txt")).data.splitlines()
    for mode, end in [("files_with_matches", ""), ("count", ":1"), ("content", "\n1:needle")]:
        assert (await world.use("Grep", pattern="needle", output_mode=mode)).data == shown + end
    with pytest.raises(ToolError):
        world.said.append((await world.use("Read", file_path=shown)).data)


async def test_path_18_a_link_to_a_name_that_is_no_text_says_nothing_that_cannot_be_sent(world, engine):
    odd = os.fsdecode(b"\xff")
    (world.root / odd).write_text("needle\n")
    (world.root / "link").symlink_to(odd)
    (world.root / "gone").symlink_to(odd + "gone")

    for name in ("link", "gone"):
        (await engine(world).every_tool(world.root / name)).encode()


@pytest.mark.parametrize(("one", "two"), [("%FF.txt", "%FE.txt"), ("%80", "%EF%BF%BD")])
def test_path_18_documents_whose_names_are_no_text_are_not_taken_for_each_other(one, two):
    buffers = Buffers()
    buffers.open(f"file:///ws/{one}", 1, "one")
    buffers.open(f"file:///ws/{two}", 1, "two")

    assert [buffer.text for buffer in buffers] == ["one", "two"]


# PATH-19 to PATH-21: roots and schemes


async def test_path_19_a_root_that_is_removed_takes_its_word_with_it(world, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    await world.use("Read", file_path=str(world.root / "a.txt"))
    await world.use("LS", path=str(world.root))
    world.context.files.configure([other], FileRules())

    for tool in READERS:
        with pytest.raises(PermissionDenied, match="did not allow"):
            await world.use(tool, **of_file(tool, world.root / "a.txt"))
    assert "a.txt" not in await world.text("Grep", pattern="plain")


async def test_path_19_a_root_that_is_added_is_inside_at_once(world, tmp_path, engine):
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.txt").write_text("needle\n")
    world.context.files.configure([world.root, other], FileRules())

    assert "needle" in (await world.use("Read", file_path=str(other / "b.txt"))).data
    assert (await engine(world).use("Grep", pattern="needle")).data == "other/b.txt\n1:needle"
    assert world.person.questions == []


@pytest.mark.parametrize("inner_first", [False, True])
async def test_path_19_what_is_denied_is_denied_in_each_of_two_nested_roots(make_world, tmp_path, engine, inner_first):
    inner = tmp_path / "ws" / "inner"
    for folder in (inner, inner.parent):
        (folder / "secrets").mkdir(parents=True)
    roots = [inner, inner.parent] if inner_first else [inner.parent, inner]
    world = engine(make_world(*roots, deny=("secrets/**",)))
    for folder in roots:
        (folder / "secrets" / "x").write_text(world.canary)
        await world.every_tool(folder / "secrets" / "x")
        await world.every_tool(folder / "secrets")
    await world.survey()


@pytest.mark.parametrize("inner_first", [False, True])
async def test_path_19_what_an_outer_root_leaves_out_is_left_out_in_the_inner_one(
    make_world, tmp_path, engine, inner_first
):
    inner = tmp_path / "ws" / "inner"
    inner.mkdir(parents=True)
    (inner.parent / ".odinignore").write_text("inner/x\n")
    world = engine(make_world(*([inner, inner.parent] if inner_first else [inner.parent, inner])))
    (inner / "x").write_text(world.canary)

    await world.every_tool(inner / "x")
    await world.survey()


async def test_path_20_a_root_that_is_a_link_is_the_folder_behind_it(make_world, tmp_path, engine):
    real = tmp_path / "real"
    real.mkdir()
    (real / "b.txt").write_text("needle\n")
    (tmp_path / "link").symlink_to(real)
    world = engine(make_world(tmp_path / "link"))

    assert "needle" in (await world.use("Read", file_path=str(tmp_path / "link" / "b.txt"))).data
    assert "needle" in (await world.use("Read", file_path=str(real / "b.txt"))).data
    assert (await world.use("Grep", pattern="needle")).data == "b.txt\n1:needle"
    assert world.person.questions == []


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home behind a link, as where homes are on a server; with the canary in it."""
    (tmp_path / "disk" / "me").mkdir(parents=True)
    (tmp_path / "home").symlink_to(tmp_path / "disk")
    monkeypatch.setenv("HOME", str(tmp_path / "home" / "me"))
    (tmp_path / "disk" / "me" / "diary.txt").write_text("canary-7f3a91c4\n")
    return tmp_path / "home" / "me"


async def test_path_20_a_home_behind_a_link_vouches_for_nothing_either(make_world, home):
    world = make_world(home)

    with pytest.raises(PermissionDenied):
        await world.use("Read", file_path=str(home / "diary.txt"))

    assert "a workspace folder that holds a whole home folder" in world.person.questions[0].detail


async def test_path_20_a_folder_around_the_home_vouches_for_nothing_either(make_world, home):
    world = make_world(home.parent)

    with pytest.raises(PermissionDenied):
        await world.use("Read", file_path=str(home / "diary.txt"))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        *[("Lookup", {"what": it, "symbol": "diary"}) for it in ("definition", "references", "callers", "symbols")],
        ("Lookup", {"what": "definition", "symbol": "diary", "file_path": "known.py", "line": 1}),
    ],
)
async def test_path_20_nothing_of_the_home_is_known_but_what_was_allowed(make_world, home, engine, tool, arguments):
    world = engine(make_world(home, home / "project"))
    (home / "diary.py").write_text(f"def diary(:\n    return {world.canary!r}\n\ndef write(): diary()\n")
    (home / "known.py").write_text("diary()\n")
    (home / "project").mkdir()
    (home / "project" / "own.py").write_text("def diary(): pass\n\ndiary()\n")
    world.person.answers = ["allow_once"]

    said = await world.text(tool, **arguments)

    assert "diary.py" not in said
    assert world.canary not in said
    assert "own.py" in said


async def test_path_20_what_was_allowed_in_the_home_is_looked_into(make_world, home, engine):
    world = engine(make_world(home))
    (home / "diary.py").write_text(f"diary({world.canary!r})\n")
    (home / "known.py").write_text("def diary(): pass\n\ndiary()\n")
    world.person.answers = ["allow_once"]

    said = await world.text("Lookup", what="references", symbol="diary", file_path="known.py", line=1)

    assert "known.py\n1:def diary(): pass" in said
    assert "diary.py" not in said


@pytest.mark.parametrize("tool", ["Grep", "Glob"])
async def test_path_20_a_search_of_everything_in_the_home_is_asked_for(make_world, tmp_path, monkeypatch, engine, tool):
    monkeypatch.setenv("HOME", str(tmp_path / "ws"))
    world = engine(make_world())
    (world.root / "diary.txt").write_text(world.canary)

    said = await world.text(
        tool, pattern="*" if tool == "Glob" else "", **({} if tool == "Glob" else {"output_mode": "content"})
    )

    assert "diary.txt" not in said


@pytest.mark.parametrize(
    "uri",
    [
        "untitled:{path}",
        "vscode-remote://host{path}",
        "git:{path}",
        "vscode-notebook-cell:{path}#1",
        "http://h{path}",
        "https:{path}",
        "{path}",
    ],
)
async def test_path_21_a_document_of_another_scheme_is_no_file(world, uri):
    uri = uri.format(path=world.root / "a.txt")
    world.context.files.buffers.open(uri, 1, "elsewhere")

    assert "plain" in (await world.use("Read", file_path=str(world.root / "a.txt"))).data
    assert (await world.use("Grep", pattern="elsewhere")).data == "No matches found"
    if not uri.startswith("/"):
        for tool in READERS:
            with pytest.raises(ToolError, match="not an absolute path"):
                await world.use(tool, **of_file(tool, uri))


@pytest.mark.parametrize(
    "uri",
    [
        "file://[evil/x",
        "file://ex\u2100mple/x",
        "file://h:port/x",
        "file:",
        "",
        ":",
        "file://\ud800/x",
        "file:///\ud800",
    ],
)
def test_path_21_a_uri_that_is_none_is_no_file_and_no_crash(uri):
    assert path_of(uri, windows=False) is None
    buffers = Buffers()
    buffers.open(uri, 1, "typed")
    assert buffers.of_uri(uri).text == "typed"


def test_path_21_hosts_are_not_taken_for_each_other():
    assert document_key("file://localhostx/a") != document_key("file://x/a")


# PATH-23, PATH-24


HOMES = ["~", "~/", "$HOME", "$HOME/", "${HOME}", "~/diary.txt", " ~/diary.txt ", "$HOME\\diary.txt", "~/**"]


@pytest.mark.parametrize("rule", HOMES)
async def test_path_23_the_home_is_denied_however_it_is_written_and_wherever_it_is(make_world, home, rule):
    world = make_world(home, deny=(rule,))
    world.person.always = "allow_session"

    for place in (home, home.parent.resolve() / "me"):
        with pytest.raises(PermissionDenied, match="is hidden"):
            await world.use("Read", file_path=str(place / "diary.txt"))
        await world.every_tool(place)
    await world.text("Grep", pattern="", output_mode="content")


@pytest.mark.parametrize("rule", ["/", "/*", "/**"])
async def test_path_23_everything_is_denied_by_a_slash(make_world, engine, rule):
    world = engine(make_world(deny=(rule,)))

    with pytest.raises(PermissionDenied, match="is hidden"):
        await world.use("Read", file_path=str(world.root / "a.txt"))


def test_path_24_a_git_folder_under_another_name_is_protected(tmp_path):
    for name in ("objects", "refs", "hooks"):
        (tmp_path / "store" / "modules" / name).mkdir(parents=True)
    (tmp_path / "store" / "modules" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / ".git").write_text("gitdir: store/modules\n")

    hook = tmp_path / "store" / "modules" / "hooks" / "pre-commit"

    assert caution([hook], "", "x") == (GIT, True)
    assert caution([tmp_path / "store" / "notes.txt"], "", "x") == ("", False)


async def test_path_24_a_git_folder_that_is_elsewhere_is_not_followed(world, engine):
    (world.root / ".git").write_text(f"gitdir: {world.outside}\n")
    (world.root / "sub").mkdir()
    (world.root / "sub" / ".git").write_text("gitdir: ../../outside\n")

    said = await engine(world).survey()

    assert "secret.txt" not in said
    assert world.person.questions == []
