"""What went wrong, as programs can tell it apart."""

from odin_lsp.errors import ContextTooLong, KeyRejected, ModelError, ModelUnavailable, OdinError, SessionError
from odin_lsp.records import Problem


def problem_of(error: OdinError, model: str) -> Problem:
    """`model` is `provider/model`, or nothing. What was tried several times has failed for the last reason."""
    provider = model.partition("/")[0] or None
    if type(error) is ModelError and isinstance(error.__cause__, ModelError):
        return problem_of(error.__cause__, model)
    match error:
        case KeyRejected():
            return Problem(kind="key", provider=provider)
        case ModelUnavailable():
            kind = "limited" if error.limited else "unavailable"
            return Problem(kind=kind, provider=provider, retry_after=error.retry_after)
        case ContextTooLong():
            return Problem(kind="too_long", provider=provider)
        case ModelError():
            return Problem(kind="model", provider=provider)
        case SessionError():
            return Problem(kind="session")
        case _:
            return Problem(kind="request")
