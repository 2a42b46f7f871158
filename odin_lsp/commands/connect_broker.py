"""Connects sockets on behalf of a command that may use the network, so that it is known with whom.

No sandbox before Landlock 9 can tell one's own unix sockets from those of others: of Odin, of docker, of an agent for
keys. So the kernel hands each `connect` of the command to its supervisor. What the command could change after a look,
the address in its memory and what its descriptor stands for, is taken once, and connected as it was taken. What a
filter cannot hand over, unix sockets that send without being connected, is refused.

The supervisor of a command imports this, if it is needed."""

import ctypes
import errno
import fcntl
import os
import select
import socket
import struct
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager, suppress

from odin_lsp import command_mark

if sys.platform == "win32":
    raise ImportError("Windows has no such sockets")

PIDFD_OPEN, PIDFD_GETFD = 434, 438
RECEIVE, SEND, IS_WAITING, PUT_DESCRIPTOR = 0xC0502100, 0xC0182101, 0x40082102, 0x40182103
AT_ITS_NUMBER = 1
_REQUEST = struct.Struct("=QIIiIQ6Q")
"""Its number, the thread, flags, the call, the processor, where, and the arguments."""
_ANSWER, _DESCRIPTOR = struct.Struct("=QqiI"), struct.Struct("=QIIII")
MAX_ADDRESS_BYTES = 128
FAMILY = struct.Struct("=H")
KEPT_OPTIONS = ((16, 4), (20, 16), (21, 16))
"""Of a socket that another one takes the place of: credentials with each message, and two timeouts."""

_libc = ctypes.CDLL(None, use_errno=True)


def can_look_into(pid: int) -> bool:
    """Whether the kernel lets this process have descriptors of that one, a child of its own."""
    try:
        with _process(pid) as process:
            os.close(_system_call(PIDFD_GETFD, process, 0, 0))
    except OSError:
        return False
    return True


class ConnectBroker:
    def __init__(self, listener: int, folders: Sequence[str], agents: Sequence[str]) -> None:
        """`folders`: where unix sockets of the user's commands may be. `agents`: those of others that it may use."""
        self.listener = listener
        self._folders = [os.path.realpath(it) for it in folders]
        self._agents = frozenset(map(os.path.realpath, agents))
        self._own_mark = command_mark.mark_of(os.getpid())

    def serve(self) -> bool:
        """Begin to answer what waits; whether there can be more."""
        request = bytearray(_REQUEST.size)
        try:
            fcntl.ioctl(self.listener, RECEIVE, request)
        except OSError:  # who asked has ended, or all have
            looking = select.poll()
            looking.register(self.listener, select.POLLIN)
            return not any(event & select.POLLHUP for _, event in looking.poll(0))
        threading.Thread(target=self._answer, args=_REQUEST.unpack(request), daemon=True).start()
        return True

    def _answer(
        self, number: int, thread: int, _flags: int, _call: int, _machine: int, _at: int, *arguments: int
    ) -> None:
        try:
            self._connect(number, thread, arguments[0] & 0xFFFFFFFF, arguments[1], arguments[2] & 0xFFFFFFFF)
            code = 0
        except OSError as error:
            code = error.errno or errno.EACCES
        with suppress(OSError):  # it does not wait any more
            fcntl.ioctl(self.listener, SEND, _ANSWER.pack(number, 0, -code, 0))

    def _connect(self, number: int, thread: int, descriptor: int, at: int, length: int) -> None:
        if not FAMILY.size <= length <= MAX_ADDRESS_BYTES:
            raise OSError(errno.EINVAL, "address")
        address = _memory(thread, at, length)
        with _process(_group_of(thread)) as process, closing(_their_socket(process, descriptor)) as theirs:
            fcntl.ioctl(self.listener, IS_WAITING, struct.pack("=Q", number))  # or the thread is another one by now
            if theirs.family != socket.AF_UNIX:
                _checked(_libc.connect(theirs.fileno(), address, length))
            else:
                with closing(self._connected(thread, theirs, address)) as own:
                    flags = os.O_CLOEXEC & _flags_of(thread, descriptor)
                    put = _DESCRIPTOR.pack(number, AT_ITS_NUMBER, own.fileno(), descriptor, flags)
                    fcntl.ioctl(self.listener, PUT_DESCRIPTOR, put)

    def _connected(self, thread: int, theirs: socket.socket, address: bytes) -> socket.socket:
        """A socket like theirs, and connected to who may be connected to: theirs could be used before that is known."""
        name = address[FAMILY.size :].split(b"\0")[0]
        if FAMILY.unpack_from(address)[0] != socket.AF_UNIX:
            raise OSError(errno.EINVAL, "family")
        if not name:
            raise OSError(errno.EACCES, "abstract")
        if theirs.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            raise OSError(errno.EINVAL, "listens")
        if _is_connected(theirs):
            raise OSError(errno.EISCONN, "connected")
        folder = os.readlink(f"/proc/{thread}/cwd")  # noqa: PTH115
        path = os.path.realpath(os.path.join(folder, os.fsdecode(name)))  # noqa: PTH118
        held = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        own = socket.socket(socket.AF_UNIX, theirs.type)
        try:
            place = os.readlink(f"/proc/self/fd/{held}")  # noqa: PTH115
            is_agent = place in self._agents
            if not is_agent and not any(place.startswith(f"{folder}/") for folder in self._folders):
                raise OSError(errno.EACCES, "elsewhere")
            for option, size in KEPT_OPTIONS:
                own.setsockopt(socket.SOL_SOCKET, option, theirs.getsockopt(socket.SOL_SOCKET, option, size))
            fcntl.fcntl(own, fcntl.F_SETFL, fcntl.fcntl(theirs, fcntl.F_GETFL))
            name = f"/proc/self/fd/{held}".encode() + b"\0"
            _checked(_libc.connect(own.fileno(), FAMILY.pack(socket.AF_UNIX) + name, FAMILY.size + len(name)))
            if not is_agent and not self._is_of_a_command(own):
                raise OSError(errno.EACCES, "somebody else's")
        except BaseException:
            own.close()
            raise
        finally:
            os.close(held)
        return own

    def _is_of_a_command(self, connection: socket.socket) -> bool:
        mark = command_mark.mark_of_peer(connection)
        return mark is not None and self._own_mark is not None and mark < self._own_mark


def _is_connected(one: socket.socket) -> bool:
    try:
        one.getpeername()
    except OSError:
        return False
    return True


@contextmanager
def _process(pid: int) -> Generator[int]:
    descriptor = _system_call(PIDFD_OPEN, pid, 0)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _their_socket(process: int, descriptor: int) -> socket.socket:
    held = _system_call(PIDFD_GETFD, process, descriptor, 0)
    try:
        return socket.socket(fileno=held)
    except OSError:
        os.close(held)
        raise


def _group_of(thread: int) -> int:
    with open(f"/proc/{thread}/status", "rb") as status:  # noqa: PTH123 - `pathlib` takes long to import
        return next(int(line.split()[1]) for line in status if line.startswith(b"Tgid:"))


def _flags_of(thread: int, descriptor: int) -> int:
    with open(f"/proc/{thread}/fdinfo/{descriptor}", "rb") as info:  # noqa: PTH123
        return next(int(line.split()[1], 8) for line in info if line.startswith(b"flags:"))


def _memory(thread: int, at: int, length: int) -> bytes:
    opened = os.open(f"/proc/{thread}/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        found = os.pread(opened, length, at)
    except (OSError, OverflowError):
        found = b""
    finally:
        os.close(opened)
    if len(found) != length:
        raise OSError(errno.EFAULT, "address")
    return found


def _system_call(number: int, *arguments: int) -> int:
    return _checked(_libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)))


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
