"""Stands for a process that the fork server makes: gives it all that it was given itself, and ends as it does.

Signals that ask for an end are passed on. Whatever else ends the launcher ends the process, too.
"""

import json
import os
import select
import signal
import socket
import sys

PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main(address: str, *arguments: str) -> None:
    folder = os.open(".", os.O_RDONLY)
    order = {"arguments": arguments, "environment": dict(os.environ), "umask": os.umask(0)}
    body = json.dumps(order).encode()
    signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        socket.send_fds(server, [len(body).to_bytes(4, "big")], [0, 1, 2, folder])
        server.sendall(body)
        _pass_on(server)
        _let_go()
        select.select([server], [], [])
        answer = server.recv(4)
    code = int.from_bytes(answer, "big", signed=True) if answer else 1
    if code < 0:
        _end_by(signal.Signals(-code))
    sys.exit(code)


def _pass_on(server: socket.socket) -> None:
    """Python writes the number of each signal: a function would not be called before the next line of code is."""
    server.setblocking(False)
    signal.set_wakeup_fd(server.fileno())
    for number in PASSED_ON:
        signal.signal(number, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)


def _let_go() -> None:
    """The other ends of these would not learn otherwise that the process has closed its own."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)


def _end_by(number: signal.Signals) -> None:
    if number in PASSED_ON:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


main(*sys.argv[1:])
