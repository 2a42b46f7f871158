"""The parent of one command, a small process of its own: it confines the command, waits for it, and ends whatever the
command has started, however it was started. It lives no longer than Odin.

It reads its job, one line of JSON, from stdin; the end of stdin means: stop. The command writes to stdout. What became
of it goes to stderr, one line of JSON. A program that is spoken to has descriptors of its own for its stdin and stderr,
which the job names.

To start Python takes longer than most commands do. So there is a process that has done that, and forks supervisors: it
knows nothing of their jobs."""

import ctypes
import json
import os
import select
import signal
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from odin_lsp import command_mark
from odin_lsp.commands.orders import FORK, KILL, ORDER_BYTES
from odin_lsp.permissions import landlock, namespaces, seccomp

if TYPE_CHECKING:
    from odin_lsp.commands.connect_broker import ConnectBroker
if sys.platform == "win32":
    raise ImportError("Windows has no processes that can be forked")

GRACE_SECONDS = 0.4
"""Between the polite signal and the other one."""
PATIENCE_SECONDS = 2.0
"""For processes to be gone that were killed."""
SET_PARENT_DEATH_SIGNAL, DROP_CAPABILITY, SET_CHILD_SUBREAPER = 1, 24, 36
NOT_FOR_COMMANDS = frozenset({19, 24})
"""Of a superuser, also outside of any sandbox: to look into other processes, and to raise limits, of which one is the
mark of commands."""
FILE_CAPABILITIES = frozenset({0, 1, 3, 4, 6, 7})
"""Of a superuser: to own, read and write files, and to become somebody else. None of them leaves a sandbox."""
YES, NO = b"y", b"n"
LINUX = sys.platform.startswith("linux")


def main() -> None:
    waking, woken = os.pipe()
    os.set_blocking(waking, False)
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _wake_up)
    if LINUX:
        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    line = _line()
    if line is not None:
        _report(_supervise(json.loads(line), waking))


def fork_when_asked() -> NoReturn:
    """Orders come on stdin, a socket: `FORK`, with the three descriptors of a supervisor, or `KILL`; both with a number
    that tells it apart. When Odin ends, so does this; supervisors see to themselves."""
    import socket

    running: dict[bytes, int] = {}

    def bury(_signal: int, _frame: object) -> None:
        try:
            while ended := os.waitpid(-1, os.WNOHANG)[0]:
                for number in [it for it, pid in running.items() if pid == ended]:
                    del running[number]
        except ChildProcessError:
            return

    signal.signal(signal.SIGCHLD, bury)
    orders = socket.socket(fileno=0)
    while True:
        order, descriptors, _, _ = socket.recv_fds(orders, ORDER_BYTES, 3)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        if not order:
            os._exit(0)
        if order[:1] == KILL and order in running:
            _send(running[order], signal.SIGKILL)
        elif order[:1] == FORK and (child := os.fork()):
            running[KILL + order[1:]] = child
        elif order[:1] == FORK:
            _stand_alone(descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})


def _stand_alone(descriptors: list[int]) -> NoReturn:
    os.setsid()
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    signal.signal(signal.SIGCHLD, _wake_up)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    main()
    os._exit(0)


def _wake_up(_number: int, _frame: object) -> None:
    """Only interrupts what waits. A handler, unlike `SIG_IGN`, is not inherited by programs."""


def _supervise(job: dict[str, Any], waking: int) -> dict[str, Any]:
    failing, failed = os.pipe()
    confinement: dict[str, Any] = job["confinement"] or {"brokered": ""}
    mediation = _Mediation() if confinement["brokered"] else None
    child = os.fork()
    if child == 0:
        _become(job, failed, mediation)
    for descriptor in (failed, *job["pipes"]):
        os.close(descriptor)
    broker = None if mediation is None else mediation.begin(child, confinement)
    silence = os.open(os.devnull, os.O_RDWR)
    os.dup2(silence, 1)
    status: int | None = None
    stopped = False
    while status is None and not stopped:
        ready = select.select([0, waking, *([] if broker is None else [broker.listener])], [], [])[0]
        if broker is not None and broker.listener in ready and not broker.serve():
            broker = None
        stopped = 0 in ready and not os.read(0, 4096)
        _drain(waking)
        status = _reaped(child)
    left = survivors = 0
    if status is None or not _alone():
        left = len([pid for pid in _descendants() if pid != child])
        status = _end(waking).pop(child, status)
        survivors = len(_descendants())
    return {
        "exit": None if status is None else os.waitstatus_to_exitcode(status),
        "left": left,
        "survivors": survivors,
        "problem": os.read(failing, 4096).decode("utf-8", "replace"),
    }


class _Mediation:
    """Between a supervisor and its command, before that is started: who connects the sockets of the command."""

    def __init__(self) -> None:
        import socket

        self._supervisors, self._commands = socket.socketpair()

    def begin(self, child: int, confinement: dict[str, Any]) -> "ConnectBroker | None":
        """The supervisor's part."""
        import socket

        from odin_lsp.commands import connect_broker

        self._commands.close()
        with self._supervisors:
            try:
                self._supervisors.send(YES if connect_broker.can_look_into(child) else NO)
                answer, descriptors, _, _ = socket.recv_fds(self._supervisors, 1, 1)
            except OSError:  # it has ended
                return None
        if answer != YES:
            return None
        return connect_broker.ConnectBroker(descriptors[0], confinement["sockets"], confinement["agents"])

    def hold(self, brokered: bytes, alone: bytes) -> None:
        """The command's: the filter with a listener if there can be one, else that which gets by without."""
        import socket

        self._supervisors.close()
        with self._commands:
            listener = -1
            if self._commands.recv(1) == YES:
                with suppress(OSError):  # something around has a listener
                    listener = seccomp.install_with_listener(brokered)
            if listener < 0:
                seccomp.install(alone)
                self._commands.send(NO)
            else:
                socket.send_fds(self._commands, [YES], [listener])
                os.close(listener)


def _become(job: dict[str, Any], failed: int, mediation: _Mediation | None) -> NoReturn:
    """Turn into the command."""
    try:
        os.setsid()
        _die_with_parent()
        command_mark.mark_this_process()
        incoming, complaints = job["pipes"] or (os.open(os.devnull, os.O_RDONLY), 1)
        os.dup2(incoming, 0)
        os.dup2(complaints, 2)
        for descriptor in job["pipes"]:
            os.close(descriptor)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)  # Python ignores them, and programs would inherit that
        _confine(job, mediation)
        os.chdir(job["cwd"])
        os.execve(job["argv"][0], job["argv"], job["env"])  # noqa: S606
    except OSError as error:
        os.write(failed, f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}".encode())
    finally:
        os._exit(127)


def _die_with_parent() -> None:
    """Should the command kill its supervisor, it ends itself."""
    if LINUX:
        ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def _confine(job: dict[str, Any], mediation: _Mediation | None) -> None:
    confinement = job["confinement"]
    if confinement is None:
        _drop_capabilities(keep=frozenset(range(64)) - NOT_FOR_COMMANDS)
        return
    program = bytes.fromhex(confinement["filter"])
    if confinement["mechanism"] == "namespaces":
        namespaces.hold(confinement["folders"], confinement["held"])
    if confinement["landlock"]:
        _drop_capabilities(keep=FILE_CAPABILITIES)
        landlock.restrict(
            confinement["rules"],
            rights=confinement["rights"],
            network=confinement["network"],
            version=confinement["landlock"],
        )
    if confinement["filter_descriptor"] is not None:
        reading, writing = os.pipe()
        os.write(writing, program)
        os.close(writing)
        os.dup2(reading, confinement["filter_descriptor"])
    elif mediation is not None:
        mediation.hold(bytes.fromhex(confinement["brokered"]), program)
    elif program:
        seccomp.install(program)


def _drop_capabilities(*, keep: frozenset[int]) -> None:
    """Have the command start without them. Only a superuser has any, and only one may give them up."""
    if LINUX:
        libc = ctypes.CDLL(None)
        for number in range(64):
            if number not in keep:
                libc.prctl(DROP_CAPABILITY, number, 0, 0, 0)


def _end(waking: int) -> dict[int, int]:
    """End everything below this process: first asked, then forced. How each of its own children ended."""
    ended: dict[int, int] = {}
    for pid in _descendants():
        _send(pid, signal.SIGTERM)
        _send(pid, signal.SIGCONT)
    until = time.monotonic() + PATIENCE_SECONDS
    gone = _all_ended(waking, GRACE_SECONDS, ended)
    while not gone and time.monotonic() < until:
        frozen: set[int] = set()
        while new := set(_descendants()) - frozen:
            for pid in new:
                _send(pid, signal.SIGSTOP)  # what forks without end could not be caught up with otherwise
            frozen |= new
        for pid in frozen:
            _send(pid, signal.SIGKILL)
        gone = _all_ended(waking, 0.05, ended)
    return ended


def _all_ended(waking: int, seconds: float, ended: dict[int, int]) -> bool:
    """Wait until nothing is left, or the time is up. Orphans become children of this process: without any child there
    is no descendant."""
    until = time.monotonic() + seconds
    while True:
        try:
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                ended[found[0]] = found[1]
        except ChildProcessError:
            return True
        remaining = until - time.monotonic()
        if remaining <= 0:
            return False
        select.select([waking], [], [], remaining)
        _drain(waking)


def _alone() -> bool:
    """Whether nothing is left for sure. Where orphans go elsewhere, there is no telling."""
    if sys.platform != "linux":
        return False
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


def _descendants() -> list[int]:
    """All processes below this one, also those that have ended but for their last threads."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents():
        children.setdefault(parent, []).append(pid)
    found: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def _parents() -> list[tuple[int, int]]:
    if not LINUX:
        return _listed()
    found: list[tuple[int, int]] = []
    with os.scandir("/proc") as entries:
        numbers = [entry.name for entry in entries if entry.name.isdigit()]
    for number in numbers:
        try:
            opened = os.open(f"/proc/{number}/stat", os.O_RDONLY)
        except OSError:
            continue
        try:
            status = os.read(opened, 4096)
        except OSError:
            continue
        finally:
            os.close(opened)
        found.append((int(number), int(status.rpartition(b")")[2].split()[1])))
    return found


def _listed() -> list[tuple[int, int]]:
    """As `ps` says, where there is no `/proc`; without `ps` itself."""
    import subprocess

    with subprocess.Popen(["/bin/ps", "-axo", "pid=,ppid="], stdout=subprocess.PIPE) as ps:
        rows = [line.split() for line in ps.communicate()[0].splitlines()]
    return [(int(pid), int(parent)) for pid, parent in rows if int(pid) != ps.pid]


def _send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        return


def _reaped(child: int) -> int | None:
    """How the command ended, if it has. Orphans that end in the meantime are buried as well."""
    try:
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            if found[0] == child:
                return found[1]
    except ChildProcessError:
        pass
    return None


def _line() -> bytes | None:
    """The job; `None` if Odin has ended without one."""
    data = b""
    while not data.endswith(b"\n"):
        chunk = os.read(0, 1 << 16)
        if not chunk:
            return None
        data += chunk
    return data


def _drain(descriptor: int) -> None:
    try:
        while os.read(descriptor, 4096):
            pass
    except BlockingIOError:
        return


def _report(what: dict[str, Any]) -> NoReturn:
    os.write(2, json.dumps(what).encode() + b"\n")
    os._exit(0)  # to tidy up would take longer than all the rest
