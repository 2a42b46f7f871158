"""What counts of a workspace's settings before the user agrees to it: only what restricts."""

import json
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic.alias_generators import to_camel

from odin_lsp.brought import MAX_WORDS, BroughtItem, identify, shortened
from odin_lsp.config.places import Place, dotted
from odin_lsp.config.schema import Limits, ServerSettings
from odin_lsp.config.section import Section
from odin_lsp.named_files import LookupBudget, TooManyNames, named_files
from odin_lsp.values import is_list, is_object

UNTIL_TRUSTED = "until you trust this workspace"
UNTIL_AGREED = "until you agree to it"
LANGUAGE_SERVERS = "language_servers.servers"
"""Programs, which are agreed to one by one."""
S = TypeVar("S", bound=Section)
Report = Callable[[Place, str, BroughtItem | None], None]
MAX_SERVERS = 50
"""Of one folder: nobody could judge more of them."""


@dataclass(frozen=True, slots=True)
class Tightening:
    """How a workspace may restrict by a setting before the user has agreed to it."""

    part: Callable[[Any, Any], Any]
    """Of what is in force without it and what it says: so much of the latter as restricts; `None`: nothing."""
    otherwise: str = "`{}` is not used"
    """What the user is told of the rest."""


def _lowered(below: float, said: float) -> float | None:
    """0 is no limit."""
    return said if not below or 0 < said <= below else None


def _fewer(below: int, said: int) -> int | None:
    return said if said <= below else None


def _only(value: object) -> Tightening:
    """This value restricts, whatever is in force; others do not."""
    return Tightening(lambda _, said: said if said == value else None)


TIGHTENING: Mapping[str, Tightening] = {
    **{f"limits.{name}": Tightening(_lowered, "`{}` may only be lowered") for name in Limits.model_fields},
    **dict.fromkeys(("subagents.at_once", "subagents.per_turn"), Tightening(_fewer, "`{}` may only be lowered")),
    "rules": Tightening(
        lambda _, said: tuple(it for it in said if it.decision != "allow"), "`{}` that allow are not used"
    ),
    **dict.fromkeys(
        ("forbidden_commands", "files.deny", "tools.disabled", "tools.disabled_in"), Tightening(lambda _, said: said)
    ),
    "sandbox": _only(True),
    **dict.fromkeys(("language_servers.enabled", "memory", "memory_in_ask"), _only(False)),
    "review.policy": _only("each"),
}
"""Each setting that can restrict. A setting that is in neither of these two is a mistake, which a test finds."""
NEEDS_AGREEMENT = frozenset({
    *("model", "small_model", "fallback_models", "subagent_model", "models", "temperature"),
    *("role", "roles", "titles", "provenance", "comment_requests", "log_level"),
    *("allowed_commands", "files.allow", "extensions.disabled", "commands.environment", "commands.timeout"),
    *("keys", "key_helpers", "ide", "host.idle", "network.proxy", "network.ca_bundle"),
    *("network.client_certificate", "network.client_key"),
    *("platforms.bedrock.region", "platforms.bedrock.profile", "platforms.foundry.resource"),
    *("platforms.vertex.project", "platforms.vertex.region"),
    *("web.private_hosts", "web.timeout", "web.max_bytes"),
    *("web_search.provider", "web_search.key", "web_search.url"),
    *("publish.redis", "publish.stream", "publish.content"),
    *("timeouts.client", "timeouts.person", "timeouts.idle", "retries.attempts", "retries.longest_wait"),
    *("cache.max_cache_size", "cache.max_file_size", "cache.max_entries", "cache.max_segments"),
    *("cache.eviction_policy", "cache.ttl", "cache.auto_refresh"),
    *("review.save", "review.undo_days", "review.undo_bytes", "diagnostics.wait"),
    *("commands.network", "extensions.sandbox_hooks"),  # the user's own guards may depend on them
    *("mcp.timeout", "mcp.wait", "mcp.idle", "mcp.share", "mcp.variables"),
    *(LANGUAGE_SERVERS, "language_servers.timeout", "language_servers.idle"),
})  # fmt: skip
"""Those that can only loosen, or lead elsewhere: another model is another company that gets the code, and an extension
that is switched off may be the user's guard. Some of them are never taken from a workspace."""


def restrict(given: S, below: S, root: Path, agreed: Container[str], report: Report, place: tuple[str, ...] = ()) -> S:
    """Return what counts of a workspace's settings over those that are in force without them: what restricts, and what
    is agreed to. All else is reported, each as a thing that the folder brings."""
    counts: dict[str, Any] = {}
    for name in filter(given.model_fields_set.__contains__, type(given).model_fields):
        said, old, here = getattr(given, name), getattr(below, name), (*place, name)
        if isinstance(said, Section):
            counts[name] = restrict(said, old, root, agreed, report, here)
        elif ".".join(here) == LANGUAGE_SERVERS:
            counts[name] = dict(_agreed_servers(said, root, agreed, report, here))
        else:
            part = _counting(given, name, old, agreed, report, here)
            counts |= {name: part} if part is not None else {}
    return given.model_construct(**counts)


def _counting(
    given: Section, name: str, old: Any, agreed: Container[str], report: Report, here: tuple[str, ...]
) -> Any:
    said, tightening = getattr(given, name), TIGHTENING.get(".".join(here))
    part = tightening.part(old, said) if tightening else None
    if part == said:
        return said
    if part is None and said == old:
        return None  # it is so anyway
    key = tuple(map(to_camel, here))
    value = _written(given, name)
    shown = json.dumps(value, ensure_ascii=False)
    item = BroughtItem(
        id=identify("setting", [key, value], {}),
        kind="setting",
        name=dotted(key),
        what=f"{dotted(key)}: {shortened(shown)}",
        file="",
    )
    report(
        key, f"{(tightening.otherwise if tightening else '`{}` is not used').format(dotted(key))} {UNTIL_TRUSTED}", item
    )
    return said if item.id in agreed else part


def _agreed_servers(
    said: Mapping[str, ServerSettings], root: Path, agreed: Container[str], report: Report, here: tuple[str, ...]
) -> Iterator[tuple[str, ServerSettings]]:
    budget = LookupBudget()
    for number, (name, server) in enumerate(said.items()):
        key = (*map(to_camel, here), name)
        try:
            if number >= MAX_SERVERS or len(_server_as_written(server)) > MAX_WORDS:
                raise TooManyNames(f"at most {MAX_SERVERS} servers are used, with {MAX_WORDS:,} characters each")
            item = describe_language_server(name, server, root, budget)
        except TooManyNames as error:
            report(key, f"`{dotted(key)}` is not used: {error}", None)
            continue
        report(key, f"`{dotted(key)}` is not used {UNTIL_AGREED}", item)
        if item.id in agreed:
            yield name, server.as_agreed(item.id)


def describe_language_server(
    name: str, server: ServerSettings, root: Path, budget: LookupBudget | None = None
) -> BroughtItem:
    """Describe a language server that a workspace brings as it takes effect now. Its options can name programs, too.
    Raises `TooManyNames`."""
    written = _server_as_written(server)
    command = " ".join(server.command)
    files = named_files(root, command or name, *_texts_in(json.loads(written)), runs_installed=True, budget=budget)
    return BroughtItem(
        id=identify("languageServer", [name, written], files),
        kind="languageServer",
        name=name,
        what=f"{name}: {written}",
        program=command or None,
        file="",
        includes=tuple(files),
    )


def _server_as_written(server: ServerSettings) -> str:
    written = server.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return json.dumps(written, ensure_ascii=False, sort_keys=True)


def _texts_in(value: object) -> Iterator[str]:
    """All texts in a value, however deep."""
    if isinstance(value, str):
        yield value
    elif is_object(value) or is_list(value):
        for it in value.values() if is_object(value) else value:
            yield from _texts_in(it)


def _written(given: Section, name: str) -> Any:
    """The value as the file has it."""
    dumped = given.model_dump(mode="json", by_alias=True, exclude_unset=True, include={name})
    return dumped[to_camel(name)]
