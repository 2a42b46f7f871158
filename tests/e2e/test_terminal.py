"""`odin-lsp ask|plan|edit|doctor` as a person runs them."""

import asyncio
import json
import os
import pty
import re
import signal
import sys
from pathlib import Path

import pytest

from tests.e2e.steps import says
from tests.support import wire as kit
from tests.support.forking import forked
from tests.support.pictures import png

COMMAND = [sys.executable, "-m", "odin_lsp"]
HOSTILE = "\x1b]52;c;b3du\x07\x1b[47A\u202e"
"""Writes the clipboard, goes back 47 lines, and reverses what follows."""


async def test_an_answer_goes_to_stdout_and_nothing_else(run, script):
    assert await run("ask", "what", "is", "it?", **script({"text": ["It is ", "**it**."]})) == (
        0,
        "It is **it**.\n",
        "",
    )


async def test_a_model_that_was_picked_in_an_editor_counts_here_too(run, root, start, wire, anthropic):
    client = await start(**anthropic)
    await client.command("model", model="anthropic/claude-haiku-5-5@low")
    wire.play(says("hello"), says("hello again"))

    assert await run("ask", "hi", **anthropic) == (0, "hello\n", "")
    assert wire.request["output_config"] == {"effort": "low"}
    assert (await run("ask", "hi", "--model", "anthropic/claude-opus-5-5@high", **anthropic))[0] == 0
    assert (wire.request["model"], wire.request["output_config"]) == ("claude-opus-5-5", {"effort": "high"})
    assert "anthropic/claude-haiku-5-5@low was selected in this workspace" in (await run("doctor", **anthropic))[1]


async def test_without_a_key_the_embedded_model_answers_with_true_evidence(run, root):
    code, out, _ = await run("ask", "where is greet defined?")

    assert code == 0
    assert "`greet.py:1`" in out
    assert "def greet(name):" in out
    assert "no language model" in out


@pytest.mark.parametrize("printing", [{"PYTHONIOENCODING": "latin-1"}, {}], ids=["latin-1", "ascii"])
async def test_a_terminal_that_knows_few_characters_loses_no_answer_and_no_file(run, root, script, printing):
    (root / "→.txt").write_text("found")
    call = {"calls": [{"name": "Read", "arguments": {"file_path": str(root / "→.txt")}}]}
    few = {"PYTHONUTF8": "0", "LC_ALL": "C", **printing}

    said = await run("ask", "what is →?", **script({"text": "It is → ✓.", "when": {"contains": "is →?"}}), **few)
    _, events, _ = await run("ask", "--json", "go", **script(call, {"text": "read"}), **few)

    assert said == (0, "It is \\u2192 \\u2713.\n", "")
    assert '"name": "Read", "status": "success"' in events


async def test_images_go_with_the_prompt(run, root, wire, anthropic):
    (root / "shot.png").write_bytes(png())
    wire.play(says("two dots"))

    assert await run("ask", "what?", "--image", "shot.png", "--image", "shot.png", **anthropic) == (0, "two dots\n", "")
    assert [it["type"] for it in wire.request["messages"][0]["content"]][:2] == ["image", "text"]
    assert await run("ask", "what?", "--image", "gone.png", **anthropic) == (
        2,
        "",
        "odin: gone.png cannot be read: No such file or directory\n",
    )


async def test_the_prompt_can_come_from_stdin(run, script):
    code, out, _ = await run(
        "plan", stdin=b"what is it?", **script({"text": "a plan", "when": {"contains": "what is it?"}})
    )

    assert (code, out) == (0, "a plan\n")


async def test_what_is_piped_in_is_added_to_the_prompt(run, script):
    answer = {"text": "a bug", "when": {"contains": "what is it?\n\n-one\n+two"}}

    assert await run("ask", "what is it?", stdin=b"-one\n+two\n", **script(answer)) == (0, "a bug\n", "")


async def test_what_is_piped_in_is_no_part_of_a_command(run, root, script):
    code, out, _ = await run("ask", "!ls", stdin=b"; touch made\n", **script())

    assert (code, out.splitlines()[0]) == (0, "greet.py")
    assert not (root / "made").exists()


async def test_a_pipe_into_which_nobody_writes_is_not_waited_for(root, script):
    reader, writer = os.pipe()
    env = {**os.environ, **script({"text": "hello"})}
    process = await asyncio.create_subprocess_exec(
        *forked(COMMAND), "ask", "x", stdin=reader, stdout=-1, stderr=-1, cwd=root, env=env
    )
    out, err = await ended(process)
    os.close(reader)
    os.close(writer)

    assert (process.returncode, out) == (0, b"hello\n")
    assert b"nothing came from stdin" in err


async def test_json_is_one_event_a_line_and_the_outcome_last(run, script):
    code, out, _ = await run("edit", "--json", "go", **script({"text": "done"}))

    records = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [record["seq"] for record in records] == list(range(1, len(records) + 1))
    assert records[0]["event"]["kind"] == "turnStarted"
    assert records[-1]["event"]["outcome"]["answer"] == "done"


@pytest.mark.parametrize(
    ("arguments", "replies", "code", "said"),
    [
        (["ask", "x"], [{"error": {"kind": "failed", "message": "no such model"}}], 1, "no such model"),
        (["ask", ""], [], 2, "the prompt is empty"),
        (["ask", "--speed", "3", "x"], [], 2, "--speed"),
        (["ask", "--mode", "plan", "x"], [], 2, "unrecognized arguments: --mode"),
        (["dance"], [], 2, "invalid choice"),
        (["ask", "x", "--cwd", "/nowhere"], [], 2, "/nowhere is not a folder"),
        (["ask", "x", "--model", "gpt"], [], 1, "write provider/model"),
        (["ask", "x", "--session", "nothing"], [], 1, "there is no session"),
        (["ask", "x"], [{"text": "half", "stop": "max_tokens"}], 3, "max tokens"),
        (["ask", "x"], [{"text": "", "stop": "refused"}], 4, "refused"),
    ],
)
async def test_the_exit_code_says_how_it_ended(run, script, arguments, replies, code, said):
    ended, _, err = await run(*arguments, **script(*replies))

    assert ended == code
    assert said in err


async def test_a_limit_ends_with_the_answer_so_far(run, script):
    call = {"calls": [{"name": "Glob", "arguments": {"pattern": "*"}}]}

    code, out, err = await run("ask", "x", "--max-turns", "1", **script(call, {"text": "so far"}))

    assert (code, out) == (3, "so far\n")
    assert "limit of steps is reached (1)" in err


async def test_a_session_goes_on(run, script):
    _, out, _ = await run("ask", "--json", "first", **script({"text": "one"}))
    session = json.loads(out.splitlines()[-1])["sessionId"]

    code, out, _ = await run("ask", "second", "--session", session[:10], "--json", **script({"text": "two"}))

    assert code == 0
    assert json.loads(out.splitlines()[-1])["sessionId"] == session


async def test_a_plan_is_carried_out_and_ticked(run, script):
    _, _, said = await run(
        "plan", "greet louder", **script({"text": "# Louder\n\n## Steps\n\n- [ ] Shout\n- [ ] Sing\n"})
    )
    plan = Path(re.search(r"the plan: (.*)", said)[1])
    done = {"todos": [{"id": "step-2", "content": "Sing", "status": "completed"}]}
    replies = {"calls": [{"name": "TodoWrite", "arguments": done}]}, {"text": "sung"}

    assert await run("run", str(plan), "--steps", "2", **script(*replies)) == (0, "sung\n", "")

    assert plan.read_text().endswith("- [ ] Shout\n- [x] Sing\n")
    code, _, said = await run("run", str(plan), "--steps", "2", **script({"text": "again"}))
    assert (code, said) == (2, "odin: step 2 is done already; open it again first\n")


async def test_a_plan_can_be_carried_out_at_once(run, script):
    plan = {"text": "# Louder\n\n## Steps\n\n- [ ] Shout\n"}
    done = {"todos": [{"id": "step-1", "content": "Shout", "status": "completed"}]}
    replies = {"calls": [{"name": "TodoWrite", "arguments": done}]}, {"text": "shouted"}

    code, out, said = await run("plan", "--run", "greet louder", **script(plan, *replies))

    assert (code, out) == (0, f"{plan['text']}\nshouted\n")
    assert Path(re.search(r"the plan: (.*)", said)[1]).read_text().endswith("- [x] Shout\n")


async def test_ctrl_c_ends_the_turn_and_its_connection(root):
    async with kit.serving() as wire:
        body = kit.anthropic_sse(kit.anthropic_start(), *kit.anthropic_text(0, "I was"))
        wire.play(kit.Answer([body], held=True))
        env = {**os.environ, "ANTHROPIC_API_KEY": kit.KEY, "ANTHROPIC_BASE_URL": wire.url}
        process = await asyncio.create_subprocess_exec(*COMMAND, "ask", "--json", "x", stdout=-1, cwd=root, env=env)
        async with asyncio.timeout(30):
            while b"textStreamed" not in (line := await process.stdout.readline()):
                assert line
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(30):
            await wire.hung_up.wait()
        out, _ = await process.communicate()

    assert process.returncode == 130
    assert json.loads(out.splitlines()[-1])["event"]["outcome"]["reason"] == "interrupted"


@pytest.mark.parametrize(
    "arguments", [["ask", "x"], ["ask", "--json", "x"], ["sessions", "list", "--json"], ["doctor"], ["--help"]]
)
async def test_a_reader_that_is_gone_ends_it_quietly(root, script, arguments):
    env = {**os.environ, "PYTHONUNBUFFERED": "", **script({"text": "hello"})}
    reader, writer = os.pipe()
    os.close(reader)
    process = await asyncio.create_subprocess_exec(
        *forked(COMMAND), *arguments, stdout=writer, stderr=-1, cwd=root, env=env
    )
    os.close(writer)
    _, err = await ended(process)

    assert (process.returncode, err) == (141, b"")


async def test_a_reader_that_goes_away_cancels_the_turn_and_leaves_nothing_behind(root, script):
    """As with `| head -1`."""
    endless = "echo $$ > pid; while :; do echo tick; sleep 0.05; done"
    env = {**os.environ, **script({"calls": [{"name": "ExecuteCommand", "arguments": {"command": endless}}]})}
    reader, writer = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *forked(COMMAND), "edit", "--yes", "--json", "x", stdout=writer, stderr=-1, cwd=root, env=env
    )
    os.close(writer)
    with os.fdopen(reader, "rb") as lines:
        first = await asyncio.to_thread(next, (line for line in lines if b"toolProgress" in line))
    _, err = await ended(process)

    assert (process.returncode, err) == (141, b"")
    with pytest.raises(ProcessLookupError):
        os.kill(int((root / "pid").read_text()), 0)
    assert '"interrupted"' in log_of(json.loads(first))


async def test_a_reader_that_reads_nothing_holds_up_no_turn_and_gets_all_but_deltas_later(root, script):
    write = {"name": "WriteFile", "arguments": {"file_path": str(root / "new.txt"), "content": "new\n"}}
    env = {**os.environ, **script({"text": ["word "] * 5000, "calls": [write]}, {"text": "done"})}
    process = await asyncio.create_subprocess_exec(
        *forked(COMMAND), "edit", "--yes", "--json", "x", stdout=-1, stderr=-1, cwd=root, env=env
    )
    async with asyncio.timeout(30):
        while not (root / "new.txt").exists():
            await asyncio.sleep(0.01)
    out, err = await ended(process)

    kinds = [json.loads(line)["event"]["kind"] for line in out.splitlines()]
    assert (process.returncode, err) == (0, b"")
    assert kinds.count("textStreamed") < 5000
    assert (kinds[0], kinds.count("messageFinished"), kinds[-1]) == ("turnStarted", 2, "turnFinished")


async def test_nobody_has_to_wait_for_a_reader_that_reads_nothing(root, script):
    env = {**os.environ, **script({"text": ["word "] * 5000})}
    reader, writer = os.pipe()
    process = await asyncio.create_subprocess_exec(*COMMAND, "ask", "--json", "x", stdout=writer, cwd=root, env=env)
    os.close(writer)
    with os.fdopen(reader, "rb") as lines:
        first = json.loads(await asyncio.to_thread(lines.readline))
        async with asyncio.timeout(30):
            while '"end_turn"' not in log_of(first):
                await asyncio.sleep(0.01)
            while process.returncode is None:  # the first signal may still be meant for the turn, one more could kill
                process.send_signal(signal.SIGINT)
                await asyncio.wait([asyncio.create_task(process.wait())], timeout=10)

    assert process.returncode == 130


@pytest.mark.parametrize("arguments", [["ask", "x"], ["sessions", "list", "--json"], ["doctor"]])
async def test_a_full_disk_is_told_and_is_a_failure(root, script, arguments):
    full = os.open("/dev/full", os.O_WRONLY)
    process = await asyncio.create_subprocess_exec(
        *forked(COMMAND), *arguments, stdout=full, stderr=-1, cwd=root, env={**os.environ, **script({"text": "hello"})}
    )
    os.close(full)
    _, err = await ended(process)

    assert (process.returncode, err) == (1, b"odin: the output cannot be written: No space left on device\n")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["ask", "x"], 2, "the current folder was deleted"),
        (["sessions", "list"], 2, "the current folder was deleted"),
        (["ask", "x", "--cwd", "ROOT"], 0, ""),
        (["--version"], 0, ""),
    ],
)
async def test_a_working_folder_that_was_deleted_is_told(root, tmp_path, script, arguments, code, said):
    gone = tmp_path / "gone"
    gone.mkdir()
    started = [
        "sh",
        "-c",
        'rmdir "$PWD" && exec "$@"',
        "sh",
        *COMMAND,
        *(it.replace("ROOT", str(root)) for it in arguments),
    ]
    process = await asyncio.create_subprocess_exec(
        *started,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=-1,
        stderr=-1,
        cwd=gone,
        env={**os.environ, **script({"text": "hello"})},
    )
    _, err = await ended(process)

    assert process.returncode == code
    assert said in err.decode()
    assert b"Traceback" not in err


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
async def test_what_is_closed_is_not_missed(root, script, closed):
    process = await asyncio.create_subprocess_exec(
        *("sh", "-c", f'exec "$@" {closed}', "sh", *COMMAND, "ask", "x"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=-1,
        stderr=-1,
        cwd=root,
        env={**os.environ, **script({"text": "hello"})},
    )
    out, err = await ended(process)

    assert (process.returncode, out, err) == (0, b"" if ">&-" in closed.replace("2>&-", "") else b"hello\n", b"")


async def test_a_chat_needs_a_terminal_and_says_so(run, root, script):
    code, out, err = await run("chat")
    screen = await on_a_terminal(root, ["chat"], {**script(), "TERM": "dumb"})

    assert (code, out) == (2, "")
    assert "chat needs a terminal" in err
    assert "chat needs a terminal" in screen


@pytest.mark.parametrize("kind", ["xterm-256color", "dumb"])
async def test_on_a_terminal_markdown_is_rendered_with_tools_and_usage(root, script, kind):
    call = {"calls": [{"name": "Glob", "arguments": {"pattern": "*.py"}}]}
    answer = {"text": "It is **bold**.", "usage": {"inputTokens": 1234, "outputTokens": 56}}
    screen = await on_a_terminal(root, ["ask", "x"], {**script(call, answer), "TERM": kind})

    assert "✓ Glob found 1 file for *.py" in screen
    assert "It is bold." in screen
    assert "1,234 in · 56 out" in screen


async def test_a_question_is_answered_on_the_terminal(root, script):
    ask = {
        "calls": [
            {"name": "AskUser", "arguments": {"question": "Tabs?", "options": [{"label": "Yes"}, {"label": "No"}]}}
        ]
    }
    screen = await on_a_terminal(root, ["ask", "x"], script(ask, {"text": "fine"}), {"Answer [": "n\n"})

    assert "answered: No" in screen
    assert "fine" in screen


@pytest.mark.parametrize(("flag", "changed"), [("--yes", True), ("--no", False), (None, False)])
async def test_a_literal_edit_needs_no_key_keeps_every_other_byte_and_is_never_unreviewed(run, root, flag, changed):
    path = root / "invoice.py"
    path.write_bytes(b"total = 1\r\nprint(total)")

    code, out, _ = await run("edit", *([flag] if flag else []), "rename total to amount in invoice.py")

    assert path.read_bytes() == (b"amount = 1\r\nprint(amount)" if changed else b"total = 1\r\nprint(total)")
    assert code == (0 if changed else 4)
    assert "invoice.py" in out


async def test_the_doctor_says_what_is_wrong_and_how_to_fix_it(run, root):
    assert (await run("doctor"))[0] == 0
    (root / "odinconfig.json").write_text('{"colour": 1}')

    code, out, _ = await run("doctor", ODIN_MODEL="anthropic/claude-sonnet-5-5")

    assert code == 1
    assert "✗" in out
    assert "odinconfig.json:1: `colour` is not known here" in out
    assert "set ANTHROPIC_API_KEY" in out
    assert "✓ ripgrep at" in out


async def test_the_server_listens_on_loopback_for_debugging(root):
    process = await asyncio.create_subprocess_exec(*forked(COMMAND), "serve", "--tcp", "0", stderr=-1, cwd=root)
    async with asyncio.timeout(20):
        line = (await process.stderr.readline()).decode()
        host, port = line.split()[-1].split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        params = {"processId": None, "rootUri": None, "capabilities": {}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()
        writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        assert b"Content-Length" in await reader.readline()
        writer.close()
        assert host == "127.0.0.1"
        await process.communicate()


async def test_what_a_model_writes_does_nothing_to_the_terminal(root, script):
    calls = [
        {"name": f"Tool{HOSTILE}", "arguments": {}},
        {"name": "Read", "arguments": {"file_path": str(root / f"a{HOSTILE}")}},
        {"name": "Grep", "arguments": {"pattern": f"b{HOSTILE}"}},
        {"name": "ExecuteCommand", "arguments": {"command": "make", "description": f"make it{HOSTILE}"}},
    ]
    steps = script({"text": f"I look{HOSTILE}", "calls": calls}, {"text": f"It is{HOSTILE} done."})

    asked = await bytes_on_a_terminal(root, ["edit", "go", "--no-host"], steps, {"Allow? [": "n\n"})
    talked = await bytes_on_a_terminal(
        *(root, ["chat", "--no-host"], {**steps, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}),
        {"edit ›": "go\r", "Allow? [": "n\r", " in · ": "/exit\r"},
    )

    for seen in (asked, talked):
        assert b"\x1b]52" not in seen
        assert b"\x1b[47A" not in seen
        assert "\u202e".encode() not in seen
        assert seen.count(rb"\x1b]52;c;b3du\x07\x1b[47A\u202e") >= 4


async def test_a_piped_answer_does_nothing_to_the_terminal_that_it_ends_in(run, script):
    step = {"text": f"It is{HOSTILE}.\n\ttwo"}

    _, out, _ = await run("ask", "x", **script(step))
    _, events, _ = await run("ask", "--json", "x", **script(step))

    assert out == "It is\\x1b]52;c;b3du\\x07\\x1b[47A\\u202e.\n\ttwo\n"
    assert json.loads(events.splitlines()[-1])["event"]["outcome"]["answer"] == step["text"]


def log_of(record) -> str:
    """What is written of the event's session so far."""
    logs = Path(os.environ["XDG_STATE_HOME"]).rglob(f"{record['sessionId']}.jsonl")
    return "".join(log.read_text() for log in logs)


async def ended(process):
    async with asyncio.timeout(30):
        return await process.communicate()


async def on_a_terminal(root, arguments, env, typed=None) -> str:
    """What a person would read, without colours."""
    seen = await bytes_on_a_terminal(root, arguments, env, typed)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode("utf-8", "replace"))


async def bytes_on_a_terminal(root, arguments, env, typed=None) -> bytearray:
    primary, secondary = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *forked(COMMAND),
        *arguments,
        stdin=secondary,
        stdout=secondary,
        stderr=secondary,
        cwd=root,
        env={**os.environ, **env, "COLUMNS": "100"},
    )
    os.close(secondary)
    seen = bytearray()
    done = asyncio.Event()

    def read() -> None:
        try:
            chunk = os.read(primary, 65536)
        except OSError:
            chunk = b""
        if not chunk:
            asyncio.get_running_loop().remove_reader(primary)
            done.set()
        seen.extend(chunk)
        for prompt, answer in list((typed or {}).items()):
            if prompt.encode() in seen:
                os.write(primary, typed.pop(prompt).encode() if answer else b"")

    asyncio.get_running_loop().add_reader(primary, read)
    async with asyncio.timeout(120):
        await process.wait()
        await done.wait()
    os.close(primary)
    return seen
