"""Odin: a coding agent that lives in a language server.

What is named here is the library (`docs/library.md`). It is imported when it is first used."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from odin_lsp.library import (
        Answer,
        Buffers,
        ContextItem,
        Decision,
        DiskEditor,
        Editor,
        Effect,
        EventRecord,
        Hook,
        HookDecision,
        McpServer,
        Message,
        Mode,
        Model,
        Option,
        Outcome,
        Params,
        Question,
        Reply,
        Request,
        Review,
        ReviewAnswer,
        ReviewFile,
        ReviewHunk,
        Session,
        TextDelta,
        ThinkingDelta,
        Tool,
        ToolContext,
        ToolOutput,
        Turn,
        TurnOptions,
        Undone,
        Usage,
        Workspace,
        accept_all,
        builtin_tools,
    )

__version__ = "0.1.0"
__all__ = [
    "Answer",
    "Buffers",
    "ContextItem",
    "Decision",
    "DiskEditor",
    "Editor",
    "Effect",
    "EventRecord",
    "Hook",
    "HookDecision",
    "McpServer",
    "Message",
    "Mode",
    "Model",
    "Option",
    "Outcome",
    "Params",
    "Question",
    "Reply",
    "Request",
    "Review",
    "ReviewAnswer",
    "ReviewFile",
    "ReviewHunk",
    "Session",
    "TextDelta",
    "ThinkingDelta",
    "Tool",
    "ToolContext",
    "ToolOutput",
    "Turn",
    "TurnOptions",
    "Undone",
    "Usage",
    "Workspace",
    "__version__",
    "accept_all",
    "builtin_tools",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from odin_lsp import library

    return getattr(library, name)
