"""`odin.trust`, `odin.model` and `odin.role`: what the user decides for a project."""

from typing import Any

from odin_lsp.config import roles
from odin_lsp.events import ModelChanged, RoleChanged
from odin_lsp.models import selection
from odin_lsp.server import upkeep, wire
from odin_lsp.server.commands.base import Token, command
from odin_lsp.server.host import Work
from odin_lsp.values import to_wire


@command("odin.trust", wire.TrustParams)
async def trust(server: Work, params: wire.TrustParams, _: Token) -> dict[str, Any]:
    trusted = server.project.decide_trust(trusted=params.decision == "trust")
    await server.keep_trust()
    return to_wire(wire.Trusted(trusted))


@command("odin.model", wire.ModelParams)
async def model(server: Work, params: wire.ModelParams, _: Token) -> dict[str, Any]:
    project, models, current = server.project, server.core.models, server.core.sessions.current
    if params.model is not None or params.small_model is not None:
        project.pick({"model": params.model, "small_model": params.small_model})
        emit = server.core.stream.emitter("", current.session.id if current else "")
        emit(ModelChanged(models.selected, models.running))
    return to_wire(
        wire.ModelState(
            *project.now.models,
            models.running,
            models.available,
            dict(selection.efforts(models.available)),
            picked="model" in project.now.picked,
            small_picked="small_model" in project.now.picked,
        )
    )


@command("odin.role", upkeep.RoleParams)
async def role(server: Work, params: upkeep.RoleParams, _: Token) -> dict[str, Any]:
    project, models, current = server.project, server.core.models, server.core.sessions.current
    if params.role is not None:
        before = models.selected
        project.switch_role(params.role)
        emit = server.core.stream.emitter("", current.session.id if current else "")
        emit(RoleChanged(params.role))
        if models.selected != before:
            emit(ModelChanged(models.selected, models.running))
    known = roles.known(project.now.config)
    choices = tuple(upkeep.RoleChoice(name, it.description, it.models) for name, it in known.items())
    return to_wire(upkeep.RoleState(project.now.config.role, choices))
