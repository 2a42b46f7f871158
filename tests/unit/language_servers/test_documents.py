"""What a server knows of texts: what is on the screen, and what is on disk."""

from odin_lsp.language_servers import documents
from tests.support.language_servers import at

REFERENCES = "textDocument/references"
OPENED, CHANGED, CLOSED = (f"textDocument/did{it}" for it in ("Open", "Change", "Close"))
WATCHED = "workspace/didChangeWatchedFiles"


async def asked(world, path):
    server = await world.first(path)
    await server.ask(REFERENCES, at(path))
    return server


async def test_it_is_shown_what_is_on_the_screen(world):
    world.script({})
    path = world.write("a.toy", "saved\n")
    world.buffers.open(path.as_uri(), 7, "not saved\n")

    server = await asked(world, path)

    [opened] = await world.received(server, OPENED)
    assert opened["textDocument"] == {"uri": path.as_uri(), "languageId": "toy", "version": 1, "text": "not saved\n"}


async def test_it_is_shown_other_open_documents_of_its_language_before_it_answers(world):
    world.script({})
    path, other, foreign = (world.write(name, "") for name in ("a.toy", "b.toy", "c.txt"))
    for it in (other, foreign):
        world.buffers.open(it.as_uri(), 1, "on the screen\n")

    server = await asked(world, path)

    shown = [it["textDocument"]["uri"] for it in await world.received(server, OPENED)]
    assert sorted(shown) == [path.as_uri(), other.as_uri()]


async def test_what_is_typed_is_told_with_the_next_question_in_a_new_version(world):
    world.script({})
    path = world.write("a.toy", "one\n")
    server = await asked(world, path)
    world.buffers.open(path.as_uri(), 1, "two\n")

    await server.ask(REFERENCES, at(path))
    await server.ask(REFERENCES, at(path))

    [changed] = await world.received(server, CHANGED)
    assert changed["textDocument"]["version"] == 2
    assert changed["contentChanges"] == [{"text": "two\n"}]


async def test_a_document_that_was_closed_unsaved_is_as_on_disk_again(world):
    world.script({})
    path = world.write("a.toy", "on disk\n")
    world.buffers.open(path.as_uri(), 1, "on the screen\n")
    server = await asked(world, path)
    world.buffers.close(path.as_uri())

    await server.ask(REFERENCES, at(path))

    [changed] = await world.received(server, CHANGED)
    assert changed["contentChanges"] == [{"text": "on disk\n"}]


async def test_what_comes_changes_and_goes_on_disk_is_told(world):
    world.script({})
    path, changing, going = (world.write(name, "x\n") for name in ("a.toy", "b.toy", "c.toy"))
    server = await asked(world, path)
    world.write("b.toy", "longer than before\n")
    going.unlink()
    new = world.write("folder/new.toy", "new\n")

    await server.ask(REFERENCES, at(path))

    [told] = await world.received(server, WATCHED)
    assert {it["uri"]: it["type"] for it in told["changes"]} == {
        new.as_uri(): 1,
        changing.as_uri(): 2,
        going.as_uri(): 3,
    }
    assert (await world.received(server, OPENED))[-1]["textDocument"]["text"] == "new\n"


async def test_ignored_files_are_not_spoken_of(world):
    world.script({})
    world.write(".gitignore", "ignored/\n")
    (world.root / ".git").mkdir()
    path = world.write("a.toy", "x\n")
    server = await asked(world, path)
    world.write("ignored/new.toy", "x\n")

    await server.ask(REFERENCES, at(path))

    assert await world.received(server, WATCHED) == []


async def test_a_file_that_is_gone_is_closed(world):
    world.script({})
    path, other = world.write("a.toy", "x\n"), world.write("b.toy", "x\n")
    server = await asked(world, path)
    path.unlink()
    await world.files.recheck()

    await server.ask(REFERENCES, at(other))

    assert [it["textDocument"]["uri"] for it in await world.received(server, CLOSED)] == [path.as_uri()]


async def test_a_save_is_told_to_whoever_wants_to_know(world):
    world.script({"capabilities": {"textDocumentSync": {"openClose": True, "change": 2, "save": True}}})
    path = world.write("a.toy", "one\n")
    world.buffers.open(path.as_uri(), 1, "two\n")
    server = await asked(world, path)
    path.write_text("two\n")
    world.buffers.save(path.as_uri())

    await server.ask(REFERENCES, at(path))

    assert [it["text"] for it in await world.received(server, "textDocument/didSave")] == ["two\n"]
    assert await world.received(server, CHANGED) == []


async def test_a_document_is_known_by_one_name_whatever_the_editor_calls_it(world):
    world.script({})
    path = world.write("a.toy", "on disk\n")
    (world.outside / "link").symlink_to(world.root)
    linked = world.outside / "link" / "a.toy"
    world.buffers.open(linked.as_uri(), 1, "on the screen\n")

    server = await world.first(path)
    await server.ask(REFERENCES, at(linked))

    [opened] = await world.received(server, OPENED)
    assert (opened["textDocument"]["uri"], opened["textDocument"]["text"]) == (path.as_uri(), "on the screen\n")
    [question] = await world.received(server, REFERENCES)
    assert question["textDocument"]["uri"] == path.as_uri()


async def test_a_large_tree_is_looked_at_again_when_somebody_says_that_it_has_changed(world, monkeypatch):
    monkeypatch.setattr(documents, "LONG_LOOK", 0.0)
    monkeypatch.setattr(documents, "REST", 1e9)
    world.script({})
    path = world.write("a.toy", "x\n")
    server = await asked(world, path)
    new = path.with_name("new.toy")
    new.write_text("x\n")
    await server.ask(REFERENCES, at(path))
    assert await world.received(server, WATCHED) == []

    world.files.heed([new])
    await server.ask(REFERENCES, at(path))

    assert len(await world.received(server, WATCHED)) == 1
