"""EXEC-01 to EXEC-15: what commands could do to the user while, and because, they run. Real processes throughout."""

import asyncio
import json
import os
import stat
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from odin_lsp.agent.executor import Executor
from odin_lsp.agent.hooks import Hooks
from odin_lsp.agent.mode_tools import mode_tools
from odin_lsp.commands.session import SessionCommands, judged_by
from odin_lsp.config import Config
from odin_lsp.errors import ToolError
from odin_lsp.events import BackgroundFinished, ToolProgress
from odin_lsp.messages import Message, ToolCall
from odin_lsp.permissions.gate import Gate
from odin_lsp.sessions.session import Session
from odin_lsp.tools.base import all_tools
from tests.support.closing import at_the_end

TOOL = "ExecuteCommand"


@pytest.fixture
def settings():
    return {}


@pytest.fixture
async def world(make_world, settings):
    """A world in Edit, with the policy in force."""
    world = make_world()
    config = Config.model_validate(settings)
    gate = Gate(world.person, lambda: config, lambda: world.root)
    commands = SessionCommands(lambda: config, judged_by(gate.rules))
    world.events = []
    world.context = replace(
        world.context, mode="edit_mode", gate=gate, commands=commands, emit=world.events.append, call_id="call"
    )
    yield world
    await commands.close()


@pytest.fixture
def step(world):
    """Carries out the calls of one step as a turn does; gives their results."""

    async def step(*calls):
        executor = Executor(mode_tools(world.context.mode), Hooks(), world.context)
        made = tuple(ToolCall(f"{number}", name, arguments) for number, (name, arguments) in enumerate(calls))
        results = {}
        await executor.run(Message("assistant", made), results)
        world.said += [result.content for result in results.values()]
        return [results[call.id] for call in made]

    return step


@pytest.fixture
def run(step):
    async def run(command, **arguments):
        [result] = await step((TOOL, {"command": command, **arguments}))
        return result

    return run


def _working_in(folder):
    """The processes that have this as their folder."""
    found = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            found += [link] if link.readlink() == folder else []
    return found


def running(pid):
    try:
        return Path(f"/proc/{int(pid)}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


class TestExec01Folder:
    async def test_a_folder_outside_is_asked_about_by_its_name(self, world, run):
        world.person.always = "allow_once"
        result = await run("pwd", cwd=str(world.outside))
        assert str(world.outside) in result.content
        outside = [it for it in world.person.questions if it.kind == "outside"]
        assert [it.paths for it in outside] == [(str(world.outside),)]

    @pytest.mark.parametrize("cwd", ["/", "../outside", "{root}/../outside", "{root}/link"])
    async def test_without_a_word_nothing_runs_there(self, world, run, cwd):
        (world.root / "link").symlink_to(world.outside)
        result = await run("touch canary", cwd=cwd.format(root=world.root))
        assert result.failed
        assert not (world.outside / "canary").exists()

    async def test_allowing_the_command_does_not_allow_the_folder(self, world, run):
        world.person.answers = ["allow_once", None]
        result = await run("touch canary", cwd=str(world.outside))
        assert [it.kind for it in world.person.questions] == ["permission", "outside"]
        assert result.failed


class TestExec02Waiting:
    @pytest.mark.parametrize(
        "command", ["cat pipe", "tail -f a.txt", "sleep 9999", "read line < pipe", "cat pipe & wait"]
    )
    async def test_the_whole_group_ends_in_time_and_odin_answers_meanwhile(self, world, run, within, command):
        os.mkfifo(world.root / "pipe")
        world.person.always = "allow_once"
        beats = 0

        async def beat():
            nonlocal beats
            while True:
                await asyncio.sleep(0.01)
                beats += 1

        pulse = asyncio.create_task(beat())
        async with within(10):
            result = await run(f"echo begun; {command}", timeout=3000)
        pulse.cancel()
        assert result.content.startswith("begun\n")
        assert "(timed out after 3 s)\n" in result.content
        assert beats > 10
        assert not _working_in(world.root)

    async def test_a_program_that_waits_for_input_gets_none(self, world, run):
        world.person.always = "allow_once"
        result = await run("cat; python3 -c 'input()'; echo after")
        assert "EOFError" in result.content
        assert "after\n(exit code 0" in result.content


FLOOD = """
import asyncio, os, resource, sys
from pathlib import Path
from odin_lsp.commands.environment import find_shell
from odin_lsp.commands.output import Output
from odin_lsp.commands.runner import Runner, Spec

def grown():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

async def main():
    runner = Runner()
    async def run(command, name):
        output = Output(Path(sys.argv[1]) / name, lambda text: None)
        spec = Spec(argv=(find_shell(), "-c", command), cwd=Path("/"), environment={"PATH": os.defpath})
        ended = await (await runner.start(spec, output)).wait(300)
        return ended, output
    await run("true", "first")
    before = grown()
    ended, output = await run(sys.argv[2], "flood")
    print((grown() - before) // 1024, ended.how, output.bytes, len(output.shown), ended.survivors)
    await runner.close()

asyncio.run(main())
"""


@pytest.mark.thorough
class TestExec03Floods:
    @pytest.mark.parametrize(
        "command", ["yes", "cat /dev/zero", "head -c 1073741824 /dev/zero | tr '\\0' x", "cat /dev/urandom", "yes 😀"]
    )
    def test_memory_stays_and_the_command_ends(self, tmp_path, command):
        """In a process of its own, so that its memory can be measured."""
        done = subprocess.run(
            [sys.executable, "-c", FLOOD, str(tmp_path), command],
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
        grown, *how, size, shown, survivors = done.stdout.split()
        assert int(grown) < 64, "MiB"
        assert " ".join(how) == "printed too much"
        assert int(size) < 100 * 1024 * 1024
        assert int(shown) < 31_000
        assert survivors == "0"
        for kept in tmp_path.glob("flood"):
            assert kept.stat().st_size < 70 * 1024 * 1024
            kept.read_text(encoding="utf-8")

    async def test_the_model_gets_both_ends_and_can_read_the_rest(self, world, run, step):
        world.person.always = "allow_once"
        result = await run("for i in $(seq 20000); do echo line $i 😀; done")
        head, _, rest = result.content.partition("\n… (")
        assert head.startswith("line 1 😀\n")
        assert rest.rstrip().endswith("s)")
        assert "line 20000 😀\n(exit code 0" in rest
        path = rest.partition("all of it is in ")[2].partition(";")[0]
        [read] = await step(("Read", {"file_path": path, "offset": 9999, "limit": 2}))
        assert "line 9999 😀" in read.content
        assert [it.kind for it in world.person.questions] == ["permission"]
        assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600
        assert stat.S_IMODE(Path(path).parent.stat().st_mode) == 0o700
        await world.context.commands.close()
        assert not Path(path).exists()


class TestExec04Bytes:
    @pytest.mark.parametrize(
        "octal",
        [
            r"a\000b",
            r"\377\376\200",
            r"\355\240\200\355\260\200",
            r"\033[31mred\033[0m",
            r"\033]8;;http://evil.test\007x\033]8;;\007",
            r"\033]52;c;cm0gLXJmIH4=\007",
            r"\033P+q544e\033\\",
            r"\302\233\302\235",
            r"\r\b\b\bhidden\f\v",
        ],
    )
    async def test_what_it_prints_can_be_stored_sent_and_shown(self, world, run, tmp_path, octal):
        world.person.always = "allow_once"
        result = await run(f"printf '{octal}'")
        text = result.content
        assert not any((ord(it) < 32 and it not in "\n\t") or 127 <= ord(it) < 160 for it in text)
        json.loads(json.dumps({"text": text}).encode())
        text.encode()
        session = Session(tmp_path / "sessions")
        session.append(Message("user", (result,)))
        assert Session.load(tmp_path / "sessions", session.id).messages[-1].parts == (result,)

    async def test_what_is_seen_live_is_harmless_too(self, world, run):
        world.person.always = "allow_once"
        await run(r"printf '\033[31mred\033]52;c;eA==\007\n'")
        live = [it for it in world.events if isinstance(it, ToolProgress)]
        assert "".join(it.text for it in live) == "red\n"
        assert {it.call_id for it in live} == {"0"}


class TestExec05Left:
    @pytest.mark.parametrize("command", ["sleep 300 & echo $! > pid; disown", "setsid sleep 300 & echo $! > pid"])
    async def test_nothing_survives_and_the_user_knew(self, world, run, command):
        world.person.always = "allow_once"
        result = await run(command)
        assert "left behind" in result.content
        assert not running((world.root / "pid").read_text())
        assert "runs in background" in world.person.questions[0].detail

    async def test_nothing_survives_the_end_of_odin(self, tmp_path):
        """Odin is killed without a word; the supervisor notices."""
        script = FLOOD.replace('await run("true", "first")', "await run(sys.argv[2], 'first')")
        odin = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", script, str(tmp_path), f"echo $$ > {tmp_path}/pid; setsid sleep 300; sleep 300"),
        )
        pid = tmp_path / "pid"
        while not (pid.exists() and pid.read_text()):
            await asyncio.sleep(0.02)
        odin.kill()
        await odin.wait()
        while running(pid.read_text()):
            await asyncio.sleep(0.02)


class TestExec06Cancel:
    async def test_a_cancelled_command_ends_within_a_second(self, world, within):
        world.person.always = "allow_once"
        executor = Executor(mode_tools("edit_mode"), Hooks(), world.context)
        command = "trap '' TERM INT HUP; (trap '' TERM; sleep 300) & echo $$ $! > pids; while :; do sleep 300; done"
        call, results = ToolCall("1", TOOL, {"command": command}), {}
        task = asyncio.create_task(executor.run(Message("assistant", (call,)), results))
        pids = world.root / "pids"
        while not (pids.exists() and pids.read_text()):
            await asyncio.sleep(0.02)
        task.cancel()
        async with within(1):
            with pytest.raises(asyncio.CancelledError):
                await task
        assert not any(running(pid) for pid in pids.read_text().split())
        assert (results["1"].content, results["1"].failed) == ("canceled by the user", True)


class TestExec07Secrets:
    NAMES = ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GH_TOKEN", "DB_SECRET", "MY_OWN")

    @pytest.fixture
    def settings(self):
        return {"keys": {"anthropic": ["MY_OWN"]}}

    async def test_no_secret_is_in_reach(self, world, run, monkeypatch):
        """The world's own oracle looks for the canary in everything that was said."""
        for name in self.NAMES:
            monkeypatch.setenv(name, world.canary)
        world.person.always = "allow_once"
        for command in (
            "env",
            " ".join(["echo", *(f"${name}" for name in self.NAMES)]),
            "cat /proc/self/environ",
            "cat /proc/$PPID/environ",
            f"python3 -c \"print(open('/proc/{os.getpid()}/environ', 'rb').read())\"",
            "cat /proc/*/environ 2> /dev/null | tr '\\0' '\\n' | grep -a _KEY",
        ):
            result = await run(command)
            assert world.canary not in result.content, command

    def test_odin_keeps_its_environment_to_itself(self):
        """Also from other programs of the same user; a superuser's commands lose the right to look."""
        script = (
            "import os, subprocess, sys; from odin_lsp.commands.environment import hide_own_environment;"
            "hide_own_environment(); print(os.path.exists('/proc/self/fd/0'));"
            "import ctypes; print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["True", "0"]


class TestExec08HostileEnvironment:
    async def test_nothing_of_it_gets_through(self, world, run, monkeypatch):
        hostile = world.root / "hostile.sh"
        hostile.write_text("echo pwned\ntouch pwned\n")
        hostile.chmod(0o755)
        for name in ("BASH_ENV", "ENV", "GIT_EXTERNAL_DIFF", "PAGER", "GIT_PAGER", "LESSOPEN", "RIPGREP_CONFIG_PATH"):
            monkeypatch.setenv(name, str(hostile))
        monkeypatch.setenv("PROMPT_COMMAND", "touch pwned")
        monkeypatch.setenv("LD_PRELOAD", str(hostile))
        monkeypatch.setenv("BASH_FUNC_ls%%", "() { touch pwned; }")
        monkeypatch.setenv("PATH", f".::{world.root}:{os.environ['PATH']}")
        (world.root / "ls").write_text("#!/bin/sh\ntouch pwned\n")
        (world.root / "ls").chmod(0o755)
        world.person.always = "allow_once"
        for command in ("ls", "git diff", "git log", "env ls", "sh -c ls", "bash -c ls", "rg x"):
            result = await run(command)
            assert "pwned" not in result.content
        assert not (world.root / "pwned").exists()


class TestExec09ProgramsOfTheWorkspace:
    @pytest.mark.parametrize("folder", ["", ".venv/bin", "node_modules/.bin"])
    @pytest.mark.parametrize("mode", ["ask_mode", "edit_mode"])
    async def test_they_never_run_in_place_of_the_systems(self, world, run, step, folder, mode):
        world.context = replace(world.context, mode=mode)
        place = world.root / folder
        place.mkdir(parents=True, exist_ok=True)
        for name in ("ls", "git", "rg", "cat", "bash", "python", "git.exe", "rg.cmd"):
            (place / name).write_text("#!/bin/sh\ntouch pwned\n")
            (place / name).chmod(0o755)
        (world.root / ".venv").mkdir(exist_ok=True)
        (world.root / ".venv" / "pyvenv.cfg").touch()
        for command in ("git status", "rg plain"):
            await run(command)
        for command in ("ls", "cat a.txt"):
            assert not (await run(command)).failed
        await step(("Grep", {"pattern": "plain"}), ("Glob", {"pattern": "*"}))
        assert not list(world.root.rglob("pwned"))


class TestExec10SearchPatterns:
    """That a pattern is a pattern is shown in test_search_safety.py; here, that searching runs nothing."""

    @pytest.mark.parametrize("pattern", ["--pre=./x", "-f/etc/passwd", "-e", "--", "--hostname-bin=./x"])
    async def test_a_pattern_runs_nothing(self, world, step, within, pattern):
        (world.root / "x").write_text("#!/bin/sh\ntouch pwned\n")
        (world.root / "x").chmod(0o755)
        async with within(10):
            [grep, glob] = await step(("Grep", {"pattern": pattern}), ("Glob", {"pattern": pattern}))
        assert "root:" not in grep.content + glob.content
        assert not (world.root / "pwned").exists()

    async def test_a_catastrophic_pattern_ends(self, world, step, within):
        (world.root / "long.txt").write_text("a" * 50_000 + "!")
        async with within(10):
            await step(("Grep", {"pattern": "(a+)+$"}))


class TestExec11Order:
    async def test_the_second_is_judged_after_the_first_has_run(self, world, step):
        """The first turns what the second reads into a link that leads out."""
        world.person.answers = ["allow_once", None]
        link = f"ln -sfn {world.outside} link"
        (world.root / "link").mkdir()
        first, second = await step(
            (TOOL, {"command": f"rmdir link; {link}"}), (TOOL, {"command": "cat link/secret.txt"})
        )
        assert not first.failed
        assert second.failed
        assert world.canary not in second.content

    async def test_a_script_that_the_first_changes_is_not_what_was_allowed(self, world, step):
        (world.root / "build.sh").write_text("echo harmless\n")
        world.person.answers = ["allow_once"]
        first, second = await step(
            (TOOL, {"command": "echo 'echo pwned' > build.sh"}), (TOOL, {"command": "sh build.sh"})
        )
        assert not first.failed
        assert second.failed
        assert "pwned" not in second.content


class TestExec12Shell:
    async def test_it_is_bash_without_anybodys_settings(self, world, run, monkeypatch, tmp_path):
        home = tmp_path / "home"
        home.mkdir()
        for name in (".bashrc", ".bash_profile", ".profile", ".zshenv", ".zshrc"):
            (home / name).write_text("echo sourced; touch ~/pwned\n")
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("SHELL", "/bin/zsh")
        world.person.always = "allow_once"
        result = await run("shopt -q login_shell && echo login; [[ -n $BASH_VERSION ]] && echo $0 $SHELL")
        assert result.content.startswith("/bin/bash /bin/bash\n") or result.content.startswith(
            "/usr/bin/bash /usr/bin/bash\n"
        )
        assert not (home / "pwned").exists()


class TestExec13Unfinished:
    @pytest.mark.parametrize(
        "command", ["echo \\", "echo 'x", 'echo "x', "cat << END\nx", "echo $(", "if true", "ls |"]
    )
    async def test_it_is_never_simply_run_and_never_hangs(self, world, run, within, command):
        async with within(5):
            assert (await run(command)).failed
            assert len(world.person.questions) == 1
            world.person.always = "allow_once"
            await run(command, timeout=2000)

    @pytest.mark.parametrize("mode", ["ask_mode", "plan_mode"])
    async def test_in_ask_and_plan_nobody_is_asked(self, world, run, mode):
        world.context = replace(world.context, mode=mode)
        assert (await run("echo 'x")).failed
        assert world.person.questions == []

    @pytest.mark.parametrize("command", ["a\0b", "echo \ud800"])
    async def test_what_no_program_could_be_told_is_refused(self, world, command):
        with pytest.raises(ToolError):
            await all_tools()[TOOL].run(all_tools()[TOOL].parse({"command": command}), world.context)


class TestExec14Forbidden:
    @pytest.fixture
    def settings(self):
        return {"forbiddenCommands": ["rm"], "allowedCommands": ["rm *", "busybox *"]}

    @pytest.mark.parametrize(
        "command",
        ["rm a.txt", "/bin/rm a.txt", "\\rm a.txt", "command rm a.txt", "busybox rm a.txt", "RM a.txt", "rm.exe a"],
    )
    async def test_every_way_to_write_it_is_denied_without_a_question(self, world, run, command):
        world.person.always = "allow_once"
        assert (await run(command)).failed
        assert world.person.questions == []
        assert (world.root / "a.txt").exists()


class TestExec15Rules:
    @pytest.fixture
    def settings(self):
        many = [f"program{number} *" for number in range(10_000)]
        return {"forbiddenCommands": ["touch", *many], "allowedCommands": ["touch *", "*", "touch.*", *many]}

    async def test_forbidden_wins_and_many_rules_cost_little(self, world, run, within):
        world.person.always = "allow_once"
        async with within(5):
            for command in ("touch new", "env touch new", "sh -c 'touch new'", "program77 x"):
                assert (await run(command)).failed
        assert not (world.root / "new").exists()


class TestBackground:
    async def test_it_goes_on_is_looked_at_and_is_stopped(self, world, run, step):
        world.person.always = "allow_once"
        started = await run("echo $$ > pid; echo $((40 + 2)); sleep 300", run_in_background=True)
        assert "background-1" in started.content
        assert "runs in background" in world.person.questions[0].detail
        while "\n42\n" not in (news := (await step(("CommandStatus", {"background_id": "background-1"})))[0].content):
            await asyncio.sleep(0.02)
        assert "running for" in news
        [stopped] = await step(("CommandStatus", {"background_id": "background-1", "stop": True}))
        assert "background-1: stopped after" in stopped.content
        assert "(nothing new)" in stopped.content
        assert not running((world.root / "pid").read_text())
        [event] = [it for it in world.events if isinstance(it, BackgroundFinished)]
        assert (event.status, event.background_id) == ("stopped", "background-1")
        assert Path(event.log).read_text() == "42\n"

    async def test_its_end_is_told_with_its_log(self, world, run, step):
        world.person.always = "allow_once"
        await run("echo done; exit 3", run_in_background=True, description="build")
        [waited] = await step(("CommandStatus", {"background_id": "background-1", "wait": 60_000}))
        assert "exit code 3" in waited.content
        [event] = [it for it in world.events if isinstance(it, BackgroundFinished)]
        assert (event.status, event.exit_code, event.description) == ("exited", 3, "build")

    async def test_the_end_of_the_session_ends_it(self, world, run):
        world.person.always = "allow_once"
        await run("echo $$ > pid; sleep 300", run_in_background=True)
        pid = world.root / "pid"
        while not (pid.exists() and pid.read_text()):
            await asyncio.sleep(0.02)
        await world.context.commands.close()
        assert not running(pid.read_text())

    async def test_there_is_a_limit(self, world, run):
        world.person.always = "allow_once"
        results = [await run("sleep 300", run_in_background=True) for _ in range(11)]
        assert [it.failed for it in results] == [False] * 10 + [True]

    async def test_an_unknown_one_is_named(self, world, step):
        [result] = await step(("CommandStatus", {"background_id": "background-9"}))
        assert result.failed
        assert "background-9" in result.content


async def test_a_virtual_environment_is_used_in_edit(world, run):
    gate, trusted = world.context.gate, lambda: [world.root]
    commands = SessionCommands(Config, judged_by(gate.rules, trusted), trusted)
    at_the_end(commands.close)
    world.context = replace(world.context, commands=commands)
    place = world.root / ".venv" / "bin"
    place.mkdir(parents=True)
    (world.root / ".venv" / "pyvenv.cfg").touch()
    for name in ("python", "mytool"):
        (place / name).write_text("#!/bin/sh\necho from the environment\n")
        (place / name).chmod(0o755)
    world.person.always = "allow_once"
    assert (await run("mytool")).content.startswith("from the environment\n")
    assert (await run("python x.py")).content.startswith("from the environment\n")


async def test_files_that_a_command_changes_are_forgotten_and_told(world, run, step):
    path = world.root / "a.txt"
    await step(("Read", {"file_path": str(path)}))
    world.person.always = "allow_once"
    result = await run("echo other > a.txt")
    assert "have changed: a.txt" in result.content
    [again] = await step(("Read", {"file_path": str(path)}))
    assert "other" in again.content
