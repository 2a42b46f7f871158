"""The kernel alone: with the static policy switched off, nothing that a command tries in Ask and Plan changes anything,
and in Edit with `sandbox` nothing but the workspace."""

import json
import os
import socket
import stat
import subprocess
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from odin_lsp import config
from odin_lsp.agent.core import Core
from odin_lsp.agent.turn import UserMessage
from odin_lsp.commands.session import SessionCommands
from odin_lsp.config import CommandSettings, Config
from odin_lsp.permissions import sandbox
from odin_lsp.permissions.shell import CommandVerdict

MECHANISMS = [
    pytest.param(frozenset(works), id="-".join(works))
    for works in (("landlock",), ("landlock", "namespaces"), ("bubblewrap",))
    if sandbox.mechanisms().issuperset(works)
]
READING = [it for it in MECHANISMS if it.id != "landlock-namespaces"]
PYTHON = "import os, socket, mmap, ctypes;"

WRITES = [
    "echo x > a.txt",
    "echo x >> a.txt",
    ": > a.txt",
    "echo x >| a.txt",
    "echo x &> new",
    "exec 3<>a.txt; echo x >&3",
    "exec 3<a.txt; echo x > /proc/self/fd/3",
    "echo x > /proc/self/cwd/a.txt",
    'echo x > "/proc/self/root$PWD/a.txt"',
    "cat > new <<< text",
    "touch new",
    "touch a.txt",
    "touch -d 2001-01-01 a.txt",
    "rm a.txt",
    "rm -rf .",
    "unlink a.txt",
    "mv a.txt b.txt",
    "cp a.txt b.txt",
    "cp /etc/passwd a.txt",
    "ln a.txt hard",
    "ln -s /etc/passwd soft",
    "mkdir folder",
    "rmdir empty",
    "chmod 777 a.txt",
    "chmod -R 000 .",
    "chown 12345:12345 a.txt",
    "truncate -s 0 a.txt",
    "dd if=/dev/zero of=a.txt bs=1 count=1 conv=notrunc",
    "echo x | tee a.txt",
    "echo x | tee -a a.txt new",
    "sed -i s/plain/x/ a.txt",
    "sed -n 'w new' a.txt",
    "awk '{print > \"new\"}' a.txt",
    "perl -i -pe s/plain/x/ a.txt",
    "sort -o a.txt a.txt /etc/passwd",
    "uniq /etc/passwd new",
    "split a.txt part",
    "install -m 755 a.txt new",
    "mkfifo pipe",
    "mknod node c 1 3",
    "find . -type f -delete",
    "find . -name a.txt -exec rm {} +",
    "find . -fprint new",
    "echo a.txt | xargs rm",
    "tar cf new.tar a.txt",
    "tar xf archive.tar",
    "printf -- '--- a.txt\\n+++ a.txt\\n@@ -1 +1 @@\\n-plain\\n+x\\n' | patch a.txt",
    "git init -q other",
    "git config --global user.name x",
    "git -c user.name=x -c user.email=x commit -q --allow-empty -m x",
    "git stash",
    "sh ./script.sh",
    "env sh -c 'echo x > a.txt'",
    "eval 'echo x > a.txt'",
    "(echo x > late) & wait",
    "setsid sh -c 'echo x > late' & wait",
    "trap 'echo x > late' EXIT",
    "unshare -Urm sh -c 'mount -t tmpfs none empty; echo x > a.txt'",
    "unshare -Ur sh -c 'chmod 777 a.txt; echo x > a.txt'",
    "chattr +d a.txt",
    "setfattr -n user.x -v y a.txt",
    f"python3 -c '{PYTHON} os.truncate(\"a.txt\", 0)'",
    f"python3 -c '{PYTHON} os.open(\"a.txt\", os.O_RDONLY | os.O_TRUNC)'",
    f"python3 -c '{PYTHON} os.open(\".\", os.O_TMPFILE | os.O_RDWR)'",
    f'python3 -c \'{PYTHON} os.setxattr("a.txt", "user.x", b"y")\'',
    f"python3 -c '{PYTHON} os.utime(\"a.txt\", (1, 1))'",
    f"python3 -c '{PYTHON} f = os.open(\"a.txt\", os.O_RDWR); mmap.mmap(f, 1)[0] = 65'",
    f'python3 -c \'{PYTHON} ctypes.CDLL(None).renameat2(-100, b"a.txt", -100, b"script.sh", 2)\'',
    'echo x >> "$HOME/.bashrc"',
    'echo x >> "$HOME/.ssh/authorized_keys"',
    '(cd "$HOME" && rm .bashrc)',
    'mkdir -p "$HOME/.config/new"',
    'echo x > "$OUTSIDE/secret.txt"',
    'rm -r "$OUTSIDE"',
    'cp a.txt "${TMPDIR:-/tmp}/odin-canary-$$" && rm "${TMPDIR:-/tmp}/odin-canary-$$" && echo x > a.txt',
    "mktemp && echo x > a.txt",
    "echo x > /dev/shm/odin-canary && echo x > a.txt",
    "echo x > /proc/$PPID/comm",
    "crontab - <<< '* * * * * touch pwned'",
    "echo 1 > /proc/sys/kernel/printk_ratelimit && echo x > a.txt",
]
REACHES = [
    "exec 3<>/dev/tcp/127.0.0.1/$PORT; echo x >&3",
    "echo x > /dev/udp/127.0.0.1/$PORT",
    "curl -s http://127.0.0.1:$PORT/",
    f"python3 -c '{PYTHON} socket.create_connection((\"127.0.0.1\", '$PORT')).send(b\"x\")'",
    f"python3 -c '{PYTHON} socket.socket(type=socket.SOCK_DGRAM).sendto(b\"x\", (\"127.0.0.1\", '$PORT'))'",
    f"python3 -c '{PYTHON} socket.socket(socket.AF_INET6).connect((\"::ffff:127.0.0.1\", '$PORT'))'",
    f"python3 -c '{PYTHON} s = socket.socket(socket.AF_UNIX); s.connect(\"'$SOCKET'\"); s.send(b\"x\")'",
    f"python3 -c '{PYTHON} s = socket.socket(socket.AF_UNIX); s.connect(\"\\0'$ABSTRACT'\"); s.send(b\"x\")'",
    "kill -KILL $BYSTANDER",
    "grep -az . /proc/$ODIN/environ",
]

MODES_AND_TIMES = [
    "chmod -R 000 .git",
    'chmod 777 "$HOME/.bashrc"',
    'touch -d 2001-01-01 "$HOME/.bashrc"',
    'chown 12345 "$OUTSIDE/secret.txt"',
    "touch .git/config",
]
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


class Surroundings:
    """Everything that must stay as it is, ears on the loopback, and a process that has nothing to do with it."""

    def __init__(self, world, home, monkeypatch, stack):
        self.folders = (world.root, home, world.outside)
        self.home = home
        self.tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.udp = stack.enter_context(socket.socket(type=socket.SOCK_DGRAM))
        port = self.tcp.getsockname()[1]
        self.udp.bind(("127.0.0.1", port))
        self.unix = stack.enter_context(socket.socket(socket.AF_UNIX))
        self.abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
        # A name in the file system may have no more than about 100 characters.
        monkeypatch.chdir(home)
        self.unix.bind("socket")
        self.abstract.bind(f"\0odin-{port}")
        for listening in (self.unix, self.abstract):
            listening.listen()
        for ear in (self.tcp, self.udp, self.unix, self.abstract):
            ear.setblocking(False)
        self.bystander = stack.enter_context(subprocess.Popen(["sleep", "600"]))
        stack.callback(self.bystander.kill)
        names = {
            "HOME": str(home),
            "OUTSIDE": str(world.outside),
            "PORT": str(port),
            "SOCKET": "../home/socket",
            "ABSTRACT": f"odin-{port}",
            "ODIN": str(os.getpid()),
            "BYSTANDER": str(self.bystander.pid),
        }
        for name, value in names.items():
            monkeypatch.setenv(name, value)

    def seen(self):
        return {str(path): self._state(path) for folder in self.folders for path in (folder, *folder.rglob("*"))}

    def reached(self):
        called = [ear for ear in (self.tcp, self.unix, self.abstract) if _called(ear)]
        return bool(called) or _received(self.udp) or self.bystander.poll() is not None

    @staticmethod
    def _state(path):
        status = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(status.st_mode) else None
        attributes = os.listxattr(path, follow_symlinks=False)
        return status.st_mode, status.st_uid, status.st_nlink, status.st_ino, status.st_mtime_ns, content, attributes


def _called(ear):
    try:
        ear.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def _received(ear):
    try:
        return bool(ear.recv(100))
    except BlockingIOError:
        return False


def unjudged(command, mode, cwd, roots):
    """The policy switched off."""
    return CommandVerdict("allow", "", (), command, background=False, offer_rule=None)


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
    chosen = Config(sandbox=settings["sandbox"], commands=CommandSettings(network=settings["network"]))
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
        yield Surroundings(world, home, monkeypatch, stack)


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


@pytest.mark.parametrize("policy", ["in force", "switched off"])
@pytest.mark.parametrize("mode", ["ask_mode", "plan_mode"])
async def test_nothing_changes_through_the_whole_loop(world, around, tmp_path, mode, policy):
    """A model that tries everything, one turn, the real core."""
    calls = [{"name": "ExecuteCommand", "arguments": {"command": command}} for command in (*WRITES, *REACHES)]
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"replies": [{"calls": calls}, {"text": "I have tried."}]}))
    settings, problems = config.load(world.root, settings={"model": f"scripted/{script}"})
    assert problems == ()
    core = Core([world.root], world.person, settings)
    agent = core.agent()
    if policy == "switched off":
        core._view(agent.session).commands.judge = unjudged
    before = around.seen()
    outcome = await agent.start(UserMessage(turn_id="turn", text="try", mode=mode)).outcome()
    await core.close()
    assert (outcome.reason, outcome.answer) == ("end_turn", "I have tried.")
    assert len(outcome.tools) == len(calls)
    assert {it.status for it in outcome.tools} == {"error" if policy == "in force" else "success"}
    assert around.seen() == before
    assert not around.reached()
    assert world.person.questions == []


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


async def test_without_any_sandbox_edit_refuses_to_run(world, around, only, settings):
    only(frozenset())
    commands = SessionCommands(lambda: Config(sandbox=True), unjudged)
    world.context = replace(world.context, mode="edit_mode", commands=commands)
    said = await world.text("ExecuteCommand", command="echo ran")
    await commands.close()
    assert "no sandbox works here" in said
