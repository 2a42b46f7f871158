"""What one turn's reviews have in common."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from odin_lsp.events import Emit
from odin_lsp.ports import Receipt
from odin_lsp.review.proposals import Proposal


@dataclass(slots=True)
class TurnReview:
    turn_id: str
    emit: Emit
    session_id: str = ""
    decided_late: Callable[[Proposal], None] = lambda _: None
    """Told of what was decided after the turn had ended."""
    before_waiting: Callable[[], None] = lambda: None
    """Called before a review is shown: what the turn knows is to be kept."""
    origin: str = ""
    """The agent of others whose edits they are: these are always reviewed, each by itself. Empty: Odin's own."""
    is_waiting: bool = False
    accept_rest: bool = False
    """The user said: accept the rest of this turn."""
    drops_rest: bool = False
    """If it is cancelled: what waits is not wanted any more."""
    receipts: list[Receipt] = field(default_factory=list[Receipt])
    touched: dict[Path, bool] = field(default_factory=dict[Path, bool])
    """Files that were changed; whether the editor had nothing unsaved of them before."""
