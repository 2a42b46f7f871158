"""The owner of folders, settings, trust and picked models.

Whoever needs one of these asks `Project.now`, and whatever changes one of them ends in `Project.look`: it makes one new
value, and those who keep something that follows from it are handed that. So after any changes all is as if Odin had
been started just then."""

import logging
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odin_lsp import config, state_folder
from odin_lsp.config import Config, ConfigProblem, roles
from odin_lsp.config.skill_folders import may_have_skills
from odin_lsp.errors import RequestError
from odin_lsp.models import selection
from odin_lsp.models.selection import Role

if TYPE_CHECKING:
    from odin_lsp.extensions.mcp_files import McpServer
    from odin_lsp.extensions.registry import Extensions
    from odin_lsp.permissions.trust import Agreement, BroughtList, FileChange, Standing, Trust
    from odin_lsp.project.picks import Picks

log = logging.getLogger("odin.project")
TRUST_FILE = "trust.json"
Load = Callable[["Told", Container[str]], tuple[Config, tuple[ConfigProblem, ...]]]
"""The settings in force, with those of the folder that are agreed to, and what is wrong with them."""


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
    """The editor's word: `False` is its restricted mode. `True` says nothing: what the user allows an editor to do in a
    folder is not what they have agreed to here."""
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
    agreed: frozenset[str] = frozenset()
    """Ids of what counts of all that the folder brings."""
    undecided: frozenset[str] = frozenset()
    """Ids of what it brings that is new since it was trusted: as often as that changes, the user is asked."""
    switched: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """Extensions that the user has switched on or off, until Odin ends, by `kind:name`."""
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

        if self.is_plain:
            return Extensions().with_servers(self.servers)
        agreed = self.agreed if self.is_trusted else frozenset[str]()
        disabled, switched = self.config.extensions.disabled, self.switched
        found = Extensions.found(self.root, agreed=agreed, disabled=disabled, switched=switched)
        return found.with_servers(self.servers)

    @property
    def skills(self) -> tuple[str, ...]:
        """Their names. Where there are none nothing is imported for it: `initialize` tells them."""
        return tuple(self.extensions.skills) if may_have_skills(self.root) else ()

    @property
    def models(self) -> tuple[str, str]:
        """The planner's model and the small one."""
        return selection.choose(self.config, self.secrets, self.picked)


def load(told: Told, agreed: Container[str]) -> tuple[Config, tuple[ConfigProblem, ...]]:
    root = next(iter(told.roots), None)
    return config.load(root, settings=told.settings, flags=told.flags, agreed=agreed)


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

    def decide_trust(self, *, trusted: bool, items: Collection[str] = (), digest: str | None = None) -> bool:
        """The user's word on the first folder, which counts until Odin ends and is for good once it is kept; whether
        the folder is trusted now. `items` are the programs and servers that the user has agreed to, and `digest` is
        that of the list which they were shown; `RequestError` if it is another one now."""
        root = self.look().root  # what has changed meanwhile is handed on as such, not taken over as known
        if root is not None:
            self._trust.decide(root, trusted=trusted, items=items, digest=digest)
            self.look()
        return self.now.is_trusted

    def brought(self) -> "BroughtList":
        """All that the first folder brings, as it is now. This reads files."""
        from odin_lsp.permissions.trust import BroughtList

        return self._trust.brought(self.now.root) if self.now.root else BroughtList()

    def changes_since_trust(self) -> "list[FileChange]":
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

    def switch_extensions(self, names: Iterable[str], *, on: bool) -> None:
        """From now on, until Odin ends; `names` are `kind:name`."""
        self._switched = {**self._switched, **dict.fromkeys(names, on)}
        self.look()

    def settle_picks(self) -> Iterator[str]:
        """Forget picks that do not count any more; what the user should hear about it. When a turn begins."""
        yield from self._picks_of(self.now.root).settle(self._settings, self.now.secrets)
        self.look()

    def read_ahead(self) -> None:
        """Read and understand all files that the user and the folder bring, in a thread: what looks at them next, on
        the loop, does not have to understand them again. What checks settings is set up when there are some."""
        self._load(self._told, ())
        _ = self.now.extensions

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
        agreement = self._agreement(root)
        agreed = agreement.agreed if agreement else frozenset[str]()
        settings, problems = self._load(told, agreed if told.trusted is not False else ())
        self._settings = settings
        is_there = root in self._picks or selection.picks_file().exists()
        return Situation(
            roots=roots,
            config=roles.in_role(settings, roles.chosen(settings, self._role)),
            problems=(*told.problems, *problems, *_unknown_role(settings)),
            secrets=told.secrets,
            picked=self._picks_of(root).in_force(settings, told.secrets) if is_there else {},
            standing=agreement.standing if agreement else "unknown",
            agreed=agreed,
            undecided=agreement.undecided if agreement else frozenset(),
            switched=self._switched,
            servers=told.servers,
            is_plain=not told.extensions,
            is_restricted=told.trusted is False,
        )

    def _agreement(self, root: Path | None) -> "Agreement | None":
        """None where nobody has ever decided on a folder."""
        is_known = self._trust_store or (state_folder.folder() / TRUST_FILE).exists()
        return self._trust.agreement(root) if root is not None and is_known else None

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
