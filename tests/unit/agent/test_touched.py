from odin_lsp.agent.touched import touched_files
from odin_lsp.records import ToolRecord


def test_c_105_touched_files_are_those_that_were_written_and_are_still_there():
    records = [
        ToolRecord("WriteFile", "", ("a", "b"), "success"),
        ToolRecord("Read", "", ("read",), "success"),
        ToolRecord("EditTool", "", ("refused",), "error"),
        ToolRecord("AgentTool", "", ("by a helper",), "success"),
        ToolRecord("DeleteFile", "", ("b",), "success"),
        ToolRecord("EditTool", "", ("a",), "success"),
        ToolRecord("DeleteFile", "", ("a",), "error"),
    ]

    assert touched_files(records) == ["by a helper", "a"]


def test_what_tools_did_that_are_not_known_any_more_is_left_out():
    assert touched_files([ToolRecord("Forge", "", ("a",), "success")]) == []
