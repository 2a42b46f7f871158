import os
import subprocess
import sys

from odin_lsp import system


def test_a_process_is_alive_until_it_has_ended():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert system.is_alive(process.pid)
        process.communicate(b"\n")
    assert not system.is_alive(process.pid)
    assert system.is_alive(os.getpid())


def test_a_number_that_no_process_can_have_is_none():
    assert not system.is_alive(2**40)


def test_a_pipe_is_waited_for_until_it_begins_or_ends():
    reading, writing = os.pipe()
    assert not system.is_readable(reading, 0.01)
    os.write(writing, b"x")
    assert system.is_readable(reading, 60)
    os.read(reading, 1)
    os.close(writing)
    assert system.is_readable(reading, 60)
    os.close(reading)
