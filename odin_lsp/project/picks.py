"""The models that the user picked in a workspace, for now and for the next time: one private file in the user's state
folder."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from odin_lsp import private_files
from odin_lsp.config import Config
from odin_lsp.models.selection import ROLES, Role, is_usable, picks_file
from odin_lsp.values import is_object

MAX_WORKSPACES = 500
"""Of which the latest are kept."""


@dataclass(frozen=True, slots=True)
class Pick:
    model: str
    configured: str | None
    """What the settings said when it was picked. Once they say something else, that counts."""


class Picks:
    def __init__(self, root: Path, path: Path | None = None, *, can_pick: bool = True) -> None:
        """`can_pick`: whether that is possible in this process. A terminal does not know what an editor's settings say,
        and so forgets nothing."""
        self._path = path or picks_file()
        self._can_pick = can_pick
        self._root = str(root.resolve())
        self._untold: list[str] = []
        stored = private_files.read_json(self._path)
        self._picks = _picks(stored, self._root)
        self._is_damaged = _is_damaged(stored, self._root) if stored is not None else self._path.is_file()
        self._restored = set(self._picks)
        """What was not picked in this process: nobody waits for it, so it must not fail."""
        self._left_out: set[Role] = set()

    def in_force(self, config: Config, secrets: Mapping[str, str]) -> Mapping[Role, str]:
        """What was picked, as far as nothing goes before it."""
        return {
            role: pick.model
            for role, pick in self._picks.items()
            if role not in config.fixed
            and pick.configured == _configured(config, role)
            and (role not in self._restored or is_usable(pick.model, config, secrets))
        }

    def pick(self, chosen: Mapping[Role, str], config: Config) -> None:
        """From now on these; an empty one: as in the settings again."""
        for role, model in chosen.items():
            self._picks.pop(role, None)
            self._restored.discard(role)
            if model:
                self._picks[role] = Pick(model, _configured(config, role))
        self._store({role: self._picks.get(role) for role in chosen})

    def settle(self, config: Config, secrets: Mapping[str, str]) -> Iterator[str]:
        """Forget what does not count any more; what the user should hear about it. At the beginning of a turn: some
        editors tell their settings after the start."""
        if self._is_damaged:
            self._is_damaged = False
            self._store({})
            yield "Your selected models could not be read. Odin uses the models from your settings."
        for role, pick in [it for it in self._picks.items() if it[0] not in config.fixed]:
            if pick.configured != _configured(config, role):
                if self._can_pick:
                    del self._picks[role]
                    self._store({role: None}, instead_of=pick)
                    yield f"The model in your settings has changed and replaces your selection, {pick.model}."
            elif role in self._restored - self._left_out and not is_usable(pick.model, config, secrets):
                self._left_out.add(role)
                yield (
                    f"The selected model {pick.model} is not available; its API key may be missing."
                    " Odin uses the model from your settings."
                )
        while self._untold:
            yield self._untold.pop()

    def _store(self, picks: Mapping[Role, Pick | None], *, instead_of: Pick | None = None) -> None:
        """Besides what others have stored. Scripts are not kept: what is in them may be another thing next time."""

        def change(stored: Any) -> Any:
            mine = _picks(stored, self._root)
            for role, pick in picks.items():
                if pick and not pick.model.startswith("scripted/"):
                    mine[role] = pick
                elif instead_of in (None, mine.get(role)):
                    mine.pop(role, None)
            others = {key: it for key, it in stored.items() if key != self._root} if is_object(stored) else {}
            latest = dict(list(others.items())[-MAX_WORKSPACES + 1 :])
            return {**latest, self._root: {role: asdict(pick) for role, pick in mine.items()}} if mine else latest

        try:
            private_files.update_json(self._path, change)
        except OSError as error:
            self._untold.append(f"Could not save your model selection ({error.strerror}: {self._path}).")


def _configured(config: Config, role: Role) -> str | None:
    return getattr(config, role) or None


def _picks(stored: object, root: str) -> dict[Role, Pick]:
    mine = stored.get(root) if is_object(stored) else None
    picks: dict[Role, Pick] = {}
    for role in ROLES:
        match mine.get(role) if is_object(mine) else None:
            case {"model": str(model), "configured": str() | None as configured}:
                picks[role] = Pick(model, configured)
            case _:
                pass
    return picks


def _is_damaged(stored: object, root: str) -> bool:
    mine = stored.get(root, {}) if is_object(stored) else None
    return not is_object(mine) or bool(mine.keys() & set(ROLES) - _picks(stored, root).keys())
