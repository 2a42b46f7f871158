"""The least that an agent has to do: send, stream, read the file, send again. What Odin's steps are held against.

It writes what the model says to stdout, framed as a language server would."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import httpx2

TOOL = {"name": "Read", "input_schema": {"type": "object", "properties": {"file_path": {"type": "string"}}}}


def main() -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "read the files"}]
    with httpx2.Client(base_url=os.environ["ANTHROPIC_BASE_URL"], trust_env=False) as client:
        while call := step(client, messages):
            text = Path(json.loads(call["arguments"])["file_path"]).read_text(encoding="utf-8")
            used = {"type": "tool_use", "id": call["id"], "name": call["name"], "input": json.loads(call["arguments"])}
            result = {"type": "tool_result", "tool_use_id": call["id"], "content": text}
            messages += [{"role": "assistant", "content": [used]}, {"role": "user", "content": [result]}]


def step(client: httpx2.Client, messages: list[dict[str, Any]]) -> dict[str, str]:
    """Stream one reply; the call in it, if there is one."""
    call: dict[str, str] = {}
    body = {"model": "claude-sonnet-5-5", "max_tokens": 8192, "stream": True, "tools": [TOOL], "messages": messages}
    with client.stream("POST", "/v1/messages", json=body) as response:
        for line in response.iter_lines():
            if line.startswith("data: "):
                take(json.loads(line[6:]), call)
    return call


def take(event: dict[str, Any], call: dict[str, str]) -> None:
    match event:
        case {"content_block": {"type": "tool_use", "id": id, "name": name}}:
            call.update(id=id, name=name, arguments="")
        case {"delta": {"partial_json": piece}}:
            call["arguments"] += piece
        case {"delta": {"text": text}}:
            show({"method": "odin/event", "params": {"event": {"kind": "textStreamed", "text": text}}})


def show(message: dict[str, Any]) -> None:
    data = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
