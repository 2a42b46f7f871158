"""When hooks are asked. The command line names these, and imports nothing heavy to do so."""

from typing import Literal, get_args

HookEvent = Literal[
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionRequest",
    "UserPromptSubmit",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "Notification",
]
"""Before and after a call, and before the user is asked about one; the user has said something; a session begins here,
or ends; the model has given its answer; a helper begins, or has given its answer; the conversation is made shorter, or
was; the user is asked something."""
EVENTS = frozenset[str](get_args(HookEvent))
"""Those that have a point in Odin."""
