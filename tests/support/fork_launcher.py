"""Stands for a process that the fork server makes: gives it all that it was given itself, and ends as it does.

Signals that ask for an end are passed on. Whatever else ends the launcher ends the process, too.
"""

import json
import os
import signal
import socket
import sys

PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main(address: str, *arguments: str) -> None:
    folder = os.open(".", os.O_RDONLY)
    order = {"arguments": arguments, "environment": dict(os.environ), "umask": os.umask(0)}
    body = json.dumps(order).encode()
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        socket.send_fds(server, [len(body).to_bytes(4, "big")], [0, 1, 2, folder])
        server.sendall(body)
        for number in PASSED_ON:
            signal.signal(number, lambda number, _: server.sendall(bytes([number])))
        _let_go()
        answer = server.recv(4)
    code = int.from_bytes(answer, "big", signed=True) if answer else 1
    if code < 0:
        _end_by(signal.Signals(-code))
    sys.exit(code)


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
