"""The kernel alone: with the static policy switched off, nothing that a command tries in Ask and Plan changes anything,
and in Edit with `sandbox` nothing but the workspace."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from odin_lsp.commands.session import SessionCommands
from odin_lsp.config import CommandSettings, Config
from odin_lsp.permissions import sandbox
from tests.adversarial import mechanisms
from tests.adversarial.shell_writes import MODES_AND_TIMES, REACHES, WRITES, Surroundings, unjudged

MECHANISMS = [
    pytest.param(frozenset(works), id="-".join(works))
    for works in (("landlock",), ("landlock", "namespaces"), ("bubblewrap",))
    if mechanisms.tried().issuperset(works)
]
READING = [it for it in MECHANISMS if it.id != "landlock-namespaces"]

EDITS = [
    'echo x >> "$HOME/.bashrc"',
    'rm "$HOME/.ssh/authorized_keys"',
    'echo x > "$OUTSIDE/secret.txt"',
    'mv "$OUTSIDE/secret.txt" sub/',
    'ln "$OUTSIDE/secret.txt" sub/hard && echo x > sub/hard',
    'ln -s "$OUTSIDE/secret.txt" sub/soft && echo x > sub/soft',
    "echo x > .git/config",
    "echo x > .git/hooks/pre-commit",
    "printf x > sub/hook && mv sub/hook .git/hooks/pre-commit",
    "ln -s ../../script.sh .git/hooks/pre-commit",
    "rm -rf .git",
    "mv .git sub/git",
    "mv .git .got",
    *MODES_AND_TIMES,
    "echo x >> CLAUDE.md",
    "rm CLAUDE.md; echo x > CLAUDE.md",
    "mv sub/x CLAUDE.md",
    "ln .git/config sub/hard && echo x > sub/hard",
    "umount .git; mount -o remount,rw .git; echo x > .git/config",
    "unshare -Urm sh -c 'umount .git; mount -o remount,rw,bind .git; echo x > .git/config'",
    *REACHES,
]


@pytest.fixture
def settings():
    return {"sandbox": False, "network": False}


@pytest.fixture
async def world(make_world, settings):
    world = make_world()
    for name in ("empty", "sub", ".git/hooks"):
        (world.root / name).mkdir(parents=True)
    (world.root / "script.sh").write_text("echo x > a.txt\necho x > new\n")
    (world.root / ".git" / "config").write_text("[core]\n")
    (world.root / "CLAUDE.md").write_text("be nice\n")
    of_commands = CommandSettings(network=settings["network"], environment=settings.get("environment", ()))
    chosen = Config(sandbox=settings["sandbox"], commands=of_commands)
    commands = SessionCommands(lambda: chosen, unjudged)
    world.context = replace(world.context, commands=commands)
    yield world
    await commands.close()


@pytest.fixture
def around(world, tmp_path, monkeypatch):
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".bashrc").write_text("# mine\n")
    (home / ".ssh" / "authorized_keys").write_text("key\n")
    with ExitStack() as stack:
        yield Surroundings(world.root, world.outside, home, monkeypatch, stack)


@pytest.fixture
def only(monkeypatch):
    def only(works):
        monkeypatch.setattr(sandbox, "mechanisms", lambda: works)

    return only


def test_there_are_enough_attempts():
    assert len(WRITES) >= 60
    assert len(set(WRITES + REACHES)) == len(WRITES) + len(REACHES)


@pytest.mark.parametrize("works", READING)
@pytest.mark.parametrize("mode", ["ask_mode", "plan_mode"])
async def test_nothing_changes_in_ask_and_plan(world, around, only, mode, works):
    only(works)
    world.context = replace(world.context, mode=mode)
    before = around.seen()
    for command in (*WRITES, *REACHES):
        said = await world.text("ExecuteCommand", command=command)
        assert around.seen() == before, f"{command!r} has changed something, and said {said!r}"
        assert not around.reached(), f"{command!r} has reached something, and said {said!r}"
    assert not list(Path("/dev/shm").glob("odin-canary*"))


async def test_the_attempts_are_real(world, around):
    """Without a sandbox they change something; else they would show nothing."""
    world.context = replace(world.context, mode="edit_mode")
    harmless = []
    for command in ("echo x > a.txt", "touch a.txt", "chmod 777 a.txt", "chattr +d a.txt", *REACHES[:1], REACHES[6]):
        before = around.seen()
        await world.text("ExecuteCommand", command=command)
        if around.seen() == before and not around.reached():
            harmless.append(command)
    assert harmless in ([], ["chattr +d a.txt"])  # which not every file system knows, and which shows in no state


@pytest.mark.parametrize("works", READING)
async def test_reading_works_in_ask(world, around, only, works):
    only(works)
    said = await world.text(
        "ExecuteCommand",
        command="cat a.txt; ls | wc -l; grep -r nice . 2> /dev/null; git --version > /dev/null && echo ok",
    )
    assert said.startswith("plain\n5\n./CLAUDE.md:be nice\nok\n")


@pytest.mark.parametrize("works", READING)
async def test_odin_is_out_of_reach(world, around, only, monkeypatch, works):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary-key-1")
    only(works)
    said = await world.text("ExecuteCommand", command="cat /proc/$ODIN/environ /proc/$PPID/environ; kill -0 $ODIN")
    assert "canary" not in said
    assert "No such" in said or "not permitted" in said


class TestEdit:
    """With `sandbox`: the workspace, and nothing else."""

    @pytest.fixture
    def settings(self):
        return {"sandbox": True, "network": False}

    @pytest.fixture(params=MECHANISMS)
    def works(self, request, only, world):
        only(request.param)
        world.context = replace(world.context, mode="edit_mode")
        return request.param

    async def test_the_workspace_can_be_changed(self, world, around, works):
        said = await world.text(
            "ExecuteCommand",
            command="echo x > a.txt && echo y > sub/new && mkdir sub/deep && mv sub/new sub/deep/ && chmod +x script.sh"
            ' && f=$(mktemp) && echo z > "$f" && cat "$f"',
        )
        assert said.startswith("z\n(exit code 0")
        assert (world.root / "sub" / "deep" / "new").read_text() == "y\n"

    async def test_new_files_in_the_folder_itself_need_more_than_landlock(self, world, around, works):
        said = await world.text("ExecuteCommand", command="echo x > new.txt && mkdir build && mv new.txt build/")
        assert ("exit code 0" in said) is (works != {"landlock"})

    async def test_nothing_else_can(self, world, around, works):
        """Modes and times are what Landlock alone does not hold where something may be written."""
        names = [
            name
            for name in around.seen()
            if "/.git" in name or name.endswith("CLAUDE.md") or not name.startswith(str(world.root))
        ]
        before = {name: state for name, state in around.seen().items() if name in names}
        for command in EDITS:
            if works == {"landlock"} and command in MODES_AND_TIMES:
                continue
            said = await world.text("ExecuteCommand", command=command)
            after = {name: state for name, state in around.seen().items() if name in names}
            assert after == before, f"{command!r} has changed something, and said {said!r}"
            assert not around.reached(), f"{command!r} has reached something, and said {said!r}"

    @pytest.mark.parametrize(
        "name", ["odinconfig.json", ".vscode/settings.json", "AGENTS.md", ".OdinConfig.JSON/../OdinConfig.JSON"]
    )
    async def test_protected_files_do_not_come_into_being(self, world, around, works, name):
        command = f"mkdir -p {Path(name).parent}; echo x > {name}"
        said = await world.text("ExecuteCommand", command=command)
        assert not (world.root / name).exists()
        if works != {"landlock"}:
            assert "is protected and the command made it" in said

    async def test_a_background_command_is_watched_too(self, world, around, works):
        await world.use("ExecuteCommand", command="echo x > AGENTS.md", run_in_background=True)
        said = await world.text("CommandStatus", background_id="background-1", wait=60_000)
        assert ("AGENTS.md is protected, and new since then" in said) is (works != {"landlock"})


class TestEditWithNetwork(TestEdit):
    @pytest.fixture
    def settings(self):
        return {"sandbox": True, "network": True}

    test_nothing_else_can = None
    test_protected_files_do_not_come_into_being = None
    test_a_background_command_is_watched_too = None

    async def test_the_network_can_be_reached(self, world, around, works):
        await world.text("ExecuteCommand", command=REACHES[0])
        assert around.reached()

    async def test_sockets_of_others_cannot(self, world, around, works):
        for command in (it for it in REACHES if "AF_UNIX" in it):
            said = await world.text("ExecuteCommand", command=command)
            assert not around.reached(), f"{command!r} has reached something, and said {said!r}"


class TestEditWithAnAgent(TestEditWithNetwork):
    @pytest.fixture
    def settings(self, monkeypatch, tmp_path):
        monkeypatch.setenv("AGENT", str(tmp_path / "home" / "socket"))
        return {"sandbox": True, "network": True, "environment": ["AGENT"]}

    test_the_workspace_can_be_changed = None
    test_new_files_in_the_folder_itself_need_more_than_landlock = None
    test_the_network_can_be_reached = None
    test_sockets_of_others_cannot = None

    async def test_the_one_that_is_named_is_reached(self, world, around, works):
        await world.text("ExecuteCommand", command=REACHES[7])
        assert not around.reached()
        await world.text("ExecuteCommand", command=REACHES[6])
        assert around.reached() is (works != {"bubblewrap"})


async def test_without_any_sandbox_edit_refuses_to_run(world, around, only, settings):
    only(frozenset())
    commands = SessionCommands(lambda: Config(sandbox=True), unjudged)
    world.context = replace(world.context, mode="edit_mode", commands=commands)
    said = await world.text("ExecuteCommand", command="echo ran")
    await commands.close()
    assert "no sandbox works here" in said
