"""Searches of the web: how each service is asked, and what it answers."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlencode

from odin_lsp.config import SearchSettings
from odin_lsp.errors import ToolError
from odin_lsp.values import is_list, is_object

MAX_FOUND = 10
MAX_TEXT = 400
"""Characters of what a page is said to be about."""
BRAVE = "https://api.search.brave.com/res/v1/web/search"
DUCKDUCKGO = "https://html.duckduckgo.com/html/"
_LINK = re.compile(r"\s*\(https?://duckduckgo\.com/l/\?uddg=([^&)\s]+)[^)]*\)")
"""Behind the words of a link in DuckDuckGo's page, as Odin converts it: all of them lead past DuckDuckGo."""
_TAG = re.compile(r"</?[a-z]+>")


@dataclass(frozen=True, slots=True)
class Found:
    title: str
    url: str
    text: str

    def __str__(self) -> str:
        return "\n".join(filter(None, (self.title, self.url, self.text[:MAX_TEXT])))


@dataclass(frozen=True, slots=True)
class Question:
    url: str
    headers: Mapping[str, str]


def question(settings: SearchSettings, query: str, environment: Mapping[str, str]) -> Question:
    """What the service is asked; a `ToolError` says what the settings lack."""
    match settings.provider:
        case "brave":
            key = environment.get(settings.key)
            if not key:
                raise ToolError(f"the user has to set {settings.key}, which holds the key of Brave's search")
            asked = {"q": query, "count": MAX_FOUND}
            headers = {"Accept": "application/json", "X-Subscription-Token": key}
            return Question(f"{settings.url or BRAVE}?{urlencode(asked)}", headers)
        case "duckduckgo":
            return Question(f"{settings.url or DUCKDUCKGO}?{urlencode({'q': query})}", {})
        case "searxng":
            if not settings.url:
                raise ToolError("the user has to set `webSearch.url`, the address of a SearXNG server")
            asked = {"q": query, "format": "json"}
            return Question(f"{settings.url.rstrip('/')}/search?{urlencode(asked)}", {"Accept": "application/json"})
        case None:
            raise ToolError("the web is not searched: the user has chosen no service (`webSearch.provider`)")


def answers(settings: SearchSettings, text: str) -> list[Found]:
    """What the service has found. DuckDuckGo answers with a page, the others with JSON."""
    if settings.provider == "duckduckgo":
        return _in_page(text)[:MAX_FOUND]
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        raise ToolError(f"{settings.provider} has not answered with JSON") from None
    results = said.get("results") if is_object(said) else None
    if is_object(said) and settings.provider == "brave":
        web = said.get("web")
        results = web.get("results") if is_object(web) else None
    found = [_found(it) for it in (results if is_list(results) else []) if is_object(it)]
    return [it for it in found if it.url.startswith(("http://", "https://"))][:MAX_FOUND]


def _found(result: dict[str, Any]) -> Found:
    """Brave marks the words of the query, and says `description`; SearXNG says `content`."""
    title, url, text = (str(result.get(it) or "") for it in ("title", "url", "description"))
    text = text or str(result.get("content") or "")
    return Found(*(" ".join(_TAG.sub("", it).split()) for it in (title, url, text)))


def _in_page(text: str) -> list[Found]:
    """Each result has three links to the same place: its title, its address and what is said of it."""
    links: dict[str, list[str]] = {}
    pieces = _LINK.split(text)
    for words, url in zip(pieces[::2], pieces[1::2], strict=False):
        said = words.rpartition("\n")[2].lstrip("# ").replace("**", "")
        links.setdefault(unquote(url), []).append(" ".join(said.split()))
    return [Found(texts[0], url, texts[-1] if len(texts) > 1 else "") for url, texts in links.items()]
