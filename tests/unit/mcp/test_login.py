"""Logins at servers: by a person in a browser, then kept, renewed in turns, and forgotten."""

import asyncio
import json
import os
import stat
import subprocess
import sys
from dataclasses import replace

import pytest
from starlette.responses import JSONResponse

from odin_lsp import state_folder
from odin_lsp.config import McpSettings
from odin_lsp.errors import ToolError
from odin_lsp.extensions.mcp_files import OAuthClient
from odin_lsp.mcp import logins
from odin_lsp.mcp.connection import Around
from odin_lsp.mcp.login import log_in
from odin_lsp.mcp.pool import McpServers
from odin_lsp.mcp.trying import try_out
from tests.support.login_server import LoginServer, browse
from tests.support.ports import reserved_port

LOG_IN = "toy: it wants a login; run `odin-lsp mcp login toy`"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def server():
    with LoginServer().running() as server:
        yield server


@pytest.fixture
def around(tmp_path):
    return Around((tmp_path,), McpSettings(timeout=20))


@pytest.fixture
async def pool(around):
    pool = McpServers(lambda *_: None, pauses=(0.0, 0.0, 0.0))
    pool.around = around
    yield pool
    await pool.close()


other_pool = pool


@pytest.fixture
def free_port():
    with reserved_port() as port:
        yield port


async def add(pool):
    return (await pool.of("toy").call(pool.offered["mcp__toy__add"], {"a": 2, "b": 3}, print, None)).text


def kept(server):
    return logins.read("toy", server.entry.url)


def make_old(server):
    """As if time had passed."""
    logins.keep("toy", replace(kept(server), expires=1.0))


async def test_who_is_not_logged_in_is_told_how_and_no_browser_is_opened(server, pool):
    pool.use({"toy": server.entry}, pool.around)

    await pool.begin(20)

    assert [(it.state, it.problem) for it in pool.states()] == [("retrying", LOG_IN)]
    assert {path for path, _ in server.requests} == {"/mcp"}


async def test_a_login_is_used_by_turns_from_then_on(server, pool):
    pool.use({"toy": server.entry}, pool.around)
    await pool.begin(20)

    assert await log_in(server.entry, pool.around, browse) == 1
    await pool.begin(20)

    assert [it.state for it in pool.states()] == ["ready"]
    assert await add(pool) == "5"


async def test_it_is_kept_where_only_the_user_can_read_it(server, around):
    await log_in(server.entry, around, browse)

    [file] = (state_folder.folder() / "mcp").rglob("credentials.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert list(file.parent.iterdir()) == [file]


async def test_another_address_under_the_same_name_gets_nothing(server, around):
    await log_in(server.entry, around, browse)
    with LoginServer().running() as other:
        [trial] = await try_out([other.entry], around)

    assert trial.problem == LOG_IN
    assert all("authorization" not in headers for _, headers in other.requests)


@pytest.mark.parametrize("secret", [None, "a secret of the client"])
async def test_a_client_that_the_server_knows_needs_no_registration(server, around, secret, monkeypatch, free_port):
    monkeypatch.setenv("CLIENT_SECRET", secret or "")
    server.giving.know("odin-1", f"http://localhost:{free_port}/callback", secret)
    client = OAuthClient("odin-1", "${CLIENT_SECRET}" if secret else "", free_port)

    await log_in(replace(server.entry, oauth=client), around, browse)

    assert server.asked("/register") == []
    assert kept(server).client["client_id"] == "odin-1"


async def test_a_token_that_has_become_old_is_renewed_and_written_back(server, pool):
    await log_in(server.entry, pool.around, browse)
    make_old(server)
    before = kept(server)
    pool.use({"toy": server.entry}, pool.around)

    await pool.begin(20)

    assert await add(pool) == "5"
    assert kept(server).tokens != before.tokens
    assert kept(server).expires > before.expires
    assert server.asked("/authorize")[1:] == []


async def test_a_token_that_the_server_has_forgotten_is_renewed_once(server, pool):
    await log_in(server.entry, pool.around, browse)
    pool.use({"toy": server.entry}, pool.around)
    await pool.begin(20)
    server.giving.access.clear()
    server.requests.clear()

    assert await add(pool) == "5"
    assert len(server.asked("/token")) == 1


async def test_what_another_odin_has_renewed_is_used(server, pool, other_pool):
    await log_in(server.entry, pool.around, browse)
    for it in (pool, other_pool):
        it.use({"toy": server.entry}, pool.around)
        await it.begin(20)
    server.giving.access.clear()
    server.requests.clear()

    assert [await add(it) for it in (pool, other_pool)] == ["5", "5"]
    assert len(server.asked("/token")) == 1


async def test_a_refused_renewal_says_how_to_log_in_again(server, pool):
    await log_in(server.entry, pool.around, browse)
    pool.use({"toy": server.entry}, pool.around)
    await pool.begin(20)
    server.giving.access.clear()
    server.giving.refresh.clear()

    with pytest.raises(ToolError, match="its login has ended; run `odin-lsp mcp login toy`"):
        await add(pool)

    assert [it.state for it in pool.states()] == ["retrying"]
    await log_in(server.entry, pool.around, browse)
    await pool.begin(20)
    assert await add(pool) == "5"


async def test_a_renewal_that_is_not_possible_now_does_not_end_the_login(server, around):
    await log_in(server.entry, around, browse)
    make_old(server)
    server.answers["/token"] = JSONResponse({}, 503)
    [trial] = await try_out([server.entry], around)
    assert trial.problem == "toy: its login cannot be renewed now (503); try again later"
    server.answers.clear()

    [trial] = await try_out([server.entry], around)

    assert trial.problem == ""


async def test_a_server_that_wants_more_rights_says_so(server, around):
    await log_in(server.entry, around, browse)
    challenge = {"WWW-Authenticate": 'Bearer error="insufficient_scope", scope="all"'}
    server.answers["/mcp"] = JSONResponse({}, 403, challenge)

    [trial] = await try_out([server.entry], around)

    assert trial.problem == "toy: it wants a login with more rights; run `odin-lsp mcp login toy`"


async def test_a_header_of_the_user_goes_before_a_login(server, around):
    entry = replace(server.entry, headers={"Authorization": "Bearer mine"})

    [trial] = await try_out([entry], around)

    assert "login" not in trial.problem
    assert {headers["authorization"] for headers in server.asked("/mcp")} == {"Bearer mine"}
    with pytest.raises(ToolError, match="remove it to log in"):
        await log_in(entry, around, browse)


async def test_a_login_has_an_end(server, around):
    with pytest.raises(ToolError, match="nobody has logged in within 0 s"):
        await log_in(server.entry, around, lambda _: None, seconds=0.1)

    assert kept(server) is None


async def test_in_a_terminal(server, tmp_path):
    servers = {"toy": {"url": server.entry.url}}
    (tmp_path / "config" / "odin").mkdir(parents=True)
    (tmp_path / "config" / "odin" / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    browser = tmp_path / "browser"
    browser.write_text(f"#!{sys.executable}\nimport sys, urllib.request\nurllib.request.urlopen(sys.argv[1]).read()\n")
    browser.chmod(0o755)

    def run(*words):
        argv = [sys.executable, "-m", "odin_lsp", "mcp", *words, "--cwd", str(tmp_path)]
        environ = {**os.environ, "BROWSER": f"{browser} %s"}
        done = subprocess.run(argv, capture_output=True, text=True, env=environ)
        return done.returncode, done.stdout + done.stderr

    status, said = await asyncio.to_thread(run, "login", "toy")
    assert (status, kept(server) is not None) == (0, True)
    assert f"{server.origin}/authorize?" in said
    assert "✓ logged in to toy, which has 1 tools" in said

    assert await asyncio.to_thread(run, "logout", "toy") == (0, "the login to toy is forgotten\n")
    assert kept(server) is None
