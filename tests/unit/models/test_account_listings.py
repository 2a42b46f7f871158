"""What accounts have: asked on demand, by nobody twice at once, and kept for a while."""

import asyncio

import pytest

from odin_lsp.config import Config
from odin_lsp.models.account import listing
from odin_lsp.models.account.listing import AccountListing, AccountListings
from odin_lsp.models.account.questions import AccountModel
from odin_lsp.models.key_helper import KeyHelpers
from odin_lsp.models.selection import KEY_VARIABLES


class Situation:
    def __init__(self):
        self.config = Config()
        self.secrets = {"anthropic": "one"}
        self.clock = 0.0


@pytest.fixture
def now(monkeypatch):
    for name in (name for names in KEY_VARIABLES.values() for name in names):
        monkeypatch.delenv(name, raising=False)
    return Situation()


@pytest.fixture
async def listings(now):
    listings = AccountListings(lambda: (now.config, now.secrets), KeyHelpers(), lambda: now.clock)
    yield listings
    await listings.close()


@pytest.fixture
def asked(monkeypatch):
    """Whom has been asked; they answer as long as they may."""
    asked = []
    may_answer = asyncio.Event()
    may_answer.set()
    problems = {}

    async def ask_account(account, config):
        asked.append(account.key.value)
        await may_answer.wait()
        models = (AccountModel(f"{account.provider}/{account.key.value}-{len(asked)}"),)
        problem = problems.get(account.key.value, "")
        return AccountListing(account.provider, account.provider.title(), () if problem else models, problem)

    monkeypatch.setattr(listing, "ask_account", ask_account)
    ask_account.asked, ask_account.may_answer, ask_account.problems = asked, may_answer, problems
    return ask_account


def refs(listings):
    return [it.ref for listing in listings for it in listing.models]


async def test_nobody_is_asked_before_somebody_wants_to_know(listings, asked):
    assert (listings.known, asked.asked) == ((), [])
    assert refs(await listings.asked()) == ["anthropic/one-1"]
    assert refs(listings.known) == ["anthropic/one-1"]


async def test_whoever_begins_waits_for_nobody_and_an_account_is_asked_once_at_a_time(listings, asked):
    asked.may_answer.clear()
    assert len(listings.begin()) == 1
    waiting = [asyncio.create_task(listings.asked()) for _ in range(3)]
    await asyncio.sleep(0)
    assert listings.known == ()
    waiting[0].cancel()
    asked.may_answer.set()
    assert [refs(await it) for it in waiting[1:]] == [["anthropic/one-1"]] * 2
    assert asked.asked == ["one"]


async def test_what_was_said_holds_for_a_while_unless_it_is_wanted_anew(now, listings, asked):
    await listings.asked()
    now.clock = listing.KEPT_SECONDS - 1
    assert refs(await listings.asked()) == ["anthropic/one-1"]
    assert refs(await listings.asked(anew=True)) == ["anthropic/one-2"]
    now.clock = 2 * listing.KEPT_SECONDS
    assert refs(listings.known) == ["anthropic/one-2"]
    assert refs(await listings.asked()) == ["anthropic/one-3"]


async def test_a_refusal_is_told_and_does_not_hold(listings, asked):
    asked.problems["one"] = "no; check the key"
    assert [it.problem for it in await listings.asked()] == ["no; check the key"]
    asked.problems.clear()
    assert refs(await listings.asked()) == ["anthropic/one-2"]


async def test_with_another_key_or_network_it_is_another_account(now, listings, asked):
    await listings.asked()
    now.secrets = {"anthropic": "two", "google": "three"}
    assert listings.known == ()
    assert refs(await listings.asked()) == ["anthropic/two-2", "google/three-3"]
    now.config = Config.model_validate({"network": {"proxy": "http://127.0.0.1:9"}})
    assert listings.known == ()
    await listings.asked()
    assert asked.asked == ["one", "two", "three", "two", "three"]


async def test_those_that_do_not_count_any_more_are_forgotten(now, listings, asked):
    for key in ("one", "two", "three"):
        now.secrets = {"anthropic": key}
        await listings.asked()
    now.secrets = {"anthropic": "one"}
    assert listings.known == ()


async def test_a_list_is_bounded(now, monkeypatch):
    async def endless(key, config):
        return tuple(AccountModel(f"anthropic/{number}") for number in range(listing.MAX_MODELS + 1))

    monkeypatch.setattr(listing, "_lister", lambda provider: endless)
    (account,) = listing.accounts(now.config, now.secrets, KeyHelpers())
    assert len((await listing.ask_account(account, now.config)).models) == listing.MAX_MODELS


async def test_names_that_nobody_could_write_are_left_out(now, monkeypatch):
    async def odd(key, config):
        return tuple(AccountModel(f"anthropic/{name}") for name in ("good", "a b", "a\nb", 'a"b', "a\u202eb"))

    monkeypatch.setattr(listing, "_lister", lambda provider: odd)
    (account,) = listing.accounts(now.config, now.secrets, KeyHelpers())
    assert [it.ref for it in (await listing.ask_account(account, now.config)).models] == ["anthropic/good"]
