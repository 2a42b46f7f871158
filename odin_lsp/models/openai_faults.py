"""What OpenAI's errors mean, and those of servers that are compatible with it."""

import re
from collections.abc import Mapping
from typing import Any

from odin_lsp.errors import ModelError
from odin_lsp.models.service import UNPAID, Service

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


def refusal(service: Service, status: int, body: Any, headers: Mapping[str, str]) -> ModelError:
    match body:
        case {"error": error}:
            return fault(service, status, error, headers)
        case _:
            return fault(service, status, body, headers)


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
