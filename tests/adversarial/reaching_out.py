"""What a process can try that should only read: run as a program, it tries everything and says what worked, as JSON.

It is given a folder to read, a folder beside it, a process and two sockets that have nothing to do with it."""

import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path

libc = ctypes.CDLL(None, use_errno=True)
MACHINE = os.uname().machine
NUMBERS = {
    "x86_64": {
        "keyctl": 250, "ioprio_set": 251, "name_to_handle_at": 303,
        "mq_open": 240, "bpf": 321, "clone": 56, "process_vm_readv": 310, "kcmp": 312,
    },
    "aarch64": {
        "keyctl": 219, "ioprio_set": 30, "name_to_handle_at": 264,
        "mq_open": 180, "bpf": 280, "clone": 220, "process_vm_readv": 270, "kcmp": 272,
    },
}[MACHINE]  # fmt: skip
IO_URING_SETUP, PIDFD_OPEN, PIDFD_SEND_SIGNAL, OPEN_TREE = 425, 434, 424, 428
NEW_USER, NEW_MOUNTS = 0x10000000, 0x00020000
CREATE, REMOVE = 0o1600, 0

_, workspace, outside, process, datagram, abstract = sys.argv
pid = int(process)


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def call(number, *arguments):
    return checked(libc.syscall(ctypes.c_long(number), *arguments))


def by_pair(kind, address):
    first, _ = socket.socketpair(socket.AF_UNIX, kind)
    first.sendto(b"x", address)


def by_connected_pair(kind):
    first, _ = socket.socketpair(socket.AF_UNIX, kind)
    first.connect(datagram)
    first.send(b"x")


def write(name):
    Path(workspace, name).write_text("x")


def own_signals(command, argument):
    fcntl.fcntl(os.pipe()[0], command, argument)


def clone_into_namespace():
    child = call(NUMBERS["clone"], NEW_USER | signal.SIGCHLD, None, None, None, None)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def watch(folder):
    descriptor = checked(libc.inotify_init())
    checked(libc.inotify_add_watch(descriptor, os.fsencode(folder), 0xFFF))


TRIES = {
    # sockets
    "datagram pair, sendto": lambda: by_pair(socket.SOCK_DGRAM, datagram),
    "datagram pair, abstract": lambda: by_pair(socket.SOCK_DGRAM, f"\0{abstract}"),
    "datagram pair, connect": lambda: by_connected_pair(socket.SOCK_DGRAM),
    "raw pair, sendto": lambda: by_pair(socket.SOCK_RAW, datagram),
    "unix socket": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", datagram),
    "udp": lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9)),
    "tcp, listening": lambda: socket.create_server(("127.0.0.1", 0)),
    # other processes
    "signal": lambda: os.kill(pid, 0),
    "signal by descriptor": lambda: call(PIDFD_SEND_SIGNAL, call(PIDFD_OPEN, pid, 0), 0, None, 0),
    "limits of another": lambda: resource.prlimit(pid, resource.RLIMIT_CPU, (86_400, 86_400)),
    "priority of another": lambda: os.setpriority(os.PRIO_PROCESS, pid, 19),
    "affinity of another": lambda: os.sched_setaffinity(pid, os.sched_getaffinity(pid)),
    "scheduling of another": lambda: os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0)),
    "disk priority of another": lambda: call(NUMBERS["ioprio_set"], 1, pid, (2 << 13) | 7),
    "memory of another": lambda: Path(f"/proc/{pid}/environ").read_bytes(),
    "comparing with another": lambda: call(NUMBERS["kcmp"], os.getpid(), pid, 0, 0, 0),
    "signals by an owner": lambda: own_signals(8, pid),
    "signals by an owner, extended": lambda: own_signals(15, struct.pack("ii", 1, pid)),
    # what stays
    "shared memory": lambda: checked(libc.shmctl(checked(libc.shmget(0x0D1D, 4096, CREATE)), REMOVE, None)),
    "message queue": lambda: checked(libc.msgctl(checked(libc.msgget(0x0D1D, CREATE)), REMOVE, None)),
    "semaphores": lambda: checked(libc.semctl(checked(libc.semget(0x0D1D, 1, CREATE)), 0, REMOVE)),
    "named queue": lambda: call(NUMBERS["mq_open"], b"odin-canary", os.O_CREAT | os.O_RDWR, 0o600, None),
    "named memory": lambda: (Path("/dev/shm/odin-canary").write_text("x"), Path("/dev/shm/odin-canary").unlink()),
    "key ring": lambda: call(NUMBERS["keyctl"], 1, b"odin-canary"),
    # ways around
    "io_uring": lambda: call(IO_URING_SETUP, 1, ctypes.create_string_buffer(120)),
    "own user namespace": lambda: checked(libc.unshare(NEW_USER)),
    "own user namespace by clone": clone_into_namespace,
    "own mounts": lambda: checked(libc.unshare(NEW_MOUNTS)),
    "a tree of mounts": lambda: call(OPEN_TREE, -100, b"/", 0),
    "another personality": lambda: checked(libc.personality(0x0400000)),
    "names by events": lambda: watch(outside),
    # writing
    "a new file": lambda: write("new"),
    "an old file": lambda: write("a.txt"),
    "truncated": lambda: os.truncate(Path(workspace, "a.txt"), 0),
    "another mode": lambda: Path(workspace, "a.txt").chmod(0o600),
    "another time": lambda: os.utime(Path(workspace, "a.txt"), (1, 1)),
    "an attribute": lambda: os.setxattr(Path(workspace, "a.txt"), "user.x", b"y"),
    "a link": lambda: Path(workspace, "link").symlink_to("a.txt"),
    # reading and running
    "a file outside": lambda: Path(outside, "secret.txt").read_bytes(),
    "names outside": lambda: list(Path(outside).iterdir()),
    "a file outside, by a link": lambda: Path(workspace, "linked.txt").read_bytes(),
    "a secret": lambda: Path(workspace, ".env").read_bytes(),
    "a secret in a folder": lambda: Path(workspace, ".ssh", "config").read_bytes(),
    "a secret, by a link": lambda: Path(workspace, "innocent.txt").read_bytes(),
    "settings of the machine": lambda: Path("/etc/hosts").read_bytes(),
    "own memory by the system": lambda: Path("/proc/self/environ").read_bytes(),
    "a program of the workspace": lambda: subprocess.run([Path(workspace, "program")], check=True),
}
"""Each works where nothing holds a process, or is not known on this machine."""
READS = {
    "a file": lambda: Path(workspace, "a.txt").read_bytes(),
    "a folder": lambda: list(Path(workspace).iterdir()),
    "a program": lambda: subprocess.run(["/bin/ls", workspace], check=True, stdout=subprocess.DEVNULL),
    "a pair of streams": lambda: socket.socketpair(),
    "own limits": lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
    "a temporary file": lambda: Path(os.environ["TMPDIR"], "x").write_text("x"),
    "a thread": lambda: __import__("threading").Thread(target=int).start(),
    "nothing": lambda: Path(os.devnull).write_text("x"),
}
"""What has to work for whoever reads."""


def outcome(attempt):
    try:
        attempt()
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    return ""


json.dump([{name: outcome(attempt) for name, attempt in each.items()} for each in (READS, TRIES)], sys.stdout)
