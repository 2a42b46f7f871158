"""`odin.trust`, `odin.model`, `odin.key.check` and `odin.role`: what the user decides for a project."""

from collections.abc import Iterable
from typing import Any

from odin_lsp.config import roles
from odin_lsp.models import catalog, local_servers, selection
from odin_lsp.server import upkeep, wire
from odin_lsp.server.commands.base import Token, command
from odin_lsp.server.host import Work
from odin_lsp.values import to_wire


@command("odin.trust", wire.TrustParams)
async def trust(server: Work, params: wire.TrustParams, _: Token) -> dict[str, Any]:
    trusted = server.project.decide_trust(trusted=params.decision == "trust")
    await server.keep_trust()
    return to_wire(wire.Trusted(trusted))


@command("odin.model", upkeep.ModelParams)
async def model(server: Work, params: upkeep.ModelParams, _: Token) -> dict[str, Any]:
    project, models = server.project, server.core.models
    if params.model is not None or params.small_model is not None:
        server.core.pick({"model": params.model, "small_model": params.small_model})
    return to_wire(
        upkeep.ModelState(
            *project.now.models,
            models.running,
            models.available,
            dict(selection.efforts(models.available)),
            picked="model" in project.now.picked,
            small_picked="small_model" in project.now.picked,
            facts=_facts(models.available),
            local=await local_servers.find() if params.find_local else None,
        )
    )


@command("odin.key.check", upkeep.KeyCheckParams)
async def check_key(server: Work, params: upkeep.KeyCheckParams, _: Token) -> dict[str, Any]:
    from odin_lsp.models import key_check

    return to_wire(await key_check.check(params.provider, params.key, server.project.now.config))


def _facts(refs: Iterable[str]) -> dict[str, upkeep.ModelFacts]:
    entries = (catalog.find(ref) for ref in refs)
    return {it.ref: upkeep.ModelFacts(it.context, it.input, it.output) for it in entries if it.input}


@command("odin.role", upkeep.RoleParams)
async def role(server: Work, params: upkeep.RoleParams, _: Token) -> dict[str, Any]:
    if params.role is not None:
        server.core.switch_role(params.role)
    config = server.project.now.config
    known = roles.known(config)
    choices = tuple(upkeep.RoleChoice(name, it.description, it.models) for name, it in known.items())
    return to_wire(upkeep.RoleState(config.role, choices))
