"""What the user is told of a project, and decides for it: `odin.notices`, `odin.brought`, `odin.trust`, `odin.model`,
`odin.key.check` and `odin.role`."""

import asyncio
from collections.abc import Iterable
from typing import Any

from odin_lsp.agent.own_commands import ROLE_OF_ALL
from odin_lsp.config import roles
from odin_lsp.errors import RequestError
from odin_lsp.models import catalog, local_servers, selection
from odin_lsp.permissions.trust import told
from odin_lsp.project.opening_notices import opening_notices
from odin_lsp.server import upkeep
from odin_lsp.server.commands.base import Token, command
from odin_lsp.server.host import Work
from odin_lsp.server.trust_questions import ask_for_trust
from odin_lsp.values import to_wire

TRUST_OF_ALL = "trust is decided in the editor that has this folder open, or by `odin-lsp permissions trust`"
SMALL_MODEL_OF_ALL = (
    "the small model is the same for all sessions; select it in the editor that has this folder open, or in its"
    " settings"
)


@command("odin.notices", upkeep.NoticesParams)
async def notices(server: Work, _: upkeep.NoticesParams, __: Token) -> dict[str, Any]:
    return to_wire(upkeep.Notices(tuple(await asyncio.to_thread(opening_notices, server.project))))


@command("odin.brought", upkeep.BroughtParams)
async def brought(server: Work, _: upkeep.BroughtParams, __: Token) -> dict[str, Any]:
    listed = await asyncio.to_thread(server.project.brought)
    return to_wire(upkeep.Brought(listed.digest, listed.items, "\n".join(told(listed.items))))


@command("odin.trust", upkeep.TrustParams)
async def trust(server: Work, params: upkeep.TrustParams, _: Token) -> dict[str, Any]:
    if server.is_guest:
        raise RequestError(TRUST_OF_ALL)
    if params.decision == "ask":
        await ask_for_trust(server, await asyncio.to_thread(server.project.brought))
    else:
        is_yes = params.decision == "trust"
        if is_yes and params.digest is None and (await asyncio.to_thread(server.project.brought)).items:
            raise RequestError("`digest` is missing: say which list of `odin.brought` the user has seen, or use `ask`")
        server.project.decide_trust(trusted=is_yes, items=params.items, digest=params.digest)
        await server.keep_trust()
    return to_wire(upkeep.Trusted(server.project.now.is_trusted))


@command("odin.model", upkeep.ModelParams)
async def model(server: Work, params: upkeep.ModelParams, _: Token) -> dict[str, Any]:
    project, models = server.project, server.core.models
    own = ""
    if server.is_guest:
        own = await _own_model(server, params)
    elif params.model is not None or params.small_model is not None:
        server.core.pick({"model": params.model, "small_model": params.small_model})
    if params.ask_accounts in ("wait", "anew"):
        await models.accounts.asked(anew=params.ask_accounts == "anew")
    elif params.ask_accounts == "beside":
        models.accounts.begin()
    selected, small = project.now.models
    return to_wire(
        upkeep.ModelState(
            own or selected,
            small,
            own or models.running,
            models.available,
            dict(selection.efforts(models.available)),
            picked="model" in project.now.picked,
            small_picked="small_model" in project.now.picked,
            facts=_facts(models.available),
            local=await local_servers.find() if params.find_local else None,
            accounts=models.accounts.known or None,
        )
    )


@command("odin.key.check", upkeep.KeyCheckParams)
async def check_key(server: Work, params: upkeep.KeyCheckParams, _: Token) -> dict[str, Any]:
    from odin_lsp.models import key_check

    return to_wire(await key_check.check(params.provider, params.key, server.project.now.config))


async def _own_model(server: Work, params: upkeep.ModelParams) -> str:
    """That of a guest's session; empty: as for all."""
    if params.small_model is not None:
        raise RequestError(SMALL_MODEL_OF_ALL)
    seat, sessions = server.seat, server.core.sessions
    if params.model is not None:
        live = await seat.existing(params.session_id)
        server.core.pick_for(live, params.model)
    else:
        live = sessions.find(params.session_id) if params.session_id else seat.current
    return live.model if live else ""


def _facts(refs: Iterable[str]) -> dict[str, upkeep.ModelFacts]:
    entries = (catalog.find(ref) for ref in refs)
    return {it.ref: upkeep.ModelFacts(it.context, it.input, it.output) for it in entries if it.input}


@command("odin.role", upkeep.RoleParams)
async def role(server: Work, params: upkeep.RoleParams, _: Token) -> dict[str, Any]:
    if params.role is not None and server.is_guest:
        raise RequestError(ROLE_OF_ALL)
    if params.role is not None:
        server.core.switch_role(params.role)
    config = server.project.now.config
    known = roles.known(config)
    choices = tuple(upkeep.RoleChoice(name, it.description, it.models) for name, it in known.items())
    return to_wire(upkeep.RoleState(config.role, choices))
