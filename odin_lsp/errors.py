"""Everything that Odin expects to go wrong. The class says who hears of it; the text says what to do next.

OdinError
├── ToolError                the model: this call failed, the turn goes on
│   ├── FileMissing          the model: there is no such file
│   └── PermissionDenied     the model: the answer was no
├── ModelError               the user: the turn has failed
│   ├── ModelUnavailable     a fault that passes (busy, cut off, unreachable): tried again, then elsewhere
│   ├── KeyRejected          the provider does not accept the key: another key is tried
│   ├── AnswerTooLong        what answers does not come to an end: not asked again, what it has said is kept
│   └── ContextTooLong       the request does not fit into the model's window: made shorter, tried once more
├── RequestError             the editor: a command that cannot be carried out as it was sent
│   ├── EmptyPrompt
│   └── SessionBusy          the session is in another turn
└── SessionError             the user: the session cannot be read or written
    └── SessionLocked        another process writes to it: a fork can go on

Anything else that is raised is a bug and travels up untouched.
"""


class OdinError(Exception):
    pass


class ToolError(OdinError):
    pass


class FileMissing(ToolError):
    pass


class PermissionDenied(ToolError):
    pass


class ModelError(OdinError):
    status: int | None = None
    """What the provider has answered with, if it has."""
    request_id: str | None = None
    """By which the provider finds the request."""


class ModelUnavailable(ModelError):
    def __init__(self, message: str, *, retry_after: float | None = None, limited: bool = False) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds the provider asked to wait."""
        self.limited = limited
        """The key's rate limit was reached, not the provider's capacity: another key may do."""


class KeyRejected(ModelError):
    pass


class AnswerTooLong(ModelError):
    pass


class ContextTooLong(ModelError):
    pass


class RequestError(OdinError):
    pass


class EmptyPrompt(RequestError):
    def __init__(self) -> None:
        super().__init__("the prompt is empty; say what you want to know or change")


class SessionBusy(RequestError):
    pass


class SessionError(OdinError):
    pass


class SessionLocked(SessionError):
    pass
