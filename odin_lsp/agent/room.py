"""Room in the model's window: for what it is sent, and for what it says."""

from collections.abc import Callable
from dataclasses import dataclass

from odin_lsp.agent.compaction import COMPACT_AT, Compaction
from odin_lsp.agent.history import Conversation
from odin_lsp.events import ActivityChanged, Emit
from odin_lsp.models.base import Reply
from odin_lsp.models.catalog import find
from odin_lsp.sessions.history import repair

MAX_LENGTH_RECOVERIES = 2
CUT_SHORT = "the model has used up its {} tokens without an answer"


@dataclass(slots=True)
class Room:
    """One turn's."""

    conversation: Conversation
    compaction: Compaction
    emit: Emit
    model: str
    """The one that answers."""
    max_context: int
    max_tokens: int
    """What the model may write in one step: more, after a reply that had no room."""
    prefix_tokens: int
    """Of the system prompt and the tools, estimated."""
    after_compaction: Callable[[], None]
    may_compact: bool
    _counted: tuple[int, int] = (0, 0)
    """So many messages were so many tokens, with all that goes before them."""
    _recoveries: int = 0
    _may_compact_for_reply: bool = True
    """For one that was cut short: once."""

    @property
    def tokens(self) -> int:
        """What the last request took, as the provider counted it, and an estimate of what has come since."""
        count, tokens = self._counted
        return (tokens or self.prefix_tokens) + self.conversation.history.tokens(since=count)

    @property
    def _budget(self) -> int:
        """Tokens for the request: the window without room for the answer."""
        window = find(self.model).context
        if self.max_context:
            window = min(window, self.max_context)
        return max(1, window - min(self.max_tokens, window // 2))

    def count(self, tokens: int) -> None:
        """The provider has counted the request."""
        if tokens:
            self._counted = len(self.conversation.history.messages), tokens

    async def fit(self) -> None:
        """Make room before it is needed, so that a request is not refused for its length."""
        if not self.may_compact:
            return
        limit = 1.0 if self.compaction.is_declined else COMPACT_AT
        if self.tokens > limit * self._budget:
            await self._compact(self._budget)
        else:
            self.compaction.prepare(self.conversation.history.valid(), self.tokens, self._budget, self.emit)

    async def shrink(self, focus: str = "") -> bool:
        """A shorter history, however short it is; false if it cannot be made so."""
        self._counted = 0, 0  # whoever refuses it counts otherwise
        if not self.may_compact or not self.conversation.history.messages:
            return False
        return await self._compact(min(self._budget, self.tokens), focus)

    async def is_made_for(self, reply: Reply) -> bool:
        """Whether to ask again for a reply that was cut short before it had come to anything: with more room for it,
        and then once with a shorter history."""
        if reply.stop != "max_tokens" or (reply.message.text.strip() and not reply.detail):
            return False
        more = min(2 * self.max_tokens, find(self.model).max_output)
        if self._recoveries < MAX_LENGTH_RECOVERIES and more > self.max_tokens:
            why = reply.detail or CUT_SHORT.format(self.max_tokens)
            self._recoveries += 1
            self.max_tokens = more
            self.emit(ActivityChanged("retrying", f"{why}; trying again with more room"))
            return True
        may_compact, self._may_compact_for_reply = self._may_compact_for_reply, False
        return may_compact and await self.shrink()

    async def _compact(self, budget: int, focus: str = "") -> bool:
        history = self.conversation.history
        self.emit(ActivityChanged("compacting", f"{self.tokens:,} tokens"))
        shorter = await self.compaction.compact(history.valid(), self.tokens, budget, self.emit, focus)
        if shorter is None:
            return False
        self.conversation.replace(repair(shorter))
        self._counted = 0, 0
        self.after_compaction()
        return True
