"""Model servers on this computer: found when somebody asks for them, and spoken to without a key or a proxy."""

import json

import pytest

from odin_lsp.config import Config, Network
from odin_lsp.errors import ModelUnavailable
from odin_lsp.models import local_servers, providers
from odin_lsp.models.base import Reply, Request
from odin_lsp.models.local_servers import SERVERS, FoundServer, LocalServer, find
from odin_lsp.models.providers import Candidate
from tests.support.ports import reserved_port
from tests.support.wire import DIALECTS, HELLO, Answer, Wire

JSON = {"content-type": "application/json"}
[OPENAI] = [it for it in DIALECTS if it.name == "openai"]


def listing(*names: object) -> Answer:
    body = json.dumps({"object": "list", "data": [{"id": it, "object": "model"} for it in names]})
    return Answer([body.encode()], headers=JSON)


@pytest.fixture(autouse=True)
def only_ollama(monkeypatch: pytest.MonkeyPatch, wire: Wire) -> None:
    """Whatever else may listen on this computer."""
    monkeypatch.setattr(local_servers, "SERVERS", {"ollama": SERVERS["ollama"]})
    monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{wire.port}")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")


async def test_a_server_that_answers_is_found_with_its_models(wire: Wire) -> None:
    wire.play(listing("qwen3:8b", "nomic-embed-text", 3, "a b", "x\n"))
    assert await find() == (FoundServer("Ollama", wire.url, ("ollama/qwen3:8b",)),)
    assert [it.target for it in wire.sent] == ["/v1/models"]


@pytest.mark.parametrize(
    "answer",
    [
        Answer([b"<html>a dev server</html>"], headers={"content-type": "text/html"}),
        Answer([b"not found"], status=404),
        Answer([b'{"data": ["a", {"name": "b"}]}'], headers=JSON),
        Answer([b"[" * 100_000], headers=JSON),
        Answer([b"x" * 65_536] * 20, headers=JSON),
        Answer(held=True),
        b"SSH-2.0-OpenSSH_9.2\r\n",
    ],
    ids=["page", "status", "shape", "depth", "size", "silence", "protocol"],
)
async def test_what_is_no_model_server_is_not_found(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, answer: Answer | bytes
) -> None:
    monkeypatch.setattr(local_servers, "SECONDS", 0.5)
    wire.play(answer)
    assert await find() == ()


async def test_where_nobody_listens_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    with reserved_port() as port:
        monkeypatch.setattr(local_servers, "SERVERS", {"vllm": LocalServer("vLLM", port)})
        assert await find() == ()


@pytest.mark.parametrize(
    ("said", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        (":5000", "http://127.0.0.1:5000"),
        ("https://gpu:443/", "https://gpu:443"),
        ("http://a/b?c", "http://127.0.0.1:11434"),
    ],
)
def test_ollama_is_where_its_own_variable_says(monkeypatch: pytest.MonkeyPatch, said: str, url: str) -> None:
    monkeypatch.setenv("OLLAMA_HOST", said)
    assert SERVERS["ollama"].url == url


async def test_a_local_model_is_asked_without_a_key_and_past_every_proxy(wire: Wire) -> None:
    wire.play(Answer([OPENAI.hello]))
    config = Config(network=Network(proxy="http://127.0.0.1:9"))
    model = await providers.connect(Candidate("ollama/qwen3:8b", None, ""), config)
    try:
        *_, reply = [it async for it in model.stream(HELLO)]
    finally:
        await model.aclose()
    assert isinstance(reply, Reply)
    assert reply.message.text == "Grüße 👋"
    [sent] = wire.sent
    assert (sent.target, sent.body["model"], sent.headers["host"]) == (
        "/v1/chat/completions",
        "qwen3:8b",
        f"127.0.0.1:{wire.port}",
    )
    assert not providers.is_proxied("ollama/qwen3:8b", config)


async def test_a_server_that_has_ended_says_what_to_start(monkeypatch: pytest.MonkeyPatch) -> None:
    with reserved_port() as port:
        monkeypatch.setenv("OLLAMA_HOST", f":{port}")
        model = await providers.connect(Candidate("ollama/qwen3", None, ""), Config())
        try:
            with pytest.raises(ModelUnavailable, match=f"^Ollama does not answer at 127.0.0.1:{port}; start it"):
                [it async for it in model.stream(Request((), ()))]
        finally:
            await model.aclose()
