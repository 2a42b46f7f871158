"""What the accounts have that somebody has a key for, as their providers list it. They are asked only when somebody
wants to choose a model, and what they say is kept for a while."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial

from odin_lsp.config import Config
from odin_lsp.errors import ModelError
from odin_lsp.models.account.questions import AccountModel
from odin_lsp.models.key import Key, ask_with
from odin_lsp.models.key_helper import KeyHelpers
from odin_lsp.models.selection import KEY_VARIABLES
from odin_lsp.tasks import Tasks
from odin_lsp.values import Value

KEPT_SECONDS = 600.0
MAX_MODELS = 500
NAMES: Mapping[str, str] = {"anthropic": "Anthropic", "google": "Google", "openai": "OpenAI"}


@dataclass(frozen=True, slots=True)
class AccountListing(Value):
    provider: str
    title: str
    """For people."""
    models: tuple[AccountModel, ...] = ()
    problem: str = ""
    """Why there are none, and what to do."""


@dataclass(frozen=True, slots=True)
class Account:
    """Whom to ask, as whom, and how to get there."""

    provider: str
    key: Key
    network: str


def accounts(config: Config, secrets: Mapping[str, str], helpers: KeyHelpers) -> tuple[Account, ...]:
    """One for each provider that there is a key for, or a program that prints one."""
    found = ((provider, helpers.first_key(provider, config, secrets)) for provider in KEY_VARIABLES)
    network = config.network.model_dump_json()
    return tuple(Account(provider, key, network) for provider, key in found if key is not None)


async def ask_account(account: Account, config: Config) -> AccountListing:
    provider, title = account.provider, NAMES[account.provider]
    ask = await asyncio.to_thread(_lister, provider)
    try:
        found = await ask_with(account.key, lambda key: ask(key, config))
    except ModelError as error:
        return AccountListing(provider, title, problem=str(error))
    return AccountListing(provider, title, tuple(it for it in found if _can_be_written(it.ref))[:MAX_MODELS])


def _can_be_written(ref: str) -> bool:
    return ref.isprintable() and not re.search(r"[\s\"]", ref)


def _lister(provider: str) -> Callable[[str, Config], Awaitable[tuple[AccountModel, ...]]]:
    """Imported in a thread, for the first one that is asked."""
    if provider == "openai":
        from odin_lsp.models.key_check import list_openai

        return list_openai
    from odin_lsp.models.account.asking import list_models

    return partial(list_models, provider)


@dataclass(frozen=True, slots=True)
class _Said:
    listing: AccountListing
    at: float


class AccountListings:
    """Of the accounts that count now: with another key or another way to the provider it is another account."""

    def __init__(
        self,
        now: Callable[[], tuple[Config, Mapping[str, str]]],
        helpers: KeyHelpers,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._now = now
        self._helpers = helpers
        self._clock = clock
        self._said: dict[Account, _Said] = {}
        self._asking: dict[Account, asyncio.Task[None]] = {}
        self._tasks = Tasks()

    @property
    def known(self) -> tuple[AccountListing, ...]:
        """What they have said last."""
        return tuple(self._said[it].listing for it in accounts(*self._now(), self._helpers) if it in self._said)

    def begin(self, *, anew: bool = False) -> list[asyncio.Task[None]]:
        """Ask beside everything else those of whom nothing is known that still holds; `anew`: all."""
        config, secrets = self._now()
        current = accounts(config, secrets, self._helpers)
        self._said = {it: said for it, said in self._said.items() if it in current}
        for it in current:
            if it not in self._asking and (anew or not self._holds(it)):
                self._asking[it] = self._tasks.begin(self._ask(it, config))
        return [self._asking[it] for it in current if it in self._asking]

    async def asked(self, *, anew: bool = False) -> tuple[AccountListing, ...]:
        """What they have said once all have. Whoever waits can give up; they are heard all the same."""
        if waited_for := self.begin(anew=anew):
            await asyncio.wait(waited_for)
        return self.known

    async def close(self) -> None:
        await self._tasks.close()

    def _holds(self, account: Account) -> bool:
        """A refusal does not: the user may have done something about it."""
        said = self._said.get(account)
        return said is not None and not said.listing.problem and self._clock() - said.at < KEPT_SECONDS

    async def _ask(self, account: Account, config: Config) -> None:
        try:
            self._said[account] = _Said(await ask_account(account, config), self._clock())
        finally:
            del self._asking[account]
