"""What a front end may put in the place of Odin's own."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from odin_lsp.agent.compaction import Shorten
from odin_lsp.agent.hooks import Hooks
from odin_lsp.agent.prompt import SystemPrompt, unchanged
from odin_lsp.models.base import Model
from odin_lsp.tools.base import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    model: Model | None = None
    """The planner's; none: as the settings say."""
    small_model: Model | None = None
    tools: Mapping[str, Tool[Any]] | None = None
    """By name, for all modes; none: those of Odin."""
    hooks: Hooks = field(default_factory=Hooks)
    system_prompt: SystemPrompt = unchanged
    shorten: Shorten | None = None
    """Makes long conversations shorter; none: as Odin does it."""
