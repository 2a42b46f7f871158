"""Servers that misuse a login: what is secret goes to nobody else, and into no text."""

import socket
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from starlette.responses import JSONResponse, RedirectResponse

from odin_lsp.config import McpSettings, Network
from odin_lsp.errors import ToolError
from odin_lsp.mcp import logins
from odin_lsp.mcp.connection import Around
from odin_lsp.mcp.elsewhere import Elsewhere
from odin_lsp.mcp.login import log_in
from odin_lsp.mcp.pool import McpServers
from odin_lsp.mcp.trying import try_out
from tests.support.login_server import METADATA, RESOURCE, LoginServer, browse, endless

CLOUD = "http://169.254.169.254"
FAR = "https://login.example"


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with LoginServer().running() as server:
        yield server


@pytest.fixture
def around(tmp_path):
    return Around((tmp_path,), McpSettings(timeout=20))


@pytest.fixture
def stranger():
    with LoginServer().running() as server:
        yield server


def metadata(server, **other):
    paths = {"authorization_endpoint": "/authorize", "token_endpoint": "/token", "registration_endpoint": "/register"}
    said = {"issuer": server.origin, **{name: server.origin + path for name, path in paths.items()}}
    return JSONResponse({**said, **other})


def resource(server, **other):
    return JSONResponse({"resource": server.entry.url, "authorization_servers": [server.origin], **other})


def challenge(url):
    return JSONResponse({}, 401, {"WWW-Authenticate": f'Bearer resource_metadata="{url}"'})


LEADS_AWAY = {
    "the metadata of the resource": lambda it: {"/mcp": challenge(f"{CLOUD}/x")},
    "the authorization server": lambda it: {RESOURCE: resource(it, authorization_servers=[CLOUD])},
    "the registration": lambda it: {METADATA: metadata(it, registration_endpoint=f"{CLOUD}/x")},
    "the page for the person": lambda it: {METADATA: metadata(it, authorization_endpoint=f"{CLOUD}/x")},
    "the token": lambda it: {METADATA: metadata(it, token_endpoint=f"{CLOUD}/x")},
}


@pytest.mark.parametrize("hostile", LEADS_AWAY.values(), ids=LEADS_AWAY)
async def test_mcp_09_a_login_does_not_lead_to_the_machines_of_a_cloud(server, around, hostile, monkeypatch):
    connected = []
    connect = socket.socket.connect
    monkeypatch.setattr(socket.socket, "connect", lambda it, address: connected.append(address) or connect(it, address))
    server.answers |= hostile(server)
    shown = []

    with pytest.raises(ToolError):
        await log_in(server.entry, around, lambda it: shown.append(it) or browse(it), seconds=5)

    assert all(it.startswith(server.origin) for it in shown)
    assert not [it for it in connected if "169.254" in str(it)]
    assert logins.read("toy", server.entry.url) is None


async def test_mcp_09_no_browser_is_sent_to_what_is_no_page(server, around):
    server.answers[METADATA] = metadata(server, authorization_endpoint="file:///etc/passwd")
    shown = []

    await log_in(server.entry, around, lambda it: shown.append(it) or browse(it))

    assert [it.startswith(f"{server.origin}/authorize?") for it in shown] == [True]


@pytest.mark.parametrize(
    ("of", "to", "address", "problem"),
    [
        ("https://mcp.example/mcp", FAR, "93.184.216.34", None),
        ("https://mcp.example/mcp", FAR, "127.0.0.1", "is loopback"),
        ("https://mcp.example/mcp", FAR, "10.0.0.7", "is private"),
        ("https://mcp.example/mcp", FAR, "169.254.169.254", "is metadata"),
        ("https://mcp.example/mcp", FAR, "::ffff:169.254.169.254", "is metadata"),
        ("https://mcp.example/mcp", "http://login.example", "93.184.216.34", "without encryption"),
        ("https://mcp.example/mcp", "http://127.0.0.1:8080", "", "is loopback"),
        ("https://10.0.0.1/mcp", FAR, "10.0.0.7", None),
        ("https://10.0.0.1/mcp", FAR, "127.0.0.1", "is loopback"),
        ("http://127.0.0.1:8000/mcp", "http://localhost:9000", "127.0.0.1", None),
        ("http://127.0.0.1:8000/mcp", "http://login.example", "10.0.0.7", "without encryption"),
    ],
)
async def test_mcp_09_whom_a_server_may_send_odin_to(of, to, address, problem):
    async def resolve(host, port):
        return ["93.184.216.34" if host == "mcp.example" else address]

    request = httpx2.Request("POST", f"{to}/token")
    if problem:
        with pytest.raises(ToolError, match=problem):
            await Elsewhere(of, Network(), resolve).pin(request)
        return

    await Elsewhere(of, Network(), resolve).pin(request)

    assert (request.url.host, request.headers["host"]) == (address, to.partition("//")[2])
    assert request.extensions["sni_hostname"] == httpx2.URL(to).host


@pytest.mark.parametrize("path", ["/mcp", "/token"])
async def test_mcp_09_a_redirect_takes_no_token_along(server, stranger, around, path):
    await log_in(server.entry, around, browse)
    if path == "/token":
        server.giving.access.clear()
    server.answers[path] = RedirectResponse(stranger.origin + path)

    [trial] = await try_out([server.entry], around)

    assert trial.problem
    assert stranger.requests == []


async def test_mcp_09_a_code_is_not_given_to_whom_a_redirect_names(server, stranger, around):
    server.answers["/token"] = RedirectResponse(f"{stranger.origin}/token")

    with pytest.raises(ToolError, match="toy: it has given no token for the login"):
        await log_in(server.entry, around, browse)

    assert stranger.requests == []


async def test_mcp_09_no_token_is_sent_without_encryption(tmp_path, around, server, monkeypatch):
    far = server.entry.url.replace("127.0.0.1", "far.example")
    entry = type(server.entry)(name="toy", transport="http", url=far)

    with pytest.raises(ToolError, match="which is not sent without encryption"):
        await log_in(entry, around, browse)


async def test_mcp_09_an_answer_with_another_state_is_no_login(server, around):
    server.giving.state = "of somebody else"
    pages = []

    with pytest.raises(ToolError, match="nobody has logged in within 1 s"):
        await log_in(server.entry, around, lambda it: pages.append(browse(it)), seconds=1)

    assert ["There is nothing here." in it for it in pages] == [True]

    assert server.asked("/token") == []


async def test_mcp_14_a_page_that_comes_before_the_answer_uses_up_no_login(server, around):
    pages = []

    def show(address):
        callback = parse_qs(urlsplit(address).query)["redirect_uri"][0]
        pages.extend(browse(f"{callback}{it}") for it in ("", "?code=evil", "?code=evil&state=x", "?error=denied"))
        pages.append(browse(address))

    assert await log_in(server.entry, around, show) == 1

    assert ["There is nothing here." in it for it in pages] == [True, True, True, True, False]
    assert logins.read("toy", server.entry.url) is not None


async def test_mcp_09_metadata_of_another_issuer_is_not_believed(server, stranger, around):
    server.answers[METADATA] = metadata(stranger)

    with pytest.raises(ToolError, match="issuer mismatch"):
        await log_in(server.entry, around, browse)

    assert stranger.requests == []


async def test_mcp_09_a_token_for_another_resource_is_not_asked_for(server, stranger, around):
    server.answers[RESOURCE] = resource(server, resource=stranger.entry.url)

    with pytest.raises(ToolError, match="the login cannot be trusted"):
        await log_in(server.entry, around, browse)


@pytest.mark.parametrize("path", [RESOURCE, METADATA, "/register", "/token"])
async def test_mcp_09_an_answer_without_an_end_ends_the_login(server, around, path):
    server.answers[path] = endless

    with pytest.raises(ToolError, match="more than 16 MiB"):
        await log_in(server.entry, around, browse)


async def test_mcp_09_what_a_server_says_of_a_failed_login_is_in_no_text(server, around, caplog, capfd):
    server.answers["/token"] = JSONResponse({"error": "x", "access_token": "secret-of-the-user"}, 400)

    with pytest.raises(ToolError) as refused:
        await log_in(server.entry, around, browse)

    assert "secret-of-the-user" not in f"{refused.value}{caplog.text}{capfd.readouterr()}"


async def test_mcp_09_a_token_that_a_server_quotes_is_told_to_nobody(server, around, caplog):
    await log_in(server.entry, around, browse)
    token = logins.read("toy", server.entry.url).tokens["access_token"]
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": f"I do not like {token}"}}
    pool = McpServers(lambda *_: None, pauses=(0.0,))
    pool.use({"toy": server.entry}, around)
    await pool.begin(20)
    server.answers["/mcp"] = JSONResponse(error, 400)

    with pytest.raises(ToolError, match=r"I do not like \[hidden\]") as refused:
        await pool.of("toy").call(pool.offered["mcp__toy__add"], {"a": 2, "b": 3}, print, None)

    await pool.close()
    assert token not in f"{refused.value}{caplog.text}{pool.states()}"


async def test_mcp_06_an_answer_without_an_end_ends_the_call_and_not_the_connection(server, around):
    await log_in(server.entry, around, browse)
    pool = McpServers(lambda *_: None, pauses=(0.0,))
    pool.use({"toy": server.entry}, around)
    await pool.begin(20)
    server.answers["/mcp"] = lambda: server.answers.clear() or endless()
    toy = pool.of("toy"), pool.offered["mcp__toy__add"]

    with pytest.raises(ToolError, match="more than 16 MiB"):
        await toy[0].call(toy[1], {"a": 2, "b": 3}, print, None)
    answered = await toy[0].call(toy[1], {"a": 2, "b": 3}, print, None)

    await pool.close()
    assert answered.text == "5"
