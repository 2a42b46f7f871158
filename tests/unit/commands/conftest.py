import os
from pathlib import Path

import pytest

from odin_lsp.commands.environment import child_environment, find_shell
from odin_lsp.commands.output import Output
from odin_lsp.commands.runner import Runner, Spec


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


@pytest.fixture
async def runner():
    runner = Runner()
    yield runner
    await runner.close()


@pytest.fixture
def start(runner, workspace, tmp_path):
    """Starts a command; gives what runs and what it prints."""
    count = 0

    async def start(command, *, watch=lambda text: None, confinement=None, cwd=None, environ=None):
        nonlocal count
        count += 1
        output = Output(tmp_path / f"output-{count}", watch)
        spec = Spec(
            argv=(find_shell(), "--noprofile", "--norc", "-c", command),
            cwd=Path(cwd or workspace),
            environment=child_environment(os.environ if environ is None else environ, [workspace]),
            confinement=confinement,
        )
        return await runner.start(spec, output), output

    return start


@pytest.fixture
def run(start):
    async def run(command, timeout=60, **more):
        running, output = await start(command, **more)
        return await running.wait(timeout), output.shown

    return run
