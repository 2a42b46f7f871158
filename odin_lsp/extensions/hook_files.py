"""Hooks as Claude Code's settings have them: commands that are asked at points of a turn."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odin_lsp.brought import MAX_WORDS, BroughtItem, identify
from odin_lsp.extensions.front_matter import Misunderstood
from odin_lsp.extensions.hook_events import EVENTS
from odin_lsp.extensions.json_files import object_of
from odin_lsp.extensions.places import Brought
from odin_lsp.named_files import LookupBudget, named_files
from odin_lsp.values import is_list, is_object
from odin_lsp.workspace.uris import printable

SECONDS = 60.0
MAX_SECONDS = 600.0
MAX_HOOKS = 50
"""Of one file: nobody could judge more of them."""
MAX_MATCHER = 500
"""Characters: to compile a longer one takes a while."""
ALL = ("", "*")
_NAMES = re.compile(r"[\w|, -]*")


@dataclass(frozen=True, slots=True)
class CommandHook:
    event: str
    matcher: str
    """Which tools, or which of what the event is about: a name, several with `|`, what a regular expression is found
    in; one of `ALL`: all."""
    command: str
    timeout: float
    source: Brought
    agreed_as: str = ""
    """Of a project's: the id of what the user has agreed to."""

    @property
    def name(self) -> str:
        return f"{self.event}{f'({self.matcher})' if self.matcher else ''}: {self.command}"

    def is_for(self, *names: str) -> bool:
        """Whether one of these is meant: a tool has its own name, and that which others give it."""
        if self.matcher in ALL:
            return True
        if _NAMES.fullmatch(self.matcher):
            return bool({it.strip() for it in re.split(r"[|,]", self.matcher)}.intersection(names))
        return any(re.search(self.matcher, name) for name in names)


def describe_hook(hook: CommandHook, root: Path, budget: LookupBudget | None = None) -> BroughtItem:
    """Describe a project's hook as it takes effect now, with the files that its command names. Raises
    `TooManyNames`."""
    files = named_files(root, hook.command, budget=budget)
    where = f"{hook.event}({hook.matcher})" if hook.matcher else hook.event
    return BroughtItem(
        id=identify("hook", [hook.event, hook.matcher, hook.command, hook.timeout], files),
        kind="hook",
        name=where,
        what=f"{where} runs: {hook.command}",
        program=hook.command,
        file=printable(str(hook.source.path.relative_to(root.resolve()))),
        includes=tuple(files),
    )


def hooks_of(file: Brought) -> tuple[list[CommandHook], list[str]]:
    """Those that can be run, and what is wrong with the others. Raises `Misunderstood`."""
    settings = object_of(file)
    events = settings.get("hooks", {})
    if settings.get("disableAllHooks") is True:
        return [], []
    if not is_object(events):
        raise Misunderstood("`hooks` must be an object, with the names of events as keys")
    hooks: list[CommandHook] = []
    problems: list[str] = []
    for event, groups in events.items():
        if event not in EVENTS:
            problems.append(f"{event}: nothing in Odin corresponds to this event")
            continue
        for matcher, entry in _entries(event, groups, problems):
            hook = _hook(event, matcher, entry, file, problems)
            hooks += [hook] if hook else []
    if len(hooks) > MAX_HOOKS:
        problems.append(f"{len(hooks):,} hooks: only the first {MAX_HOOKS} are used")
    return hooks[:MAX_HOOKS], problems


def what_counts(file: Brought) -> bytes:
    """The part of a file that describes hooks: others keep settings of all kinds in it, and change them often."""
    try:
        hooks = object_of(file).get("hooks")
    except Misunderstood:
        return file.content
    return json.dumps(hooks, sort_keys=True).encode() if hooks else b""


def _entries(event: str, groups: Any, problems: list[str]) -> Iterator[tuple[str, Any]]:
    if not is_list(groups):
        problems.append(f"{event}: a list is wanted")
        return
    for group in groups:
        entries = group.get("hooks") if is_object(group) else None
        matcher = group.get("matcher", "") if is_object(group) else ""
        if not is_list(entries) or not isinstance(matcher, str):
            problems.append(f"{event}: each entry is {{matcher, hooks: [...]}}")
            continue
        for entry in entries:
            yield matcher, entry


def _hook(event: str, matcher: str, entry: Any, file: Brought, problems: list[str]) -> CommandHook | None:
    if not is_object(entry) or entry.get("type", "command") != "command":
        kind = entry.get("type") if is_object(entry) else entry
        problems.append(f"{event}: hooks of type {kind!r} are not run, only commands are")
        return None
    command, timeout = entry.get("command"), entry.get("timeout", SECONDS)
    if not isinstance(command, str) or not command.strip():
        problems.append(f"{event}: `command` is missing")
        return None
    if len(command) + len(matcher) > MAX_WORDS:
        problems.append(f"{event}: `command` has more than {MAX_WORDS:,} characters; put it into a script")
        return None
    if len(matcher) > MAX_MATCHER:
        problems.append(f"{event}: a matcher has more than {MAX_MATCHER} characters")
        return None
    try:
        re.compile("" if matcher in ALL else matcher)
    except (re.error, RecursionError, OverflowError):
        problems.append(f"{event}: matcher {matcher!r} is no regular expression")
        return None
    seconds = min(timeout, MAX_SECONDS) if isinstance(timeout, int | float) and timeout > 0 else SECONDS
    return CommandHook(event, matcher, command, float(seconds), file)
