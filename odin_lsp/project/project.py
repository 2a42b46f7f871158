"""The owner of folders, settings, trust and picked models.

Whoever needs one of these asks `Project.now`, and whatever changes one of them ends in `Project.look`: it makes one new
value, and those who keep something that follows from it are handed that. So after any changes all is as if Odin had
been started just then."""

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odin_lsp import config, state_folder
from odin_lsp.config import Config, ConfigProblem, roles
from odin_lsp.errors import RequestError
from odin_lsp.models import selection
from odin_lsp.models.selection import Role

if TYPE_CHECKING:
    from odin_lsp.extensions.mcp_files import McpServer
    from odin_lsp.extensions.registry import Extensions
    from odin_lsp.permissions.trust import Change, Standing, Trust
    from odin_lsp.project.picks import Picks

log = logging.getLogger("odin.project")
TRUST_FILE = "trust.json"
Load = Callable[["Told", bool], tuple[Config, tuple[ConfigProblem, ...]]]
"""The settings in force, in a folder that is trusted or not, and what is wrong with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the front end says: an editor in its handshake and its notifications, a terminal by its options."""

    roots: tuple[Path, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The editor's."""
    flags: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The command line's."""
    secrets: Mapping[str, str] = field(default_factory=dict[str, str])
    """Keys from the editor's own safe, by provider."""
    servers: "tuple[McpServer, ...]" = ()
    """MCP servers that the front end brings. They are the user's, and go before those of files."""
    extensions: bool = True
    """Whether what users and projects plug in is used."""
    trusted: bool | None = None
    """The editor's word; `False` is its restricted mode."""
    problems: tuple[ConfigProblem, ...] = ()
    """With what it said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """All that is in force at one moment."""

    roots: tuple[Path, ...] = ()
    """The real folders; what is said of a project counts for the first."""
    config: Config = field(default_factory=Config.model_construct)
    problems: tuple[ConfigProblem, ...] = ()
    secrets: Mapping[str, str] = field(default_factory=dict[str, str])
    picked: Mapping[Role, str] = field(default_factory=dict[Role, str])
    """Those of the two models that the user picked, now or the last time."""
    standing: "Standing" = "unknown"
    switched: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """Extensions that the user has switched on or off, until Odin ends."""
    servers: "tuple[McpServer, ...]" = ()
    """MCP servers of the front end."""
    is_plain: bool = False
    """What users and projects plug in is not used."""
    is_restricted: bool = False
    """The editor opened the folder in its restricted mode."""

    @property
    def root(self) -> Path | None:
        return next(iter(self.roots), None)

    @property
    def is_trusted(self) -> bool:
        """Whether what the folder brings may do more than restrict."""
        return self.standing == "trusted" and not self.is_restricted

    @property
    def extensions(self) -> "Extensions":
        """What the user and the project plug in, as it is on disk now."""
        from odin_lsp.extensions.registry import Extensions

        switches = {**dict.fromkeys(self.config.extensions.disabled, False), **self.switched}
        disabled = [name for name, is_on in switches.items() if not is_on]
        if self.is_plain:
            return Extensions().with_servers(self.servers)
        found = Extensions.found(self.root, is_trusted=self.is_trusted, disabled=disabled)
        return found.with_servers(self.servers)

    @property
    def models(self) -> tuple[str, str]:
        """The planner's model and the small one."""
        return selection.choose(self.config, self.secrets, self.picked)


def load(told: Told, trusted: bool) -> tuple[Config, tuple[ConfigProblem, ...]]:
    root = next(iter(told.roots), None)
    return config.load(root, settings=told.settings, flags=told.flags, trusted=trusted)


class Project:
    def __init__(self, told: Told | None = None, *, load: Load = load, can_pick: bool = True) -> None:
        """`can_pick`: whether the user can pick models in this front end, so that a pick may be out of date."""
        self._told = told or Told()
        self._load = load
        self._can_pick = can_pick
        self._picks: dict[Path | None, Picks] = {}
        """By the first folder, which may become another."""
        self._trust_store: Trust | None = None
        self._role: str | None = None
        """The one that the user has switched to; none: as in the settings."""
        self._switched: dict[str, bool] = {}
        self._settings = Config.model_construct()
        """Those in force, before the role."""
        self._followers: list[Callable[[Situation], None]] = []
        self.now = self._found()

    def follow(self, follower: Callable[[Situation], None]) -> None:
        """Hand each new situation to `follower`."""
        self._followers.append(follower)

    def tell(self, **news: Any) -> None:
        """The front end says something new; the names are those of `Told`."""
        self._told = replace(self._told, **news)
        self.look()

    def change_folders(self, removed: tuple[Path, ...], added: tuple[Path, ...]) -> None:
        gone = {_real(it) for it in removed}
        left = [root for root in self._told.roots if _real(root) not in gone]
        self.tell(roots=(*left, *added))

    def decide_trust(self, *, trusted: bool) -> bool:
        """The user's word on the first folder, which counts until Odin ends and is for good once it is kept; whether
        the folder is trusted now."""
        root = self.look().root  # what has changed meanwhile is handed on as such, not taken over as known
        if root is not None:
            self._trust.decide(root, trusted=trusted)
            self.look()
        return self.now.is_trusted

    def changes_since_trust(self) -> "list[Change]":
        """Of what the first folder brings, if it was trusted. This reads files."""
        return self._trust.changes(self.now.root) if self.now.root and self.now.standing == "changed" else []

    def keep_trust(self) -> None:
        """Store what was decided. This waits for the disk; an `OSError` says why it cannot be stored."""
        if self._trust_store is not None:
            self._trust_store.keep()

    def pick(self, chosen: Mapping[Role, str | None]) -> None:
        """The user's pick of models; an empty one: as in the settings again."""
        for role, ref in chosen.items():
            if ref:
                selection.named(ref)
            if ref and role in self.now.config.fixed:
                variable = config.variable_of(role)
                raise RequestError(
                    f"cannot select a model: the environment variable {variable} overrides the selection; unset it and"
                    " restart Odin"
                )
        self._picks_of(self.now.root).pick(
            {role: ref for role, ref in chosen.items() if ref is not None}, self._settings
        )
        self.look()

    def switch_role(self, name: str) -> None:
        """From now on, until Odin ends. The models of a role count until the user picks another one."""
        known = roles.known(self._settings)
        if name not in known:
            raise RequestError(f"there is no role {name!r}; there are {', '.join(known)}")
        self._role = name
        if known[name].models and "model" in self.now.picked:
            self._picks_of(self.now.root).pick({"model": ""}, self._settings)
        self.look()

    def switch_extension(self, name: str, *, on: bool) -> None:
        """From now on, until Odin ends."""
        self._switched = {**self._switched, name: on}
        self.look()

    def settle_picks(self) -> Iterator[str]:
        """Forget picks that do not count any more; what the user should hear about it. When a turn begins."""
        yield from self._picks_of(self.now.root).settle(self._settings, self.now.secrets)
        self.look()

    def look(self) -> Situation:
        """Look again at all that counts, and hand on what is new."""
        found = self._found()
        if found != self.now:
            self.now = found
            for follower in self._followers:
                try:
                    follower(found)
                except Exception:  # nobody else goes on with what was in force before
                    log.exception("a change of folders or settings was not taken over everywhere")
        return self.now

    def _found(self) -> Situation:
        roots = tuple(dict.fromkeys(_real(root) for root in self._told.roots if root.is_dir()))
        told = replace(self._told, roots=roots)
        root = next(iter(roots), None)
        standing = self._standing(root)
        settings, problems = self._load(told, standing == "trusted" and told.trusted is not False)
        self._settings = settings
        is_there = root in self._picks or selection.picks_file().exists()
        return Situation(
            roots=roots,
            config=roles.in_role(settings, roles.chosen(settings, self._role)),
            problems=(*told.problems, *problems, *_unknown_role(settings)),
            secrets=told.secrets,
            picked=self._picks_of(root).in_force(settings, told.secrets) if is_there else {},
            standing=standing,
            switched=self._switched,
            servers=told.servers,
            is_plain=not told.extensions,
            is_restricted=told.trusted is False,
        )

    def _standing(self, root: Path | None) -> "Standing":
        """The editor's word counts until what it was given for changes."""
        is_known = self._told.trusted or self._trust_store or (state_folder.folder() / TRUST_FILE).exists()
        if root is None or not is_known:
            return "unknown"
        standing = self._trust.of(root)
        if standing != "unknown" or not self._told.trusted:
            return standing
        self._trust.decide(root, trusted=True)
        return "trusted"

    @property
    def _trust(self) -> "Trust":
        """Imported when it is needed: most folders bring nothing that had to be trusted."""
        if self._trust_store is None:
            from odin_lsp.permissions.trust import Trust

            self._trust_store = Trust(state_folder.folder() / TRUST_FILE)
        return self._trust_store

    def _picks_of(self, root: Path | None) -> "Picks":
        from odin_lsp.project.picks import Picks

        if root not in self._picks:
            self._picks[root] = Picks(root or Path("/"), can_pick=self._can_pick)
        return self._picks[root]


def _unknown_role(settings: Config) -> Iterator[ConfigProblem]:
    if settings.role not in roles.known(settings):
        yield ConfigProblem("`role`", None, f"there is no role `{settings.role}`; `{roles.BUILDER}` is used")


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path.absolute()
