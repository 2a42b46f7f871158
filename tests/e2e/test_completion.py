"""`/` and `@` in the documents where they mean something, through the real server."""

import pytest
from lsprotocol import types

from odin_lsp.agent.plans import MARK

PROMPT = "odin://prompt/workspace"


@pytest.fixture
async def client(start, root, script):
    command = root / ".claude" / "commands" / "fix.md"
    command.parent.mkdir(parents=True)
    command.write_text("---\ndescription: mend it\nargument-hint: issue\n---\nFix $1.")
    (root / "src").mkdir()
    (root / "src" / "grün.py").write_text("")
    (root / ".env").write_text("KEY=1")
    return await start(trusted=True, **script())


@pytest.fixture
def completed(client):
    async def completed(uri, text, line=0):
        client.lsp.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "markdown", 1, text))
        )
        column = len(text.splitlines()[line].encode("utf-16-le")) // 2
        params = types.CompletionParams(types.TextDocumentIdentifier(uri), types.Position(line, column))
        found = await client.lsp.text_document_completion_async(params)
        client.lsp.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
        return found and {it.label: it for it in found.items}

    return completed


async def test_a_message_begins_with_any_command(completed):
    found = await completed(PROMPT, "/co")

    assert {"/compact", "/fix", "/help"} <= found.keys()
    fix = found["/fix"]
    assert (fix.detail, fix.documentation, fix.text_edit.new_text) == ("issue", "mend it", "/fix")
    assert (fix.text_edit.range.start.character, fix.text_edit.range.end.character) == (0, 3)


async def test_files_and_folders_are_named_by_any_part_and_what_is_hidden_is_not(completed):
    found = await completed(PROMPT, "sée @gr")
    everything = await completed(PROMPT, "@")

    assert list(found) == ["@greet.py", "@src/grün.py"]
    assert found["@greet.py"].text_edit.range.start.character == 4
    assert "@src/" in everything
    assert not [it for it in everything if "env" in it]


async def test_what_is_selected_and_what_is_wrong_can_be_mentioned_and_names_with_spaces(completed, root):
    (root / "my notes.txt").write_text("")

    assert list(await completed(PROMPT, "see @sel")) == ["@selection"]
    assert list(await completed(PROMPT, "see @prob")) == ["@problems"]
    notes = (await completed(PROMPT, "see @my"))['@"my notes.txt"']
    assert (notes.filter_text, notes.text_edit.new_text) == ("@my notes.txt", '@"my notes.txt"')


async def test_symbols_are_named_by_how_they_begin(completed):
    found = await completed(PROMPT, "see @gree")

    assert list(found) == ["@greet.py", "@greet"]
    assert (found["@greet"].detail, found["@greet"].text_edit.new_text) == ("greet.py", "@greet")


async def test_a_step_of_a_plan_begins_with_what_the_model_can_do(completed, root):
    plan = f"{MARK}\n# A plan\n- [ ] /"

    found = await completed((root / "s.plan.md").as_uri(), plan, 2)

    assert list(found) == ["/fix"]


ELSEWHERE = [
    ("file:///other.md", "/co"),
    ("file:///other.py", "@gr"),
    (PROMPT, "and /co"),
    (PROMPT, "me@gr"),
    (PROMPT, "words"),
]


@pytest.mark.parametrize(("uri", "text"), ELSEWHERE)
async def test_elsewhere_there_is_no_answer(completed, uri, text):
    assert await completed(uri, text) is None


async def test_the_second_line_of_a_message_begins_with_no_command(completed):
    assert await completed(PROMPT, "one\n/co", 1) is None
