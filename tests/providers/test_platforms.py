"""Claude and Gemini on Bedrock, Vertex AI and Foundry, each against a server on loopback: the SDKs find, refresh and
sign the credentials; bodies, answers and faults are those of a turn with a plain key."""

import importlib.util
import json
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import google
import pytest

from odin_lsp.config import Config, Retries
from odin_lsp.errors import AnswerTooLong, ContextTooLong, KeyRejected, ModelError, ModelUnavailable
from odin_lsp.models import bodies, providers
from odin_lsp.models.base import Attempt, Model, Reply, TextDelta
from odin_lsp.models.providers import Candidate
from odin_lsp.models.resilience import KeyPool, ResilientModel
from tests.support.platforms import (
    AWS_STREAM,
    TokenService,
    aws_answer,
    aws_chunk,
    aws_exception,
    aws_frame,
    is_signed_by,
    token_service,
    write_google_credentials,
)
from tests.support.wire import DIALECTS, HELLO, Answer, Sent, Wire, anthropic_start

SECRET = "secret-of-aws-0123456789"
JSON = {"content-type": "application/json"}
MIB = 2**20
ANTHROPIC, GOOGLE = DIALECTS[0], DIALECTS[1]


@dataclass(frozen=True)
class Route:
    """One way to a model on a platform."""

    ref: str
    title: str
    plain: str
    """The same model at its maker."""
    target: str
    made_by_sdk: tuple[str, str]
    """A header, and what it begins with if the SDK has made it."""
    hello: Answer
    signed: Callable[[Sent, str], bool]

    def __str__(self) -> str:
        return self.ref.partition("/")[0] + ("-gemini" if "gemini" in self.ref else "")


def has_token(sent: Sent, url: str) -> bool:
    return sent.headers["authorization"] == "Bearer token-1"


ROUTES = (
    Route(
        "bedrock/global.anthropic.claude-sonnet-5-5-v1:0",
        "Amazon Bedrock",
        "anthropic/claude-sonnet-5-5",
        "/model/global.anthropic.claude-sonnet-5-5-v1:0/invoke-with-response-stream",
        ("user-agent", "AsyncAnthropicBedrock/"),
        aws_answer(ANTHROPIC.hello),
        lambda sent, url: is_signed_by(sent, url, SECRET),
    ),
    Route(
        "vertex/claude-sonnet-5-5",
        "Google Vertex AI",
        "anthropic/claude-sonnet-5-5",
        "/projects/my-project/locations/europe-west1/publishers/anthropic/models/claude-sonnet-5-5:streamRawPredict",
        ("user-agent", "AsyncAnthropicVertex/"),
        Answer([ANTHROPIC.hello]),
        has_token,
    ),
    Route(
        "foundry/claude-sonnet-5-5",
        "Microsoft Foundry",
        "anthropic/claude-sonnet-5-5",
        "/v1/messages",
        ("user-agent", "AsyncAnthropicFoundry/"),
        Answer([ANTHROPIC.hello]),
        lambda sent, url: {sent.headers["x-api-key"], sent.headers["api-key"]} == {"foundry-key-0123"},
    ),
    Route(
        "vertex/gemini-3.8-flash",
        "Google Vertex AI",
        "google/gemini-3.8-flash",
        "/v1beta1/projects/my-project/locations/europe-west1/publishers/google/models/gemini-3.8-flash"
        ":streamGenerateContent?alt=sse",
        ("x-goog-api-client", "google-genai-sdk/"),
        Answer([GOOGLE.hello]),
        has_token,
    ),
)
BEDROCK, VERTEX, FOUNDRY, GEMINI = ROUTES
AWS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


@pytest.fixture
def tokens() -> Iterator[TokenService]:
    with token_service() as service:
        yield service


@pytest.fixture(autouse=True)
def company(monkeypatch: pytest.MonkeyPatch, wire: Wire, tmp_path: Path, tokens: TokenService) -> None:
    """Somebody who may use all of them."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL", "ANTHROPIC_FOUNDRY_BASE_URL"):
        monkeypatch.setenv(name, wire.url)
    monkeypatch.setenv("GOOGLE_VERTEX_BASE_URL", wire.url)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("ANTHROPIC_FOUNDRY_API_KEY", "foundry-key-0123")
    write_google_credentials(tmp_path / "google.json", tokens)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "google.json"))
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "my-project")
    monkeypatch.setenv("CLOUD_ML_REGION", "europe-west1")
    from anthropic.lib.aws import _auth

    _auth._get_session.cache_clear()


@pytest.fixture(params=ROUTES, ids=str)
def route(request: pytest.FixtureRequest) -> Route:
    return request.param


@pytest.fixture
async def connect():
    opened: list[Model] = []

    async def connect(ref: str, config: Config | None = None) -> Model:
        opened.append(await providers.connect(Candidate(ref, None, ""), config or Config()))
        return opened[-1]

    yield connect
    for model in opened:
        await model.aclose()


def refusal(status: int, body: object, **headers: str) -> Answer:
    return Answer([json.dumps(body).encode()], status, {**JSON, **headers}, framing="length")


def watched_pieces(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How much has been read of each body that was read in part."""
    read: list[int] = []
    beginning = bodies.beginning

    async def watched(response, *most):
        said = await beginning(response, *most)
        read.append(len(said))
        return said

    monkeypatch.setattr(bodies, "beginning", watched)
    return read


async def test_a_turn_is_asked_and_answered_as_with_a_plain_key(route, connect, wire, ask):
    request = replace(HELLO, system=("Be brief.",))
    plain = GOOGLE.hello if "google" in route.plain else ANTHROPIC.hello
    model, other = await connect(route.ref), await connect(route.plain)

    events = await ask(model, route.hello, request=request)
    expected = await ask(other, Answer([plain]), request=request)

    ours, theirs = (dict(it.body) for it in wire.sent)
    for made_for_the_platform in ("anthropic_version", "model", "stream"):
        ours.pop(made_for_the_platform, None)
        theirs.pop(made_for_the_platform, None)
    assert ours == theirs
    assert [it for it in events if isinstance(it, TextDelta)] == [it for it in expected if isinstance(it, TextDelta)]
    assert events[-1].message.parts == expected[-1].message.parts
    assert (events[-1].stop, events[-1].usage) == (expected[-1].stop, expected[-1].usage)
    assert events[-1].message.origin == route.ref


async def test_the_sdk_makes_the_address_and_the_credentials(route, connect, wire, ask):
    await ask(await connect(route.ref), route.hello)

    (sent,) = wire.sent
    header, beginning = route.made_by_sdk
    assert sent.target == route.target
    assert beginning in sent.headers[header]
    assert route.signed(sent, wire.url)


async def test_without_the_sdk_no_platform_is_asked(route, connect, wire, ask, monkeypatch):
    """So nothing but the SDK asks, whatever a header says."""
    for name in [it for it in sys.modules if it.startswith("odin_lsp.models.platforms.")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [it for it in sys.modules if it.split(".")[0] == "anthropic"] + ["anthropic", "google.genai"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delattr(google, "genai", raising=False)

    with pytest.raises((ImportError, ModelError)):
        await ask(await connect(route.ref), route.hello)
    assert wire.sent == []


async def test_a_signature_is_for_what_was_sent(connect, wire, ask):
    await ask(await connect(BEDROCK.ref), BEDROCK.hello)
    (sent,) = wire.sent
    assert not is_signed_by(replace(sent, raw=sent.raw + b" "), wire.url, SECRET)
    assert not is_signed_by(sent, wire.url, "another")


@pytest.mark.parametrize(
    ("status", "words", "kind"),
    [
        (401, "does not accept the credentials (no); ", KeyRejected),
        (403, "refuses access to ", KeyRejected),
        (404, "does not have ", ModelError),
        (429, "limit for this key is reached", ModelUnavailable),
        (503, "cannot answer now (no)", ModelUnavailable),
    ],
)
async def test_a_refusal_says_what_to_do(route, connect, wire, status, words, kind):
    bodies = {
        "bedrock": {"message": "no"},
        "vertex": {"error": {"code": status, "message": "no", "status": ""}},
        "foundry": {"error": {"code": str(status), "message": "no"}},
    }
    said = refusal(status, bodies[route.ref.partition("/")[0]])
    wire.play(said, said)

    with pytest.raises(ModelError) as caught:
        _ = [it async for it in (await connect(route.ref)).stream(HELLO)]

    assert type(caught.value) is kind
    assert str(caught.value).startswith(route.title)
    assert words in str(caught.value)
    assert len(wire.sent) == (2 if status == 401 else 1)


@pytest.mark.parametrize(
    ("name", "message", "words"),
    [
        (
            "AccessDeniedException",
            "You don't have access to the model",
            "ask for access to the model, choose another region",
        ),
        ("ValidationException", "The provided model identifier is invalid.", "in us-east-1"),
        ("ThrottlingException", "Too many tokens", "limit for this key is reached"),
        ("ExpiredTokenException", "The security token is expired", "sign in with `aws sso login`"),
    ],
)
async def test_bedrock_names_its_refusals_in_a_header(connect, wire, name, message, words):
    said = refusal(
        400 if name == "ValidationException" else 403, {"message": message}, **{"x-amzn-errortype": f"{name}:http://"}
    )
    wire.play(said, said)
    with pytest.raises(ModelError) as caught:
        _ = [it async for it in (await connect(BEDROCK.ref)).stream(HELLO)]
    assert words in str(caught.value)


async def test_what_is_too_long_is_known_on_every_platform(route, connect, wire):
    said = "The input token count exceeds" if "gemini" in route.ref else "prompt is too long: 9 tokens > 8 maximum"
    wire.play(refusal(400, {"message": said} if route is BEDROCK else {"error": {"message": said, "code": 400}}))
    with pytest.raises(ContextTooLong):
        _ = [it async for it in (await connect(route.ref)).stream(HELLO)]


async def test_an_error_in_the_middle_of_an_answer_is_one(connect, wire):
    begun = aws_chunk(json.dumps(anthropic_start()).encode())
    wire.play(Answer([begun, aws_exception("throttlingException", "slow down")], headers=AWS_STREAM))
    with pytest.raises(ModelUnavailable, match="limit for this key is reached") as caught:
        _ = [it async for it in (await connect(BEDROCK.ref)).stream(HELLO)]
    assert caught.value.limited


async def test_an_answer_that_is_cut_off_does_not_count(route, connect, wire):
    pieces = b"".join(route.hello.pieces)
    wire.play(Answer([pieces[: len(pieces) * 2 // 3]], headers=route.hello.headers))
    with pytest.raises(ModelUnavailable, match="was cut off"):
        _ = [it async for it in (await connect(route.ref)).stream(HELLO)]


@pytest.mark.parametrize("status", [401, 403, 500])
@pytest.mark.parametrize("coding", ["", "gzip"])
async def test_prov_21_a_refusal_without_an_end_is_read_in_part(route, status, coding, connect, wire, monkeypatch):
    """Whoever answers, an SDK would read it whole: the test would not end."""
    read = watched_pieces(monkeypatch)
    flood = zlib.compress(b"x" * 64 * MIB, wbits=zlib.MAX_WBITS | 16) if coding else b"x" * MIB
    headers = {"content-type": "text/plain", **({"content-encoding": coding} if coding else {})}
    endless = Answer([flood], status, headers, held=True)
    wire.play(endless, endless)
    with pytest.raises(ModelUnavailable if status == 500 else KeyRejected) as caught:
        _ = [it async for it in (await connect(route.ref)).stream(HELLO)]
    assert len(str(caught.value)) < 900
    assert 0 < max(read) < 4 * bodies.MOST_OF_A_REFUSAL + MIB


@pytest.mark.parametrize(
    ("flood", "says"),
    [
        (b"\x7f" * 2**20, "one event in it has more than 1 MiB"),
        (aws_frame({":event-type": "chunk"}, b" " * 2**20), "one event in it has more than 1 MiB"),
        (b"".join([aws_chunk(b'{"type": "ping"}')] * 1000), "it has more than 0 MiB"),
    ],
    ids=["length", "frame", "answer"],
)
async def test_prov_21_an_answer_of_bedrocks_is_read_no_further_than_any_answer_goes(
    flood, says, connect, wire, monkeypatch
):
    if "0 MiB" in says:
        monkeypatch.setattr(bodies, "MOST_OF_AN_ANSWER", 5_000)
    begun = aws_chunk(json.dumps(anthropic_start()).encode())
    wire.play(Answer([begun, flood], headers=AWS_STREAM, held=True))
    with pytest.raises(AnswerTooLong, match=says):
        _ = [it async for it in (await connect(BEDROCK.ref)).stream(HELLO)]


async def test_frames_that_are_cut_anywhere_are_read(connect, wire, ask):
    whole = b"".join(BEDROCK.hello.pieces)
    for size in (1, 3, 5):
        pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
        *_, last = await ask(await connect(BEDROCK.ref), Answer(pieces, headers=AWS_STREAM))
        assert isinstance(last, Reply)


async def test_what_is_no_frame_is_an_answer_that_was_cut_off(connect, wire):
    broken = bytearray(aws_chunk(b"{}"))
    broken[-1] ^= 1
    wire.play(Answer([bytes(broken)], headers=AWS_STREAM))
    with pytest.raises(ModelUnavailable, match="was cut off"):
        _ = [it async for it in (await connect(BEDROCK.ref)).stream(HELLO)]


async def test_a_server_that_hangs_up_is_a_fault_that_passes(route, connect, wire):
    wire.play(b"")
    with pytest.raises(ModelUnavailable):
        _ = [it async for it in (await connect(route.ref)).stream(HELLO)]


async def test_a_page_is_no_answer(route, connect, wire):
    wire.play(Answer([b"<html>"], headers={"content-type": "text/html"}))
    with pytest.raises(ModelError, match="does not speak"):
        _ = [it async for it in (await connect(route.ref)).stream(HELLO)]


@pytest.mark.parametrize(
    ("route", "variables", "advice"),
    [
        (BEDROCK, AWS, "aws sso login"),
        (VERTEX, ("GOOGLE_APPLICATION_CREDENTIALS",), "gcloud auth application-default login"),
        (GEMINI, ("GOOGLE_APPLICATION_CREDENTIALS",), "gcloud auth application-default login"),
        (FOUNDRY, ("ANTHROPIC_FOUNDRY_API_KEY",), "set ANTHROPIC_FOUNDRY_API_KEY"),
    ],
    ids=str,
)
async def test_without_credentials_it_says_how_to_get_some(route, variables, advice, connect, wire, monkeypatch):
    for name in variables:
        monkeypatch.delenv(name)
    with pytest.raises(KeyRejected, match=f"there are no credentials for {route.title}") as caught:
        _ = [it async for it in (await connect(route.ref)).stream(HELLO)]
    assert advice in str(caught.value)
    assert wire.sent == []


async def test_without_the_extra_it_says_what_to_install(connect, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"pip install 'odin-lsp\[bedrock\]'"):
        await connect(BEDROCK.ref)


async def test_without_a_region_it_says_where_to_set_one(connect, monkeypatch):
    monkeypatch.delenv("AWS_REGION")
    with pytest.raises(ModelError, match=r"set AWS_REGION, or `platforms.bedrock.region`"):
        await connect(BEDROCK.ref)


async def test_a_profile_that_does_not_exist_is_named(connect):
    config = Config.model_validate({"platforms": {"bedrock": {"profile": "nobody"}}})
    with pytest.raises(ModelError, match=r"the AWS profile cannot be used .*nobody"):
        await connect(BEDROCK.ref, config)


async def test_settings_say_where_and_as_whom(connect, wire, ask, tmp_path, monkeypatch):
    for name in (*AWS, "AWS_REGION", "ANTHROPIC_FOUNDRY_BASE_URL"):
        monkeypatch.delenv(name)
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text(
        "[work]\naws_access_key_id = AKIDWORK\naws_secret_access_key = secret-of-work\n"
    )
    told = {
        "bedrock": {"region": "eu-west-1", "profile": "work"},
        "vertex": {"project": "another", "region": "us-east5"},
        "foundry": {"resource": "mine"},
    }
    config = Config.model_validate({"platforms": told})

    await ask(await connect(BEDROCK.ref, config), BEDROCK.hello)
    await ask(await connect(VERTEX.ref, config), VERTEX.hello)
    await ask(await connect(GEMINI.ref, config), GEMINI.hello)

    assert is_signed_by(wire.sent[0], wire.url, "secret-of-work", region="eu-west-1")
    assert all("/projects/another/locations/us-east5/" in it.target for it in wire.sent[1:])
    foundry = await connect(FOUNDRY.ref, config)
    assert foundry._service.host == "mine.services.ai.azure.com"


@pytest.mark.parametrize("route", [VERTEX, GEMINI], ids=str)
async def test_a_token_that_expires_in_a_turn_is_refreshed(route, connect, wire, ask, tokens):
    tokens.lifetime = 1
    model = await connect(route.ref)
    await ask(model, route.hello)
    await ask(model, route.hello)
    used = [it.headers["authorization"] for it in wire.sent]
    assert len(set(used)) == 2
    assert used[-1] == f"Bearer token-{tokens.given}"


@pytest.mark.parametrize("route", [VERTEX, GEMINI], ids=str)
async def test_a_token_that_is_revoked_in_a_turn_is_asked_for_again(route, connect, wire, ask):
    model = await connect(route.ref)
    await ask(model, route.hello)
    said = refusal(401, {"error": {"code": 401, "message": "revoked", "status": "UNAUTHENTICATED"}})
    assert isinstance((await ask(model, said, route.hello))[-1], Reply)
    assert [it.headers["authorization"] for it in wire.sent] == ["Bearer token-1", "Bearer token-1", "Bearer token-2"]


async def test_a_token_service_that_refuses_says_so(connect, wire, tokens):
    tokens.refusal = {"error": "invalid_grant", "error_description": "Account disabled"}
    with pytest.raises(KeyRejected, match="Account disabled"):
        _ = [it async for it in (await connect(VERTEX.ref)).stream(HELLO)]


async def test_credentials_of_a_file_that_expire_in_a_turn_are_read_again(connect, wire, ask, tmp_path, monkeypatch):
    for name in AWS:
        monkeypatch.delenv(name)
    file = tmp_path / "credentials"
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))

    def sign_in(number: int) -> None:
        file.write_text(
            f"[default]\naws_access_key_id = AKID{number}\naws_secret_access_key = secret-{number}\n"
            f"aws_session_token = session-{number}\n"
        )

    sign_in(1)
    model = await connect(BEDROCK.ref)
    await ask(model, BEDROCK.hello)
    sign_in(2)
    expired = refusal(
        403, {"message": "The security token is expired"}, **{"x-amzn-errortype": "ExpiredTokenException"}
    )
    await ask(model, expired, BEDROCK.hello)

    first, second, third = wire.sent
    assert is_signed_by(first, wire.url, "secret-1", token="session-1")
    assert is_signed_by(second, wire.url, "secret-1", token="session-1")
    assert is_signed_by(third, wire.url, "secret-2", token="session-2")


async def test_credentials_that_a_program_gives_are_refreshed_before_they_expire(
    connect, wire, ask, tmp_path, monkeypatch
):
    for name in AWS:
        monkeypatch.delenv(name)
    program = tmp_path / "program.py"
    program.write_text(
        "import json, pathlib, sys, time\n"
        f"file = pathlib.Path({str(tmp_path / 'count')!r})\n"
        "number = int(file.read_text()) + 1 if file.exists() else 1\n"
        "file.write_text(str(number))\n"
        "lasts = 60 if number == 1 else 3600\n"
        "ends = time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(time.time() + lasts))\n"
        "print(json.dumps({'Version': 1, 'AccessKeyId': f'AKID{number}', 'SecretAccessKey': f'secret-{number}',"
        " 'SessionToken': f'session-{number}', 'Expiration': ends}))\n"
    )
    config = tmp_path / "config"
    config.write_text(f"[default]\ncredential_process = {sys.executable} {program}\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    model = await connect(BEDROCK.ref)

    await ask(model, BEDROCK.hello)
    await ask(model, BEDROCK.hello)

    assert [is_signed_by(it, wire.url, "secret-2", token="session-2") for it in wire.sent] == [True, True]
    assert (tmp_path / "count").read_text() == "2"


async def test_a_bearer_token_of_bedrock_goes_before_all_other_credentials(connect, wire, ask, monkeypatch):
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "bedrock-api-key-1")
    config = Config.model_validate({"platforms": {"bedrock": {"profile": "nobody"}}})
    await ask(await connect(BEDROCK.ref, config), BEDROCK.hello)
    assert wire.sent[0].headers["authorization"] == "Bearer bedrock-api-key-1"


async def test_foundry_takes_tokens_of_entra_id_where_there_is_no_key(connect, wire, ask, tmp_path, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_FOUNDRY_API_KEY")
    package = tmp_path / "packages" / "azure" / "identity"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "tokens = []\n"
        "class DefaultAzureCredential: ...\n"
        "def get_bearer_token_provider(credential, scope):\n"
        "    def give():\n"
        "        tokens.append(scope)\n"
        "        return f'entra-{len(tokens)}'\n"
        "    return give\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path / "packages"))
    model = await connect(FOUNDRY.ref)
    await ask(model, FOUNDRY.hello)
    await ask(model, FOUNDRY.hello)
    assert [it.headers["authorization"] for it in wire.sent] == ["Bearer entra-1", "Bearer entra-2"]
    assert not {"api-key", "x-api-key"} & wire.sent[0].headers.keys()
    for name in ("azure.identity", "azure"):
        sys.modules.pop(name, None)


async def test_fallbacks_cross_platforms(wire, monkeypatch):
    for name in AWS:
        monkeypatch.delenv(name)
    refs = (BEDROCK.ref, FOUNDRY.ref, GEMINI.ref)
    model = ResilientModel(
        [[Candidate(ref, None, "")] for ref in refs],
        lambda candidate: providers.connect(candidate, Config()),
        retries=Retries(),
        idle=10,
        pool=KeyPool(),
        proxied=lambda _: False,
    )
    wire.play(refusal(401, {"error": {"message": "no"}}), refusal(401, {"error": {"message": "no"}}), GEMINI.hello)

    events = [it async for it in model.stream(HELLO)]
    await model.aclose()

    assert events[-1].message.origin == GEMINI.ref
    assert [it.running for it in events if isinstance(it, Attempt)] == [FOUNDRY.ref, GEMINI.ref]


async def test_a_key_of_vertex_goes_before_all_other_credentials_and_has_no_place(
    connect, wire, ask, tokens, monkeypatch
):
    monkeypatch.setenv("GOOGLE_VERTEX_API_KEY", "vertex-key-0123")
    request = replace(HELLO, system=("Be brief.",))
    await ask(await connect(GEMINI.ref), GEMINI.hello, request=request)
    await ask(await connect(GEMINI.plain), GEMINI.hello, request=request)

    sent, plain = wire.sent
    assert sent.target == "/v1beta1/publishers/google/models/gemini-3.8-flash:streamGenerateContent?alt=sse"
    assert sent.headers["x-goog-api-key"] == "vertex-key-0123"
    assert "authorization" not in sent.headers
    assert sent.body == plain.body
    assert tokens.given == 0

    await ask(await connect(VERTEX.ref), VERTEX.hello)
    assert wire.sent[-1].headers["authorization"] == "Bearer token-1"
    assert "x-goog-api-key" not in wire.sent[-1].headers


async def test_a_key_of_vertex_that_is_refused_is_named_and_hidden(connect, wire, monkeypatch):
    monkeypatch.setenv("GOOGLE_VERTEX_API_KEY", "vertex-key-0123")
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
    error = {"code": 400, "message": "no vertex-key-0123", "status": "INVALID_ARGUMENT", "details": details}
    wire.play(refusal(400, {"error": error}))
    with pytest.raises(KeyRejected, match="check GOOGLE_VERTEX_API_KEY") as caught:
        _ = [it async for it in (await connect(GEMINI.ref)).stream(HELLO)]
    assert "vertex-key-0123" not in str(caught.value)
    assert len(wire.sent) == 1


async def test_no_plain_key_goes_to_a_platform(route, connect, wire, ask, monkeypatch):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "a-plain-key-0123456789")
    await ask(await connect(route.ref), route.hello)
    assert "a-plain-key-0123456789" not in str(wire.sent[0].headers)


async def test_redirects_are_not_followed(route, connect, wire):
    wire.play(Answer([b""], 307, {"location": "http://127.0.0.1:9/"}, framing="length"))
    with pytest.raises(ModelError, match="redirects elsewhere"):
        _ = [it async for it in (await connect(route.ref)).stream(HELLO)]
    assert len(wire.sent) == 1
