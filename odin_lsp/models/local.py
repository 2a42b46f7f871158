"""Models of servers on this computer. They speak OpenAI's chat completions and want no key."""

import httpx2

from odin_lsp.errors import ModelUnavailable
from odin_lsp.models.base import Connection, Model
from odin_lsp.models.key import PlainKey
from odin_lsp.models.line import OWN_HEADERS, Line
from odin_lsp.models.local_servers import SERVERS
from odin_lsp.models.openai_chat import ChatModel
from odin_lsp.models.openai_faults import TOO_LONG, refusal
from odin_lsp.models.reference import ModelRef
from odin_lsp.models.senders import DirectSender
from odin_lsp.models.service import Service

NO_KEY = PlainKey("no-key-needed")


def connect(ref: ModelRef, connection: Connection) -> Model:
    server = SERVERS[ref.provider]
    service = LocalService(
        provider=server.name,
        ref=ref,
        key=NO_KEY,
        key_place="its settings",
        base_variable=server.variable,
        usual=server.url,
        too_long=TOO_LONG,
    )
    # No proxy, of the environment or of the settings: the server is on this computer.
    client = httpx2.AsyncClient(timeout=connection.network.timeout, trust_env=False, follow_redirects=False)
    sender = DirectSender(
        client, f"{server.url}/v1", NO_KEY, lambda key: {**OWN_HEADERS, "authorization": f"Bearer {key}"}
    )
    return ChatModel(Line(service, sender, refusal))


class LocalService(Service):
    def broken(self, error: Exception) -> ModelUnavailable:
        if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
            return ModelUnavailable(f"{self.provider} does not answer at {self.host}; start it, or choose another")
        return super().broken(error)
