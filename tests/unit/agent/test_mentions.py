"""What a message mentions by `@` goes along, whatever it was typed in."""

import pytest

from odin_lsp.agent.mentions import MAX_PLACES, Mentions
from odin_lsp.agent.turn import UserMessage
from odin_lsp.config import FileRules
from odin_lsp.events import Notice, TurnStarted
from odin_lsp.intelligence.servers import Problem, Problems
from odin_lsp.records import SentContext
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Search
from tests.support.servers_in_memory import ScriptedServers


@pytest.fixture
def files(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "greet.py").write_text("def greet(): ...\n")
    (tmp_path / "my notes.txt").write_text("remember\n")
    (tmp_path / ".env").write_text("KEY=1\n")
    (tmp_path / "data.bin").write_bytes(b"\0\1\2")
    return Files([tmp_path], Buffers(), FileCache(), FileRules())


@pytest.fixture
def mentions(files):
    place = {"line": 2, "character": 0, "end_line": 2, "end_character": 1}
    wrong = Problem(**place, severity="error", message="undefined name", source="lint")
    reported = {files.roots[0] / "src" / "greet.py": Problems((wrong,), is_current=True)}
    return Mentions(files, Search(files), ScriptedServers(reported=reported))


def said(text, *sent):
    return UserMessage(turn_id="t", text=text, mode="ask_mode", sent=sent)


async def test_a_message_of_any_front_end_takes_along_what_it_mentions(odin):
    odin.script({"text": "I see"})
    (odin.root / "greet.py").write_text("def greet(): ...\n")

    await odin.take("look at @greet.py, please")

    assert any("def greet(): ..." in part.text for part in odin.session.messages[0].parts)
    [sent] = odin.of(TurnStarted)[0].context
    assert (sent.kind, sent.uri) == ("file", (odin.root / "greet.py").as_uri())


async def test_files_folders_and_problems_are_told_each_once(mentions):
    message = await mentions.added_to(said('@src/greet.py, (@src/greet.py) @src/ @"my notes.txt" @problems'))

    assert [it.kind for it in message.sent] == ["file", "folder", "file", "diagnostics"]
    code, folder, notes, problems = message.context
    assert "def greet(): ..." in code
    assert "greet.py" in folder
    assert "remember" in notes
    assert "line 3: error: lint: undefined name" in problems


@pytest.mark.parametrize("text", ["@src", "@nobody", "me@src/greet.py", "@/etc/hosts", "@problems2", "an @ alone"])
async def test_other_words_are_just_words(mentions, text):
    message = said(text)

    assert await mentions.added_to(message) == message
    assert not mentions.left_out


async def test_what_was_sent_along_is_not_sent_again_but_a_part_is_not_the_whole(mentions, files):
    uri = (files.roots[0] / "src" / "greet.py").as_uri()
    whole, part = (SentContext(kind="file", uri=uri, first_line=it) for it in (None, 1))

    assert (await mentions.added_to(said("@src/greet.py", whole))).sent == (whole,)
    assert len((await mentions.added_to(said("@src/greet.py", part))).sent) == 2


async def test_what_is_hidden_or_no_text_is_left_out_and_said(mentions):
    message = await mentions.added_to(said("@.env and @data.bin"))

    assert "KEY=1" not in "".join(message.context)
    assert [".env" in it or "data.bin" in it for it in mentions.left_out] == [True, True]


async def test_no_more_than_so_many_go_along(mentions, files):
    names = [f"f{number}.txt" for number in range(MAX_PLACES + 1)]
    for name in names:
        (files.roots[0] / name).write_text("")

    message = await mentions.added_to(said(" ".join(f"@{name}" for name in names)))

    assert len(message.context) == MAX_PLACES
    assert "others were not sent along" in mentions.left_out[0]


async def test_the_user_is_told_what_was_left_out(odin):
    odin.script({"text": "I see"})
    (odin.root / ".env").write_text("KEY=1\n")

    await odin.take("look at @.env")

    assert any(".env was not sent along" in it.message for it in odin.of(Notice))
