"""Record what the server tells of a few turns, for the tests of the chat: `python editors/vscode/test/record.py`."""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).parent / "recorded"
ROOT = "/project"
GREETING = "def greet(name):\n    print('helo ' + name)\n"


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


READ = call("Read", file_path=f"{ROOT}/greet.py")
HELP = call("AgentTool", description="look around", prompt="task: look around")
TODOS = [
    {"id": "1", "content": "Find the typo", "status": "completed"},
    {"id": "2", "content": "Correct it", "status": "in_progress"},
]
USAGE = {"inputTokens": 1200, "outputTokens": 80, "costUsd": 0.012, "contextTokens": 1200, "contextLimit": 200_000}
TURNS: dict[str, tuple[list[str], list[dict[str, Any]]]] = {
    "ask": (
        ["ask", "What does greet do?"],
        [
            {"thinking": "I should look.", "text": "Let me look.", "calls": [READ]},
            {
                "text": ["`greet.py:2` prints a ", "greeting:\n\n```python\nprint('helo ' + name)\n```\n"],
                "usage": USAGE,
            },
        ],
    ),
    "edit": (
        ["edit", "--yes", "Fix the typo and run it"],
        [
            {"calls": [READ, call("TodoWrite", todos=TODOS)]},
            {"calls": [call("EditTool", file_path=f"{ROOT}/greet.py", old_string="helo", new_string="hello")]},
            {"calls": [call("ExecuteCommand", command="python3 -c 'print(1)'", description="Try it")]},
            {"text": "Fixed.", "usage": USAGE},
        ],
    ),
    "helper": (
        ["ask", "Have a helper look"],
        [
            {"text": "I ask a helper.", "calls": [HELP]},
            {"when": {"contains": "task: look around"}, "calls": [call("LS", path=ROOT)]},
            {"when": {"contains": "task: look around"}, "text": "There is one file."},
            {"text": "One file."},
        ],
    ),
    "failed": (["ask", "Anything"], [{"error": {"kind": "failed", "message": "no such model"}}]),
}


def main() -> None:
    HERE.mkdir(exist_ok=True)
    for name, (arguments, replies) in TURNS.items():
        with TemporaryDirectory() as folder:
            workspace = Path(folder, "project")
            workspace.mkdir()
            (workspace / "greet.py").write_text(GREETING)
            script = Path(folder, "script.json")
            script.write_text(json.dumps({"replies": replies}).replace(ROOT, str(workspace)))
            odin = [str(Path(sys.executable).with_name("odin-lsp")), *arguments[:1], "--json", *arguments[1:]]
            options = ["--model", f"scripted/{script}", "--cwd", str(workspace)]
            environment = {"HOME": folder, "PATH": "/usr/bin:/bin", "XDG_STATE_HOME": f"{folder}/state"}
            done = subprocess.run(  # noqa: S603 - the server of this environment
                [*odin, *options], env=environment, capture_output=True, text=True, timeout=120
            )
            told = done.stdout.replace(str(workspace), ROOT).replace(folder, "/home")
            (HERE / f"{name}.jsonl").write_text(told)
            sys.stdout.write(f"{name}: {len(told.splitlines())} events, exit code {done.returncode}\n")


if __name__ == "__main__":
    main()
