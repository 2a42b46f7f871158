"""WebSearch: each service in its own words, asked about like a page, and what comes back is fenced data."""

import json
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from odin_lsp.config import SearchSettings
from odin_lsp.errors import PermissionDenied, ToolError
from odin_lsp.ports import Answer
from odin_lsp.tools.base import all_tools
from odin_lsp.web.pages import Pages
from tests.support.web import Host, answer

YES = Answer(("allow_once",))
BRAVE = {
    "type": "search",
    "web": {
        "type": "search",
        "results": [
            {"title": "The <strong>one</strong>", "url": "https://one.example/", "description": "It is &amp; was."},
            {"title": "A script", "url": "javascript:alert(1)", "description": ""},
        ],
    },
}
SEARXNG = {
    "query": "q",
    "number_of_results": 1,
    "results": [{"title": "One", "url": "https://one.example/", "content": "It \u200bis.", "engine": "x"}],
    "suggestions": [],
}
LINK = "//duckduckgo.com/l/?uddg=https%3A%2F%2Fone.example%2Fa%3Fb&amp;rut=1"
DUCKDUCKGO = f"""<html><body><div class="result results_links web-result">
<h2 class="result__title"><a rel="nofollow" class="result__a" href="{LINK}">One</a></h2>
<a class="result__url" href="{LINK}">one.example/a</a>
<a class="result__snippet" href="{LINK}">It <b>is</b> so.</a>
</div></body></html>"""


@pytest.fixture
async def host():
    async with Host() as host:
        yield host


@pytest.fixture
def search(context, person, host):
    async def search(provider, query="what is it?", **settings):
        url = f"http://127.0.0.1:{host.port}"
        chosen = SearchSettings(provider=provider, **{"url": url, **settings})
        tool = all_tools()["WebSearch"]
        person.answers = [YES]
        return await tool.run(tool.parse({"query": query}), replace(context, pages=Pages(search=chosen)))

    return search


def asked(host):
    [request] = host.requests
    return {name: value for name, [value] in parse_qs(urlsplit(request.path).query).items()}


async def test_brave_is_asked_with_the_users_key(search, host, monkeypatch):
    monkeypatch.setenv("MY_KEY", "a-key-of-mine")
    host.pages["*"] = answer(json.dumps(BRAVE), "application/json")

    output = await search("brave", key="MY_KEY")

    assert asked(host) == {"q": "what is it?", "count": "10"}
    assert host.requests[0].headers["x-subscription-token"] == "a-key-of-mine"
    assert "1. The one\nhttps://one.example/\nIt is" in output.data
    assert "javascript" not in output.data
    assert "data from 127.0.0.1" in output.data
    assert output.description == "what is it?: 1 page"


async def test_searxng_is_asked_for_json(search, host):
    host.pages["*"] = answer(json.dumps(SEARXNG), "application/json")

    output = await search("searxng")

    assert host.requests[0].path.startswith("/search?")
    assert asked(host) == {"q": "what is it?", "format": "json"}
    assert "1. One\nhttps://one.example/\nIt is." in output.data


async def test_duckduckgos_page_is_read(search, host):
    host.page("*", DUCKDUCKGO)

    output = await search("duckduckgo")

    assert asked(host) == {"q": "what is it?"}
    assert "1. One\nhttps://one.example/a?b\nIt is so." in output.data


async def test_the_user_is_asked_about_the_host_and_a_no_asks_nobody(search, host, person, context):
    chosen = SearchSettings(provider="searxng", url=f"http://127.0.0.1:{host.port}")
    tool = all_tools()["WebSearch"]
    person.answers = [Answer(("deny",))]

    with pytest.raises(PermissionDenied):
        await tool.run(tool.parse({"query": "it"}), replace(context, pages=Pages(search=chosen)))

    assert host.requests == []
    assert "127.0.0.1" in str(tool.wants(tool.parse({"query": "it"}), replace(context, pages=Pages(search=chosen))))


@pytest.mark.parametrize(
    ("provider", "settings", "why"),
    [
        (None, {}, "the user has chosen no service"),
        ("brave", {"key": "NOT_SET_ANYWHERE"}, "has to set NOT_SET_ANYWHERE"),
        ("searxng", {"url": None}, r"has to set `webSearch\.url`"),
    ],
)
async def test_what_the_settings_lack_is_said(search, provider, settings, why):
    with pytest.raises(ToolError, match=why):
        await search(provider, **settings)


async def test_what_is_no_answer_is_told_and_a_redirect_takes_no_key_along(search, host, monkeypatch):
    monkeypatch.setenv("BRAVE_API_KEY", "a-key-of-mine")
    host.page("*", "<p>blocked</p>")
    with pytest.raises(ToolError, match="brave has not answered with JSON"):
        await search("brave")
    host.redirect("*", "http://other.test/")
    with pytest.raises(ToolError, match=r"sends searches on to other\.test"):
        await search("brave")


async def test_secrets_are_not_searched_for(search, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "sk-0123456789abcdef")

    with pytest.raises(PermissionDenied, match="a key or password"):
        await search("duckduckgo", "what is sk-0123456789abcdef")


async def test_the_model_has_the_tool_only_with_a_service(odin):
    odin.script({"text": "ok"}, {"text": "ok"})
    listed = []
    for provider in (None, "duckduckgo"):
        odin.start()
        odin.configure(web_search=SearchSettings(provider=provider))
        progress = odin.turns.start(odin.message("hi")).progress
        listed.append("WebSearch" in (await odin.live._planner(progress, odin.events.append)).executor.tools)

    assert listed == [False, True]
