import pytest

from odin_lsp.intelligence.servers import Unavailable
from odin_lsp.language_servers.versions import without_versions


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
