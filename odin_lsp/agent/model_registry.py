"""The models that can be asked, each made when it is first needed and retired when what it was made of has changed."""

from collections.abc import Iterator

from odin_lsp.models import providers, selection
from odin_lsp.models.base import Model
from odin_lsp.models.resilience import KeyPool, ResilientModel
from odin_lsp.project.project import Project, Situation
from odin_lsp.tasks import Tasks


class ModelRegistry:
    def __init__(self, project: Project) -> None:
        self._project = project
        self._keys = KeyPool()
        self._models: dict[str, ResilientModel] = {}
        self._made_of = _made_of(project.now)
        self._retiring = Tasks()
        project.follow(self._take_over)

    def __iter__(self) -> Iterator[ResilientModel]:
        return iter(self._models.values())

    @property
    def selected(self) -> str:
        """The planner's."""
        return self._project.now.models[0]

    @property
    def running(self) -> str:
        """The one that answers: the selected one, or a fallback for it."""
        return self._models[self.selected].running if self.selected in self._models else self.selected

    @property
    def available(self) -> tuple[str, ...]:
        return selection.available(self._project.now.config, self._project.now.secrets)

    @property
    def small(self) -> ResilientModel:
        """For everything but planning."""
        return self.get(self._project.now.models[1])

    @property
    def naming(self) -> Model | None:
        """For titles. `None` where nobody wants any or could think of one, or a script is about other things."""
        selected, small = self._project.now.models
        is_script = small == selected and "scripted/" in small
        if not self._project.now.config.titles or small.startswith("offline/") or is_script:
            return None
        return self.get(small)

    def get(self, ref: str) -> ResilientModel:
        if ref not in self._models:
            now = self._project.now
            refs = [ref, *(it for it in now.config.fallback_models if it != ref)]
            self._models[ref] = ResilientModel(
                [providers.candidates(it, now.config, now.secrets) for it in refs],
                lambda candidate: providers.connect(candidate, now.config),
                retries=now.config.retries,
                idle=now.config.timeouts.idle,
                pool=self._keys,
                proxied=lambda it: providers.is_proxied(it, now.config),
            )
        return self._models[ref]

    async def close(self) -> None:
        await self._retiring.settled()
        for model in self._models.values():
            await model.aclose()

    def _take_over(self, now: Situation) -> None:
        if _made_of(now) == self._made_of:
            return
        self._made_of = _made_of(now)
        for model in self._models.values():
            self._retiring.begin(model.retire())
        self._models.clear()


def _made_of(now: Situation) -> tuple[object, ...]:
    config = now.config
    return (
        config.models,
        config.keys,
        config.network,
        config.retries,
        config.timeouts,
        config.fallback_models,
        now.secrets,
    )
