"""Real processes: how they end, what they leave, what they can see."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from odin_lsp.commands.runner import Runner


def alive(pid):
    """Whether it runs; an orphan that nobody has buried yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def test_output_and_exit_code(run):
    ended, text = await run("echo out; echo err >&2; exit 3")
    assert (ended.how, ended.exit_code, text) == ("exited", 3, "out\nerr\n")


async def test_a_signal_is_told(run):
    ended, _ = await run("kill -KILL $$")
    assert (ended.how, ended.exit_code) == ("exited", -signal.SIGKILL)


async def test_stdin_is_empty_and_there_is_no_terminal(run):
    ended, text = await run("cat; read line || echo nothing; tty; (: < /dev/tty) 2>/dev/null || echo no terminal")
    assert (ended.how, text) == ("exited", "nothing\nnot a tty\nno terminal\n")


async def test_programs_get_the_signals_that_python_ignores(run):
    _, text = await run("yes | head -n 1; echo ${PIPESTATUS[0]}")
    assert text == f"y\n{128 + signal.SIGPIPE}\n"


async def test_a_folder_that_is_gone_is_a_clean_failure(run, workspace):
    ended, text = await run("echo x", cwd=workspace / "gone")
    assert (ended.how, text) == ("failed", "")
    assert "No such file" in ended.problem


@pytest.mark.parametrize(
    "command",
    [
        "sleep 300 & disown; echo $! > pid",
        "setsid sleep 300 & echo $! > pid",
        "(setsid sh -c 'echo $$ > pid; exec sleep 300' &)",
        "(setsid setsid sh -c 'trap \"\" TERM HUP; echo $$ > pid; while :; do sleep 300; done' &)",
        "nohup sh -c 'echo $$ > pid; sleep 300' &",
        "sh -c 'echo $$ > pid; kill -STOP $$' &",
        "(setsid sh -c 'exec >&- 2>&-; echo $$ > pid; sleep 300' &)",
    ],
)
async def test_nothing_survives_the_end(run, workspace, command):
    ended, _ = await run(f"{command}\n until [ -s pid ]; do sleep 0.01; done")
    assert ended.how == "exited"
    assert ended.left >= 1
    assert not alive((workspace / "pid").read_text().strip())


async def test_the_end_of_the_command_counts_not_that_of_its_pipe(run):
    ended, text = await run("sleep 300 & echo done")
    assert (ended.how, text) == ("exited", "done\n")
    assert ended.seconds < 300


async def test_a_timeout_ends_everything(run):
    ended, text = await run("echo $$; sleep 300 & echo $!; sleep 300", timeout=1)
    assert ended.how == "timed out"
    assert not any(alive(pid) for pid in text.split())


@pytest.fixture
def printing(start):
    """Starts a command, and waits until it has printed something."""

    async def printing(command):
        printed = asyncio.Event()
        running, output = await start(command, watch=lambda text: printed.set())
        await printed.wait()
        return running, output

    return printing


async def test_what_ignores_the_polite_signal_is_killed(printing):
    running, output = await printing("trap '' TERM INT HUP; echo $$; while :; do sleep 300; done")
    running.stop()
    assert (await running.ended()).exit_code == -signal.SIGKILL
    assert not alive(output.shown.strip())


async def test_a_process_whose_first_thread_has_ended_is_ended_too(printing):
    script = (
        "import threading, time, ctypes, os; threading.Thread(target=time.sleep, args=(300,)).start();"
        " print(os.getpid(), flush=True); ctypes.CDLL(None).pthread_exit(None)"
    )
    running, output = await printing(f"setsid python3 -c '{script}' & sleep 300")
    running.stop()
    assert (await running.ended()).survivors == 0
    assert not Path(f"/proc/{output.shown.strip()}").exists()


async def test_a_cancelled_wait_ends_everything(printing):
    running, output = await printing("echo $$; sleep 300 & echo $!; wait")
    waiting = asyncio.create_task(running.wait())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (await running.ended()).how == "stopped"
    assert not any(alive(pid) for pid in output.shown.split())


async def test_closing_the_runner_ends_what_runs(printing, runner):
    running, output = await printing("echo $$; exec sleep 300")
    await runner.close()
    assert (await running.ended()).how == "stopped"
    assert not alive(output.shown.strip())


async def test_a_command_that_kills_its_supervisor_ends_with_it(run):
    ended, text = await run("echo $$; setsid sleep 300 & echo $!; kill -KILL $PPID; sleep 300")
    assert (ended.how, ended.problem) == ("failed", "its supervisor was killed")
    assert not any(alive(pid) for pid in text.split())


async def test_a_command_that_freezes_its_supervisor_ends_all_the_same(printing):
    running, output = await printing("kill -STOP $PPID; setsid sleep 300 & echo $$ $!; sleep 300")
    running.stop()
    assert (await running.ended()).how == "failed"
    assert not any(alive(pid) for pid in output.shown.split())


async def test_other_signals_do_not_move_the_supervisor(run):
    ended, text = await run("kill -TERM $PPID; kill -HUP $PPID; kill -INT $PPID; echo still here")
    assert (ended.how, text) == ("exited", "still here\n")


async def test_a_supervisor_without_odin_ends_everything(printing):
    """As when Odin is killed: the pipe to the supervisor closes, and nobody says anything."""
    running, output = await printing("trap '' TERM; echo $$; while :; do sleep 300; done")
    running._supervisor.dismiss()
    assert (await running.ended()).exit_code == -signal.SIGKILL
    assert not alive(output.shown.strip())


async def test_commands_have_the_same_process_fork_their_supervisors(run, runner):
    parent = "cat /proc/$PPID/status | sed -n 's/^PPid:\\t//p'"
    told = [(await run(parent))[1] for _ in range(2)]
    assert told == [f"{runner._forker._process.pid}\n"] * 2


async def test_a_process_that_forks_supervisors_is_replaced_when_it_was_killed(run, runner):
    runner.prepare()
    runner._forker._process.kill()
    runner._forker._process.wait()
    ended, text = await run("echo fine")
    assert (ended.how, text) == ("exited", "fine\n")


async def test_a_supervisor_knows_nothing_of_the_jobs_before_it(run):
    await run("true", environ={"PATH": os.environ["PATH"], "REMEMBERED": "long ago"})
    _, text = await run("tr '\\0' '\\n' < /proc/self/environ; ls /proc/$PPID/fd | wc -l")
    assert "REMEMBERED" not in text
    _, again = await run("ls /proc/$PPID/fd | wc -l")
    assert text.splitlines()[-1:] == again.splitlines()


async def test_a_job_that_no_pipe_holds_is_read_in_pieces(start):
    running, output = await start("echo $LONG | wc -c", environ={"LONG": "x" * 120_000, "PATH": os.environ["PATH"]})
    assert (await running.ended()).exit_code == 0
    assert int(output.shown) == 120_001


async def test_a_command_sees_no_files_of_odin(run):
    _, text = await run("ls /proc/self/fd | wc -l")
    assert int(text) <= 4


async def test_nothing_is_left_open(run, runner):
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        await run("echo x; sleep 300 & true")
    await runner.close()
    assert len(list(Path("/proc/self/fd").iterdir())) <= before


async def test_with_the_last_runner_the_process_ends_that_forks_all_supervisors(run, runner):
    await run("true")
    (another := Runner()).prepare()
    pid = runner._forker._process.pid
    assert another._forker is runner._forker
    await runner.close()
    assert alive(pid)
    await another.close()
    assert not alive(pid)


async def test_a_runner_that_is_closed_leaves_nothing_to_be_done(printing, runner):
    before = asyncio.all_tasks()
    await printing("echo; sleep 300")
    await runner.close()

    assert asyncio.all_tasks() == before
