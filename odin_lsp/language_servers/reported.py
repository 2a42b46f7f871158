"""What a server reports of documents: which text a report is of, and what it says in Odin's words."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from odin_lsp.intelligence.diagnostics import problem_of, severity_of
from odin_lsp.intelligence.servers import Problem, Problems
from odin_lsp.language_servers.documents import Sent
from odin_lsp.values import is_list, is_object
from odin_lsp.workspace.text import Lines, PositionEncoding

SETTLED_SECONDS = 0.5
"""Of silence, after a report that came by itself: it may still have been of the texts before."""
SILENT_SECONDS = 1.0
"""After which a server that has reported on what has changed has no more to say."""
MAX_PROBLEMS = 1000
LONGEST_MESSAGE = 2000
NOT_KNOWN = Problems((), is_current=False)


@dataclass(frozen=True, slots=True)
class Report:
    items: list[Any]
    version: int | None
    at: float
    """When it came; of an answer, when it was asked for."""
    is_answer: bool = False

    @property
    def severities(self) -> Counter[str]:
        return Counter(severity_of(it) for it in self.items if is_object(it))

    def is_of(self, sent: Sent, changed_at: float) -> bool:
        """Whether it is of this text and, for sure, of all the others as they are since `changed_at`."""
        if self.version is not None and self.version < sent.version:
            return False
        if self.is_answer:
            return self.at >= changed_at
        if self.version is not None and sent.changed_at >= changed_at:
            return True
        return self.is_later(sent, changed_at) and time.monotonic() - self.at >= SETTLED_SECONDS

    def is_later(self, sent: Sent, changed_at: float) -> bool:
        return self.at > max(sent.changed_at, changed_at)


class Reports:
    """The last of each document."""

    def __init__(self) -> None:
        self._by_uri: dict[str, Report] = {}
        self._counts: Counter[str] = Counter()
        """Of all of them, by severity."""
        self._last_at = 0.0
        self._news = asyncio.Event()

    def take(self, params: Any) -> None:
        """Of `textDocument/publishDiagnostics`; what is none is left out."""
        items = params.get("diagnostics") if is_object(params) else None
        if is_list(items) and isinstance(uri := params.get("uri"), str):
            version = params.get("version")
            report = Report(items[:MAX_PROBLEMS], version if isinstance(version, int) else None, time.monotonic())
            self.keep(uri, report)

    @property
    def counted(self) -> tuple[int | None, int | None]:
        """Errors and warnings; none: there is no report."""
        return (self._counts["error"], self._counts["warning"]) if self._by_uri else (None, None)

    def keep(self, uri: str, report: Report) -> None:
        if (before := self._by_uri.get(uri)) is not None:
            self._counts.subtract(before.severities)
        self._counts.update(report.severities)
        self._by_uri[uri] = report
        self._last_at = time.monotonic()
        self._news.set()

    def of(self, uri: str, sent: Sent, changed_at: float) -> Report | None:
        """The last one, if it is of this text."""
        report = self._by_uri.get(uri)
        return report if report is not None and report.is_of(sent, changed_at) else None

    async def wait(self, uri: str, sent: Sent, changed_at: float, until: float) -> Report | None:
        while (report := self.of(uri, sent, changed_at)) is None:
            last, now = self._by_uri.get(uri), time.monotonic()
            has_spoken = self._last_at > max(sent.changed_at, changed_at)
            left = min(until, self._last_at + SILENT_SECONDS if has_spoken else until) - now
            if left <= 0:
                break
            if last is not None and last.is_later(sent, changed_at):
                left = min(left, last.at + SETTLED_SECONDS - now + 0.001)
            self._news.clear()
            try:
                async with asyncio.timeout(max(0.0, left)):
                    await self._news.wait()
            except TimeoutError:
                continue
        return report


def problems(items: list[Any], text: str, encoding: PositionEncoding, server: str) -> tuple[Problem, ...]:
    """What is no diagnostic is left out."""
    lines = Lines(text)
    found = (problem_of(it, lines, encoding) for it in items if is_object(it))
    return tuple(
        replace(it, message=it.message[:LONGEST_MESSAGE], source=it.source or server) for it in found if it is not None
    )


def items_of(answer: Any) -> list[Any] | None:
    """Of an answer to `textDocument/diagnostic`."""
    items = answer.get("items") if is_object(answer) else None
    return items if is_list(items) else None
