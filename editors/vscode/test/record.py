"""Record what is told of a few sessions while they go on, and what is kept of them, for the tests of the chat:
`python editors/vscode/test/record.py`."""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from odin_lsp.sessions.replay import page
from odin_lsp.values import to_wire

HERE = Path(__file__).parent / "recorded"
ROOT = "/project"
GREETING = "def greet(name):\n    print('helo ' + name)\n"


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def run(command: str, **more: Any) -> dict[str, Any]:
    return call("ExecuteCommand", command=command, description="Try it", **more)


READ = call("Read", file_path=f"{ROOT}/greet.py")
HELP = call("AgentTool", description="look around", prompt="task: look around")
TODOS = [
    {"id": "1", "content": "Find the typo", "status": "completed"},
    {"id": "2", "content": "Correct it", "status": "in_progress"},
]
USAGE = {"inputTokens": 1200, "outputTokens": 80, "costUsd": 0.012, "contextTokens": 1200, "contextLimit": 200_000}
SLOW = "import time\nprint('begun', flush=True)\ntime.sleep(0.5)\nprint('done')\n"
TURNS: dict[str, list[tuple[list[str], list[dict[str, Any]]]]] = {
    "ask": [
        (
            ["ask", "What does greet do?"],
            [
                {"thinking": "I should look.", "text": "Let me look.", "calls": [READ]},
                {
                    "text": ["`greet.py:2` prints a ", "greeting:\n\n```python\nprint('helo ' + name)\n```\n"],
                    "usage": USAGE,
                },
            ],
        )
    ],
    "edit": [
        (
            ["edit", "--yes", "Fix the typo and run it"],
            [
                {"calls": [READ, call("TodoWrite", todos=TODOS)]},
                {"calls": [call("EditTool", file_path=f"{ROOT}/greet.py", old_string="helo", new_string="hello")]},
                {"calls": [call("ExecuteCommand", command="python3 -c 'print(1)'", description="Try it")]},
                {"text": "Fixed.", "usage": USAGE},
            ],
        )
    ],
    "helper": [
        (
            ["ask", "Have a helper look"],
            [
                {"text": "I ask a helper.", "calls": [HELP]},
                {"when": {"contains": "task: look around"}, "calls": [call("LS", path=ROOT)]},
                {"when": {"contains": "task: look around"}, "text": "There is one file."},
                {"text": "One file."},
            ],
        )
    ],
    "failed": [(["ask", "Anything"], [{"error": {"kind": "failed", "message": "no such model"}}])],
    "session": [
        (
            ["edit", "--yes", "Try what is there"],
            [
                {"thinking": "One at a time.", "text": "First a command.", "calls": [run("python3 slow.py")]},
                {"thinking": "And one that goes on.", "calls": [run("python3 slow.py", run_in_background=True), READ]},
                {"calls": [call("CommandStatus", background_id="background-1", wait=20_000)]},
                {"calls": [run("ls nowhere")]},
                {"text": "It works.", "usage": USAGE},
            ],
        ),
        (["edit", "--no", "Clean up"], [{"calls": [run("rm -rf build")]}, {"text": "Not allowed."}]),
        (["ask", "Anything else?"], [{"error": {"kind": "key", "message": "the key is not accepted"}}]),
    ],
}


def main() -> None:
    HERE.mkdir(exist_ok=True)
    for name, turns in TURNS.items():
        with TemporaryDirectory() as folder:
            workspace = Path(folder, "project")
            workspace.mkdir()
            (workspace / "greet.py").write_text(GREETING)
            (workspace / "slow.py").write_text(SLOW)
            told = ""
            for arguments, replies in turns:
                told += take(Path(folder), workspace, arguments, replies, session_of(told))
            [log] = Path(folder, "state").glob("**/sessions/*/*.jsonl")
            kept = json.dumps(to_wire(page(log.parent, log.stem, None, 500)), indent=1) + "\n"
            for suffix, text in (("jsonl", told), ("json", kept)):
                (HERE / f"{name}.{suffix}").write_text(text.replace(str(workspace), ROOT).replace(folder, "/home"))
            sys.stdout.write(f"{name}: {len(told.splitlines())} events\n")


def take(
    folder: Path, workspace: Path, arguments: list[str], replies: list[dict[str, Any]], session: str | None
) -> str:
    """A turn, in a session that there is or in a new one."""
    script = folder / "script.json"
    script.write_text(json.dumps({"replies": replies}).replace(ROOT, str(workspace)))
    odin = [str(Path(sys.executable).with_name("odin-lsp")), *arguments[:1], "--json", *arguments[1:]]
    options = ["--model", f"scripted/{script}", "--cwd", str(workspace), *(["--session", session] if session else [])]
    environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "XDG_STATE_HOME": f"{folder}/state"}
    done = subprocess.run(  # noqa: S603 - the server of this environment
        [*odin, *options], env=environment, capture_output=True, text=True, timeout=120
    )
    return done.stdout


def session_of(told: str) -> str | None:
    return json.loads(told.splitlines()[-1])["sessionId"] if told else None


if __name__ == "__main__":
    main()
