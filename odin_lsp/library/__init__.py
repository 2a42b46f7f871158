"""Odin as a library: the names that `odin_lsp` offers. `docs/library.md` is about them."""

from odin_lsp.agent.hooks import Hook, HookDecision
from odin_lsp.events import EventRecord
from odin_lsp.extensions.mcp_files import McpServer
from odin_lsp.library.disk_editor import DiskEditor, accept_all
from odin_lsp.library.session import Session, Turn
from odin_lsp.library.workspace import Workspace, builtin_tools
from odin_lsp.messages import Message
from odin_lsp.models.base import Model, Reply, Request, TextDelta, ThinkingDelta
from odin_lsp.modes import Mode
from odin_lsp.permissions.rules import Effect
from odin_lsp.ports import Answer, Decision, Editor, Option, Question, Review, ReviewAnswer, ReviewFile, ReviewHunk
from odin_lsp.records import ContextItem, Outcome, TurnOptions, Usage
from odin_lsp.review.undo import Undone
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput
from odin_lsp.workspace.buffers import Buffers

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
    "accept_all",
    "builtin_tools",
]
