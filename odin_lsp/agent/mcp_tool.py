"""A tool of an MCP server, as a tool of Odin's: one for each that a server has."""

import difflib
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from odin_lsp.errors import PermissionDenied, ToolError
from odin_lsp.events import ToolProgress
from odin_lsp.mcp import asking
from odin_lsp.mcp.offered import Offered
from odin_lsp.mcp.pool import McpServers
from odin_lsp.mcp.served import Served
from odin_lsp.mcp.values import Asked, Definition, Form, Visit
from odin_lsp.permissions.foreign_names import ToolOwner
from odin_lsp.permissions.gate import Want, exact
from odin_lsp.permissions.rules import Effect, decide
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolFailed, ToolOutput
from odin_lsp.tools.editing import report_receipts
from odin_lsp.tools.server_answers import output_of_answer
from odin_lsp.values import is_list, is_object
from odin_lsp.web.untrusted import visible

MAX_DIFFERENCE = 4000
NOBODY = ToolOwner("", is_users=False)
ANOTHER = (
    "there is another server {0} now, from another place than when this session began; {1} can be used in a new session"
)
CHANGED = "{} has changed since you came to know it, and what a model is told of it says what it does with it:\n{}"
TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


class Given(Params):
    arguments: Mapping[str, Any]


class McpTool(Tool[Given]):
    effect = Effect.FOREIGN
    params = Given

    def __init__(self, offered: Offered, servers: McpServers) -> None:
        self.name = offered.name
        self._offered = offered
        self._servers = servers

    @cached_property
    def description(self) -> str:
        return self._offered.description

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        return self._offered.schema

    @property
    def owner(self) -> ToolOwner | None:
        try:
            return self._same_server().owner
        except ToolError:  # nobody can call it
            return NOBODY

    def parse(self, arguments: Mapping[str, Any]) -> Given:
        """Only what can be told at once and without fail; the server looks at the rest."""
        if wrong := _wrong(self.schema, arguments):
            takes = ", ".join(self.schema["properties"]) or "nothing"
            raise ToolError(f"{self.name} was called with bad arguments: {'; '.join(wrong)}. It takes {takes}.")
        return Given(arguments=arguments)

    def describe(self, params: Given) -> str:
        return f"use {self._offered.definition.name} of the MCP server {self._offered.server}"

    def wants(self, params: Given, context: ToolContext) -> Want | None:
        served = self._same_server()
        owner = served.owner
        rules = context.gate.rules(context.mode)
        verdict = decide(self.name, self.effect, context.mode, rules, arguments=params.arguments, owner=owner)
        if verdict.decision == "deny":
            raise PermissionDenied(verdict.reason)
        new = served.changed.get(self._offered.definition.name)
        if new is not None:
            if context.mode != "edit_mode":
                raise PermissionDenied(f"{self.name} is not what it was; the user has to look at it in Edit mode first")
            reason = CHANGED.format(self.name, _difference(self._offered.definition, new))
        elif verdict.decision == "allow" or self.name in context.gate.remembered(self.name, context.mode, owner.id):
            return None
        else:
            said = exact(self._offered.definition.description.strip())
            whose = "" if owner.is_users else f"\nThe server is one of this project ({served.server.source.name})."
            reason = f"{verdict.reason}{whose}" + (f"\nIt says of itself: {said[:MAX_DIFFERENCE]}" if said else "")
        return Want(
            tool=self.name,
            title=f"May Odin {visible(self.describe(params))[0]}?",
            reason=reason,
            what=json.dumps(dict(params.arguments), ensure_ascii=True, indent=1),
            mode=context.mode,
            pattern=self.name if new is None else None,
            server=owner.id,
        )

    async def execute(self, params: Given, context: ToolContext) -> ToolOutput:
        server, name = self._offered.server, self._offered.definition.name
        served = self._same_server()
        if context.granted is not None:
            await served.accept(name)
        decided = await context.draft.review()  # it sees the disk, not what is only proposed
        said = [report_receipts(decided, context.files.shown) if decided else "", await context.saver.save()]

        async def ask(who: str, wanted: Form | Visit) -> Asked:
            return await asking.ask(context.gate.asker, who, wanted)

        def tell(progress: str) -> None:
            context.emit(ToolProgress(context.call_id, f"{visible(progress)[0]}\n"))

        answered = await served.call(self._offered, params.arguments, tell, ask)
        output = await output_of_answer(answered, name, server, context)
        done = replace(output, data="\n".join(filter(None, (output.data, *said))))
        if answered.failed:
            raise ToolFailed(done)
        return done

    def _same_server(self) -> Served:
        """The server that the model was told of, as it is now. Raises `ToolError`."""
        served = self._servers.of(self._offered.server)
        if served.server.origin != self._offered.origin:
            raise ToolError(ANOTHER.format(self._offered.server, self.name))
        return served


def _difference(old: Definition, new: Definition) -> str:
    lines = difflib.unified_diff(old.text.splitlines(), new.text.splitlines(), "before", "now", lineterm="", n=1)
    text = exact("\n".join(lines))
    return text if len(text) <= MAX_DIFFERENCE else f"{text[:MAX_DIFFERENCE]}\n(and more)"


def _wrong(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[str]:
    properties, required = schema["properties"], schema.get("required")
    missing = [f"`{name}` is missing" for name in (required if is_list(required) else []) if name not in arguments]
    unknown = (
        [f"`{name}` is not known here" for name in arguments if name not in properties]
        if schema.get("additionalProperties") is False
        else []
    )
    mistaken = [
        f"`{name}` must be of type {_types(properties[name])}"
        for name, value in arguments.items()
        if name in properties and not _fits(properties[name], value)
    ]
    return [*missing, *unknown, *mistaken]


def _fits(schema: object, value: object) -> bool:
    kinds = schema.get("type") if is_object(schema) else None
    names = kinds if is_list(kinds) else [kinds]
    types = [TYPES.get(it) if isinstance(it, str) else None for it in names]
    if None in types:
        return True
    is_number = isinstance(value, float) and value.is_integer() and "integer" in names
    is_bool_for_number = isinstance(value, bool) and "boolean" not in names
    return is_number or (any(isinstance(value, it) for it in types if it) and not is_bool_for_number)


def _types(schema: Mapping[str, Any]) -> str:
    kinds = schema.get("type")
    return " or ".join(map(str, kinds)) if is_list(kinds) else str(kinds)
