"""Summaries by the small model: of what is on the screen, and not counted as seen."""

from dataclasses import replace

import pytest

from odin_lsp.errors import ModelUnavailable, ToolError
from odin_lsp.tools.base import all_tools


@pytest.fixture
def summarise(context):
    async def summarise(small, *paths, **more):
        tool = all_tools()["ContextSummarizer"]
        params = tool.parse({"file_paths": list(map(str, paths)), "focus": "the entry point", **more})
        return (await tool.run(params, replace(context, small=small))).data

    return summarise


async def test_the_small_model_reads_what_is_on_the_screen(summarise, root, context):
    path = root / "src" / "main.py"
    context.files.buffers.open(path.as_uri(), 1, "def unsaved(): ...\n")
    asked = []

    async def small(instructions, text):
        asked.append(text)
        return "unsaved is in line 1"

    assert await summarise(small, path, root / "notes.md") == "unsaved is in line 1"
    assert "     1\tdef unsaved(): ..." in asked[0]
    assert "TODO write" in asked[0]
    assert "the entry point" in asked[0]
    assert context.shown.of(path) is None


async def test_what_may_not_be_read_is_not_summarised(summarise, root):
    async def small(instructions, text):
        raise AssertionError

    with pytest.raises(ToolError, match="is hidden: it looks like a secret"):
        await summarise(small, root / ".env")


async def test_without_an_answer_it_says_what_to_do(summarise, root):
    async def small(instructions, text):
        raise ModelUnavailable("down")

    with pytest.raises(ToolError, match="read the files yourself"):
        await summarise(small, root / "notes.md")
    with pytest.raises(ToolError, match="there is no model"):
        await summarise(None, root / "notes.md")


async def test_the_last_lines_come_word_for_word(summarise, root):
    async def small(instructions, text):
        return "a summary"

    told = await summarise(small, root / "src" / "main.py", root / "notes.md", keep_last=1)

    assert told.splitlines() == [
        "a summary",
        "The end of src/main.py:",
        "    return 0",
        "The end of notes.md:",
        "TODO write",
    ]
