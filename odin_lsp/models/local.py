"""Models of servers on this computer. They speak OpenAI's chat completions and want no key."""

import httpx2

from odin_lsp.errors import ModelUnavailable
from odin_lsp.models.base import Connection, Model
from odin_lsp.models.local_servers import SERVERS
from odin_lsp.models.openai import connect_to
from odin_lsp.models.openai_sdk import TOO_LONG
from odin_lsp.models.reference import ModelRef
from odin_lsp.models.service import Service

NO_KEY = "no-key-needed"


def connect(ref: ModelRef, connection: Connection) -> Model:
    server = SERVERS[ref.provider]
    service = LocalService(
        provider=server.name,
        ref=ref,
        key=NO_KEY,
        key_place="its settings",
        base_variable=server.variable,
        usual_host=server.url.partition("://")[2],
        too_long=TOO_LONG,
    )
    # No proxy, of the environment or of the settings: the server is on this computer.
    client = httpx2.AsyncClient(timeout=connection.network.timeout, trust_env=False, follow_redirects=False)
    return connect_to(f"{server.url}/v1", service, client)


class LocalService(Service):
    def broken(self, error: Exception) -> ModelUnavailable:
        if isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout):
            return ModelUnavailable(f"{self.provider} does not answer at {self.host}; start it, or choose another")
        return super().broken(error)
