"""The settings in force: those of the user's file, the workspace's, the editor, the environment and the command line,
each over the ones before. A bad value is reported by its name and line, and its default is used."""

import json
import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from odin_lsp import state_folder
from odin_lsp.brought import BroughtItem
from odin_lsp.config.places import Place, dotted, places
from odin_lsp.config.rules import FileRules, RuleOrigin
from odin_lsp.config.schema import Config
from odin_lsp.config.section import Section
from odin_lsp.config.untrusted import restrict
from odin_lsp.foreign_data import ForeignDataError, parse_foreign_json
from odin_lsp.reading import start_of
from odin_lsp.values import is_object, problem

FILE_NAME = "odinconfig.json"
NOT_ALLOWING = (
    "`allowedCommands` is ignored because `forbiddenCommands` or `rules` in this file has an error; correct that first"
)
FOLDER = ".odin"
"""What a workspace says besides: agents."""
MAX_FILE_BYTES = 1024 * 1024
MAX_VALUES = 2_000
"""Members and items of a workspace's file, each of which may be wrong and told. The user may have more."""
MAX_PROBLEMS = 20
"""Of which each is told to the user."""
ENVIRONMENT = {
    "ODIN_MODEL": "model",
    "ODIN_SMALL_MODEL": "smallModel",
    "ODIN_TITLES": "titles",
    "ODIN_LOG": "logLevel",
}
NOT_TAKEN = {
    "workspace": (
        *("keys", "keyHelpers", "platforms", "network", "web", "webSearch", "publish", "host", "ide"),
        "mcp.variables",
    ),
    "editor": ("keyHelpers", "publish", "mcp.variables"),
}
"""What would lead the user's keys elsewhere, or Odin into the user's network, or run a program. An editor may pass on
what a workspace says."""
ADDED_UP = ("forbidden_commands", "rules", "deny", "disabled", "disabled_in", "disabled_tools")
"""Lists that grow from layer to layer: nobody takes back what another has forbidden."""

Origin = Literal["user", "workspace", "editor", "environment", "flags"]
S = TypeVar("S", bound=Section)


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
    item: BroughtItem | None = None
    """What would be used if the user agreed to it."""

    @property
    def needs_trust(self) -> bool:
        return self.item is not None

    def __str__(self) -> str:
        return f"{self.source}{f':{self.line}' if self.line else ''}: {self.message}"


def problems_told(problems: Iterable[ConfigProblem]) -> Iterator[str]:
    """What is wrong with the settings; what counts only if the folder is trusted is a thing that it brings."""
    listed = [it for it in problems if not it.needs_trust]
    yield from map(str, listed[:MAX_PROBLEMS])
    if (more := len(listed) - MAX_PROBLEMS) > 0:
        yield f"{more:,} more problems with the settings; `odin-lsp doctor` names them"


def user_file() -> Path:
    return state_folder.settings_file()


def load(
    root: Path | None,
    *,
    settings: Mapping[str, Any] | None = None,
    flags: Mapping[str, Any] | None = None,
    agreed: Container[str] = (),
    user: Path | None = None,
) -> tuple[Config, tuple[ConfigProblem, ...]]:
    """The settings in force for the workspace at `root`, and what was wrong with them. `agreed`: ids of what counts of
    the workspace's although it does not restrict. `user` stands for the user's."""
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
        config = _apply(config, layer, agreed, problems)
    insisted = {key for layer in layers if layer.origin in ("environment", "flags") for key in layer.values}
    return config.with_fixed(name for name in Config.model_fields if to_camel(name) in insisted), tuple(problems)


def brought_settings(root: Path) -> list[BroughtItem]:
    """All that the settings of a workspace would do besides restricting."""
    return [it.item for it in load(root)[1] if it.item is not None]


def variable_of(field: str) -> str:
    """The environment variable that sets the field."""
    return next(name for name, key in ENVIRONMENT.items() if key == to_camel(field))


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
        values = parse_foreign_json(text, max_values=MAX_VALUES if origin == "workspace" else None)
        keys = list(places(text))
    except FileNotFoundError:
        return nothing
    except OSError as error:
        return fail(f"it cannot be read ({error.strerror})")
    except UnicodeDecodeError:
        return fail("it is not UTF-8")
    except ForeignDataError as error:
        return fail(str(error), error.line)
    if not is_object(values):
        return fail("it is not a JSON object", 1)
    lines: dict[Place, int] = {}
    for place, line in keys:
        if place in lines:
            problems.append(ConfigProblem(str(path), line, f"`{dotted(place)}` stands here twice; this one counts"))
        lines[place] = line
    values.pop("$schema", None)
    return Layer(origin, str(path), values, lines)


def content_of(path: Path) -> bytes | None:
    """Its beginning, one byte more than it may have; `None` for what is no file."""
    return start_of(path, MAX_FILE_BYTES + 1)


def _apply(config: Config, layer: Layer, agreed: Container[str], problems: list[ConfigProblem]) -> Config:
    """`config` with the layer's good values over it."""
    if not layer.values:
        return config
    values = json.loads(json.dumps(layer.values))

    def report(place: Place, message: str) -> None:
        problems.append(ConfigProblem(layer.name, layer.lines.get(place), message))

    def report_item(place: Place, message: str, item: BroughtItem | None) -> None:
        if item is None:
            report(place, message)
        elif item.id not in agreed:
            line = layer.lines.get(place)
            problems.append(ConfigProblem(layer.name, line, message, replace(item, file=FILE_NAME)))

    for key in NOT_TAKEN.get(layer.origin, ()):
        *outer, last = place = tuple(key.split("."))
        inner = values
        for part in outer:
            inner = inner.get(part) if is_object(inner) else None
        if is_object(inner) and last in inner:
            del inner[last]
            source = "an editor" if layer.origin == "editor" else "a workspace"
            report(place, f"`{key}` is not taken from {source}; set it in {user_file()}")
    given = _checked(values, report)
    if layer.origin == "workspace":
        given = restrict(given, config, Path(layer.name).parent, agreed, report_item)
    if layer.origin in ("workspace", "editor"):
        given = _with_origin(given, layer.origin)
    return _laid_over(given, config)


def _with_origin(given: Config, origin: RuleOrigin) -> Config:
    """With rules that are known not to be the user's own: an editor may pass on what a workspace says."""
    changes: dict[str, Any] = {}
    if "rules" in given.model_fields_set:
        changes["rules"] = tuple(it.with_origin(origin) for it in given.rules)
    if "roles" in given.model_fields_set:
        changes["roles"] = {
            name: role.model_copy(update={"rules": tuple(it.with_origin(origin) for it in role.rules)})
            if "rules" in role.model_fields_set
            else role
            for name, role in given.roles.items()
        }
    return given.model_copy(update=changes)


def _checked(values: dict[str, Any], report: Callable[[Place, str], None]) -> Config:
    """What the values mean, without those that are wrong."""
    while True:
        try:
            return Config.model_validate(values)
        except ValidationError as error:
            faults = list(reversed(error.errors(include_url=False, include_context=False, include_input=False)))
        if any(item["loc"][:1] in (("forbiddenCommands",), ("rules",), ("roles",)) for item in faults):
            _be_strict(values, report)
        for item, place in _drop_all(values, faults):
            report(place, f"{problem(item)}{_consequence(item)}")


def _be_strict(values: dict[str, Any], report: Callable[[Place, str], None]) -> None:
    """Something that was meant to forbid cannot be read: then nothing beside it allows either."""
    if values.pop("allowedCommands", None):
        report(("allowedCommands",), NOT_ALLOWING)


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
            changes[name] = _added_up(old, new)
        elif name == "roles":
            changes[name] = old | {key: _laid_over(it, old[key]) if key in old else it for key, it in new.items()}
        else:
            changes[name] = {**old, **new} if is_object(old) else new
    return below.model_copy(update=changes)


def _added_up(old: Any, new: Any) -> Any:
    if is_object(old):
        return {key: (*old.get(key, ()), *new.get(key, ())) for key in {**old, **new}}
    return (*old, *new)


def _consequence(fault: Any) -> str:
    if _is_in_rule(fault["loc"]):
        return f"; the {fault['loc'][0].removesuffix('s')} is not used"
    return "" if fault["type"] == "extra_forbidden" else "; it is not used"


def _is_in_rule(loc: Place) -> bool:
    """Or in a role, which has rules."""
    return loc[:1] in (("rules",), ("roles",)) and len(loc) > 1


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
