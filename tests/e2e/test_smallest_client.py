"""The client of docs/protocol.intro.md, which others begin with, works as it stands there."""

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "protocol.intro.md"
PROGRAM = re.compile(r"```python\n# smallest_client\.py\n(.*?)```", re.DOTALL)


def test_the_smallest_client_prints_what_happens_and_the_answer(root, script):
    program = PROGRAM.search(PAGE.read_text(encoding="utf-8"))
    assert program
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    ended = subprocess.run(
        [sys.executable, "-c", program[1]],
        cwd=root,
        env={**os.environ, **script({"text": "In `main.py`."}), "PATH": path},
        capture_output=True,
        text=True,
        timeout=60,
    )

    first, *_, last = ended.stdout.splitlines()
    assert (ended.returncode, first, last) == (0, "turnStarted", "In `main.py`.")
