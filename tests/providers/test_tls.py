"""Proxies, certificate authorities of one's own and client certificates, on both paths: Odin's own line, and the SDKs.
Real TLS, on loopback."""

import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trustme

from odin_lsp.config import Config
from odin_lsp.errors import ModelError, ModelUnavailable
from odin_lsp.models import providers
from odin_lsp.models.account.asking import list_models
from odin_lsp.models.base import Reply
from odin_lsp.models.providers import Candidate
from tests.support.platforms import (
    RoleService,
    aws_answer,
    is_signed_by,
    token_service,
    write_google_credentials,
)
from tests.support.wire import DIALECTS, HELLO, KEY, Answer, Wire, serving

PLAIN = ("anthropic/claude-sonnet-5-5", "google/gemini-3.8-flash", "openai/gpt-6-sol")
WITH_TOKENS = ("vertex/claude-sonnet-5-5", "vertex/gemini-3.8-flash")
BY_SDK = ("foundry/claude-sonnet-5-5", "bedrock/anthropic.claude-sonnet-5-5", *WITH_TOKENS)
BASES = {it.provider: (it.base_variable,) for it in DIALECTS[:3]} | {
    "foundry": ("ANTHROPIC_FOUNDRY_BASE_URL",),
    "bedrock": ("ANTHROPIC_BEDROCK_BASE_URL",),
    "vertex": ("ANTHROPIC_VERTEX_BASE_URL", "GOOGLE_VERTEX_BASE_URL"),
}
CREDENTIALS = {
    "ANTHROPIC_FOUNDRY_API_KEY": KEY,
    "AWS_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "secret-of-aws-0123456789",
    "GOOGLE_CLOUD_PROJECT": "my-project",
    "CLOUD_ML_REGION": "europe-west1",
}
LISTED = Answer([b'{"data": [], "has_more": false}'], headers={"content-type": "application/json"})


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def files(authority: trustme.CA, tmp_path: Path) -> dict[str, str]:
    client = authority.issue_cert("odin@example.com")
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    client.private_key_and_cert_chain_pem.write_to_path(tmp_path / "client.pem")
    client.cert_chain_pems[0].write_to_path(tmp_path / "certificate.pem")
    client.private_key_pem.write_to_path(tmp_path / "key.pem")
    return {it: str(tmp_path / f"{it}.pem") for it in ("ca", "client", "certificate", "key")}


@pytest.fixture(autouse=True)
def company(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Somebody who may use the platforms; the token service is on this computer, and no proxy is asked for it."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "google.json"))
    from anthropic.lib.aws import _auth

    _auth._get_session.cache_clear()
    with token_service() as tokens:
        write_google_credentials(tmp_path / "google.json", tokens)
        yield


@asynccontextmanager
async def gateway(authority: trustme.CA, *, wants_certificate: bool = False) -> AsyncIterator[Wire]:
    context = server_context(authority)
    if wants_certificate:
        context.verify_mode = ssl.CERT_REQUIRED
        authority.configure_trust(context)
    async with serving(context) as wire:
        yield wire


def server_context(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


async def ask(ref: str, url: str, monkeypatch: pytest.MonkeyPatch, network: dict[str, str]) -> object:
    for name in BASES[ref.partition("/")[0]]:
        monkeypatch.setenv(name, url)
    model = await providers.connect(Candidate(ref, KEY, "a test"), Config.model_validate({"network": network}))
    try:
        return [it async for it in model.stream(HELLO)][-1]
    finally:
        await model.aclose()


def hello(ref: str) -> Answer:
    if ref.startswith("bedrock"):
        return aws_answer(DIALECTS[0].hello)
    name = "openai" if ref.startswith("openai") else "google" if "gemini" in ref else "anthropic"
    return Answer([next(it for it in DIALECTS if it.name == name).hello])


def url_of(wire: Wire, ref: str) -> str:
    return f"https://127.0.0.1:{wire.port}" + ("/v1" if ref.startswith("openai") else "")


@pytest.mark.parametrize("ref", [*PLAIN, *BY_SDK])
async def test_an_authority_of_ones_own_is_trusted_where_it_is_set_and_nowhere_else(ref, authority, files, monkeypatch):
    async with gateway(authority) as wire:
        wire.play(hello(ref))
        assert isinstance(await ask(ref, url_of(wire, ref), monkeypatch, {"caBundle": files["ca"]}), Reply)
        with pytest.raises(ModelUnavailable, match="cannot be reached"):
            await ask(ref, url_of(wire, ref), monkeypatch, {})
        wire.play(hello(ref))
        monkeypatch.setenv("SSL_CERT_FILE", files["ca"])
        assert isinstance(await ask(ref, url_of(wire, ref), monkeypatch, {}), Reply)


@pytest.mark.parametrize("ref", [*PLAIN, *BY_SDK])
@pytest.mark.parametrize("shown", [("client", None), ("certificate", "key")])
async def test_a_client_certificate_is_shown(ref, shown, authority, files, monkeypatch):
    certificate, key = shown
    network = {"caBundle": files["ca"], "clientCertificate": files[certificate]}
    network |= {"clientKey": files[key]} if key else {}
    async with gateway(authority, wants_certificate=True) as wire:
        wire.play(hello(ref))
        assert isinstance(await ask(ref, url_of(wire, ref), monkeypatch, network), Reply)
        with pytest.raises(ModelUnavailable):
            await ask(ref, url_of(wire, ref), monkeypatch, {"caBundle": files["ca"]})


@pytest.mark.parametrize("ref", WITH_TOKENS)
async def test_tokens_are_fetched_by_tls_with_the_authority_that_their_library_is_told(
    ref, authority, files, tmp_path, monkeypatch
):
    """Google's library has its own variable for that."""
    async with gateway(authority) as wire:
        with token_service(server_context(authority)) as tokens:
            write_google_credentials(tmp_path / "google.json", tokens)
            with pytest.raises(ModelError):
                await ask(ref, url_of(wire, ref), monkeypatch, {"caBundle": files["ca"]})
            monkeypatch.setenv("REQUESTS_CA_BUNDLE", files["ca"])
            wire.play(hello(ref))
            assert isinstance(await ask(ref, url_of(wire, ref), monkeypatch, {"caBundle": files["ca"]}), Reply)
    assert wire.sent[0].headers["authorization"] == f"Bearer token-{tokens.given}"


async def test_credentials_of_aws_are_fetched_by_tls_with_the_authority_that_its_library_is_told(
    authority, files, tmp_path, monkeypatch
):
    """AWS' library has its own variable for that, too."""
    ref = "bedrock/anthropic.claude-sonnet-5-5"
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    (tmp_path / "token").write_text("of-the-build")
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "token"))
    monkeypatch.setenv("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/developer")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    async with gateway(authority) as wire:
        with token_service(server_context(authority), RoleService()) as roles:
            monkeypatch.setenv("AWS_ENDPOINT_URL_STS", roles.url)
            with pytest.raises(ModelError):
                await ask(ref, url_of(wire, ref), monkeypatch, {"caBundle": files["ca"]})
            assert (roles.given, wire.sent) == (0, [])
            monkeypatch.setenv("AWS_CA_BUNDLE", files["ca"])
            wire.play(hello(ref))
            assert isinstance(await ask(ref, url_of(wire, ref), monkeypatch, {"caBundle": files["ca"]}), Reply)
            url = url_of(wire, ref)
    assert is_signed_by(wire.sent[0], url, "secret-1", token="session-1")


async def test_the_process_that_lists_models_shows_it_too(authority, files, monkeypatch):
    network = {"caBundle": files["ca"], "clientCertificate": files["client"]}
    async with gateway(authority, wants_certificate=True) as wire:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"https://127.0.0.1:{wire.port}")
        wire.play(LISTED)
        assert await list_models("anthropic", KEY, Config.model_validate({"network": network})) == ()
        with pytest.raises(ModelUnavailable):
            await list_models("anthropic", KEY, Config.model_validate({"network": {"caBundle": files["ca"]}}))


async def test_a_certificate_that_cannot_be_used_is_named(files, monkeypatch):
    with pytest.raises(ModelError, match=r"the client certificate .*nowhere.pem cannot be used"):
        await ask(PLAIN[0], "https://127.0.0.1:1", monkeypatch, {"clientCertificate": "/nowhere.pem"})
    with pytest.raises(ModelError, match="the client certificate"):
        await ask(PLAIN[0], "https://127.0.0.1:1", monkeypatch, {"clientCertificate": files["ca"]})


@pytest.mark.parametrize("ref", [*PLAIN, *BY_SDK])
@pytest.mark.parametrize("way", ["setting", "environment"])
async def test_a_proxy_is_used(ref, way, monkeypatch):
    path = "/v1" if ref.startswith("openai") else ""
    async with serving() as proxy:
        proxy.play(hello(ref))
        if way == "environment":
            monkeypatch.setenv("HTTP_PROXY", proxy.url)
        network = {"proxy": proxy.url} if way == "setting" else {}
        assert isinstance(await ask(ref, f"http://models.example{path}", monkeypatch, network), Reply)
    assert proxy.sent[0].target.startswith("http://models.example/")
