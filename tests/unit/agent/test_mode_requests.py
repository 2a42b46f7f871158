"""What real requests list and say in each mode, to the agent that the user speaks with and to its helpers, whatever
came before them."""

import pytest

from odin_lsp.agent.prompt import prompt_text
from odin_lsp.agent.turn import Compact
from odin_lsp.config.schema import ToolSettings
from odin_lsp.library import DiskEditor
from odin_lsp.messages import Message, Text, ToolCall, ToolResult, user
from odin_lsp.models.base import Reply
from odin_lsp.modes import MODES

HELPERS = ["CommandStatus", "ContextSummarizer", "ExecuteCommand", "Glob", "Grep", "LS", "Lookup", "Read", "TodoWrite",
           "WebFetch"]  # fmt: skip
EDITING = [
    "DeleteFile", "EditTool", "InitTool", "MoveFile", "MultiEditTool", "Refactor", "ReplaceInFiles", "WriteFile"
]  # fmt: skip
LISTED = {
    False: (sorted([*HELPERS, "AgentTool", "AskUser", "Memory"]), EDITING),
    True: (HELPERS, EDITING),
}
"""What all modes have, and what Edit has besides; of helpers, where it is true."""
AS_IT_WAS = "<reminder>\n# Edit\nThe user wants a change. Make it with the tools.\nMode: edit_mode\n</reminder>"


class Worker:
    """Writes a file, or has a helper look around, when the user says so."""

    ref = "scripted/worker"

    def __init__(self, requests):
        self.requests = requests

    async def stream(self, request):
        self.requests.append(request)
        made = {
            "write": ToolCall("w", "WriteFile", {"file_path": "new.txt", "content": "x"}),
            **{
                f"delegate {mode}": ToolCall("a", "AgentTool", {"description": "d", "prompt": "look", "mode": mode})
                for mode in MODES
            },
        }
        call = made.get(words(request)) if request.tools else None
        yield Reply(Message("assistant", (call or Text("done " * 500),)), "tools" if call else "end")

    async def aclose(self):
        pass


@pytest.fixture
def requests(odin):
    """What the models are sent, of an Odin whose edits are made."""
    disk = DiskEditor()
    odin.person.apply, odin.person.save, odin.person.reload = disk.apply, disk.save, disk.reload
    odin.settings |= {"titles": False, "review": {"policy": "auto"}}
    sent = []
    listen(odin, sent)
    return sent


def listen(odin, sent):
    odin.start().models.get = lambda ref: Worker(sent)


def words(request):
    last = request.messages[-1].parts[-1]
    return last.text if isinstance(last, Text) else ""


async def fresh(odin, requests):
    """Nothing."""


async def after_edit(odin, requests):
    await odin.take("write", "edit_mode")
    assert (odin.root / "new.txt").read_text() == "x"


async def queued(odin, requests):
    odin.turns.start(odin.message("write", "edit_mode"))


async def resumed(odin, requests):
    await after_edit(odin, requests)
    session_id = odin.session.id
    await odin.core.close()
    odin.core = None
    listen(odin, requests)
    await odin.core.sessions.open(session_id)


async def forked(odin, requests):
    await after_edit(odin, requests)
    first = odin.session.id
    await odin.core.sessions.fork(first, None)
    assert odin.session.forked_from == first


async def compacted(odin, requests):
    await after_edit(odin, requests)
    for text in ("one", "two"):
        await odin.take(text, "edit_mode")
    await odin.turns.start(Compact().message("compact", "edit_mode")).outcome()
    assert odin.session.is_compacted


async def in_the_old_form(odin, requests):
    """When the mode was described beside each message."""
    odin.session.append(user(AS_IT_WAS, "write"))
    odin.session.append(Message("assistant", (ToolCall("w", "WriteFile", {"file_path": "new.txt", "content": "x"}),)))
    odin.session.append(Message("user", (ToolResult("w", "WriteFile", "written"),)))
    odin.session.append(Message("assistant", (Text("done"),)))
    await odin.core.sessions.fork(odin.session.id, None)


BEFORE = [fresh, after_edit, queued, resumed, forked, compacted, in_the_old_form]


@pytest.mark.parametrize("subagent", [False, True], ids=["main", "sub"])
@pytest.mark.parametrize("verb", MODES)
@pytest.mark.parametrize("before", BEFORE, ids=lambda it: it.__name__)
async def test_a_request_lists_what_its_mode_has_and_says_the_mode(odin, requests, verb, subagent, before):
    mode = MODES[verb]
    await before(odin, requests)

    await (odin.take(f"delegate {verb}", "edit_mode") if subagent else odin.take("look", mode))

    [request] = [it for it in requests if words(it) == "look"]
    shared, more = LISTED[subagent]
    assert [it.name for it in request.tools] == [*shared, *(more if mode == "edit_mode" else [])]
    assert request.shared_tools == len(shared)
    assert request.system[-1] == f"# Mode: {mode}\n{prompt_text(mode)}"
    others = [prompt_text(it) for it in MODES.values() if it != mode]
    assert not any(it in "".join(request.system) for it in others)
    assert request.messages[-1].text.splitlines().count(f"Mode: {mode}") == 1


async def test_what_all_modes_have_is_the_same_in_all_of_them_and_comes_first(odin, requests):
    (odin.root / "ODIN.md").write_text("Use tabs.")

    for mode in (*MODES.values(), *MODES.values()):
        await odin.take("look", mode)

    first, *later = requests
    for it in later:
        assert it.tools[: it.shared_tools] == first.tools[: first.shared_tools]
        assert it.system[:-1] == first.system[:-1]
        assert it.messages[: len(first.messages)] == first.messages
    assert "Use tabs." in first.system[-2]
    assert len({it.system[-1] for it in requests}) == len(MODES)


async def test_what_one_mode_alone_does_not_have_is_not_among_what_comes_first(odin, requests):
    odin.configure(tools=ToolSettings(disabledIn={"ask": ("Glob",)}))

    for mode in MODES.values():
        await odin.take("look", mode)

    ask, plan, edit = [[it.name for it in request.tools] for request in requests]
    assert ask == [it for it in LISTED[False][0] if it != "Glob"]
    assert plan == [*ask, "Glob"]
    assert edit[: len(ask)] == ask
    assert {it.shared_tools for it in requests} == {len(ask)}
