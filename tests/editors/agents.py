"""Agents of others, installed from npm, and a model on loopback that plays a script to each in its own wire format."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.editors.code_server import native, with_node
from tests.support import wire as kit

PROMPT = "Follow the script."
SAYS = "Done, as far as you wanted it."
NOWHERE = "http://127.0.0.1:9"
"""A proxy that nobody is: what is not on loopback cannot be reached."""
QUIET = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"), NOWHERE),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
    **dict.fromkeys(("DISABLE_TELEMETRY", "DO_NOT_TRACK", "NO_COLOR", "CI"), "1"),
    "TERM": "dumb",
}
CODEX = """# written by hand
model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

[history]
persistence = "none"

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
"""
GEMINI = {
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    "security": {"auth": {"selectedType": "gemini-api-key"}},
}
OPENCODE = {
    "autoupdate": False,
    "share": "disabled",
    "permission": {"*": "allow"},
    "provider": {
        "scripted": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": "{url}/v1", "apiKey": "x"},
            "models": {"scripted": {"tool_call": True, "limit": {"context": 200000, "output": 8000}}},
        }
    },
}

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Agent:
    name: str
    program: Callable[[], Path]
    arguments: tuple[str, ...]
    """Behind the program; the prompt comes last."""
    env: Mapping[str, str]
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    """Files below the home, or below the workspace if they begin with `./`, that are there before Odin comes."""
    scope: tuple[str, ...] = ()
    """For `odin-lsp connect`."""
    odin: Callable[[str], str] = lambda tool: f"mcp__odin.{tool}"
    """What it calls Odin's tools."""

    def furnish(self, home: Path, root: Path, url: str) -> None:
        for name, text in self.settings.items():
            path = root / name if name.startswith("./") else home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("{url}", url).replace("{root}", str(root)))

    def around(self, url: str) -> dict[str, str]:
        return {**QUIET, **{name: value.replace("{url}", url) for name, value in self.env.items()}}


AGENTS = {
    "claude": Agent(
        "claude",
        lambda: native("claude", "2.1.197", "@anthropic-ai/claude-code", "claude"),
        ("--max-turns", "20", "-p"),
        {
            "ANTHROPIC_BASE_URL": "{url}",
            "ANTHROPIC_API_KEY": kit.KEY,
            "ANTHROPIC_MODEL": "claude-sonnet-4-5",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "MCP_CONNECTION_NONBLOCKING": "0",  # a model would wait for Odin, if it is told so; this one cannot
            "MCP_CONNECT_TIMEOUT_MS": "60000",
        },
        {".claude.json": json.dumps({"projects": {"{root}": {"hasTrustDialogAccepted": True}}})},
        odin=lambda tool: f"mcp__odin__{tool}",
    ),
    "codex": Agent(
        "codex",
        lambda: with_node("codex", "0.166.0", "@openai/codex"),
        ("exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"),
        {"SCRIPTED_KEY": "x"},
        {".codex/config.toml": CODEX},
        ("--user",),
    ),
    "gemini": Agent(
        "gemini",
        lambda: with_node("gemini", "0.61.0", "@google/gemini-cli"),
        ("-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-p"),
        {"GEMINI_API_KEY": kit.KEY, "GOOGLE_GEMINI_BASE_URL": "{url}", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        {".gemini/settings.json": json.dumps(GEMINI)},
        odin=lambda tool: f"mcp_odin_{tool}",
    ),
    "opencode": Agent(
        "opencode",
        lambda: native("opencode", "1.18.18", "opencode", "bin/opencode"),
        ("run", "-m", "scripted/scripted"),
        {
            **dict.fromkeys(("OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_LSP_DOWNLOAD"), "1"),
            **dict.fromkeys(("OPENCODE_DISABLE_DEFAULT_PLUGINS", "OPENCODE_DISABLE_MODELS_FETCH"), "1"),
            "npm_config_fetch_retries": "0",  # it would install its plugins' types, and wait for that
        },
        {"./opencode.json": json.dumps(OPENCODE, indent=2)},
        odin=lambda tool: f"odin_{tool}",
    ),
}


class Model:
    """Plays the calls in turn, whatever else it is asked: what comes next is told by the results that a request has."""

    def __init__(self, wire: kit.Wire, calls: Sequence[Call], edit: int) -> None:
        self._wire = wire
        self._calls = calls
        self._edit = edit
        """Which of the calls is to be reviewed."""
        self.edits = asyncio.Event()
        """It has made that call."""
        self.asked: list[Any] = []
        """Requests that have tools, in turn."""
        wire.reply_to = self._reply

    def told(self, step: int) -> str:
        """What the request after this many results says, all of it."""
        found = [it for it in self.asked if _results(it) == step]
        return json.dumps(found[0], ensure_ascii=False) if found else ""

    def last(self) -> str:
        """What was said at last, for people who wonder."""
        return json.dumps([_messages(it)[-2:] for it in self.asked[-1:]], ensure_ascii=False)[-3000:]

    def tools(self) -> set[str]:
        return set(_names(self.asked[0].get("tools", ())))

    def _reply(self, request: Any) -> kit.Answer:
        target = self._wire.sent[-1].target.partition("?")[0]
        speak = next((it for end, it in SPEAKERS.items() if target.endswith(end)), None)
        if speak is None or not isinstance(request, dict):
            return _json({"error": {"message": "not here", "type": "not_found"}}, 404)
        if not request.get("tools"):
            return speak(SAYS)
        self.asked.append(request)
        done = _results(request)
        if done == self._edit:
            self.edits.set()
        return speak(self._calls[done] if done < len(self._calls) else SAYS)


def _results(request: Any) -> int:
    """Of calls, in any wire format."""
    parts = [part for it in _messages(request) for part in (it, *_parts(it))]
    kinds = ("tool_result", "function_call_output", "custom_tool_call_output")
    return sum(it.get("type") in kinds or "functionResponse" in it or it.get("role") == "tool" for it in parts)


def _messages(request: Any) -> list[Any]:
    return request.get("messages") or request.get("contents") or request.get("input") or []


def _parts(message: Any) -> list[Any]:
    parts = message.get("content") or message.get("parts") or ()
    return [it for it in parts if isinstance(it, dict)]


def _names(tools: Any) -> list[str]:
    found: list[str] = []
    for it in tools:
        inside = it.get("functionDeclarations") or it.get("tools")
        name = it.get("name") or (it.get("function") or {}).get("name") or ""
        found += [f"{name}.{part}" if name else part for part in _names(inside)] if inside else [name]
    return found


def _anthropic(step: Call | str) -> kit.Answer:
    start = kit.anthropic_start()
    if isinstance(step, str):
        return kit.Answer([kit.anthropic_sse(start, *kit.anthropic_text(0, step), *kit.anthropic_end("end_turn"))])
    name, arguments = step
    call = kit.anthropic_call(0, f"toolu_{name}", name, json.dumps(arguments))
    return kit.Answer([kit.anthropic_sse(start, *call, *kit.anthropic_end("tool_use"))])


def _chat(step: Call | str) -> kit.Answer:
    if isinstance(step, str):
        said = [kit.openai_chunk({"role": "assistant", "content": step}), kit.openai_chunk({}, "stop")]
        return kit.Answer([kit.openai_sse(*said)])
    name, arguments = step
    calls = kit.openai_call(0, f"call_{name}", name, json.dumps(arguments))
    return kit.Answer([kit.openai_sse(*calls, kit.openai_chunk({}, "tool_calls"))])


def _responses(step: Call | str) -> kit.Answer:
    """A tool of an MCP server is named with its namespace, one of Codex' own takes text or an object."""
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    if isinstance(step, str):
        return kit.Answer([kit.responses_sse(*kit.responses_text(0, step), kit.responses_end(usage=usage))])
    name, arguments = step
    if "input" in arguments:
        item = {"id": "ctc_0", "type": "custom_tool_call", "call_id": f"call_{name}", "name": name, **arguments}
    else:
        space, _, tool = name.rpartition(".")
        spaced = {"namespace": space} if space else {}
        item = {"id": "fc_0", "type": "function_call", "call_id": f"call_{tool}", "name": tool, **spaced}
        item["arguments"] = json.dumps(arguments)
    done = kit.responses_item(0, item, {**item, "status": "completed"})
    return kit.Answer([kit.responses_sse(*done, kit.responses_end(usage=usage))])


def _google_chunk(step: Call | str) -> dict[str, Any]:
    part = {"text": step} if isinstance(step, str) else kit.google_call(*step)
    return kit.google_chunk(part, reason="STOP")


def _json(value: Any, status: int = 200) -> kit.Answer:
    return kit.Answer([json.dumps(value).encode()], status, {"content-type": "application/json"}, "length")


SPEAKERS: dict[str, Callable[[Call | str], kit.Answer]] = {
    "/messages": _anthropic,
    "/chat/completions": _chat,
    "/responses": _responses,
    ":streamGenerateContent": lambda step: kit.Answer([kit.google_sse(_google_chunk(step))]),
    ":generateContent": lambda step: _json(_google_chunk(step)),
}


def environment(agent: Agent, env: Mapping[str, str], root: Path, url: str) -> dict[str, str]:
    """Nothing of who runs the tests: neither other agents' sessions nor keys. opencode believes `PWD`."""
    plain = {name: value for name, value in env.items() if not name.startswith(("CLAUDE", "ANTHROPIC", "CODEX"))}
    return {**plain, **agent.around(url), "PWD": str(root)}


if __name__ == "__main__":
    for agent in AGENTS.values():
        agent.program()
