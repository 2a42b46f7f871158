"""What models get wrong, and what they are told: what to do next, in one step."""

import shutil
from dataclasses import dataclass
from typing import Any

import pytest

from odin_lsp.modes import Mode
from tests.support.reviewing import ScriptedEditor

Call = tuple[str, dict[str, Any]]
READ: Call = ("Read", {"file_path": "{root}/greet.py"})
READ_TABS: Call = ("Read", {"file_path": "{root}/tabs.py"})


@dataclass(frozen=True)
class Mistake:
    call: Call
    told: str
    before: tuple[Call, ...] = ()
    """Made a step earlier."""
    beside: tuple[Call, ...] = ()
    """Made in the same step, before it."""
    mode: Mode = "edit_mode"


def edit(old: str, new: str = "new", file: str = "greet.py") -> Call:
    return "EditTool", {"file_path": f"{{root}}/{file}", "old_string": old, "new_string": new}


def run(command: str, **more: Any) -> Call:
    return "ExecuteCommand", {"command": command, **more}


MISTAKES = {
    # Tools
    "another agent's shell": Mistake(("Bash", {"command": "ls"}), "you may mean ExecuteCommand"),
    "another agent's editor": Mistake(("str_replace_editor", {"path": "a"}), "you may mean EditTool"),
    "another agent's patches": Mistake(("apply_patch", {"input": "*** Begin Patch"}), "you may mean EditTool"),
    "another agent's search": Mistake(("search_files", {"regex": "a"}), "you may mean Grep"),
    "another agent's list of a folder": Mistake(("list_dir", {"path": "."}), "you may mean LS"),
    "another agent's helper": Mistake(("Task", {"prompt": "a"}), "you may mean AgentTool"),
    "another agent's end": Mistake(("attempt_completion", {"result": "a"}), "to finish, answer the user"),
    "another agent's end of planning": Mistake(
        ("ExitPlanMode", {"plan": "a"}), "the plan is your answer", mode="plan_mode"
    ),
    "a search of the web": Mistake(("WebSearch", {"query": "a"}), "WebFetch reads a page whose address you know"),
    "a name that is nearly right": Mistake(("Reed", {"file_path": "a"}), "you may mean Read"),
    "a name that is nothing": Mistake(("Xyzzy", {}), "there are AgentTool, "),
    "a tool of another mode": Mistake(
        edit("a"),
        "Ask mode cannot change files, so EditTool did not run; the user can switch to Edit",
        mode="ask_mode",
    ),
    # Arguments
    "an argument that is not known": Mistake(
        ("Read", {"file_path": "greet.py", "lines": 3}), "`lines` is not known here. It takes file_path, "
    ),
    "an argument that says nothing": Mistake(run(""), "`command`: string should have at least 1 character"),
    "an argument that is missing": Mistake(("Grep", {}), "`pattern` is missing. It takes pattern, "),
    "an argument of one of several edits": Mistake(
        ("MultiEditTool", {"file_path": "a", "edits": [{"old_str": "a", "new_string": "b"}]}),
        "`edits.0.old_str` is not known here. It takes file_path, edits; each of edits takes old_string, new_string",
    ),
    "a text for a list": Mistake(("TodoWrite", {"todos": "write tests"}), "`todos` must be a list"),
    "a value that is none of those there are": Mistake(
        ("AgentTool", {"description": "a", "prompt": "a", "mode": "write"}), "input should be 'ask', 'plan' or 'edit'"
    ),
    # Files
    "a file that does not exist": Mistake(
        edit("a", file="great.py"),
        "great.py does not exist (did you mean {root}/greet.py?); create a file with WriteFile",
    ),
    "a file to read that does not exist": Mistake(
        ("Read", {"file_path": "{root}/sub/greet.py"}),
        "sub/greet.py does not exist; Glob with `**/greet.py` finds it elsewhere",
    ),
    "a file to delete that does not exist": Mistake(
        ("DeleteFile", {"file_path": "{root}/great.py"}), "did you mean {root}/greet.py?"
    ),
    "a file that was not read": Mistake(edit("a"), "Must read file first: you have not seen greet.py"),
    "a file that is overwritten unread": Mistake(
        ("WriteFile", {"file_path": "{root}/greet.py", "content": "a"}),
        "you have not seen all of it as it is now; read it, or change parts of it with EditTool",
    ),
    "lines that were not seen": Mistake(
        edit("line 50\n", file="long.py"),
        "You have not seen lines 47-53 of long.py (or they have changed since). Read them first.",
        before=(("Read", {"file_path": "{root}/long.py", "limit": 5}),),
    ),
    "a folder that is read": Mistake(("Read", {"file_path": "{root}/sub"}), "sub is a folder; list it with LS"),
    "a file that is listed": Mistake(("LS", {"path": "{root}/greet.py"}), "greet.py is a file; use Read"),
    "a file outside of the workspace": Mistake(
        ("Read", {"file_path": "/etc/hostname"}), "the user did not allow it; go on with what is allowed"
    ),
    "a line behind the end": Mistake(
        ("Read", {"file_path": "{root}/greet.py", "offset": 99}), "only 2 lines; set offset to one of them"
    ),
    "a folder that is not empty": Mistake(
        ("DeleteFile", {"file_path": "{root}/sub"}), "a folder that is not empty; set recursive to delete all of it"
    ),
    "a name that is taken": Mistake(
        ("MoveFile", {"file_path": "{root}/greet.py", "new_path": "{root}/tabs.py"}),
        "tabs.py exists already; choose another name or delete it first",
    ),
    # Passages
    "a passage with line numbers": Mistake(
        edit("     1\tdef greet(name):"), "with the line numbers in front; leave them out", before=(READ,)
    ),
    "spaces for a tab": Mistake(
        edit("if a:\n    return 1", file="tabs.py"),
        "only in blanks (→ is a tab, · a space)\n     1\tif·a:\n     2\t→return·1\nquote them with the blanks",
        before=(READ_TABS,),
    ),
    "a passage with escapes": Mistake(
        edit("def greet(name):\\n    return"), "with `\\n` in it; write the character itself", before=(READ,)
    ),
    "a passage with entities": Mistake(
        edit("1 &lt; 2", file="tabs.py"), "with HTML entities in it; write the characters", before=(READ_TABS,)
    ),
    "a passage that is a diff": Mistake(
        edit("-def greet(name):\n+def greet():"), "it is a diff. Quote the lines as they are now", before=(READ,)
    ),
    "a passage that leaves lines out": Mistake(
        edit("def greet(name):\n    # ... existing code ..."),
        "with `# ... existing code ...` in place of lines; quote every line",
        before=(READ,),
    ),
    "a passage that is nearly right": Mistake(
        edit("def greet(nome):"), "the closest lines are\n     1\tdef greet(name):\nquote the text", before=(READ,)
    ),
    "a passage of another file": Mistake(
        edit("class Parser(Base):"), "nor anything like it; find the passage with Grep or Read", before=(READ,)
    ),
    "a passage that an edit of the step has changed": Mistake(
        edit("hello {{name}}"),
        "an edit that you made before this one has changed the passage; quote it as that edit left it",
        before=(READ,),
        beside=(edit("hello {{name}}", "hi {{name}}"),),
    ),
    "a passage that an edit of the call has changed": Mistake(
        (
            "MultiEditTool",
            {
                "file_path": "{root}/greet.py",
                "edits": [{"old_string": "hello", "new_string": "hi"}, {"old_string": "hello", "new_string": "hey"}],
            },
        ),
        "edit 2 of 2 failed, and nothing was changed: old_string does not occur in the text any more",
        before=(READ,),
    ),
    "a passage that stands in several places": Mistake(
        edit("line 1", file="long.py"),
        "occurs 12 times (lines 1, 10, 11, 12, 13, 14, 15, 16, 17, 18, …); quote more of what surrounds",
        before=(("Read", {"file_path": "{root}/long.py"}),),
    ),
    "a passage that stays as it is": Mistake(edit("name", "name"), "the same; nothing would change", before=(READ,)),
    "an empty passage": Mistake(edit("", "a"), "old_string is empty; to create a file use WriteFile", before=(READ,)),
    # Searches
    "a pattern for this folder only": Mistake(
        ("Glob", {"pattern": "*.deep"}), "No files found; `**/*.deep` finds 1 file further down"
    ),
    "an empty pattern": Mistake(("Glob", {"pattern": " "}), "`**/*` finds everything"),
    "a pattern that is no regular expression": Mistake(
        ("Grep", {"pattern": "greet("}),
        "that can be searched for: unclosed group; put a backslash before what stands for itself",
    ),
    "a pattern of another dialect": Mistake(
        ("Grep", {"pattern": "greet(?=x)"}), "look-behind, is not supported; write it without"
    ),
    # Commands
    "a command that the user does not allow": Mistake(
        run("touch made"), "the user did not allow the command `touch made`; other commands may still be run"
    ),
    "a command that is forbidden": Mistake(
        run("npm publish"), "the command was not run: `npm publish` is forbidden by the user's rules"
    ),
    "a variable in Ask": Mistake(
        run("ls $TARGET"),
        "it expands a variable (`$TARGET`); in ask mode only what surely just reads may run; write plain commands",
        mode="ask_mode",
    ),
    "a substitution in Plan": Mistake(
        run("cat $(ls)"), "it has a command substitution (`$(ls)`); in plan mode", mode="plan_mode"
    ),
    "a program that may do anything in Ask": Mistake(
        run("python3 check.py"),
        "`python3`: not one of the programs that only read; in ask mode only what surely just reads may run; cat,",
        mode="ask_mode",
    ),
    "a command that takes too long": Mistake(
        run("sh -c 'sleep 30'", timeout=300), "(timed out after 0.3 s)\nIf it needs more time, set `timeout`"
    ),
    "a folder for a command that is none": Mistake(
        run("ls", cwd="{root}/none"), "none is not a folder; leave out cwd to run in the workspace"
    ),
    "a command in the background that nobody started": Mistake(
        ("CommandStatus", {"background_id": "background-7"}),
        "there is no background command 'background-7'; there are: none was started",
    ),
    # The rest
    "a helper that could do more": Mistake(
        ("AgentTool", {"description": "a", "prompt": "a", "mode": "edit"}),
        "a subagent cannot be in edit mode here: it may never do more than you; set mode to ask",
        mode="ask_mode",
    ),
    "a helper that nobody described": Mistake(
        ("AgentTool", {"description": "a", "prompt": "a", "agent": "poet"}),
        "there is no agent 'poet' here: none is described; leave `agent` out",
    ),
    "a list with one id twice": Mistake(
        ("TodoWrite", {"todos": [{"id": "1", "content": "a", "status": "pending"}] * 2}),
        "two todos have the same id; give each its own",
    ),
    "a note that is not there": Mistake(
        ("Memory", {"action": "forget", "id": "abc"}), "there is no note 'abc'; recall lists notes with their ids"
    ),
    "a note in Ask": Mistake(
        ("Memory", {"action": "remember", "text": "a"}), "`note` keeps it in this session", mode="ask_mode"
    ),
    "a key that is noted": Mistake(
        ("Memory", {"action": "remember", "text": "password = hunter2hunter2"}), "note where it is found instead"
    ),
    "an address that is none": Mistake(("WebFetch", {"url": "ftp://example.org"}), "only http:// and https:// URLs"),
}


def placed(value: Any, root: str) -> Any:
    match value:
        case str():
            return value.replace("{root}", root).replace("{{", "{").replace("}}", "}")
        case dict():
            return {key: placed(it, root) for key, it in value.items()}
        case list():
            return [placed(it, root) for it in value]
        case _:
            return value


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
async def test_a_mistake_is_answered_with_what_to_do(odin, mistake):
    (odin.root / "sub").mkdir()
    (odin.root / "sub" / "a.deep").write_text("x")
    (odin.root / "tabs.py").write_text("if a:\n\treturn 1\nif 1 < 2:\n\tpass\n")
    (odin.root / "long.py").write_text("".join(f"line {number}\n" for number in range(1, 101)))
    odin.settings |= {"forbiddenCommands": ["npm publish"], "allowedCommands": ["sh"]}
    odin.person = ScriptedEditor(None, says=None)
    odin.person.files = odin.start().files
    steps = [mistake.before, (*mistake.beside, mistake.call)]
    odin.script(
        *[
            {"calls": [{"name": tool, "arguments": placed(arguments, str(odin.root))} for tool, arguments in calls]}
            for calls in steps
            if calls
        ],
        {"text": "I see"},
    )

    await odin.take("go", mistake.mode)

    last = odin.session.messages[-2].results[-1]
    assert placed(mistake.told, str(odin.root)) in last.content


def test_the_mistakes_are_many():
    assert len(MISTAKES) >= 40


async def test_a_call_that_is_repeated_is_named(odin):
    odin.script(*[{"calls": [{"name": "Glob", "arguments": {"pattern": "*.py"}}]}] * 3, {"text": "well"})

    await odin.take()

    assert 'called Glob with {"pattern": "*.py"} 3 times' in odin.session.messages[-2].text


async def test_the_window_is_as_large_as_the_user_allows(odin):
    odin.settings["limits"] = {"maxContext": 40_000}
    odin.script({"text": "hello", "usage": {"contextTokens": 10, "contextLimit": 1_000_000}})

    outcome = await odin.take()

    assert outcome.usage.context_limit == 40_000


async def test_the_end_of_a_command_in_the_background_is_told_once(odin):
    """The next command is there when the first has ended, and the one after it a step later."""
    odin.settings["allowedCommands"] = ["sh"]
    done = odin.root / "done"
    odin.script(
        {"calls": [{"name": "ExecuteCommand", "arguments": {"command": "sh -c true", "run_in_background": True}}]},
        {"calls": [{"name": "ExecuteCommand", "arguments": {"command": f"sh -c 'touch {done}; sleep 1'"}}]},
        {"calls": [{"name": "Glob", "arguments": {"pattern": "*"}}]},
        {"text": "seen"},
    )

    await odin.take("go", "edit_mode")

    told = [message.text for message in odin.session.messages if "has ended" in message.text]
    assert len(told) == 1
    assert "The background command" in told[0]
    assert f"It was: {shutil.which('sh')} -c true" in told[0]
