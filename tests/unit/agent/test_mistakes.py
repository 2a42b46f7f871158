"""What models get wrong, and what they are told: what to do next, in one step."""

import pytest

MISTAKES = {
    "another agent's shell": ("Bash", {"command": "ls"}, "you may mean ExecuteCommand"),
    "another agent's editor": ("str_replace_editor", {"path": "a"}, "you may mean EditTool"),
    "another agent's search": ("search_files", {"regex": "a"}, "you may mean Grep"),
    "another agent's helper": ("Task", {"prompt": "a"}, "you may mean AgentTool"),
    "a name that is nearly right": ("Reed", {"file_path": "a"}, "you may mean Read"),
    "a name that is nothing": ("Xyzzy", {}, "there are "),
    "an argument that is not known": (
        "Read",
        {"file_path": "greet.py", "lines": 3},
        "`lines` is not known here. It takes file_path, ",
    ),
    "an argument that is missing": ("Grep", {}, "`pattern` is missing. It takes pattern, "),
    "a file that does not exist": (
        "EditTool",
        {"file_path": "{root}/great.py", "old_string": "a", "new_string": "b"},
        "great.py does not exist (did you mean {root}/greet.py?); create a file with WriteFile",
    ),
    "a file that was not read": (
        "EditTool",
        {"file_path": "{root}/greet.py", "old_string": "a", "new_string": "b"},
        "Must read file first: you have not seen greet.py",
    ),
    "a pattern for this folder only": (
        "Glob",
        {"pattern": "*.deep"},
        "No files found; `**/*.deep` finds 1 file further down",
    ),
    "an empty pattern": ("Glob", {"pattern": " "}, "`**/*` finds everything"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
async def test_a_mistake_is_answered_with_what_to_do(odin, mistake):
    tool, arguments, told = MISTAKES[mistake]
    (odin.root / "sub").mkdir()
    (odin.root / "sub" / "a.deep").write_text("x")
    here = {key: it.format(root=odin.root) if isinstance(it, str) else it for key, it in arguments.items()}
    odin.script({"calls": [{"name": tool, "arguments": here}]}, {"text": "I see"})

    await odin.take("go", "edit_mode")

    [result] = odin.session.messages[2].results
    assert told.format(root=odin.root) in result.content


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
    assert "It was: sh -c true" in told[0]
