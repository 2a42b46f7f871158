"""What a platform's refusals mean to people: there is no key to check, but credentials, a region and a grant."""

from collections.abc import Mapping
from dataclasses import dataclass

from odin_lsp.errors import KeyRejected, ModelError
from odin_lsp.models.platforms.known import PLATFORMS, Platform
from odin_lsp.models.service import Service
from odin_lsp.redaction import redacted


@dataclass(frozen=True, kw_only=True)
class PlatformService(Service):
    region: str
    """Where it is asked, as the user would name it."""

    @property
    def platform(self) -> Platform:
        return PLATFORMS[self.ref.provider]

    @property
    def advice(self) -> str:
        return f"check {self.key_place}" if self.key.value else self.platform.sign_in

    def without_credentials(self, error: Exception) -> KeyRejected:
        said = self._quote(redacted(str(error))) or type(error).__name__
        return KeyRejected(f"there are no credentials for {self.provider} ({said}); {self.platform.sign_in}")

    def _fault(self, status: int, message: str, headers: Mapping[str, str]) -> ModelError:
        fault = super()._fault(status, message, headers)
        said = self._quote(redacted(message)) or f"status {status}"
        if status == 401:
            return KeyRejected(f"{self.provider} does not accept the credentials ({said}); {self.advice}")
        if isinstance(fault, KeyRejected):
            return KeyRejected(
                f"{self.provider} refuses access to {self.model} in {self.region} ({said}); ask for access to the"
                " model, choose another region, or another model"
            )
        if status == 404 and type(fault) is ModelError:
            return ModelError(
                f"{self.provider} does not have {self.model} in {self.region} ({said}); check `model` and the region"
            )
        return fault
