"""After any changes of folders, settings, trust and models, a running Odin cannot be told from one that was started
just then."""

import asyncio
import json
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odin_lsp.agent.core import Core
from odin_lsp.agent.turn import UserMessage
from odin_lsp.errors import OdinError
from odin_lsp.modes import MODES
from odin_lsp.project.project import Project, Told
from odin_lsp.terminal.editor import TerminalEditor
from tests.support.project import take
from tests.support.sampling import fewer

FOLDERS = ("one", "two", "three")
COMMANDS = ("make", "rm x", "cat a.txt", "git status", "curl http://example.org")
SETTINGS = (
    {},
    {"files": {"deny": ["a.txt"]}},
    {"files": {"deny": ["*.md"], "allow": [".env"]}},
    {"allowedCommands": ["make"], "forbiddenCommands": ["cat"]},
    {"rules": [{"tool": "ExecuteCommand", "pattern": "rm", "decision": "allow"}]},
    {"cache": {"maxFileSize": 3, "evictionPolicy": "lfu"}, "memory": False},
    {"web": {"privateHosts": ["localhost"]}, "timeouts": {"idle": 7}, "limits": {"maxTurns": 2}},
    {"model": "offline/named", "smallModel": "offline/small", "fallbackModels": ["offline/fallback"]},
    {"languageServers": {"timeout": 3, "servers": {"pyright": {"enabled": False}}}},
    {"no": "such setting"},
)
AGENT = "---\nname: reviewer\ndescription: reads {}\nmode: ask\n---\nRead."

folders = st.sampled_from(FOLDERS)
ACTS = st.one_of(
    st.tuples(st.just("open"), folders),
    st.tuples(st.just("close"), folders),
    st.tuples(st.just("editor"), st.sampled_from(SETTINGS)),
    st.tuples(st.just("write"), st.tuples(folders, st.sampled_from((None, *SETTINGS)))),
    st.tuples(st.just("agents"), st.tuples(folders, st.integers(0, 2))),
    st.tuples(st.just("trust"), st.booleans()),
    st.tuples(st.just("pick"), st.sampled_from(("offline/picked", "offline/another", ""))),
    st.tuples(st.just("turn"), st.none()),
)


@pytest.mark.thorough
@settings(max_examples=max(fewer(60), settings().max_examples // 4), deadline=None)
@given(st.lists(ACTS, max_size=10), st.sampled_from((None, True, False)))
def test_restart_equivalence(acts, trusted):
    with tempfile.TemporaryDirectory() as place, patch.dict(os.environ, {"XDG_STATE_HOME": f"{place}/state"}):
        asyncio.run(_compare(Path(place), acts, trusted))


async def _compare(place, acts, trusted):
    for name in FOLDERS:
        (place / name).mkdir()
        for file, text in (("a.txt", "hello\n"), ("ODIN.md", f"Rules of {name}.\n"), (".env", "KEY=1\n")):
            (place / name / file).write_text(text)
    project = Project(Told(roots=(place / "one",), trusted=trusted))
    running = Core(project, TerminalEditor("no"))
    try:
        for number, (act, value) in enumerate(acts):
            await _do(running, project, place, act, value, number)
        project.keep_trust()
        fresh = Core(Project(project._told), TerminalEditor("no"))
        try:
            assert await _observed(running, place) == await _observed(fresh, place)
        finally:
            await fresh.close()
    finally:
        await running.close()


async def _do(core, project, place, act, value, number):
    match act:
        case "open":
            project.change_folders((), (place / value,))
        case "close":
            project.change_folders((place / value,), ())
        case "editor":
            project.tell(settings=value)
        case "write":
            file = place / value[0] / "odinconfig.json"
            file.unlink(missing_ok=True)
            if value[1] is not None:
                file.write_text(json.dumps(value[1]))
            project.look()
        case "agents":
            file = place / value[0] / ".odin" / "agents" / "reviewer.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(AGENT.format(value[1]))
            project.look()
        case "trust":
            project.decide_trust(trusted=value)
        case "pick":
            project.pick({"model": value})
        case "turn":
            await take(core, UserMessage(turn_id=str(number), text="where is hello?", mode="ask_mode"))


async def _observed(core, place):
    """What a person or a model can tell of it."""
    now, live = core.project.now, core.sessions.current or core.sessions.begin()
    previews = [await core.preview(None, mode, "hello") for mode in MODES.values()]
    names = [str(place / folder / file) for folder in FOLDERS for file in ("a.txt", "ODIN.md", ".env")]
    cwd = now.root or place
    return {
        "now": now,
        "sent": [[(it.name, it.content) for it in seen.parts if it.kind != "message"] for seen in previews],
        "extensions": replace(live.scope.briefing.extensions, listed=()),
        "read": {name: _read(core, name) for name in names},
        "judged": {
            (command, mode): live.scope.commands.judge(command, mode, cwd, now.roots).decision
            for command in COMMANDS
            for mode in MODES.values()
        },
        "models": (core.models.selected, core.models.running, core.models.available, core.models.small.status()),
        "cache": core.files.cache.settings,
        "pages": core.pages._settings,
        "servers": core.own_servers._around,
        "sessions": core.sessions.folder,
    }


def _read(core, name):
    try:
        place = core.files.resolve(name)
        return place.inside, core.files.read(place.path).text
    except OdinError as error:
        return str(error)
