"""Settings: `odinconfig.json` of the user and of the workspace, the editor's settings, the environment.

A bad value is reported by its name and line, and its default is used. What a workspace brings may only restrict
until the workspace is trusted."""

import json
import os
import re
import shlex
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import platformdirs
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from odin_lsp.reading import start_of
from odin_lsp.values import is_object, json_schema, problem

FILE_NAME = "odinconfig.json"
FOLDER = ".odin"
"""What a workspace says besides: agents."""
MAX_FILE_BYTES = 1024 * 1024
ENVIRONMENT = {"ODIN_MODEL": "model", "ODIN_SMALL_MODEL": "smallModel", "ODIN_TITLES": "titles"}
NOT_TAKEN = {"workspace": ("keys", "network", "web", "publish"), "editor": ("publish",)}
"""What would lead the user's keys elsewhere, or Odin into the user's network. An editor may pass on what a workspace
says."""
ADDED_UP = ("forbidden_commands", "rules", "deny")
"""Lists that grow from layer to layer: nobody takes back what another has forbidden."""

UNTIL_TRUSTED = "until you trust this workspace"
Origin = Literal["user", "workspace", "editor", "environment", "flags"]
Place = tuple[str | int, ...]
S = TypeVar("S", bound="Section")


def _words(text: str) -> str:
    from odin_lsp.patterns import CommandPattern

    try:
        CommandPattern.of(text)
    except ValueError as error:
        raise PydanticCustomError("words", "{why}", {"why": str(error)}) from None
    return text


CommandWords = Annotated[str, AfterValidator(_words)]


class Section(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", frozen=True, defer_build=True, allow_inf_nan=False
    )


class Limits(Section):
    max_turns: int = Field(default=100, ge=0)
    """Steps of the planner in one turn; 0 is unlimited."""
    max_budget_usd: float = Field(default=0.0, ge=0)
    """Dollars in one turn; 0 is unlimited."""
    max_context: int = Field(default=0, ge=0)
    """Tokens of a request at most; 0: the model's window."""
    max_tokens: int = Field(default=8192, ge=1)
    """Tokens the model may write in one step."""
    max_retries: int = Field(default=60, ge=0)
    """Requests of one turn that failed and are made again, those of its helpers included; 0 is unlimited."""


class Timeouts(Section):
    client: float = Field(default=10.0, gt=0)
    """Seconds for what the editor answers by itself."""
    person: float | None = Field(default=None, gt=0)
    """Seconds for what a person decides; none: as long as it takes."""
    idle: float = Field(default=300.0, gt=0)
    """Seconds of silence after which a model's stream is given up."""


class Network(Section):
    proxy: str | None = None
    """URL of an HTTP proxy; without it HTTPS_PROXY and its kin are used."""
    ca_bundle: str | None = None
    """PEM file of the certificate authorities to trust; without it SSL_CERT_FILE is used."""


class WebSettings(Section):
    private_hosts: tuple[str, ...] = ()
    """Hosts that may be fetched although their addresses are private: `localhost:8000`, `wiki.example.org`."""
    timeout: float = Field(default=30.0, gt=0, le=300)
    """Seconds for one page with all its redirects."""
    max_bytes: int = Field(default=10 * 1024 * 1024, ge=1024, le=100 * 1024 * 1024)
    """Of one page, packed or unpacked; the rest is left out."""


class Retries(Section):
    attempts: int = Field(default=6, ge=1, le=20)
    """Tries of one request over all keys and models, the first included."""
    longest_wait: float = Field(default=60.0, ge=0)
    """Seconds: a provider that asks for more is given up in favour of the next model."""


class CacheSettings(Section):
    max_cache_size: int = Field(default=100 * 1024 * 1024, ge=0)
    """Bytes of all files together."""
    max_file_size: int = Field(default=10 * 1024 * 1024, ge=0)
    """Bytes of one file; of larger ones only parts are kept."""
    max_entries: int = Field(default=500, ge=1)
    """Files."""
    max_segments: int = Field(default=50, ge=1)
    """Parts of one file."""
    eviction_policy: Literal["lru", "lfu", "hybrid"] = "hybrid"
    """What leaves first: the least recent, the least frequent, or the least recent that was not modified."""
    ttl: float = Field(default=0.0, ge=0)
    """Seconds after which a file is read again in any case; 0 is never."""
    auto_refresh: bool = True
    """Compare with the disk at each read; without it only when something says that the file has changed."""


class ReviewSettings(Section):
    policy: Literal["each", "end", "auto"] = "each"
    """When edits are reviewed: those of each step before the next, all of a turn at its end, or not at all
    (`odin.undoTurn` takes them back). Files that are code for Odin, the editor or git are asked about in any case."""
    save: Literal["touched", "ask", "never"] = "touched"
    """Whether the documents that Odin has changed are saved, before a command runs and at the end of a turn."""
    undo_days: int = Field(default=30, ge=0)
    """Days for which a turn can be taken back (`odin.undoTurn`)."""
    undo_bytes: int = Field(default=256 * 1024 * 1024, ge=0)
    """Bytes that are kept for that, of all turns together: the oldest go first. What would be more by itself is changed
    without a way back, which its review says."""


class CommandSettings(Section):
    timeout: float = Field(default=120.0, gt=0, le=600)
    """Seconds after which a command is ended, unless the model asks for another time; 600 at most."""
    network: bool = False
    """Whether a command in the sandbox may use the network."""
    environment: tuple[str, ...] = ()
    """Variables that commands get although they look like secrets, such as `SSH_AUTH_SOCK`."""


class PublishSettings(Section):
    redis: str | None = None
    """Where events are added to a stream: `redis://…`, `rediss://…` or `unix://…`. Without it: nowhere."""
    stream: str = Field(default="odin:events", min_length=1)
    """The stream's name."""
    content: bool = False
    """Whether prompts, answers, names and texts of files are published too; what looks like a secret never is."""


class SubagentSettings(Section):
    at_once: int = Field(default=8, ge=1, le=32)
    """Helpers that work at the same time."""
    per_turn: int = Field(default=24, ge=0, le=200)
    """Helpers of one turn, at most."""


class FileRules(Section):
    deny: tuple[str, ...] = ()
    """Files that no tool reads or finds, as in a `.gitignore`; also absolute, or with `~` or `$HOME`."""
    allow: tuple[str, ...] = ()
    """Files that may be read although they look like secrets."""
    _denials: tuple[tuple[str, ...], ...] = PrivateAttr(default=())

    @property
    def denials(self) -> tuple[tuple[str, ...], ...]:
        """`deny`, each layer's patterns by themselves: with `!` a layer takes back what it has said, and no more."""
        return self._denials or ((self.deny,) if self.deny else ())

    def denied_by(self, denials: tuple[tuple[str, ...], ...]) -> "FileRules":
        rules = self.model_copy()
        rules._denials = denials
        return rules


class RuleExamples(Section):
    match: tuple[str, ...] = ()
    """Commands, paths or hosts that the rule is meant for."""
    not_match: tuple[str, ...] = ()
    """Others, that it is not meant for."""


class RuleSettings(Section):
    tool: str = Field(min_length=1)
    """The tool's name; `*` is every tool."""
    pattern: str | None = None
    """Of `ExecuteCommand`: the words that a command starts with; `*` is any text in a word."""
    path: str | None = None
    """The file, as in a `.gitignore`; of `ExecuteCommand` the folder it runs in."""
    host: str | None = None
    """Of `WebFetch`: the host; `*.example.com` is every host below it."""
    modes: tuple[Literal["ask", "plan", "edit"], ...] = ()
    """Where the rule counts; empty: everywhere."""
    decision: Literal["allow", "ask", "deny"]
    reason: str = ""
    """What the model and the user are told."""
    examples: RuleExamples = Field(default_factory=RuleExamples.model_construct)
    """Checked when the rule is read: if one fails, the rule is refused."""

    @model_validator(mode="after")
    def _holds(self) -> "RuleSettings":
        from odin_lsp.patterns import CommandPattern, host_matches, path_matches

        def matches(example: str) -> bool:
            if self.pattern is not None:
                words, pattern = shlex.split(example), CommandPattern.of(self.pattern)
                return pattern.covers(words) if self.decision == "allow" else pattern.reaches(words)
            if self.path is not None:
                return path_matches(self.path, example)
            return self.host is None or host_matches(self.host, example)

        try:
            wrong = [it for it in self.examples.match if not matches(it)]
            wrong += [it for it in self.examples.not_match if matches(it)]
            matches("")
        except ValueError as error:
            raise PydanticCustomError("rule", "{name}: {why}", {"name": self._name, "why": str(error)}) from None
        if wrong:
            raise PydanticCustomError(
                "rule", "{name} does not hold for its example `{example}`", {"name": self._name, "example": wrong[0]}
            )
        return self

    @property
    def _name(self) -> str:
        about = " ".join(filter(None, (self.pattern, self.path, self.host)))
        return f"the rule to {self.decision} {self.tool}{f' `{about}`' if about else ''}"


class Config(Section):
    model: str | None = None
    """The planner's model, `provider/model[@effort]`. Without it: of the provider with a key, else `offline/odin`."""
    small_model: str | None = None
    """The model for everything else: titles, summaries, digests."""
    memory: bool = True
    """Whether Odin takes notes on a workspace, and begins sessions with them."""
    memory_in_ask: bool = False
    """Whether Ask may take and drop notes too; otherwise it only reads them."""
    titles: bool = True
    """Whether the small model names each session; otherwise it is called by the first words that you said."""
    fallback_models: tuple[str, ...] = ()
    """Models to try in this order when `model` cannot be reached."""
    keys: Mapping[Literal["anthropic", "google", "openai"], tuple[str, ...]] = {}
    """Names of environment variables that hold a provider's keys, in the order to use them."""
    network: Network = Field(default_factory=Network.model_construct)
    web: WebSettings = Field(default_factory=WebSettings.model_construct)
    limits: Limits = Field(default_factory=Limits.model_construct)
    timeouts: Timeouts = Field(default_factory=Timeouts.model_construct)
    retries: Retries = Field(default_factory=Retries.model_construct)
    cache: CacheSettings = Field(default_factory=CacheSettings.model_construct)
    review: ReviewSettings = Field(default_factory=ReviewSettings.model_construct)
    subagent_model: str | None = None
    """The model of helpers. Without it: `smallModel` where they only read, `model` where they edit."""
    subagents: SubagentSettings = Field(default_factory=SubagentSettings.model_construct)
    publish: PublishSettings = Field(default_factory=PublishSettings.model_construct)
    files: FileRules = Field(default_factory=FileRules.model_construct)
    sandbox: bool = False
    """Whether commands in Edit mode can change nothing but the workspace. In Ask and Plan they can change nothing."""
    commands: CommandSettings = Field(default_factory=CommandSettings.model_construct)
    allowed_commands: tuple[CommandWords, ...] = ()
    """Commands that run without asking in Edit mode, by the words they start with; `*` is any text in a word."""
    forbidden_commands: tuple[CommandWords, ...] = ()
    """Commands that never run, in whatever they are wrapped."""
    rules: tuple[RuleSettings, ...] = ()
    """What tools may do, in order: any `deny` wins, then the last rule that matches."""
    _fixed: frozenset[str] = PrivateAttr(default=frozenset())

    @property
    def fixed(self) -> frozenset[str]:
        """Fields that the environment or the command line has set: what the user picks does not go before these."""
        return self._fixed

    def with_fixed(self, names: Iterable[str]) -> "Config":
        config = self.model_copy()
        config._fixed = frozenset(names)
        return config


@dataclass(frozen=True, slots=True)
class Leave:
    """What a workspace may say of a setting before it is trusted."""

    part: Callable[[Any, Any], Any] = lambda _below, _said: None
    """Of what is in force without it and what it says: so much of the latter as counts; `None`: nothing."""
    otherwise: str = "`{}` is not used"
    """What the user is told of the rest."""


def _lowered(below: float, said: float) -> float | None:
    """0 is no limit."""
    return said if not below or 0 < said <= below else None


def _unscripted(_: object, said: str | tuple[str, ...] | None) -> str | tuple[str, ...] | None:
    named = (said,) if isinstance(said, str) else said or ()
    return None if any(it.startswith("scripted/") for it in named) else said


UNTRUSTED: Mapping[str, Leave] = {
    **dict.fromkeys(("model", "small_model", "fallback_models"), Leave(_unscripted, "`{}`: a script is not used")),
    **{f"limits.{name}": Leave(_lowered, "`{}` may only be lowered") for name in Limits.model_fields},
    "rules": Leave(lambda _, said: tuple(it for it in said if it.decision != "allow"), "`{}` that allow are not used"),
    "forbidden_commands": Leave(lambda _, said: said),
    "files.deny": Leave(lambda _, said: said),
}
"""All that counts of a workspace before it is trusted: what is not here does not. The values are compared as they were
understood, never as they are written."""


@dataclass(frozen=True, slots=True)
class Layer:
    origin: Origin
    name: str
    """What a person calls it: a path, or `the editor's settings`."""
    values: Mapping[str, Any]
    lines: Mapping[Place, int]


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    source: str
    line: int | None
    message: str
    needs_trust: bool = False
    """It would be used in a workspace that the user trusts."""

    def __str__(self) -> str:
        return f"{self.source}{f':{self.line}' if self.line else ''}: {self.message}"


def user_file() -> Path:
    return Path(platformdirs.user_config_dir("odin", appauthor=False)) / FILE_NAME


def load(
    root: Path | None,
    *,
    settings: Mapping[str, Any] | None = None,
    flags: Mapping[str, Any] | None = None,
    trusted: bool = False,
    user: Path | None = None,
) -> tuple[Config, tuple[ConfigProblem, ...]]:
    """The settings in force for the workspace at `root`, and what was wrong with them. `user` stands for the user's."""
    problems: list[ConfigProblem] = []
    layers = [_file("user", user or user_file(), problems)]
    if root is not None:
        layers.append(_file("workspace", root / FILE_NAME, problems))
    environment = {key: os.environ[name] for name, key in ENVIRONMENT.items() if os.environ.get(name)}
    layers += [
        Layer("editor", "the editor's settings", settings or {}, {}),
        Layer("environment", "the environment", environment, {}),
        Layer("flags", "the command line", flags or {}, {}),
    ]
    config = Config.model_construct()  # defaults need no check, and the machinery for it takes a while to set up
    for layer in layers:
        config = _apply(config, layer, trusted=trusted, problems=problems)
    insisted = {key for layer in layers if layer.origin in ("environment", "flags") for key in layer.values}
    return config.with_fixed(name for name in Config.model_fields if to_camel(name) in insisted), tuple(problems)


def variable_of(field: str) -> str:
    """The environment variable that sets the field."""
    return next(name for name, key in ENVIRONMENT.items() if key == to_camel(field))


def schema() -> dict[str, Any]:
    """JSON Schema of the file, for editors."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **json_schema(Config)}


def _file(origin: Origin, path: Path, problems: list[ConfigProblem]) -> Layer:
    nothing = Layer(origin, str(path), {}, {})

    def fail(message: str, line: int | None = None) -> Layer:
        problems.append(ConfigProblem(str(path), line, f"{message}; the file is not used"))
        return nothing

    try:
        content = content_of(path)
        if content is None:
            return fail("it is not an ordinary file")
        if len(content) > MAX_FILE_BYTES:
            return fail("it is larger than 1 MiB")
        text = content.decode("utf-8-sig")
        values = json.loads(text)
        places = list(_places(text))
    except FileNotFoundError:
        return nothing
    except OSError as error:
        return fail(f"it cannot be read ({error.strerror})")
    except UnicodeDecodeError:
        return fail("it is not UTF-8")
    except json.JSONDecodeError as error:
        return fail(f"not valid JSON: {error.msg}", error.lineno)
    except RecursionError:
        return fail("it is nested too deeply")
    except ValueError as error:
        return fail(f"not valid JSON: {error}")
    if not is_object(values):
        return fail("it is not a JSON object", 1)
    lines: dict[Place, int] = {}
    for place, line in places:
        if place in lines:
            problems.append(ConfigProblem(str(path), line, f"`{_dotted(place)}` stands here twice; this one counts"))
        lines[place] = line
    values.pop("$schema", None)
    return Layer(origin, str(path), values, lines)


def content_of(path: Path) -> bytes | None:
    """Its beginning, one byte more than it may have; `None` for what is no file."""
    return start_of(path, MAX_FILE_BYTES + 1)


def _apply(config: Config, layer: Layer, *, trusted: bool, problems: list[ConfigProblem]) -> Config:
    """`config` with the layer's good values over it."""
    if not layer.values:
        return config
    values = json.loads(json.dumps(layer.values))

    def report(place: Place, message: str) -> None:
        needs_trust = message.endswith(UNTIL_TRUSTED)
        problems.append(ConfigProblem(layer.name, layer.lines.get(place), message, needs_trust))

    for key in NOT_TAKEN.get(layer.origin, ()):
        if key in values:
            del values[key]
            source = "an editor" if layer.origin == "editor" else "a workspace"
            report((key,), f"`{key}` is not taken from {source}; set it in {user_file()}")
    given = _checked(values, report)
    if layer.origin == "workspace" and not trusted:
        given = _restricted(given, config, report)
    return _laid_over(given, config)


def _checked(values: dict[str, Any], report: Callable[[Place, str], None]) -> Config:
    """What the values mean, without those that are wrong."""
    while True:
        try:
            return Config.model_validate(values)
        except ValidationError as error:
            faults = list(reversed(error.errors()))
        if any(item["loc"][:1] in (("forbiddenCommands",), ("rules",)) for item in faults):
            _be_strict(values, report)
        for item, place in _drop_all(values, faults):
            report(place, f"{problem(item)}{_consequence(item)}")


def _be_strict(values: dict[str, Any], report: Callable[[Place, str], None]) -> None:
    """Something that was meant to forbid cannot be read: then nothing beside it allows either."""
    if values.pop("allowedCommands", None):
        report(("allowedCommands",), "`allowedCommands` is not used while what is forbidden here cannot be read")


def _restricted(given: S, below: S, report: Callable[[Place, str], None], place: tuple[str, ...] = ()) -> S:
    """What counts of a workspace's settings before it is trusted, over those that are in force without them."""
    counts: dict[str, Any] = {}
    for name in filter(given.model_fields_set.__contains__, type(given).model_fields):
        said, old, here = getattr(given, name), getattr(below, name), (*place, name)
        if isinstance(said, Section):
            counts[name] = _restricted(said, old, report, here)
            continue
        leave = UNTRUSTED.get(".".join(here), Leave())
        part = leave.part(old, said)
        if part != said:
            key = tuple(map(to_camel, here))
            report(key, f"{leave.otherwise.format(_dotted(key))} {UNTIL_TRUSTED}")
        if part is not None:
            counts[name] = part
    return given.model_construct(**counts)


def _laid_over(given: S, below: S) -> S:
    """`below`, with all that is set in `given`."""
    changes: dict[str, Any] = {}
    for name in given.model_fields_set:
        new, old = getattr(given, name), getattr(below, name)
        if isinstance(old, Section):
            changes[name] = _laid_over(new, old)
            if isinstance(old, FileRules):
                changes[name] = changes[name].denied_by((*old.denials, *new.denials))
        elif name in ADDED_UP:
            changes[name] = (*old, *new)
        else:
            changes[name] = {**old, **new} if is_object(old) else new
    return below.model_copy(update=changes)


def _consequence(fault: Any) -> str:
    if _is_in_rule(fault["loc"]):
        return "; the rule is not used"
    return "" if fault["type"] == "extra_forbidden" else "; it is not used"


def _is_in_rule(loc: Place) -> bool:
    return loc[:1] == ("rules",) and len(loc) > 1


def _drop_all(values: dict[str, Any], faults: Sequence[Any]) -> Iterator[tuple[Any, Place]]:
    """Remove what is wrong, the last first; each fault with the place of its key. A rule without its bad part could
    say more than it should, so all of it goes."""
    gone: set[Place] = set()
    for fault, loc in [(it, _standing(values, it["loc"][: 2 if _is_in_rule(it["loc"]) else None])) for it in faults]:
        if not any(loc[:length] in gone for length in range(len(loc) + 1)):
            gone.add(loc)
            _drop(values, loc)
        yield fault, tuple(takewhile(lambda part: isinstance(part, str), loc))


def _standing(values: Any, loc: Place) -> Place:
    """As much of `loc` as there is: what is missing is a fault of what it is missing in."""
    inner: Any = values
    for depth, part in enumerate(loc):
        try:
            inner = inner[part]
        except (KeyError, IndexError, TypeError):
            return loc[:depth]
    return loc


def _drop(values: Any, loc: Place) -> None:
    if not loc:
        values.clear()
    elif len(loc) == 1:
        del values[loc[0]]
    else:
        _drop(values[loc[0]], loc[1:])


def _dotted(place: Place) -> str:
    return ".".join(str(part) for part in place)


def _places(text: str) -> Iterator[tuple[Place, int]]:
    """Where each key of a valid JSON text stands: its path and its line."""
    decoder = json.JSONDecoder()
    ends = [found.start() for found in re.finditer("\n", text)]

    def skip(at: int) -> int:
        while at < len(text) and text[at] in " \t\r\n\ufeff":
            at += 1
        return at

    def value(at: int, place: Place) -> Iterator[tuple[Place, int]]:
        """Yields the places below; the end is kept in `end`."""
        nonlocal end
        at = skip(at)
        if text[at] not in "{[":
            end = decoder.raw_decode(text, at)[1]
            return
        closing, index, at = ("}" if text[at] == "{" else "]"), 0, skip(at + 1)
        while text[at] != closing:
            key: str | int = index
            if closing == "}":
                key, after = decoder.raw_decode(text, at)
                yield (*place, key), bisect_left(ends, at) + 1
                at = skip(after) + 1
            yield from value(at, (*place, key))
            at, index = skip(end), index + 1
            if text[at] == ",":
                at = skip(at + 1)
        end = at + 1

    end = 0
    yield from value(0, ())
