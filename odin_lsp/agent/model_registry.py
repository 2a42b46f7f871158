"""The models that can be asked, each made when it is first needed and retired when what it was made of has changed."""

import os
from collections.abc import Iterator
from functools import partial

from odin_lsp.commands.environment import trusted_path
from odin_lsp.config import Config
from odin_lsp.errors import ModelUnavailable
from odin_lsp.models import providers, selection
from odin_lsp.models.account.counting import count_tokens
from odin_lsp.models.account.listing import AccountListings
from odin_lsp.models.base import Model, Request
from odin_lsp.models.key_helper import KeyHelpers
from odin_lsp.models.providers import Candidate
from odin_lsp.models.reference import ModelRef
from odin_lsp.models.resilience import KeyPool, ResilientModel
from odin_lsp.project.project import Project, Situation
from odin_lsp.tasks import Tasks


class ModelRegistry:
    def __init__(self, project: Project, model: Model | None = None, small_model: Model | None = None) -> None:
        """Models that are given here are asked in place of those that the settings name, and closed by who gave
        them."""
        self._project = project
        self._given = {it.ref: it for it in (model, small_model) if it is not None}
        self._given_refs = model.ref if model else "", small_model.ref if small_model else ""
        self._keys = KeyPool()
        self._helpers = KeyHelpers(self._path)
        self.accounts = AccountListings(lambda: (project.now.config, project.now.secrets), self._helpers)
        self._models: dict[str, ResilientModel] = {}
        self._made_of = _made_of(project.now)
        self._retiring = Tasks()
        project.follow(self._take_over)

    def __iter__(self) -> Iterator[ResilientModel]:
        return iter(self._models.values())

    @property
    def refs(self) -> tuple[str, str]:
        """The planner's model and the small one."""
        model, small = self._given_refs
        if model and small:
            return model, small
        selected = self._project.now.models
        return model or selected[0], small or selected[1]

    @property
    def selected(self) -> str:
        """The planner's."""
        return self.refs[0]

    @property
    def running(self) -> str:
        """The one that answers: the selected one, or a fallback for it."""
        return self._models[self.selected].running if self.selected in self._models else self.selected

    @property
    def available(self) -> tuple[str, ...]:
        return selection.available(self._project.now.config, self._project.now.secrets)

    @property
    def names(self) -> dict[str, str]:
        """What can be picked, and what is said of it: what Odin knows by itself, then what accounts have besides, as
        far as their providers have said so."""
        efforts = selection.efforts(self.available)
        names = {name: "" for it in self.available for name in (it, *(f"{it}@{how}" for how in efforts.get(it, ())))}
        for listing in self.accounts.known:
            for it in listing.models:
                names.setdefault(it.ref, it.title or listing.title)
        return names

    @property
    def small(self) -> ResilientModel:
        """For everything but planning."""
        return self.get(self.refs[1])

    @property
    def naming(self) -> Model | None:
        """For titles. `None` where nobody wants any or could think of one, or a script is about other things."""
        selected, small = self.refs
        is_script = small == selected and (small in self._given or "scripted/" in small)
        if not self._project.now.config.titles or small.startswith("offline/") or is_script:
            return None
        return self.get(small)

    def provider(self, ref: str) -> str:
        """Of a model that can be asked; `ModelError` says why it cannot."""
        return ModelRef.of(ref).provider if ref in self._given else selection.named(ref).provider

    def get(self, ref: str) -> ResilientModel:
        if ref not in self._models:
            now = self._project.now
            self._models[ref] = ResilientModel(
                self._chain(ref, now),
                partial(self._connect, now.config),
                retries=now.config.retries,
                idle=now.config.timeouts.idle,
                pool=self._keys,
                proxied=lambda it: it not in self._given and providers.is_proxied(it, now.config),
            )
        return self._models[ref]

    async def count_tokens(self, ref: str, request: Request) -> int:
        """Of a request to that model, as its provider counts; `ModelUnavailable` says why it does not."""
        if ref in self._given:
            raise ModelUnavailable(f"{ref} does not count tokens")
        now = self._project.now
        return await count_tokens(selection.named(ref), request, now.config, now.secrets, self._helpers)

    async def close(self) -> None:
        await self.accounts.close()
        await self._retiring.settled()
        for model in self._own():
            await model.aclose()

    def _take_over(self, now: Situation) -> None:
        if _made_of(now) == self._made_of:
            return
        self._made_of = _made_of(now)
        for model in self._own():
            self._retiring.begin(model.retire())
        self._models.clear()

    def _chain(self, ref: str, now: Situation) -> list[list[Candidate]]:
        if ref in self._given:
            return [[Candidate(ref, None, "")]]
        refs = [ref, *(it for it in now.config.fallback_models if it != ref)]
        return [providers.candidates(it, now.config, now.secrets, self._helpers) for it in refs]

    async def _connect(self, config: Config, candidate: Candidate) -> Model:
        return self._given.get(candidate.ref) or await providers.connect(candidate, config)

    def _path(self) -> str:
        """On which a program for a key is found: no workspace brings one."""
        return trusted_path(os.environ.get("PATH", os.defpath), self._project.now.roots)

    def _own(self) -> list[ResilientModel]:
        """Those that are closed here."""
        return [model for ref, model in self._models.items() if ref not in self._given]


def _made_of(now: Situation) -> tuple[object, ...]:
    config = now.config
    return (
        config.models,
        config.keys,
        config.key_helpers,
        config.network,
        config.platforms,
        config.retries,
        config.timeouts,
        config.fallback_models,
        now.secrets,
    )
