"""Roles: what a session's model is told about its part, which models take it, and what they may do. The modes stay."""

from collections.abc import Mapping

from odin_lsp.config.schema import Config, RoleSettings

BUILDER, PLANNER = "builder", "planner"
BUILT_IN: Mapping[str, RoleSettings] = {
    BUILDER: RoleSettings.model_construct(description="does the work"),
    PLANNER: RoleSettings.model_construct(
        description="thinks before anything is changed",
        prompt="Your role is to plan: explore, compare alternatives, and say what to do in which order and how to check"
        " it. Change files only if the user asks for exactly that.",
    ),
}


def known(config: Config) -> dict[str, RoleSettings]:
    """By name, in the order in which they are offered: builder, planner, the others by their names."""
    roles = {**BUILT_IN, **config.roles}
    return {name: roles[name] for name in (*BUILT_IN, *sorted(roles.keys() - BUILT_IN.keys()))}


def chosen(config: Config, by_user: str | None = None) -> str:
    """The role in force: the user's choice, else as in the settings; the builder where there is none of that name."""
    return next((it for it in (by_user, config.role) if it in known(config)), None) or BUILDER


def in_role(config: Config, name: str) -> Config:
    """The settings as they are in this role. It adds rules and takes tools away; what the environment or the command
    line has set stays."""
    role = known(config)[name]
    disabled = (*config.tools.disabled, *role.disabled_tools)
    changes = {
        "role": name,
        "rules": (*config.rules, *role.rules),
        "tools": config.tools.model_copy(update={"disabled": disabled}),
    }
    if role.models and "model" not in config.fixed:
        changes |= {"model": role.models[0], "fallback_models": role.models[1:]}
    return config.model_copy(update=changes)
