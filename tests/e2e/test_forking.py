"""A process that was forked for a test is like one that was started for it."""

import json
import os
import pty
import signal
import subprocess
import sys
from textwrap import dedent

import pytest

from tests.support.forking import forked, make_program

PATIENCE = 60
LOOK_AROUND = """
    import asyncio, gc, json, locale, os, signal, sys, tempfile, threading

    def loop():
        try:
            return str(asyncio.get_running_loop())
        except RuntimeError:
            return None

    def stream(it):
        return [it.encoding, it.errors, it.newlines, it.isatty(), it.closed, it.fileno(), type(it.buffer).__name__]

    def writer(it):
        return [*stream(it), it.line_buffering, it.write_through]

    print(json.dumps({
        "name": __name__,
        "main": sys.modules["__main__"].__name__,
        "arguments": [sys.argv, sys.orig_argv],
        "path": sys.path,
        "environment": [dict(os.environ), {os.fsdecode(key): os.fsdecode(it) for key, it in os.environb.items()}],
        "folder": [os.getcwd(), tempfile.gettempdir()],
        "umask": os.umask(0),
        "descriptors": sorted(os.listdir("/proc/self/fd")) if sys.platform == "linux" else None,
        "group": [os.getpgrp(), os.getsid(0)],
        "handlers": {number.name: str(signal.getsignal(number)).split(" at ")[0] for number in signal.Signals},
        "mask": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        "wakeup": signal.set_wakeup_fd(-1),
        "threads": threading.active_count(),
        "loop": loop(),
        "collecting": [gc.isenabled(), gc.get_threshold()],
        "locale": [locale.getlocale(), sys.getfilesystemencoding(), sys.flags.utf8_mode],
        "input": [stream(sys.stdin), sys.stdin.read()],
        "output": writer(sys.stdout),
        "errors": writer(sys.stderr),
    }))
"""


def script(folder, text):
    path = folder / "script.py"
    path.write_text(dedent(text))
    return [sys.executable, str(path)]


@pytest.mark.parametrize(
    "environment", [{}, {"PYTHONUNBUFFERED": "1"}, {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONIOENCODING": "latin-1"}]
)
def test_it_finds_everything_as_it_would_be(tmp_path, environment):
    command = [*script(tmp_path, LOOK_AROUND), "a", "ü"]
    environment = {**os.environ, "TMPDIR": str(tmp_path), "MOOD": "good\n\udcff", **environment}
    del environment["XDG_STATE_HOME"]
    before = os.umask(0o027)
    try:
        found = [
            json.loads(
                subprocess.run(
                    it, input=b"hello\n", cwd=tmp_path, env=environment, capture_output=True, check=True
                ).stdout
            )
            for it in (command, forked(command))
        ]
    finally:
        os.umask(before)

    assert found[0] == found[1]
    assert found[0]["environment"][0]["MOOD"] == "good\n\udcff"
    assert found[0]["umask"] == 0o027


def test_a_module_is_run_as_python_runs_it(tmp_path):
    (tmp_path / "looking.py").write_text(dedent(LOOK_AROUND))
    command = [sys.executable, "-m", "looking", "--quietly"]

    started, run = (
        json.loads(subprocess.run(it, input=b"", cwd=tmp_path, capture_output=True, check=True).stdout)
        for it in (command, forked(command))
    )

    assert started == run


def test_a_program_is_forked_and_gets_its_arguments(tmp_path):
    program = tmp_path / "program"
    make_program(program, script(tmp_path, "import sys\nprint('odin_lsp.server' in sys.modules, *sys.argv[1:])"))

    run = subprocess.run([program, "a", "b c"], capture_output=True, check=True, text=True)

    assert run.stdout == "True a b c\n"


def test_lines_reach_a_terminal_at_once(tmp_path):
    primary, secondary = pty.openpty()
    command = forked(script(tmp_path, "print(input('name? '), flush=False)\ninput()"))
    with subprocess.Popen(command, stdin=secondary, stdout=secondary, stderr=secondary) as process:
        os.close(secondary)
        os.write(primary, b"odin\n")
        seen = b""
        while seen.count(b"odin\r\n") < 2:  # what was typed, and what was printed
            seen += os.read(primary, 1024)
        os.write(primary, b"\n")
        assert process.wait(PATIENCE) == 0
    os.close(primary)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", 0),
        ("raise SystemExit(3)", 3),
        ("1 / 0", 1),
        ("import os; os._exit(7)", 7),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
    ],
)
def test_its_exit_code_is_told(tmp_path, text, code):
    assert subprocess.run(forked(script(tmp_path, text)), stderr=subprocess.DEVNULL).returncode == code


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_is_passed_on(tmp_path, number):
    awaited = f"""
        import os, signal
        signal.pthread_sigmask(signal.SIG_BLOCK, [{number:d}])
        print(flush=True)
        signal.sigwait([{number:d}])
        os._exit(42)
    """
    not_handled = f"""
        import signal
        signal.signal({number:d}, signal.SIG_DFL)
        print(flush=True)
        signal.pause()
    """

    assert [_ended_by(number, forked(script(tmp_path, it))) for it in (awaited, not_handled)] == [42, -number]


def _ended_by(number, command):
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        process.send_signal(number)
        return process.wait(PATIENCE)


def test_it_does_not_outlive_what_stands_for_it(tmp_path):
    command = forked(script(tmp_path, "import signal\nprint(flush=True)\nsignal.pause()"))
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        process.kill()
        assert process.stdout.read() == b""  # nobody is left who could write


def test_what_it_closes_is_closed(tmp_path):
    command = forked(script(tmp_path, "import os, sys\nos.close(1)\nsys.stdin.read()\nos._exit(0)"))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.read() == b""
        assert process.poll() is None
        process.stdin.close()
        assert process.wait(PATIENCE) == 0
