"""The line in which a person writes, at the bottom of a terminal. What else is printed meanwhile goes above it."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Callable, Generator, Iterable
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import has_completions
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.history import History
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.patch_stdout import patch_stdout

from odin_lsp import private_files
from odin_lsp.display import shown_line
from odin_lsp.errors import SessionError
from odin_lsp.terminal.completing import Candidate
from odin_lsp.values import is_list

MAX_HISTORY = 1000
ESCAPE_SECONDS = 0.3
"""How long an Esc waits for a key that would make it an Alt."""
MENU_LINES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """What keys do besides writing."""

    stop: Callable[[], bool]
    """Esc and Ctrl-C: stop what runs; false if nothing does."""
    hint: Callable[[], object]
    """Ctrl-C where there is nothing to stop and nothing to erase."""
    switch_mode: Callable[[], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Views:
    above: Callable[[], str]
    """What stands above the line, with the escape sequences for its colors; its last line is that of the prompt."""
    status: Callable[[], str]


class LineEditor:
    def __init__(self, keys: Keys, views: Views, complete: Callable[[str], Iterable[Candidate]], history: Path) -> None:
        self._keys = keys
        self._views = views
        self._is_free = asyncio.Event()
        self._is_free.set()
        self._one_at_a_time = asyncio.Lock()
        self._draft = ""
        self._is_left = False
        depth = ColorDepth.DEPTH_1_BIT if os.environ.get("NO_COLOR") else None
        self._above = ANSI("")
        """As it is in this picture of the screen: prompt_toolkit asks for it many times in each."""
        self._session = PromptSession[str](
            lambda: self._above,
            multiline=True,
            erase_when_done=True,
            enable_suspend=True,
            bottom_toolbar=lambda: shown_line(views.status()),
            key_bindings=self._bindings(),
            completer=_Completer(complete),
            complete_while_typing=True,
            reserve_space_for_menu=MENU_LINES,
            history=PrivateHistory(history),
            color_depth=depth,
        )
        self._questions = PromptSession[str](
            erase_when_done=False, key_bindings=self._question_bindings(), color_depth=depth
        )
        self._session.app.before_render += self._look_above
        for session in (self._session, self._questions):
            session.app.timeoutlen = session.app.ttimeoutlen = ESCAPE_SECONDS

    def _look_above(self, _: Application[str]) -> None:
        self._above = ANSI(self._views.above())

    @asynccontextmanager
    async def on_screen(self) -> AsyncGenerator[None]:
        """All that is printed in here goes above the line."""
        with ExitStack() as stack:
            stack.enter_context(patch_stdout(raw=True))
            try:
                yield
            finally:
                await asyncio.to_thread(stack.close)  # until all of it is printed

    async def message(self) -> str | None:
        """What the person wants to say; `None` if they leave."""
        while True:
            await self._is_free.wait()
            async with self._one_at_a_time:
                if self._is_left:
                    return None
                draft, self._draft = self._draft, ""
                try:
                    return await self._session.prompt_async(default=draft, handle_sigint=False)
                except EOFError:
                    return None
                except _Suspended:
                    continue

    @contextmanager
    def suspended(self) -> Generator[None]:
        """The terminal belongs to a question meanwhile; what is half written comes back afterwards."""
        self._is_free.clear()
        if self._session.app.is_running:
            self._draft = self._session.default_buffer.text
            _end(self._session.app, _Suspended())
        try:
            yield
        finally:
            self._is_free.set()

    async def ask(self, prompt: str) -> str | None:
        """The line that answers; `None` if the person stops instead."""
        async with self._one_at_a_time:
            try:
                return (await self._questions.prompt_async(f"{shown_line(prompt)} ", handle_sigint=False)).strip()
            except EOFError:
                return None

    def refresh(self) -> None:
        if self._session.app.is_running:
            self._session.app.invalidate()

    def complete_again(self) -> None:
        """More is known than when the last key was pressed."""
        buffer = self._session.default_buffer
        if self._session.app.is_running and buffer.text and not buffer.complete_state:
            buffer.start_completion()

    def leave(self) -> None:
        """As if the person had stopped what runs, and left."""
        self._is_left = True
        self._keys.stop()
        for app in (self._session.app, self._questions.app):
            if app.is_running:
                _end(app, EOFError())

    def _bindings(self) -> KeyBindings:
        keys, bindings = self._keys, KeyBindings()

        @bindings.add("enter")
        def _(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            if buffer.complete_state and buffer.complete_state.current_completion:
                buffer.complete_state = None
            elif buffer.document.text_before_cursor.endswith("\\"):
                buffer.delete_before_cursor()
                buffer.insert_text("\n")
            else:
                buffer.validate_and_handle()

        @bindings.add("escape", "enter")
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @bindings.add("s-tab", filter=~has_completions)
        def _(_: KeyPressEvent) -> None:
            keys.switch_mode()

        @bindings.add("escape", filter=~has_completions)
        def _(_: KeyPressEvent) -> None:
            keys.stop()

        @bindings.add("c-c")
        def _(event: KeyPressEvent) -> None:
            if keys.stop():
                return
            if event.current_buffer.text:
                event.current_buffer.reset()
            else:
                keys.hint()

        return bindings

    def _question_bindings(self) -> KeyBindings:
        """To stop is to give no answer."""
        bindings = KeyBindings()

        @bindings.add("escape")
        @bindings.add("c-c")
        def _(event: KeyPressEvent) -> None:
            self._keys.stop()
            _end(event.app, EOFError())

        return bindings


class PrivateHistory(History):
    """What was said before, oldest first on disk, for the user alone. Without it Odin works as well."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def load_history_strings(self) -> Iterable[str]:
        try:
            descriptor = private_files.open_file(self._path, os.O_RDONLY)
        except (OSError, SessionError):
            return []
        with os.fdopen(descriptor, encoding="utf-8", errors="replace") as file:
            lines = file.readlines()[-MAX_HISTORY:]
        return [text for line in reversed(lines) if (text := _said(line))]

    def store_string(self, string: str) -> None:
        try:
            descriptor = private_files.open_file(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(json.dumps([string]) + "\n")
        except (OSError, SessionError):
            return


class _Suspended(Exception):
    """Somebody else needs the terminal for now."""


class _Completer(Completer):
    def __init__(self, complete: Callable[[str], Iterable[Candidate]]) -> None:
        self._complete = complete

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        for it in self._complete(document.text_before_cursor):
            yield Completion(it.text, -it.replaces, shown_line(it.text), shown_line(it.about))

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion]:
        for it in await asyncio.to_thread(list, self.get_completions(document, complete_event)):
            yield it


def _end(app: Application[str], how: Exception) -> None:
    """Twice is once."""
    if app.future is not None and not app.future.done():
        app.exit(exception=how)


def _said(line: str) -> str | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found[0] if is_list(found) and found and isinstance(found[0], str) else None
