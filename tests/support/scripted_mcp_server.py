"""An MCP server that does what a table says, however bad that is: `python scripted_mcp_server.py TABLE`.

The table maps a method to the acts that follow it, in order; `tools` are those that it has, each with what it needs
besides a name. Without acts it is a good server of the older protocol: a call is answered with its own arguments.
`call:NAME` are the acts of one tool."""

import json
import os
import sys
import time
from pathlib import Path

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}
CAPABILITIES = {"tools": {"listChanged": True}, "prompts": {}, "resources": {}}


def main():
    path = Path(sys.argv[1])
    table = json.loads(path.read_text(encoding="utf-8"))
    for act in table.get("start", ()):
        perform(act, {}, table)
    for line in sys.stdin:
        message = json.loads(line)
        method, number = message.get("method"), message.get("id")
        params = message.get("params") or {}
        log(table, message)
        acts = table.get(f"call:{params.get('name')}") if method == "tools/call" else None
        acts = acts if acts is not None else table.get(method)
        if acts is not None:
            for act in acts:
                perform(act, message, table)
        elif number is not None and method is not None:
            send({"id": number, **answer(method, params, table)})


def log(table, message):
    if "log" in table:
        with Path(table["log"]).open("a", encoding="utf-8") as file:
            file.write(json.dumps(message) + "\n")


def answer(method, params, table):
    match method:
        case "initialize":
            version = params["protocolVersion"]
            info = {"name": "scripted", "version": "1"}
            return {"result": {"protocolVersion": version, "capabilities": CAPABILITIES, "serverInfo": info}}
        case "tools/list":
            tools = table.get("tools", [{"name": "echo"}])
            return {"result": {"tools": [{"description": "", "inputSchema": SCHEMA, **it} for it in tools]}}
        case "tools/call":
            return {"result": texts(json.dumps(params.get("arguments"), sort_keys=True))}
        case "prompts/list":
            return {"result": {"prompts": table.get("prompts", [])}}
        case "resources/list":
            return {"result": {"resources": table.get("resources", [])}}
        case "resources/templates/list" if "templates" in table:
            return {"result": {"resourceTemplates": table["templates"]}}
        case "prompts/get":
            said = f"{params['name']}: {json.dumps(params.get('arguments'), sort_keys=True)}"
            return {"result": {"messages": [{"role": "user", "content": {"type": "text", "text": said}}]}}
        case "resources/read":
            return {"result": {"contents": [{"uri": params["uri"], "text": f"content of {params['uri']}"}]}}
        case _:
            return {"error": {"code": -32601, "message": f"there is no {method}"}}


def texts(*said, **more):
    return {"content": [{"type": "text", "text": it} for it in said], **more}


def perform(act, message, table):
    (what, value), *_ = act.items()
    number = message.get("id")
    match what:
        case "answer":
            send({"id": number, "result": value})
        case "text":
            send({"id": number, "result": texts(value)})
        case "long":
            send({"id": number, "result": texts("x" * value)})
        case "refuse":
            send({"id": number, "error": {"code": -32000, "message": value}})
        case "message":
            send(value | ({"id": number} if value.get("id") == "same" else {}))
        case "progress":
            token = message["params"]["_meta"]["progressToken"]
            send({"method": "notifications/progress", "params": {"progressToken": token, **value}})
        case "progresses":
            token = message["params"]["_meta"]["progressToken"]
            for progress in range(1, value + 1):
                params = {"progressToken": token, "progress": progress, "total": value}
                send({"method": "notifications/progress", "params": params})
        case "raw":
            sys.stdout.buffer.write(value.encode())
            sys.stdout.buffer.flush()
        case "flood":
            line = (json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": value}) + "\n") * 1000
            while True:
                sys.stdout.write(line)
        case "print":
            for _ in range(value // 2**20):
                sys.stdout.write("x" * 2**20)
            sys.stdout.flush()
        case "complain":
            os.write(2, b"complaint\n" * value)
        case "environment":
            send({"id": number, "result": texts(json.dumps(dict(os.environ), sort_keys=True))})
        case "tools":
            table["tools"] = value
            send({"method": "notifications/tools/list_changed"})
        case "resources":
            table["resources"] = value
            send({"method": "notifications/resources/list_changed"})
        case "ask":
            send({"id": "asked", "method": "elicitation/create", "params": value})
            while json.loads(said := sys.stdin.readline()).get("id") != "asked":
                pass
            send({"id": number, "result": texts(said)})
        case "roots":
            send({"id": "roots", "method": "roots/list"})
            while json.loads(said := sys.stdin.readline()).get("id") != "roots":
                pass
            send({"id": number, "result": texts(said)})
        case "wait for":
            while not Path(value).exists():
                time.sleep(0.01)
        case "exit":
            sys.stdout.flush()
            os._exit(value)


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
