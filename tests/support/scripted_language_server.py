"""A language server that does what a table says, however bad that is: `python scripted_language_server.py TABLE`.

The table maps a method to the acts that follow it, in order. Without any, a request is answered with `null`, and once
it is initialized it has something to do for a moment. `test/received` answers with all that it was sent, and at
`test/release` what is late is answered.
"""

import json
import os
import sys
from pathlib import Path

CAPABILITIES = {"textDocumentSync": {"openClose": True, "change": 1}, "referencesProvider": True}


def main():
    table = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    received, held = [], []
    while (message := read()) is not None:
        received.append(message)
        method, number = message.get("method"), message.get("id")
        if method == "test/release":
            for late, result in held:
                send({"id": late, "result": result})
            held.clear()
        if method == "exit" and not table.get("exit"):
            return
        if method == "test/received":
            send({"id": number, "result": received})
        elif method in table:
            for act in table[method]:
                perform(act, message, held)
        elif method == "initialize":
            send({"id": number, "result": {"capabilities": CAPABILITIES | table.get("capabilities", {})}})
        elif method == "initialized":
            for kind in ("begin", "end"):
                send({"method": "$/progress", "params": {"token": 1, "value": {"kind": kind}}})
        elif number is not None and method is not None:
            send({"id": number, "result": None})


def perform(act, message, held):
    (what, value), *_ = act.items()
    number = message.get("id")
    match what:
        case "answer":
            send({"id": number, "result": value})
        case "late":
            held.append((number, value))
        case "message":
            send(value | ({"id": number} if value.get("id") == "same" else {}))
        case "report":
            uri = message["params"]["textDocument"]["uri"]
            params = {"uri": uri, "diagnostics": value, **{key: it for key, it in act.items() if key == "version"}}
            send({"method": "textDocument/publishDiagnostics", "params": params})
        case "raw":
            sys.stdout.buffer.write(value.encode())
            sys.stdout.buffer.flush()
        case "many":
            send({"id": number, "result": [act["of"]] * value})
        case "complain":
            os.write(2, b"complaint\n" * value)
        case "exit":
            sys.stdout.buffer.flush()
            os._exit(value)


def read():
    length = 0
    while line := sys.stdin.buffer.readline():
        if not line.strip():
            return json.loads(sys.stdin.buffer.read(length))
        length = int(line.partition(b":")[2])
    return None


def send(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
