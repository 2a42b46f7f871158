"""Run commands as the supervisor does and say which programs were really started, by the kernel's word (ptrace; Linux
only).

Reads a job of the supervisor for each, a line of JSON, and answers `{"programs", "unheld", "output", "code"}`. It is a
process of its own, since it waits for all of its children."""

import ctypes
import json
import os
import signal
import sys
import time
from pathlib import Path

from odin_lsp.commands import supervisor

TRACE_ME, CONTINUE, SET_OPTIONS, KILL_WITH_TRACER = 0, 7, 0x4200, 1 << 20
FORKS_AND_EXECS = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4
EXEC_EVENT = 4
EVERY_CHILD = 0x40000000
HELD = "Seccomp:\t2\n"
"""A filter is the last thing that a sandbox puts on a process, and nothing takes it off again."""
SECONDS = 60
MAX_OUTPUT = 1 << 20

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def run(job: dict[str, object]) -> dict[str, object]:
    output = os.memfd_create("output")
    first = os.fork()
    if not first:
        _become(job, output)
    os.waitpid(first, 0)
    libc.ptrace(SET_OPTIONS, first, None, FORKS_AND_EXECS | KILL_WITH_TRACER)
    libc.ptrace(CONTINUE, first, None, None)
    programs: list[str] = []
    unheld: list[str] = []
    code, deadline = -1, time.monotonic() + SECONDS
    while True:
        try:
            child, status = os.waitpid(-1, EVERY_CHILD | os.WNOHANG)
        except ChildProcessError:
            break
        if not child:
            if time.monotonic() > deadline:
                os.killpg(first, signal.SIGKILL)
            time.sleep(0.0005)
        elif not os.WIFSTOPPED(status):
            code = os.waitstatus_to_exitcode(status) if child == first else code
        else:
            _go_on(child, status, programs, unheld)
    printed = os.pread(output, MAX_OUTPUT, 0).decode("latin-1")
    os.close(output)
    return {"programs": programs, "unheld": unheld, "output": printed, "code": code}


def _become(job: dict[str, object], output: int) -> None:
    os.setpgid(0, 0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    libc.ptrace(TRACE_ME, 0, None, None)
    os.kill(os.getpid(), signal.SIGSTOP)
    supervisor._confine(job, None)
    os.chdir(job["cwd"])
    os.execve(job["argv"][0], job["argv"], job["env"])


def _go_on(child: int, status: int, programs: list[str], unheld: list[str]) -> None:
    event, stopped_by = status >> 16, os.WSTOPSIG(status)
    if event == EXEC_EVENT:
        programs.append(str(Path(f"/proc/{child}/exe").readlink()))
        if HELD not in Path(f"/proc/{child}/status").read_text():
            unheld.append(programs[-1])
    passed_on = 0 if event or stopped_by in (signal.SIGTRAP, signal.SIGSTOP) else stopped_by
    libc.ptrace(CONTINUE, child, None, passed_on)


for line in sys.stdin:
    sys.stdout.write(json.dumps(run(json.loads(line))) + "\n")
    sys.stdout.flush()
