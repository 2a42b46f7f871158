"""Ask, Plan and Edit, by the names that people and messages give them."""

from collections.abc import Mapping
from typing import Literal

Mode = Literal["ask_mode", "plan_mode", "edit_mode"]
MODES: Mapping[str, Mode] = {"ask": "ask_mode", "plan": "plan_mode", "edit": "edit_mode"}
"""By verb, as in `odin.ask` and `odin-lsp ask`."""
