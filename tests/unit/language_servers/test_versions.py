import pytest

from odin_lsp.intelligence.servers import Unavailable
from odin_lsp.language_servers.versions import without_versions
from tests.support.language_servers import at


def document(version):
    return {"textDocument": {"uri": "file:///a", "version": version}, "edits": [{"newText": "x"}]}


def test_versions_that_only_the_server_was_told_are_taken_out_of_edits():
    action = {"title": "x", "edit": {"documentChanges": [document(3), {"kind": "create", "uri": "file:///b"}]}}

    assert without_versions([action, None], lambda uri, version: (uri, version) == ("file:///a", 3)) == [
        {"title": "x", "edit": {"documentChanges": [document(None), {"kind": "create", "uri": "file:///b"}]}},
        None,
    ]
    assert without_versions({"documentChanges": [document(None)]}, lambda *_: False) == {
        "documentChanges": [document(None)]
    }


def test_an_edit_of_an_older_text_is_no_answer():
    with pytest.raises(Unavailable, match="its edit is for an older text"):
        without_versions({"documentChanges": [document(2)]}, lambda _, version: version == 3)


@pytest.mark.parametrize(
    ("shown", "other", "is_taken"), [(1, None, True), (1, 0, True), (1, 1, False), (0, None, False)]
)
async def test_a_text_that_was_not_shown_has_no_version_or_the_zeroth(world, shown, other, is_taken):
    """gopls says 0 of what is on disk."""
    path, unshown = world.write("a.toy", "a\n"), world.write("b.toy", "a\n")
    changes = [
        {"textDocument": {"uri": it.as_uri(), "version": version}, "edits": []}
        for it, version in ((path, shown), (unshown, other))
    ]
    world.script({"textDocument/rename": [{"answer": {"documentChanges": changes}}]})
    server = await world.first(path)

    if is_taken:
        told = await server.ask("textDocument/rename", at(path))
        assert [it["textDocument"]["version"] for it in told.result["documentChanges"]] == [None, None]
    else:
        with pytest.raises(Unavailable, match="its edit is for an older text"):
            await server.ask("textDocument/rename", at(path))
