"""What is said between Odin and a server, by a server that does what a table says."""

import pytest

from odin_lsp.intelligence.servers import Unavailable
from tests.support.language_servers import at

REFERENCES = "textDocument/references"


async def test_a_question_is_answered(world):
    world.script({REFERENCES: [{"answer": [1, 2]}]})
    path = world.write("a.toy", "x\n")

    server = await world.first(path)

    assert (await server.ask(REFERENCES, at(path))).result == [1, 2]
    assert (server.name, server.encoding) == ("scripted", "utf-16")


async def test_an_error_is_told_in_the_words_of_the_server(world):
    error = {"code": -32603, "message": "no such symbol"}
    world.script({REFERENCES: [{"message": {"id": "same", "error": error}}]})
    path = world.write("a.toy", "x\n")

    server = await world.first(path)

    with pytest.raises(Unavailable, match="scripted refuses: no such symbol"):
        await server.ask(REFERENCES, at(path))


async def test_a_question_is_asked_again_where_the_text_changed_while_it_was_answered(world):
    changed = {"message": {"id": "same", "error": {"code": -32801, "message": "content modified"}}}
    world.script({REFERENCES: [changed], "textDocument/hover": [{"answer": "x"}]}, timeout=5)
    path = world.write("a.toy", "x\n")
    server = await world.first(path)

    with pytest.raises(Unavailable, match="has not answered"):
        await server.ask(REFERENCES, at(path))

    assert len(await world.received(server, REFERENCES)) > 1


async def test_all_that_a_server_asks_is_answered(world):
    asked = [
        ("workspace/configuration", {"items": [{"section": "toy"}, {"section": "other"}, 3]}),
        ("client/registerCapability", {"registrations": [{"id": "1", "method": "textDocument/hover"}]}),
        ("window/workDoneProgress/create", {"token": 1}),
        ("workspace/applyEdit", {"edit": {}}),
        ("workspace/workspaceFolders", None),
        ("window/showDocument", {"uri": "file:///x"}),
        ("toy/unheardOf", [1]),
        ("workspace/configuration", None),
        ("client/registerCapability", "nonsense"),
    ]
    messages = [{"message": {"id": f"q{n}", "method": it, "params": params}} for n, (it, params) in enumerate(asked)]
    world.script({REFERENCES: [*messages, {"answer": []}]})
    path = world.write("a.toy", "x\n")
    server = await world.first(path)
    assert not server.offers("textDocument/hover")

    await server.ask(REFERENCES, at(path))

    told = (await server.ask("test/received", {})).result
    answers = {it["id"]: it["result"] for it in told if str(it.get("id")).startswith("q")}
    assert answers["q0"] == [None, None, None]
    assert (answers["q1"], answers["q2"], answers["q6"], answers["q7"], answers["q8"]) == (None, None, None, [], None)
    assert answers["q3"]["applied"] is False
    assert answers["q4"] == [{"uri": world.root.as_uri(), "name": "ws"}]
    assert answers["q5"] == {"success": False}
    assert server.offers("textDocument/hover")


async def test_a_question_that_is_left_is_left_to_the_server(world):
    world.script({REFERENCES: [{"late": []}]}, timeout=5)
    path = world.write("a.toy", "x\n")
    server = await world.first(path)

    with pytest.raises(Unavailable, match=r"scripted has not answered textDocument/references in"):
        await server.ask(REFERENCES, at(path))

    assert await world.received(server, "$/cancelRequest") == []
