"""Commands, questions and trust, over the wire."""

import asyncio
import json

import pytest

from tests.e2e.steps import results, says

ALLOW, DENY = {"optionIds": ["allow_once"]}, {"optionIds": ["deny"], "text": "use make"}


@pytest.fixture
async def client(start, anthropic):
    return await start(**anthropic)


def run(command, **more):
    return "ExecuteCommand", {"command": command, **more}


@pytest.mark.parametrize("mode", ["ask", "plan"])
async def test_ask_and_plan_run_what_reads_and_nothing_else(client, wire, step, root, mode):
    step(run("cat greet.py"), run("touch new.txt"), run("echo x > greet.py"))
    wire.play(says())

    await client.command(mode, text="go")

    read, touched, redirected = results(wire)
    assert "def greet(name):" in read
    assert "(exit code 0" in read
    for refused in (touched, redirected):
        assert "the user can switch to Edit" in refused
    assert client.questions == []
    assert sorted(path.name for path in root.iterdir()) == ["greet.py"]


async def test_edit_shows_the_exact_command_and_runs_it_only_if_allowed(client, wire, step, root):
    step(run("touch one.txt"))
    step(run("touch two.txt"))
    wire.play(says())
    client.answers = [DENY, ALLOW]

    await client.command("edit", text="go")

    assert [(it["command"], it["cwd"], it["kind"]) for it in client.questions] == [
        ("touch one.txt", str(root), "permission"),
        ("touch two.txt", str(root), "permission"),
    ]
    told = [block for request in wire.sent for block in [str(request.body["messages"])]]
    assert "`: use make; other commands may still be run" in told[-1]
    assert sorted(path.name for path in root.glob("*.txt")) == ["two.txt"]


async def test_a_question_that_is_not_answered_in_time_is_a_no(start, anthropic, wire, step, root):
    client = await start(options={"settings": {"timeouts": {"person": 0.1}}}, **anthropic)
    step(run("touch one.txt"))
    wire.play(says())
    client.answers = [asyncio.get_running_loop().create_future()]

    await client.command("edit", text="go")

    assert "the user did not allow the command `touch one.txt`" in results(wire)[0]
    assert not (root / "one.txt").exists()


async def test_several_commands_of_a_step_are_one_question_and_each_is_judged_again(client, wire, step, root):
    (root / "run.sh").write_text("touch harmless\n")
    step(run("cp evil.sh run.sh"), run("bash run.sh"))
    wire.play(says())
    (root / "evil.sh").write_text("touch evil\n")
    client.answers = [ALLOW, None]

    await client.command("edit", text="go")

    both, again = client.questions
    assert both["title"] == "Allow these 2 actions?"
    assert again["command"] == "bash run.sh"
    assert not (root / "evil").exists()
    assert "did not allow" in results(wire)[1]


async def test_control_characters_are_shown_and_change_what_is_approved(client, wire, step):
    step(run("touch a\u202eb\u200b\x1b[2K.txt"))
    wire.play(says())

    await client.command("edit", text="go")

    shown = [it["command"] for it in client.questions]
    assert not any(character in "".join(shown) for character in "\u202e\u200b\x1b")


async def test_what_is_allowed_for_a_session_is_not_asked_again(client, wire, step, root):
    step(run("mkdir -p one"))
    step(run("mkdir -p one two"))
    step(run("mkdir -p three"))
    wire.play(says())
    client.answers = [{"optionIds": ["allow_session"]}]

    await client.command("edit", text="go")

    assert [it["command"] for it in client.questions] == ["mkdir -p one", "mkdir -p three"]
    assert (root / "two").is_dir()
    assert not (root / "three").exists()


async def test_c_059_what_was_allowed_in_a_session_is_listed_and_asked_about_again(client, wire, step, root):
    step(run("mkdir -p one"))
    step(run("mkdir -p one two"))
    wire.play(says())
    client.answers = [{"optionIds": ["allow_session"], "command": "mkdir -p three"}]
    await client.command("edit", text="go")

    [allowed] = (await client.command("permissions"))["allowed"]
    assert (allowed["tool"], allowed["scope"]) == ("ExecuteCommand", "session")
    assert sorted(path.name for path in root.iterdir() if path.is_dir()) == ["one", "three", "two"]
    assert (await client.command("permissions", action="remove", id=allowed["id"]))["allowed"] == []
    step(run("mkdir -p one four"))
    wire.play(says())
    await client.command("edit", text="go")

    assert client.questions[-1]["command"] == "mkdir -p one four"


async def test_a_workspaces_settings_need_trust_and_again_when_they_change(start, root, anthropic, tmp_path):
    settings = root / "odinconfig.json"
    settings.write_text(json.dumps({"review": {"policy": "auto"}}))
    client = await start(XDG_STATE_HOME=str(tmp_path / "state"), **anthropic)
    policy = await policy_of(client)
    await client.until_asked(1)
    assert (policy, client.questions[0]["kind"]) == ("each", "trust")
    asked = await client.until_kind("questionAsked")
    assert (asked["turnId"], asked["event"]["question"]["kind"]) == ("", "trust")

    assert await client.trusts()
    assert await policy_of(client) == "auto"

    settings.write_text(json.dumps({"review": {"policy": "auto"}, "allowedCommands": ["*"]}))
    client.tells_of(settings)
    await client.until_asked(2)
    assert "What it brings has changed since you trusted it." in client.questions[1]["detail"]
    assert await policy_of(client) == "each"
    assert await client.command("trust", decision="restrict") == {"trusted": False}


async def policy_of(client):
    return (await client.command("state"))["config"]["review"]["policy"]


async def test_in_the_editors_restricted_mode_only_ask_works_and_nothing_runs(start, wire, anthropic):
    client = await start(options={"trusted": False}, **anthropic)
    wire.play(says("hello"))

    with pytest.raises(Exception, match="Restricted Mode"):
        await client.command("edit", text="go")
    outcome = await client.command("ask", text="go")

    assert outcome["answer"] == "hello"
    assert "ExecuteCommand" not in {tool["name"] for tool in wire.request["tools"]}


async def test_what_a_trusted_folder_may_does_not_pass_to_the_next_one(start, root, anthropic, tmp_path):
    other = tmp_path / "other"
    for folder, policy in ((root, "auto"), (other, "end")):
        folder.mkdir(exist_ok=True)
        (folder / "odinconfig.json").write_text(json.dumps({"review": {"policy": policy}}))
    client = await start(XDG_STATE_HOME=str(tmp_path / "state"), **anthropic)
    await client.trusts()
    assert await policy_of(client) == "auto"
    await client.until_asked(1)

    client.changes_folders(removed=[root], added=[other])

    assert await policy_of(client) == "each"
    await client.until_asked(2)
    assert str(other) in client.questions[1]["title"]
