"""Writers of sessions that are killed at any moment; after each one the session is read, and must hold what it held.

A process of its own, so that the writers can be forked: `python -m tests.support.session_killer FOLDER ROUNDS SEED`.
"""

import json
import os
import random
import signal
import sys
from itertools import count
from pathlib import Path

from odin_lsp.messages import Message, Text, ToolCall, ToolResult, user
from odin_lsp.models import anthropic
from odin_lsp.models.encoding import Turns
from odin_lsp.records import Outcome
from odin_lsp.sessions.history import repair
from odin_lsp.sessions.session import Session
from tests.support import strict

ROUNDS_PER_SESSION = 10


def main() -> None:
    folder, rounds, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    torn = unfinished = 0
    for number in range(rounds):
        session_id = f"s{number // ROUNDS_PER_SESSION}"
        acknowledged = killed(folder, session_id, chance)
        session = Session.resume(folder, session_id)
        session.close()
        texts = [json.dumps(message.text) for message in session.messages]
        assert texts[: len(acknowledged)] == acknowledged, f"round {number}: something that was written is lost"
        assert len(texts) - len(acknowledged) <= 1, f"round {number}: more than was written"
        records = [json.loads(line) for line in session.log.path.read_bytes().splitlines()]
        ids = [record["id"] for record in records if record["type"] == "message"]
        assert len(ids) == len(set(ids)), f"round {number}: ids occur twice"
        assert accepted(session.messages) == [], f"round {number}: {accepted(session.messages)}"
        torn += bool(session.notices)
        unfinished += session.messages[-1].calls != ()
    sys.stdout.write(json.dumps({"rounds": rounds, "torn": torn, "unfinished": unfinished}))


def killed(folder: Path, session_id: str, chance: random.Random) -> list[str]:
    """What a writer had written when it was killed: what was there before, and what it told of."""
    before = folder / f"{session_id}.jsonl"
    known = [json.dumps(it.text) for it in Session.load(folder, session_id).messages] if before.exists() else []
    reading, writing = os.pipe()
    writer = os.fork()
    if not writer:
        os.close(reading)
        write(folder, session_id, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        lines = [told.readline() for _ in range(chance.randrange(1, 40))]
        for _ in range(chance.randrange(20_000)):
            pass
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
        lines += told.readlines()
    return known + [line.decode().rstrip("\n") for line in lines if line.endswith(b"\n")]


def write(folder: Path, session_id: str, telling: int) -> None:
    exists = (folder / f"{session_id}.jsonl").exists()
    session = Session.resume(folder, session_id) if exists else Session(folder, session_id)
    for number in count(len(session.messages)):
        for message in (
            user(f"question {number}", "x" * (number * 37 % 5000)),
            Message("assistant", (Text("look"), ToolCall(f"call-{number}", "Read", {"file_path": "a.py"}))),
            Message("user", (ToolResult(f"call-{number}", "Read", "y" * (number * 91 % 9000)), Text(f"seen {number}"))),
            Message("assistant", (Text(f"answer {number}"),)),
        ):
            session.append(message)
            os.write(telling, json.dumps(message.text).encode() + b"\n")
        outcome = Outcome(turn_id=f"t{number}", session_id=session_id, mode="ask_mode", reason="end_turn", answer="yes")
        session.finish_turn(f"question {number}", 1.0, outcome)


def accepted(messages: list[Message]) -> list[str]:
    """What a strict provider would say against going on."""
    history = repair([*messages, user("go on")])
    settled, last = Turns(lambda it: anthropic._blocks(it, "anthropic/some"), anthropic._turn).of(history)
    return strict.problems({"messages": [json.loads(it) for it in (*settled, *anthropic._marked(last))]})


if __name__ == "__main__":
    main()
