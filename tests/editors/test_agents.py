"""Real agents of others beside a real Neovim: they read what is on the screen, and their edits are reviewed there."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.editors.agents import AGENTS, PROMPT, Agent, Call, Model, environment
from tests.editors.conftest import at_home, skipped_if_unavailable
from tests.editors.neovim import NEWEST, Neovim, until
from tests.editors.test_neovim import attached, happened
from tests.support.wire import Wire

pytestmark = [pytest.mark.asyncio(loop_scope="module"), NEWEST]

PATIENCE = 200.0
TYPED = "# typed, not saved"
LINES = [
    *("def greet(name):", "    return f'hello {name}'", "", ""),
    *("def leave(name):", "    return f'bye {name}'", "", ""),
    *("def thank(name):", "    return f'thanks {name}'"),
]
POLITE = {"hello {name}": "Hello, {name}!", "bye {name}": "Goodbye, {name}!", "thanks {name}": "Thank you, {name}!"}
OLD = "\n".join(LINES)
EDITS = [{"old_string": old, "new_string": new} for old, new in POLITE.items()]
WHY = "too formal"

Run = Callable[..., Awaitable[Model]]


def polite(text: str) -> str:
    for old, new in POLITE.items():
        text = text.replace(old, new)
    return text


def patch(file: Path) -> str:
    changed = [f"-{line}\n+{polite(line)}" if polite(line) != line else f" {line}" for line in LINES]
    return "\n".join(["*** Begin Patch", f"*** Update File: {file}", "@@", *changed, "*** End Patch"])


OWN_EDITS: dict[str, Callable[[Path], list[Call]]] = {
    "claude": lambda file: [
        ("Read", {"file_path": str(file)}),
        ("Edit", {"file_path": str(file), "old_string": OLD, "new_string": polite(OLD)}),
    ],
    "codex": lambda file: [("apply_patch", {"input": patch(file)})],
    "gemini": lambda file: [
        ("replace", {"file_path": str(file), "old_string": OLD, "new_string": polite(OLD), "instruction": "be polite"})
    ],
    "opencode": lambda file: [
        ("read", {"filePath": str(file)}),
        ("edit", {"filePath": str(file), "oldString": OLD, "newString": polite(OLD)}),
    ],
}
"""By the tools that each agent has of its own."""


@pytest.fixture(scope="module")
def programs(installed: Path) -> Path:
    return installed


@pytest.fixture(params=list(AGENTS))
def agent(request: pytest.FixtureRequest) -> Agent:
    return AGENTS[request.param] if isinstance(request.param, str) else request.param


@pytest_asyncio.fixture(loop_scope="module")
async def run(agent: Agent, own_root: Path, env: dict[str, str], wire: Wire) -> AsyncIterator[Run]:
    """Connect the agent, have it play a script, and disconnect it."""
    with skipped_if_unavailable():
        program = agent.program()
    agent.furnish(own_root.parent / "home", own_root, wire.url)
    env = {**env, **at_home(own_root.parent)}
    around = environment(agent, env, own_root, wire.url)

    async def connect(*options: str) -> None:
        command = ("odin-lsp", "connect", agent.name, "--yes", *agent.scope, *options)
        process = await asyncio.create_subprocess_exec(*command, cwd=own_root, env=env, stdin=-3, stdout=-1, stderr=-2)
        out, _ = await process.communicate()
        assert process.returncode == 0, out.decode()

    async def run(neovim: Neovim, *calls: Call, edit: int, options: tuple[str, ...] = ()) -> Model:
        await connect(*options)
        model = Model(wire, calls, edit)
        process = await asyncio.create_subprocess_exec(
            *(program, *agent.arguments, PROMPT), cwd=own_root, env=around, stdin=-3, stdout=-1, stderr=-2
        )
        reviewing = asyncio.create_task(two_of_three(neovim, model))
        try:
            async with asyncio.timeout(PATIENCE):
                out, _ = await process.communicate()
            assert reviewing.done(), f"it has nothing to review: {out.decode()[-3000:]}\n{model.last()}"
            await reviewing
        finally:
            reviewing.cancel()
            if process.returncode is None:
                process.kill()
        assert process.returncode == 0, out.decode()
        return model

    yield run
    await connect("--remove")


async def opened(neovim: Neovim, file: Path) -> None:
    file.write_text("".join(f"{line}\n" for line in LINES))
    await attached(neovim, file)
    await neovim.call("nvim_buf_set_lines", 0, 0, 0, False, [TYPED])
    sockets = file.parents[1] / "run" / "odin"

    async def listens() -> bool:
        return any(sockets.glob("*.sock"))

    await until(listens, "a socket")


async def two_of_three(neovim: Neovim, model: Model) -> None:
    await model.edits.wait()
    await happened(neovim, "OdinReviewOpened")
    for old, decision in zip(("hello", "bye", "thanks"), ("Accept", f"Reject {WHY}", "Accept"), strict=True):
        await neovim.command(f"execute '/{old}' | Odin{decision}")


async def check(neovim: Neovim, file: Path, model: Model, steps: int) -> None:
    """The agent has seen what was typed; two hunks are there, one is not, and the model knows which, and why. Nobody
    has written the file."""
    expected = [TYPED, *(polite(line) if "bye" not in line else line for line in LINES)]
    assert await neovim.lines() == expected
    assert file.read_text().splitlines() == LINES
    assert TYPED in model.told(1)
    told = model.told(steps)
    assert "2 accepted, 1 rejected" in told
    assert f"rejected (line 7): {WHY}" in told


async def test_an_agent_edits_by_odin_s_tools_and_not_its_own(
    agent: Agent, run: Run, neovim: Neovim, own_root: Path
) -> None:
    file = own_root / "greet.py"
    await opened(neovim, file)
    name = str(file)

    model = await run(
        neovim,
        (agent.odin("Read"), {"file_path": name}),
        (agent.odin("MultiEditTool"), {"file_path": name, "edits": EDITS}),
        OWN_EDITS[agent.name](file)[-1],
        edit=1,
    )

    await check(neovim, file, model, 2)
    assert model.told(3)
    assert not model.tools() & {"Edit", "Write", "NotebookEdit", "edit", "write", "replace", "write_file"}


async def test_an_agent_edits_by_its_own_tools(agent: Agent, run: Run, neovim: Neovim, own_root: Path) -> None:
    file = own_root / "greet.py"
    await opened(neovim, file)
    calls: list[Any] = OWN_EDITS[agent.name](file)

    read = (agent.odin("Read"), {"file_path": str(file)})

    model = await run(neovim, read, *calls, edit=len(calls), options=("--hook",))

    await check(neovim, file, model, 1 + len(calls))


def codex_without_sandbox(*options: str) -> Agent:
    codex = AGENTS["codex"]
    profile = {".codex/free.config.toml": 'sandbox_mode = "danger-full-access"\napproval_policy = "never"\n'}
    return replace(codex, arguments=(*codex.arguments, *options), settings={**codex.settings, **profile})


@pytest.mark.parametrize(
    "agent",
    [codex_without_sandbox("--profile", "free"), codex_without_sandbox("--dangerously-bypass-approvals-and-sandbox")],
    indirect=True,
    ids=["profile", "flag"],
)
async def test_codex_is_held_by_its_hook_where_its_sandbox_is_lifted(
    agent: Agent, run: Run, neovim: Neovim, own_root: Path
) -> None:
    file = own_root / "greet.py"
    await opened(neovim, file)
    calls: list[Any] = OWN_EDITS["codex"](file)

    model = await run(neovim, (agent.odin("Read"), {"file_path": str(file)}), *calls, edit=1, options=("--hook",))

    await check(neovim, file, model, 2)
