"""`odin-lsp models`: the models that your accounts have, as their providers list them."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odin_lsp.printing import print_lines, say
from odin_lsp.tasks import run_to_end

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from odin_lsp.config import Config
    from odin_lsp.models.account.questions import AccountModel

ABOUT = "list the models that your accounts have"


@dataclass(frozen=True, slots=True)
class Listing:
    title: str
    models: "tuple[AccountModel, ...]" = ()
    problem: str = ""


def add_arguments(parser: "ArgumentParser") -> None:
    parser.add_argument("--json", action="store_true", help="print the models as JSON, one a line")


def run(options: "Namespace") -> int:
    import json

    from odin_lsp import config
    from odin_lsp.values import to_wire

    settings, problems = config.load(None)
    for problem in problems:
        say(str(problem))
    listings = run_to_end(_all(settings))
    if options.json:
        print_lines(*(json.dumps(to_wire(it)) for listing in listings for it in listing.models))
    else:
        print_lines(*(line for listing in listings for line in _lines(listing)))
        if not listings:
            print_lines("No API key, platform or model server was found; `odin-lsp init` says how to set one up.")
    return int(any(it.problem for it in listings))


async def _all(settings: "Config") -> list[Listing]:
    from odin_lsp.models import local_servers, selection
    from odin_lsp.models.account.listing import accounts, ask_account
    from odin_lsp.models.account.questions import AccountModel
    from odin_lsp.models.catalog import find
    from odin_lsp.models.key_helper import KeyHelpers
    from odin_lsp.models.platforms.known import PLATFORMS, sign_of

    asked = await asyncio.gather(*(ask_account(it, settings) for it in accounts(settings, {}, KeyHelpers())))
    listings = [Listing(it.title, it.models, it.problem) for it in asked]
    for name, platform in PLATFORMS.items():
        if sign_of(name, settings):
            entries = [find(ref) for ref in selection.on_platform(name, settings)]
            known = tuple(AccountModel(it.ref, "", it.context, it.max_output) for it in entries)
            listings.append(Listing(f"{platform.title} lists none; as far as Odin knows", known))
    local = await local_servers.find()
    listings += [Listing(f"{it.name} at {it.url}", tuple(map(AccountModel, it.models))) for it in local]
    return listings


def _lines(listing: Listing) -> Iterator[str]:
    if listing.problem:
        yield f"{listing.title}: {listing.problem}"
        return
    yield f"{listing.title}:"
    width = max((len(it.ref) for it in listing.models), default=0)
    for it in listing.models:
        window = f"{it.context:,} tokens" if it.context else ""
        yield f"  {it.ref.ljust(width)}  {window:>18}  {it.title}".rstrip()
