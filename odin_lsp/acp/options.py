"""What can be chosen in a session: mode, model and effort. The mode is told twice, for clients without options."""

from collections.abc import Iterable, Sequence
from typing import Any

from odin_lsp.errors import RequestError
from odin_lsp.models.reference import ModelRef
from odin_lsp.modes import MODES, Mode

ABOUT = {
    "ask": "Answer questions; nothing is changed",
    "plan": "Plan a change; nothing is changed",
    "edit": "Change the code; you review each change",
}
MODE, MODEL, EFFORT = "mode", "model", "effort"
DEFAULT = "default"
"""The effort that the provider has by itself."""


def verb(mode: Mode) -> str:
    return next(verb for verb, it in MODES.items() if it == mode)


def mode_of(name: str) -> Mode:
    if name not in MODES:
        raise RequestError(f"there is no mode {name!r}; there are {', '.join(MODES)}")
    return MODES[name]


def modes(current: Mode) -> dict[str, Any]:
    available = [{"id": name, "name": name.capitalize(), "description": about} for name, about in ABOUT.items()]
    return {"currentModeId": verb(current), "availableModes": available}


def config_options(mode: Mode, model: str, models: Iterable[str], efforts: Sequence[str]) -> list[dict[str, Any]]:
    """`model` is the one that is selected, `provider/model[@effort]`; `efforts` is what it can be told."""
    ref = ModelRef.of(model)
    options = [
        _select(MODE, "Mode", "mode", verb(mode), [(it, it.capitalize(), about) for it, about in ABOUT.items()]),
        _select(MODEL, "Model", "model", ref.model, [(it, it, None) for it in dict.fromkeys((ref.model, *models))]),
    ]
    if efforts:
        choices = [(it, it.capitalize(), None) for it in (DEFAULT, *efforts)]
        options.append(_select(EFFORT, "Effort", "thought_level", ref.effort or DEFAULT, choices))
    return options


def with_effort(model: str, effort: str) -> str:
    ref = ModelRef.of(model).model
    return ref if effort == DEFAULT else f"{ref}@{effort}"


def _select(
    id: str, name: str, category: str, current: str, choices: Iterable[tuple[str, str, str | None]]
) -> dict[str, Any]:
    options = [{"value": it, "name": label} | ({"description": why} if why else {}) for it, label, why in choices]
    return {
        "id": id,
        "name": name,
        "category": category,
        "type": "select",
        "currentValue": current,
        "options": options,
    }
