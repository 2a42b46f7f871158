"""What the providers have in common: keys, connections, replies and faults."""

import math
import os
import re
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx2

from odin_lsp.errors import AnswerTooLong, ContextTooLong, KeyRejected, ModelError, ModelUnavailable
from odin_lsp.messages import Message, Part, ToolCall
from odin_lsp.models.base import Limited, Network, Reply, StopReason, parse_arguments
from odin_lsp.models.bodies import TooMuch
from odin_lsp.models.key import Key
from odin_lsp.models.reference import ModelRef
from odin_lsp.records import RateLimit, Usage
from odin_lsp.redaction import without_learnt
from odin_lsp.values import is_object

BROKEN = (httpx2.HTTPError, ValueError, RecursionError)
"""What reading an answer raises when the network, or what stands in between, spoils it. A number of more digits than
Python reads is a `ValueError`, as what is no JSON and no UTF-8 is."""

UNPAID = 402
"""Stands for a spent budget, whatever status the provider sends: waiting does not help."""

_RESETS = r"anthropic-ratelimit-(requests|tokens)-reset|x-ratelimit-reset-(requests|tokens)"
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}

OWN_ID = "odin-"
"""Begins the id of a call to which the provider gave none."""


@dataclass(frozen=True, slots=True)
class Service:
    """One provider's model: its name, its replies and its faults, as people hear of them."""

    provider: str
    ref: ModelRef
    key: Key
    key_place: str
    """Where the user can change the key."""
    base_variable: str
    usual: str
    """The address that requests go to, unless `base_variable` names another one."""
    too_long: re.Pattern[str]
    """What the provider says when a request does not fit."""

    @property
    def model(self) -> str:
        return self.ref.name

    @property
    def host(self) -> str:
        named = urlsplit(os.environ.get(self.base_variable, "")).netloc
        return (named or urlsplit(self.usual).netloc).rpartition("@")[2]

    def check_events(self, response: httpx2.Response) -> None:
        """A captive portal or a wrong address answers too, with 200 and a page."""
        kind = response.headers.get("content-type", "no content type")
        if response.is_success and not kind.startswith("text/event-stream"):
            raise self._stranger(f"{kind}, and no event stream")

    def reply(self, parts: Iterable[Part], stop: StopReason, usage: Usage, detail: str = "") -> Reply:
        """Calls stay in the message only if the model waits for them."""
        said = tuple(parts)
        calls = [part for part in said if isinstance(part, ToolCall)]
        if stop == "tools" and not calls:
            stop = "end"
        if stop == "max_tokens" and calls:
            detail = f"the call of {calls[-1].name} was cut off"
        if stop != "tools":
            said = tuple(part for part in said if not isinstance(part, ToolCall))
        return Reply(Message("assistant", said, self.ref.model), stop, usage, detail)

    def fault(self, status: int, message: str, headers: Mapping[str, str]) -> ModelError:
        """`status` is 200 when the error arrived within the answer."""
        fault = self._fault(status, message, headers)
        fault.status = status
        fault.request_id = headers.get("request-id", headers.get("x-request-id"))
        return fault

    def _fault(self, status: int, message: str, headers: Mapping[str, str]) -> ModelError:
        said = self._quote(message) or f"status {status}"
        if status == 413 or self.too_long.search(message):
            return ContextTooLong(f"the request does not fit into {self.model} ({said}); make it shorter")
        if status == 403 and _is_page(message, headers):
            return ModelError(
                f"a proxy or firewall in front of {self.host} refused the request with a web page (status 403);"
                f" this says nothing about the key: check the network, the proxy and {self.base_variable}"
            )
        if 400 <= status < 500 and status not in (401, 408, 429) and _is_page(message, headers):
            return self._stranger(f"a web page with status {status}")
        if status in (401, 403):
            return KeyRejected(f"{self.provider} does not accept the key ({said}); check {self.key_place}")
        if status == UNPAID:
            return ModelError(
                f"{self.provider} refused the request because of billing ({said}); check the plan and credit of your"
                " account, or set another key"
            )
        if status == 404:
            return ModelError(f"{self.provider} does not know {self.model} ({said}); check `model` in the settings")
        if status == 429:
            return ModelUnavailable(
                f"{self.provider}'s limit for this key is reached ({said}); wait, or set another key",
                retry_after=retry_after(headers),
                limited=True,
            )
        if status in (200, 408, 409, 499) or status >= 500:
            return ModelUnavailable(
                f"{self.provider} cannot answer now ({said}); try again later",
                retry_after=retry_after(headers),
            )
        if 300 <= status < 400:
            return ModelError(
                f"{self.provider} redirects elsewhere ({said}), which could leak the key; check {self.base_variable}"
            )
        return ModelError(f"{self.provider} refused the request ({said}); change it, or choose another model")

    def broken(self, error: Exception) -> ModelUnavailable:
        """For what is `BROKEN`."""
        said = self._quote(str(error)) or type(error).__name__
        if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError):
            return ModelUnavailable(
                f"{self.provider} cannot be reached ({said}); check the network, the proxy and {self.base_variable}"
            )
        return self.cut_off(said)

    def too_much(self, error: TooMuch) -> AnswerTooLong:
        return AnswerTooLong(
            f"{self.provider}'s answer was stopped ({error}), as no model answers; check what answers at {self.host},"
            " or choose another model"
        )

    def cut_off(self, reason: str) -> ModelUnavailable:
        return ModelUnavailable(f"{self.provider}'s answer was cut off ({reason}); try again")

    def _stranger(self, answer: str) -> ModelError:
        return ModelError(
            f"what answers at {self.host} does not speak {self.provider}'s protocol ({answer});"
            f" check {self.base_variable} and the proxy"
        )

    def _quote(self, message: str) -> str:
        key = self.key.value
        message = message.replace(key, "[key]") if key else message
        return " ".join(without_learnt(message).split())[:500]


def http_client(network: Network, kind: type[httpx2.AsyncClient] = httpx2.AsyncClient) -> httpx2.AsyncClient:
    """Follows no redirects: they would carry the key to another host."""
    try:
        return kind(
            proxy=network.proxy,
            verify=_trusted(network),
            timeout=network.timeout,
            follow_redirects=False,
        )
    except (ValueError, httpx2.InvalidURL) as error:
        proxy = _without_password(network.proxy)
        raise ModelError(f"the proxy {proxy} cannot be used ({type(error).__name__}); check its address") from error


def _trusted(network: Network) -> ssl.SSLContext | bool:
    """Whom to trust, and the certificate to show; `True`: as usual."""
    if not network.ca_bundle and not network.client_certificate:
        return True
    try:
        context = ssl.create_default_context(cafile=network.ca_bundle or os.environ.get("SSL_CERT_FILE"))
    except OSError as error:
        raise ModelError(f"the CA bundle {network.ca_bundle} cannot be used ({error}); check its path") from error
    if network.client_certificate:
        try:
            context.load_cert_chain(network.client_certificate, network.client_key, password="")
        except OSError as error:
            raise ModelError(
                f"the client certificate {network.client_certificate} cannot be used ({error}); check"
                " `network.clientCertificate` and `network.clientKey`"
            ) from error
    return context


def _is_page(message: str, headers: Mapping[str, str]) -> bool:
    """Providers answer in JSON, also when they refuse."""
    return headers.get("content-type", "").startswith("text/html") or message.lstrip().startswith("<")


def _without_password(address: str | None) -> str:
    return re.sub(r"//[^/@]*@", "//", address or "")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the provider asks to wait, in any of the three forms; `None` if it names no such time."""
    try:
        if milliseconds := headers.get("retry-after-ms"):
            seconds = float(milliseconds) / 1000
        else:
            seconds = _seconds(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def rate_limit(headers: Mapping[str, str]) -> Iterator[Limited]:
    """What the headers say of limits, in the words of Anthropic or of OpenAI; nothing if they say nothing."""
    told = {
        "requests_limit": headers.get("anthropic-ratelimit-requests-limit", headers.get("x-ratelimit-limit-requests")),
        "requests_left": headers.get(
            "anthropic-ratelimit-requests-remaining", headers.get("x-ratelimit-remaining-requests")
        ),
        "tokens_limit": headers.get("anthropic-ratelimit-tokens-limit", headers.get("x-ratelimit-limit-tokens")),
        "tokens_left": headers.get("anthropic-ratelimit-tokens-remaining", headers.get("x-ratelimit-remaining-tokens")),
    }
    counts = {name: int(value) for name, value in told.items() if value is not None and value.isdecimal()}
    resets = [_reset(value) for name, value in headers.items() if re.fullmatch(_RESETS, name)]
    if counts:
        yield Limited(RateLimit(**counts, resets_in=max((it for it in resets if it is not None), default=None)))


def _reset(text: str) -> float | None:
    """Seconds until a moment (Anthropic) or after a while such as `6m0s` or `120ms` (OpenAI)."""
    try:
        return max(0.0, round(datetime.fromisoformat(text).timestamp() - time.time(), 1))
    except ValueError:
        spans = re.findall(r"(\d+(?:\.\d+)?)(ms|h|m|s)", text)
        return round(sum(float(count) * _UNITS[unit] for count, unit in spans), 1) if spans else None


def tool_call(id: str | None, name: str, raw: str, signature: str | None = None) -> ToolCall:
    arguments, problem = parse_arguments(raw)
    return ToolCall(id or f"{OWN_ID}{uuid4().hex[:16]}", name, arguments, problem, signature)


def join(pieces: Iterable[str]) -> str:
    """Some servers cut an emoji into two surrogates, one per piece. A lone one could not be sent back."""
    return "".join(pieces).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def string(values: Mapping[str, Any], name: str) -> str:
    """What the provider sent by this name, if it is a text."""
    value = values.get(name)
    return value if isinstance(value, str) else ""


def mapping(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = values.get(name)
    return value if is_object(value) else {}


def count(value: object) -> int:
    """A number of tokens, as far as the provider told one."""
    return value if isinstance(value, int) else 0


def _seconds(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        return parsedate_to_datetime(value).timestamp() - time.time()
