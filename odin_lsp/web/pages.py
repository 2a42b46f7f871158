"""Pages as a model may read them: fetched, converted, without what is hidden, and kept for a quarter of an hour."""

import asyncio
import json
import os
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from odin_lsp.config import Network, SearchSettings, WebSettings
from odin_lsp.errors import PermissionDenied, ToolError
from odin_lsp.redaction import MIN_SECRET_CHARS, learnt, secrets_of
from odin_lsp.tasks import end_process
from odin_lsp.web.addresses import Target, host_of, parse, shown
from odin_lsp.web.body import decode
from odin_lsp.web.fetch import Fetched, Fetcher, Redirected, Resolve, system_resolve
from odin_lsp.web.searching import Found, answers, question
from odin_lsp.web.untrusted import visible

MAX_HTML_CHARS = 1_500_000
"""That are converted; the rest of a longer page is cut off before."""
MAX_TEXT_CHARS = 500_000
KEPT_SECONDS = 15 * 60
KEPT_PAGES = 32
KEPT_CHARS = 4_000_000
CONVERTER = (sys.executable, "-I", "-X", "utf8", "-m", "odin_lsp.web.page")


@dataclass(frozen=True, slots=True)
class WebPage:
    target: Target
    content_type: str
    title: str
    text: str
    notes: tuple[str, ...]


class Pages:
    def __init__(
        self,
        settings: WebSettings | None = None,
        network: Network | None = None,
        secrets: Iterable[str] = (),
        search: SearchSettings | None = None,
        *,
        resolve: Resolve = system_resolve,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._resolve = resolve
        self._clock = clock
        self._kept: OrderedDict[str, tuple[float, WebPage]] = OrderedDict()
        self.configure(settings or WebSettings(), network or Network(), secrets, search or SearchSettings())

    def configure(
        self, settings: WebSettings, network: Network, secrets: Iterable[str], search: SearchSettings
    ) -> None:
        """From now on by these settings; what was fetched by others is fetched again."""
        self._settings = settings
        self._search = search
        self._fetcher = Fetcher(settings, network, self._resolve)
        own = (urlsplit(search.url).netloc,) if search.url else ()
        self._searcher = Fetcher(
            settings.model_copy(update={"private_hosts": (*settings.private_hosts, *own)}), network, self._resolve
        )
        self._secrets = tuple(secrets)
        self._kept.clear()

    async def read(self, url: str) -> WebPage | Redirected:
        """The page at `url`, or where it has gone; a `ToolError` says why there is none."""
        wanted = parse(url).url
        since, page = self._kept.get(wanted, (0.0, None))
        if page is not None and self._clock() - since < KEPT_SECONDS:
            return page
        try:
            async with asyncio.timeout(self._settings.timeout):
                fetched = await self._fetcher.fetch(url)
                if isinstance(fetched, Redirected):
                    return fetched
                page = await _page(fetched)
        except TimeoutError:
            raise ToolError(f"{wanted} was given up after {self._settings.timeout:g} seconds") from None
        self._keep(wanted, page)
        return page

    def search_host(self, query: str) -> str:
        """The host that a search asks."""
        return host_of(question(self._search, query, os.environ).url)

    async def search(self, query: str) -> list[Found]:
        """What the service of the user's choice has found."""
        asked = question(self._search, query, os.environ)
        try:
            async with asyncio.timeout(self._settings.timeout):
                fetched = await self._searcher.fetch(asked.url, asked.headers)
                if isinstance(fetched, Redirected):
                    raise ToolError(f"{shown(fetched.source.host)} sends searches on to {shown(fetched.target.host)}")
                return answers(self._search, (await _page(fetched)).text)
        except TimeoutError:
            raise ToolError(f"the search was given up after {self._settings.timeout:g} seconds") from None

    def refuse_secrets(self, url: str) -> None:
        """A URL that holds one of the user's secrets is a letter to a stranger."""
        plain = unquote(url).lower()
        for secret in (*self._secrets, *learnt(), *secrets_of(os.environ)):
            if len(secret) >= MIN_SECRET_CHARS and secret.lower() in plain:
                raise PermissionDenied("the URL contains a key or password of the user; it is not sent anywhere")

    def _keep(self, url: str, page: WebPage) -> None:
        self._kept.pop(url, None)
        self._kept[url] = (self._clock(), page)
        while len(self._kept) > KEPT_PAGES or sum(len(it.text) for _, it in self._kept.values()) > KEPT_CHARS:
            self._kept.popitem(last=False)


async def _page(fetched: Fetched) -> WebPage:
    text = decode(fetched.body, fetched.charset, is_html=fetched.is_html)
    title, notes = "", ["it is longer than what was fetched"] if fetched.is_cut else []
    if fetched.is_html:
        if len(text) > MAX_HTML_CHARS:
            text = text[:MAX_HTML_CHARS]
            notes = ["it is longer than what was read"]
        title, text, said = await _converted(text, fetched.target.url)
        notes += said
    text, removed = visible(text)
    notes += [f"{removed:,} invisible characters removed"] if removed else []
    if len(text) > MAX_TEXT_CHARS:
        text = text[:MAX_TEXT_CHARS]
        notes.append("its text is longer than what was kept")
    return WebPage(
        fetched.target, fetched.content_type, visible(title)[0], text, tuple(visible(note)[0] for note in notes)
    )


async def _converted(html: str, url: str) -> tuple[str, str, list[str]]:
    """Title, text and notes, by a process that ends with the deadline."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *CONVERTER, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL, env={}
    )
    try:
        said, _ = await process.communicate(json.dumps({"html": html, "url": url}).encode())
    finally:
        await end_process(process)
    if process.returncode != 0:
        raise ToolError(f"{url} cannot be read as HTML")
    page = json.loads(said)
    return page["title"], page["text"], page["notes"]
