"""What the model is told of the language servers that the editor has, by an editor that answers as the test says."""

import pytest

from tests.e2e.conftest import ODIN, plain
from tests.e2e.steps import results, says

SYMBOLS, REFERENCES = "textDocument/documentSymbol", "textDocument/references"
EDITOR = {**ODIN, "editor": ["request", "diagnostics"]}


class Servers:
    """The editor's other language servers, by what they answer to which method."""

    def __init__(self, client):
        self.client = client
        self.answers = {SYMBOLS: {"answers": [answer(None)]}}
        self.asked = []

        @client.lsp.feature("odin/editor/request")
        def request(params):
            self.asked.append(plain(params))
            return self.answers.get(params.method, {"answers": []})


def answer(result, *, ready=True):
    return {"server": "gopher in the editor", "ready": ready, "result": result}


def place(path, line, character):
    spot = {"line": line, "character": character}
    return {"uri": path.as_uri(), "range": {"start": spot, "end": spot}}


@pytest.fixture
async def servers(start, anthropic):
    client = await start(odin=EDITOR, **anthropic)
    return Servers(client)


@pytest.fixture
def ask(servers, root, step, wire):
    """What the model is told of who uses `greet`, with these answers."""

    async def ask(answers):
        servers.answers[REFERENCES] = answers
        step(("Lookup", {"what": "references", "symbol": "greet", "file_path": str(root / "greet.py")}))
        wire.play(says())
        await servers.client.command("ask", text="who uses it?")
        [told] = results(wire)
        return told

    return ask


async def test_a_question_of_the_model_is_answered_by_the_editors_language_server(servers, ask, root):
    caller = root / "caller.py"
    caller.write_text("import greet as g\nprint('😀', g.greet('you'))\n")

    assert await ask({"answers": [answer([place(caller, 1, 14)])]}) == (
        "caller.py\n2:print('😀', g.greet('you'))\n(gopher in the editor)"
    )
    asked = servers.asked[-1]
    assert asked["uri"] == (root / "greet.py").as_uri()
    assert asked["params"]["position"] == {"line": 0, "character": 4}


async def test_what_goes_wrong_in_the_editor_is_said_and_the_name_is_searched_for(ask, root):
    wrong = {
        "has not read the whole project yet": {"answers": [answer([place(root / "greet.py", 0, 4)], ready=False)]},
        "gopher did not answer in time": {"answers": [], "late": ["gopher"]},
        "`answers` must be a list": {"answers": "many"},
        "gopher: No Project": {"answers": [], "failed": [{"server": "gopher", "reason": "No Project"}]},
    }
    told = {words: await ask(answers) for words, answers in wrong.items()}

    assert all(it.startswith("greet.py\n1:def greet(name):") for it in told.values())
    assert {words: words in it for words, it in told.items()} == dict.fromkeys(wrong, True)


async def test_the_editors_servers_are_listed_beside_odins_own(servers, ask, root):
    uri = (root / "greet.py").as_uri()
    place_of = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
    found = [{"range": place_of, "message": "bad", "severity": it, "source": "linter"} for it in (1, 2, 2)]

    @servers.client.lsp.feature("odin/editor/diagnostics")
    def diagnostics(_params):
        return {"items": [{"uri": uri, "diagnostics": found, "current": True}]}

    await ask({"answers": [answer(None)]})

    listed = (await servers.client.command("state"))["languageServers"]
    facts = {it["name"]: (it["owner"], it.get("errors"), it.get("warnings")) for it in listed}
    assert facts == {"gopher in the editor": ("editor", None, None), "linter": ("editor", 1, 2)}
