"""OpenAI's SDK: how a body is sent that is ready, and what comes of it when that fails."""

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

import openai

from odin_lsp.errors import ModelError
from odin_lsp.models.service import BROKEN, UNPAID, Service

STATUSES: Mapping[str, int] = {
    "invalid_api_key": 401,
    "insufficient_quota": UNPAID,
    "billing_hard_limit_reached": UNPAID,
    "billing_not_active": UNPAID,
    "model_not_found": 404,
    "context_length_exceeded": 413,
    "exceed_context_size_error": 413,
    "string_above_max_length": 413,
    "rate_limit_exceeded": 429,
    "server_error": 500,
    "vector_store_timeout": 504,
    "overloaded_error": 529,
    **dict.fromkeys(("invalid_prompt", "data_residency_mismatch", "bio_policy", "misalignment_policy_violation"), 400),
    **dict.fromkeys(("invalid_image", "invalid_image_format", "invalid_image_mode", "invalid_base64_image"), 400),
    **dict.fromkeys(("invalid_image_url", "image_too_large", "image_too_small", "image_parse_error"), 400),
    **dict.fromkeys(("image_content_policy_violation", "image_file_too_large", "image_file_not_found"), 400),
    **dict.fromkeys(("unsupported_image_media_type", "empty_image_file", "failed_to_download_image"), 400),
}
"""What an error's own code or type says. It goes before the status, which is 200 within a stream."""

TOO_LONG = re.compile(
    r"maximum context length|context length exceeded|exceeds? the (available )?context (length|size|window)"
    r"|input tokens exceed|reduce the length of the messages|request too large for"
    r"|model is loaded with context length",
    re.IGNORECASE,
)


async def post(client: openai.AsyncOpenAI, path: str, body: bytes) -> openai.AsyncStream[Any]:
    """Given arguments, the SDK would compare each message with each kind there is, in every request."""
    return await client.post(path, content=body, cast_to=object, stream=True, stream_cls=openai.AsyncStream[Any])


@contextmanager
def translated_errors(service: Service) -> Generator[None]:
    try:
        yield
    except openai.APIStatusError as error:
        raise fault(service, error.status_code, error.body, error.response.headers) from error
    except (openai.APIConnectionError, *BROKEN) as error:
        raise service.broken(error) from error


def fault(service: Service, status: int, error: Any, headers: Mapping[str, str]) -> ModelError:
    match error:
        case {"message": str(message), **rest}:
            code, kind = rest.get("code"), rest.get("type")
            if isinstance(code, int) and 400 <= code < 600:
                status = code
            status = STATUSES.get(str(code), STATUSES.get(str(kind), status))
        case _:
            message = str(error or "")
    return service.fault(status, message, headers)
