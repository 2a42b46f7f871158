"""What happens in a session, kept in its log as it settles: who reads it later can show the same as who was there.

What passes is left out, because what it comes to is an event of its own: pieces of texts, what is done just now."""

from dataclasses import replace

from odin_lsp.events import (
    Event,
    EventRecord,
    QuestionAnswered,
    QuestionAsked,
    ReviewChanged,
    ReviewClosed,
    ReviewOpened,
    ToolFinished,
    TurnFinished,
    TurnStarted,
)
from odin_lsp.ports import HunkState, Review, ReviewHunk
from odin_lsp.sessions.session import Session

PASSING = frozenset(
    {
        *("turnQueued", "activityChanged", "textStreamed", "thinkingStreamed", "streamRolledBack", "toolProgress"),
        *("argumentsStreamed", "toolQueued"),
        *("requestStarted", "requestProgress", "thinkingStarted", "thinkingFinished"),
        *("modelStatusChanged", "sessionSwitchStarted", "sessionRestored", "sessionRenamed"),
        *("turnEdited", "trustChanged", "serversChanged", "sessionBegun"),
    }
)


class Recorder:
    """One session's."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._begun: set[str] = set()
        """Turns that have begun here and not ended."""
        self._states: dict[str, HunkState] = {}
        """Of the hunks in open reviews, as they were last kept."""
        self._reviews: set[str] = set()
        """That wait for the user: what became of them is told by events of their own."""

    def follow(self, record: EventRecord) -> None:
        if record.session_id != self._session.id or record.event.kind in PASSING:
            return
        if isinstance(record.event, TurnStarted):
            self._begun.add(record.turn_id)
        elif isinstance(record.event, TurnFinished):
            if record.turn_id not in self._begun:
                return  # it was removed while it waited
            self._begun.remove(record.turn_id)
        event = self._settled(record.event)
        if event is not None:
            self._session.note_event(record.turn_id, record.agent_id, event)

    def _settled(self, event: Event) -> Event | None:
        """Of a review: which hunks there are and what became of them. Where they are is the review's own matter."""
        match event:
            case ToolFinished():
                return replace(event, result="")  # it is in the conversation
            case ReviewOpened(review):
                self._states |= {it.id: it.state for file in review.files for it in file.hunks}
                return ReviewOpened(_without_texts(review))
            case ReviewChanged(proposal_id, hunks):
                decided = tuple(_without_text(it) for it in hunks if self._states.get(it.id) != it.state)
                self._states |= {it.id: it.state for it in decided}
                return ReviewChanged(proposal_id, decided) if decided else None
            case QuestionAsked(question) if question.kind == "review":
                self._reviews.add(question.question_id)
                return None
            case QuestionAnswered(question_id) if question_id in self._reviews:
                self._reviews.remove(question_id)
                return None
            case ReviewClosed(_, receipts):
                for it in receipts:
                    self._states.pop(it.hunk_id, None)
                return event
            case _:
                return event


def _without_texts(review: Review) -> Review:
    files = (
        replace(it, proposed_text="", hunks=tuple(_without_text(hunk) for hunk in it.hunks)) for it in review.files
    )
    return replace(review, files=tuple(files))


def _without_text(hunk: ReviewHunk) -> ReviewHunk:
    return replace(hunk, old_text="", new_text="", text=None)
