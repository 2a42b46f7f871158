"""EXEC-09, EXEC-10 and PATH-22: a search runs no program of the workspace, ends, and keeps what is denied to itself.

Shown in `tests/unit/tools/test_search_tools.py`: EXEC-09 for the choice of ripgrep
(`test_a_program_of_the_workspace_is_never_run_as_ripgrep`), EXEC-10 for options as patterns
(`test_a_pattern_cannot_become_an_option`).
"""

import asyncio
import os
import sys
import tempfile

import pytest

from odin_lsp.config import FileRules
from odin_lsp.errors import PermissionDenied, ToolError
from odin_lsp.workspace import search
from odin_lsp.workspace.ripgrep import find_ripgrep
from odin_lsp.workspace.search import Search
from odin_lsp.workspace.text import Change
from tests.support.forking import children

MODES = ("content", "files_with_matches", "count")
SECRET_NAME = "hush-2b9e"
"""In names that no result may tell."""


# EXEC-09: programs and modules of the workspace


@pytest.fixture
def planted(world, tmp_path):
    """Programs and modules with well-known names that leave a mark when they run."""
    mark = tmp_path / "pwned"
    script = f"#!/bin/sh\ntouch {mark}\n"
    for name in ("ls", "git", "rg", "rg.exe", "git.exe", "rg.cmd", "rg.bat", "python", "python3", "find", "grep", "sh"):
        (world.root / name).write_text(script)
        (world.root / name).chmod(0o755)
    module = f"import pathlib; pathlib.Path({str(mark)!r}).touch()\n"
    for name in ("re", "os", "pathspec", "sitecustomize", "usercustomize", "odin_lsp", "encodings", "codecs"):
        (world.root / f"{name}.py").write_text(module)
    (world.root / "odin_lsp" / "workspace").mkdir(parents=True)
    for folder in (world.root / "odin_lsp", world.root / "odin_lsp" / "workspace"):
        (folder / "__init__.py").write_text(module)
    (world.root / "odin_lsp" / "workspace" / "fallback_search.py").write_text(module)
    (world.root / "pyvenv.cfg").write_text("home = .\n")
    (world.root / ".ripgreprc").write_text("--pre=./rg\n")
    yield world
    assert not mark.exists()


async def test_exec_09_nothing_of_the_workspace_is_run(planted, engine, monkeypatch):
    monkeypatch.chdir(planted.root)
    monkeypatch.setenv("PATH", f".:{planted.root}::{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(planted.root))
    monkeypatch.setenv("PYTHONSTARTUP", str(planted.root / "re.py"))
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(planted.root / ".ripgreprc"))
    world = engine(planted)

    await world.survey()
    assert (await world.use("Grep", pattern="plain")).data.startswith("a.txt\n1:")


@pytest.mark.parametrize("path", ["{root}", ".", "", "{root}/../ws", "{link}", "relative"])
async def test_exec_09_ripgrep_is_not_taken_from_the_workspace_by_another_name(planted, monkeypatch, tmp_path, path):
    (tmp_path / "link").symlink_to(planted.root)
    monkeypatch.chdir(planted.root)
    monkeypatch.setattr("sysconfig.get_path", lambda name: "/nowhere")
    monkeypatch.setenv("PATH", path.format(root=planted.root, link=tmp_path / "link"))

    assert find_ripgrep([planted.root]) is None


async def test_exec_09_a_link_into_the_workspace_is_not_run(planted, monkeypatch, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "rg").symlink_to(planted.root / "rg")
    monkeypatch.setattr("sysconfig.get_path", lambda name: "/nowhere")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    assert find_ripgrep([planted.root]) is None


async def test_exec_09_a_folder_that_becomes_a_root_later_is_not_run_either(planted, monkeypatch, tmp_path):
    (tmp_path / "other").mkdir()
    planted.context.files.configure([tmp_path / "other"], FileRules())
    monkeypatch.setattr("sysconfig.get_path", lambda name: "/nowhere")
    monkeypatch.setenv("PATH", str(planted.root))
    engine = Search(planted.context.files)

    planted.context.files.configure([planted.root], FileRules())
    await engine.files(planted.root)


# EXEC-10: patterns

OPTIONS = [
    "--pre=./rg",
    "-f/etc/passwd",
    "-e",
    "--",
    "--files",
    "--no-ignore",
    "--hostname-bin=./rg",
    "-z",
    "--follow",
    "-uuu",
]


@pytest.mark.parametrize("value", OPTIONS)
async def test_exec_10_nothing_that_a_model_passes_becomes_an_option(planted, engine, value):
    (planted.root / "docs").symlink_to(planted.outside)
    world = engine(planted)

    for argument in ("pattern", "glob", "type"):
        await world.text("Grep", **{"pattern": "canary|root:", "output_mode": "content", argument: value})
    await world.text("Glob", pattern=value)
    await world.text("Glob", pattern="*", path=value)
    await world.text("LS", path=value)


@pytest.mark.parametrize("where", ["-f", "--pre=rg", "--files", "-"])
async def test_exec_10_nor_does_the_name_of_a_folder(planted, engine, where):
    folder = planted.root / where
    folder.mkdir()
    (folder / "b.txt").write_text("needle\n")

    assert (await engine(planted).use("Grep", pattern="needle", path=str(folder))).data == f"{where}/b.txt\n1:needle"


EVIL = [r"(a+)+$", r"(a|a)*$", r"(a*)*b", r"^(([a-z])+.)+[A-Z]([a-z])+$", r"(.*a){25}$"]


@pytest.mark.parametrize("pattern", EVIL)
async def test_exec_10_ripgrep_is_not_slowed_down_by_a_pattern(world, within, pattern):
    (world.root / "b.txt").write_text("a" * 5000 + "!\n")

    async with within(5):
        await world.text("Grep", pattern=pattern, output_mode="content")

    assert not children()


async def test_exec_10_without_ripgrep_a_slow_pattern_is_ended(world, within, monkeypatch):
    world.context.search._ripgrep = None
    monkeypatch.setattr(search, "TIMEOUT_SECONDS", 0.7)
    (world.root / "b.txt").write_text("a" * 5000 + "!\n")
    before = children()

    async with within(3):
        with pytest.raises(ToolError, match="took longer"):
            await world.use("Grep", pattern=EVIL[0])

    assert children() == before


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["pipe", "device"])
@pytest.mark.parametrize("name", [".gitignore", ".ignore", ".rgignore", ".git/info/exclude", "deep/er/.gitignore"])
async def test_exec_10_rules_in_what_is_no_file_hold_up_no_search(world, engine, within, name, make):
    for path in ("b.txt", "deep/b.txt", "deep/left.txt", "left.txt"):
        (world.root / path).parent.mkdir(exist_ok=True)
        (world.root / path).write_text("needle\n")
    (world.root / "deep" / ".gitignore").write_text("left.*\n")
    (world.root / name).parent.mkdir(parents=True, exist_ok=True)
    make(world.root / name)
    expected = {"b.txt", "deep/b.txt", "left.txt"}

    async with within(5):
        found = await engine(world).text("Grep", pattern="needle")
        again = await world.text("Grep", pattern="needle", path=str(world.root / "deep"))
        names = await world.text("Glob", pattern="**/*.txt")

    assert expected.issubset(found.splitlines())
    assert "deep/b.txt" in again
    assert expected.issubset(it.removesuffix(" (cached)") for it in names.splitlines())
    assert "deep/left.txt" not in found + again + names
    assert not children()


async def test_exec_10_a_search_that_is_cancelled_leaves_no_process(world, engine):
    (world.root / "b.txt").write_text("a" * 5000 + "!\n")
    before = children()
    task = asyncio.create_task(engine(world).text("Grep", pattern=EVIL[0]))
    await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert children() == before


@pytest.mark.parametrize("pattern", ["*a" * 12 + "*b", "**/" * 30 + "x", "[a-a]*" * 20 + "b", "{a,b}" * 40])
async def test_exec_10_names_that_nearly_match_do_not_slow_a_glob_down(world, engine, within, pattern):
    (world.root / ("a" * 200)).write_text("")
    (world.root / "/".join("a" * 30)).mkdir(parents=True)
    (world.root / "/".join("a" * 30) / "y").write_text("")

    async with within(3):
        await engine(world).text("Glob", pattern=pattern)


@pytest.mark.parametrize("tool", ["LS", "Read"])
async def test_exec_10_nor_does_a_list_of_what_to_ignore_slow_anything_down(world, within, tool):
    (world.root / ".odinignore").write_text("*a" * 12 + "*b\n")
    (world.root / ("a" * 200)).write_text("")

    async with within(3):
        await world.text(
            tool, **({"path": str(world.root)} if tool == "LS" else {"file_path": str(world.root / ("a" * 200))})
        )


async def test_exec_10_nor_do_names_to_leave_out(world, within):
    (world.root / ("a" * 200)).write_text("")

    async with within(3):
        await world.text("LS", path=str(world.root), ignore=["*a" * 12 + "*b"])


@pytest.mark.parametrize(
    "pattern", ["!", "\\", "/", "//", "[", "[z-a]", "[]", "***", "a**b", "{", "}", "{,}", "#", " ", "../*", "/etc/*"]
)
async def test_exec_10_a_glob_that_is_none_is_an_error_or_finds_nothing(world, engine, pattern):
    said = await engine(world).text("Glob", pattern=pattern)

    assert "/etc/" not in said.replace("/etc/*", "")


@pytest.mark.parametrize("rules", ["!\n", "\\\n", "[z-a]\n", "\x00\n", "a\\\n!\n/\n"])
async def test_exec_10_a_line_that_is_no_pattern_does_not_take_the_others_with_it(world, rules):
    (world.root / "b.txt").write_text(world.canary)
    (world.root / ".odinignore").write_text(f"{rules}b.txt\n")

    said = await world.survey()

    assert str(world.root / "a.txt") in said
    assert str(world.root / "b.txt") not in said
    with pytest.raises(PermissionDenied):
        await world.use("Read", file_path=str(world.root / "b.txt"))


@pytest.mark.parametrize("rule", ["!", "\\", "[z-a]"])
async def test_exec_10_a_setting_that_is_no_pattern_does_not_take_the_others_with_it(make_world, rule):
    world = make_world(deny=(rule, "b.txt"))
    (world.root / "b.txt").write_text(world.canary)

    with pytest.raises(PermissionDenied):
        await world.use("Read", file_path=str(world.root / "b.txt"))


@pytest.mark.parametrize(
    "arguments",
    [{"pattern": "x" * 200_000}, {"pattern": "x", "glob": "y" * 200_000}, {"pattern": "(" * 5000 + ")" * 5000}],
)
async def test_exec_10_a_pattern_that_is_too_long_is_an_error_or_finds_nothing(world, engine, within, arguments):
    async with within(5):
        assert len(await engine(world).text("Grep", **arguments)) < 450_000


@pytest.mark.parametrize("pattern", ["\ud800", "a\udcffb"])
@pytest.mark.parametrize("tool", ["Grep", "Glob"])
async def test_exec_10_a_pattern_that_is_no_text_is_an_error(world, tool, pattern):
    with pytest.raises(ToolError):
        await world.use(tool, pattern=pattern)


@pytest.mark.parametrize("tool", ["Grep", "Glob", "LS"])
@pytest.mark.parametrize("name", ["none", "a.txt", "none/deeper"])
async def test_exec_10_where_there_is_no_folder_the_error_is_one_for_the_model(world, engine, tool, name):
    await engine(world).text(
        tool, **({} if tool == "LS" else {"pattern": "*" if tool == "Glob" else "x"}), path=str(world.root / name)
    )


# PATH-22: what is denied


RULES = {
    "a deny of what is in a folder": {"deny": ("secrets/**",)},
    "a deny of a folder": {"deny": ("secrets/",)},
    "an absolute deny": {"deny": ("{root}/secrets",)},
    "an ignored folder": {"ignore": "secrets/\n"},
    "what is in an ignored folder": {"ignore": "/secrets/**\n"},
    "a secret folder": {"folder": ".ssh"},
}


@pytest.fixture(params=RULES.values(), ids=RULES)
def denied(request, make_world, tmp_path):
    """A workspace with a folder that is denied, and links to it."""
    rules = {"deny": (), "ignore": "", "folder": "secrets", **request.param}
    world = make_world(deny=tuple(rule.format(root=tmp_path / "ws") for rule in rules["deny"]))
    folder = world.root / rules["folder"]
    (folder / "deep").mkdir(parents=True)
    for name in (SECRET_NAME, f"deep/{SECRET_NAME}.py"):
        (folder / name).write_text(f"{world.canary}\n{world.canary}\n")
    if rules["ignore"]:
        (world.root / ".odinignore").write_text(rules["ignore"])
    (world.root / "link-to-folder").symlink_to(folder)
    (world.root / "link-to-file").symlink_to(folder / SECRET_NAME)
    (world.root / "src").mkdir()
    (world.root / "src" / "up").symlink_to("..")
    world.folder = folder
    return world


def spellings(world, name: str) -> list[str]:
    """The ways to write the path of something in the denied folder."""
    inside = world.folder.name
    return [
        f"{world.folder}/{name}",
        f"{world.root}/link-to-folder/{name}",
        f"{world.root}/src/../{inside}/{name}",
        f"{world.root}/src/up/{inside}/./{name}",
        f"{world.root}/none/../{inside}//{name}",
        f"{world.folder}/deep/../{name}",
        f"{world.folder}/../{inside}/{name}",
    ]


async def test_path_22_what_is_denied_is_denied_in_every_spelling(denied):
    for path in [*spellings(denied, SECRET_NAME), f"{denied.root}/link-to-file"]:
        with pytest.raises(PermissionDenied, match="is hidden: it looks like a secret"):
            await denied.use("Read", file_path=path)
        await denied.every_tool(path)
    assert denied.person.questions == []


async def test_path_22_no_search_from_above_finds_it(denied, engine):
    said = await engine(denied).survey()

    assert SECRET_NAME not in said
    assert "a.txt" in said


async def test_path_22_nor_does_one_whose_output_the_name_breaks(denied, engine):
    """Lines separate the results of a search, and names may hold the ends of lines."""
    for name in (f"{SECRET_NAME}\nb.txt", f"deep/{SECRET_NAME}\n{SECRET_NAME}", f"{SECRET_NAME}\n"):
        (denied.folder / name).write_text(f"{denied.canary}\n{denied.canary}\n")

    assert SECRET_NAME not in await engine(denied).survey()


async def test_path_22_nor_does_one_in_the_folder_itself(denied):
    for place in ("", "deep", "deep/.."):
        for path in spellings(denied, place):
            assert SECRET_NAME not in await denied.every_tool(path)


@pytest.mark.parametrize(
    "glob", ["**/*", "*", "**/hush*", "!*.txt", "secrets/**", ".ssh/**", "**/.ssh/*", "/**", "{hush*,*.py}"]
)
async def test_path_22_nor_does_a_glob_bring_it_back(denied, glob):
    said = await denied.text("Glob", pattern=glob)
    for mode in MODES:
        said += await denied.text("Grep", pattern="", glob=glob, output_mode=mode)
    said += await denied.text("Grep", pattern="canary", type="py", output_mode="content", **{"-C": 5})

    assert SECRET_NAME not in said


@pytest.mark.parametrize(
    "name",
    [
        SECRET_NAME,
        f"{SECRET_NAME}/below",
        f"{SECRET_NAME}/../{SECRET_NAME}",
        f"deep/{SECRET_NAME}.py",
        f"deep/{SECRET_NAME}.py/x",
        "deep/missing",
    ],
)
async def test_path_22_an_error_does_not_tell_whether_it_exists(denied, name):
    for there, not_there in zip(spellings(denied, name), spellings(denied, name.replace("hush", "none")), strict=True):
        said = await denied.every_tool(there)
        assert said.replace("hush", "none") == await denied.every_tool(not_there)


async def test_path_22_a_folder_that_is_named_as_denied_is_not_listed(make_world, engine):
    """`secrets/` in an .odinignore means the folder, as it does in the settings."""
    world = engine(make_world(deny=("denied/",)))
    (world.root / ".odinignore").write_text("ignored/\n")
    for name in ("denied", "ignored"):
        (world.root / name).mkdir()

    lines = (await world.use("LS", path=str(world.root))).data.splitlines()

    assert lines == ["- .odinignore", "- a.txt"]
    for name in ("denied", "ignored"):
        with pytest.raises(PermissionDenied):
            await world.use("LS", path=str(world.root / name))


async def test_path_22_a_link_does_not_tell_what_is_denied(make_world):
    world = make_world(deny=("secrets/",))
    (world.root / "secrets" / "folder").mkdir(parents=True)
    (world.root / "secrets" / "file").write_text(world.canary)
    for number, name in enumerate(("folder", "file", "nothing")):
        (world.root / f"link-{number}").symlink_to(world.root / "secrets" / name)

    lines = (await world.use("LS", path=str(world.root))).data.splitlines()

    assert len({line.rstrip("0123456789") for line in lines if "link" in line}) <= 1


async def test_path_22_what_is_typed_into_a_denied_file_is_denied_too(denied, monkeypatch, tmp_path):
    """Nor does it leave the process: a copy for the search would be one more place to find it."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    buffers = denied.context.files.buffers
    for path in (denied.folder / SECRET_NAME, denied.folder / "new", denied.root / ".env"):
        buffers.open(path.as_uri(), 1, f"typed {denied.canary}\n")
    buffers.open((denied.root / "a.txt").as_uri(), 1, "typed\n")
    copies, start = [], asyncio.create_subprocess_exec

    async def look_and_start(*command, **options):
        copies.extend(path.read_text() for path in (tmp_path / "tmp").rglob("*") if path.is_file())
        return await start(*command, **options)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", look_and_start)
    await denied.survey()

    assert "typed\n" in copies
    assert denied.canary not in "".join(copies)
    assert list((tmp_path / "tmp").iterdir()) == []


async def test_path_22_a_rule_that_comes_later_holds_for_what_was_read_before(world, engine):
    path = world.root / "b.txt"
    path.write_text("needle\n")
    assert "needle" in (await engine(world).use("Read", file_path=str(path))).data
    path.write_text(world.canary)
    (world.root / ".odinignore").write_text("b.txt\n")

    with pytest.raises(PermissionDenied):
        await world.use("Read", file_path=str(path))
    assert (await world.use("Grep", pattern="canary|needle")).data == "No matches found"


@pytest.mark.parametrize(
    "name", [".env", ".env.local", "server.pem", "id_rsa", "deep/.npmrc", ".aws/credentials", "x\n/.env"]
)
async def test_path_22_a_secret_by_name_is_found_by_no_tool(world, name):
    path = world.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{world.canary}\n")
    (world.root / "copy").symlink_to(path)

    said = await world.survey() + await world.every_tool(path.parent)
    assert path.name not in said
    for place in (path, world.root / "copy", path.parent / "." / ".." / path.parent.name / path.name):
        assert "is hidden: it looks like a secret" in await world.every_tool(place)


async def test_path_22_what_a_search_prints_cannot_pass_for_another_file(world, engine):
    """A secret's line that looks like the output for a public file is still the secret's."""
    (world.root / ".env").write_text(
        f"x\n{world.root}/a.txt\\0001:{world.canary}\n{world.root}/a.txt:1:{world.canary}\n"
    )
    (world.root / "b\n").mkdir()
    (world.root / "b\n" / ".env").write_text(f"{world.canary}\n")

    await engine(world).survey()


async def test_path_22_an_output_that_is_cut_shows_no_part_of_a_denied_name(make_world, monkeypatch, tmp_path):
    """A stand-in for ripgrep whose output ends in the middle of a name."""
    world = make_world(deny=("*.hidden",))
    (tmp_path / "rg").write_text(f"#!/bin/sh\nprintf './a.txt\\0./{SECRET_NAME}.hid'\nexec sleep 30\n")
    (tmp_path / "rg").chmod(0o755)
    world.context.search._ripgrep = tmp_path / "rg"
    monkeypatch.setattr(search, "MAX_OUTPUT_BYTES", len("./a.txt\0./hush"))

    for said in [
        await world.text("Glob", pattern="**"),
        await world.text("Grep", pattern="", output_mode="files_with_matches"),
    ]:
        assert SECRET_NAME not in said
        assert "a.txt" in said
        assert "more" in said


async def test_path_22_a_folder_that_may_not_be_entered_hides_nothing_else(world, engine):
    """Without ripgrep as with it: what cannot be read is left out, and the search goes on."""
    if os.geteuid() == 0:
        (world.root / "b-loop").symlink_to("b-loop")
    else:
        (world.root / "b").mkdir(mode=0)
    (world.root / "z.txt").write_text("needle\n")
    try:
        assert (await engine(world).use("Grep", pattern="needle")).data == "z.txt\n1:needle"
    finally:
        if (world.root / "b").exists():
            (world.root / "b").chmod(0o755)


async def test_path_22_an_unsaved_document_is_searched_in_its_folder_and_under_its_rules(world, engine):
    path = world.root / "a.txt"
    world.context.files.buffers.open(path.as_uri(), 1, "plain\n")
    world.context.files.buffers.change(path.as_uri(), 2, [Change(world.canary)])
    (world.root / ".odinignore").write_text("a.txt\n")

    assert (await engine(world).use("Grep", pattern="canary")).data == "No matches found"


def test_exec_10_the_search_without_ripgrep_runs_in_a_python_that_trusts_nobody(world):
    world.context.search._ripgrep = None

    assert list(world.context.search._command())[:3] == [sys.executable, "-I", "-m"]
