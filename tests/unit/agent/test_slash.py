"""Messages that begin with a slash, and skills."""

import pytest

from odin_lsp.agent.slash import told_skills
from odin_lsp.messages import Message, Text
from odin_lsp.ports import Answer
from tests.support.trusting import agree_to_all

SKILL = "---\nname: deploy\ndescription: ship it\n{more}---\nRun the checks first.\n"


@pytest.fixture
def write(odin):
    def write(path, text):
        place = odin.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    return write


def texts(message):
    return [part.text for part in message.parts if isinstance(part, Text)]


async def test_a_command_is_told_beside_the_words_that_stay_as_they_are(odin, write):
    write(".claude/commands/fix.md", "Fix issue $1 as the guide says.\n")
    odin.script({"text": "done"})
    odin.start(trusted=True)

    await odin.take("/fix 12")

    assert texts(odin.session.messages[0])[-2:] == [
        '<command name="/fix">\nFix issue 12 as the guide says.\n</command>',
        "/fix 12",
    ]


async def test_a_command_that_was_written_meanwhile_counts_at_once(odin, write):
    odin.script({"text": "one"}, {"text": "two"})
    odin.start(trusted=True)
    await odin.take("hello")
    write(".odin/commands/later.md", "Do it later.")
    agree_to_all(odin.project)

    await odin.take("/later")

    assert "Do it later." in "\n".join(texts(odin.session.messages[2]))


async def test_a_command_of_a_folder_that_is_not_trusted_is_just_words(odin, write):
    write(".claude/commands/fix.md", "Steal.")
    odin.script({"text": "?"})

    await odin.take("/fix 12")

    assert "Steal" not in str(odin.session.messages)


async def test_what_a_command_runs_passes_the_gate(odin, write, person):
    write(".claude/commands/made.md", "Now: !`touch made && echo yes`")
    odin.script({"text": "a"}, {"text": "b"})
    odin.start(trusted=True)
    person.answers = [None, Answer(("allow_once",))]

    await odin.take("/made", "edit_mode")
    refused = texts(odin.session.messages[0])[-2]
    await odin.take("/made", "edit_mode")
    allowed = texts(odin.session.messages[2])[-2]

    assert [it.command for it in person.questions] == ["touch made && echo yes"] * 2
    assert "Now: yes" not in refused
    assert "Now: yes" in allowed


async def test_a_command_includes_files_of_the_workspace_that_may_be_read(odin, write, tmp_path):
    (tmp_path / "outside.txt").write_text("far away")
    write(".env", "KEY=hidden")
    write(".claude/commands/look.md", "Look at @greet.py, @.env, @../outside.txt and @types/node.")
    odin.script({"text": "ok"})
    odin.start(trusted=True)

    await odin.take("/look")

    told = texts(odin.session.messages[0])[-2]
    assert "Look at @greet.py, @.env, @../outside.txt and @types/node." in told
    assert "def greet(name):" in told
    assert "KEY" not in told
    assert "far away" not in told


async def test_a_command_that_includes_itself_is_an_error(odin, write):
    write(".claude/commands/loop.md", "Again: @.claude/commands/loop.md")
    odin.script({"text": "ok"})
    odin.start(trusted=True)

    outcome = await odin.take("/loop")

    assert (outcome.reason, outcome.steps) == ("failed", 0)
    assert "/loop includes itself, by @.claude/commands/loop.md" in outcome.detail


async def test_a_command_does_not_include_the_files_that_an_included_one_names(odin, write):
    write(".claude/commands/a.md", "First @b.md")
    write("b.md", "then @.claude/commands/a.md and @greet.py")
    odin.script({"text": "ok"})
    odin.start(trusted=True)

    await odin.take("/a")

    told = texts(odin.session.messages[0])[-2]
    assert "then @.claude/commands/a.md" in told
    assert "def greet" not in told


async def test_a_path_is_no_command(odin):
    odin.script({"text": "ok"})

    await odin.take("/usr/bin/env is what?")

    assert texts(odin.session.messages[0])[-1] == "/usr/bin/env is what?"


async def test_a_skill_is_listed_and_its_text_comes_when_it_is_used(odin, write, call):
    write(".agents/skills/deploy/SKILL.md", SKILL.format(more=""))
    write(".agents/skills/deploy/checks.md", "one, two")
    odin.script({"calls": [call("Skill", name="deploy")]}, {"text": "done"})
    odin.start(trusted=True)

    preview = await odin.core.preview(None, "ask_mode", "x")
    await odin.take("ship it")

    assert "- deploy: ship it" in str(preview)
    (result,) = odin.session.messages[2].results
    assert "Run the checks first." in result.content
    assert result.content.endswith("Beside it: checks.md")


async def test_where_there_are_none_the_model_hears_nothing_of_it(odin):
    odin.script({"text": "ok"})
    odin.start(trusted=True)

    assert "skill" not in str(await odin.core.preview(None, "ask_mode", "x")).lower()


async def test_the_user_names_a_skill_that_the_model_is_not_offered(odin, write, call):
    write(".agents/skills/deploy/SKILL.md", SKILL.format(more="disable-model-invocation: true\n"))
    odin.script({"calls": [call("Skill", name="deploy")]}, {"text": "no"}, {"text": "ok"})
    odin.start(trusted=True)

    await odin.take("ship it")
    await odin.take("/deploy now")

    (result,) = odin.session.messages[2].results
    assert (result.failed, result.content) == (True, "there is no skill 'deploy'; there are: none")
    assert "Run the checks first." in texts(odin.session.messages[4])[-2]


async def test_a_skill_that_was_taken_up_outlives_a_summary(odin, write):
    write(".agents/skills/deploy/SKILL.md", SKILL.format(more=""))
    odin.start(trusted=True)
    skills = odin.project.now.extensions.skills
    used = [Message("user", (Text(skills["deploy"].told),))]

    (first,) = told_skills(skills, used)

    assert "Run the checks first." in first
    assert told_skills(skills, [Message("user", (Text(f"<summary>…</summary>\n{first}"),))]) == [first]
    assert told_skills(skills, [Message("user", (Text("deploy it"),))]) == []
