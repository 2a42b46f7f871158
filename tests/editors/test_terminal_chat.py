"""`odin-lsp chat` in a real terminal, as a person uses it; and its commands in real shells."""

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from tests.e2e.steps import play_calls, results, says
from tests.editors.conftest import at_home, program
from tests.editors.debian import FISH, TMUX, ZSH
from tests.editors.neovim import until
from tests.editors.terminal import Terminal
from tests.support.wire import Answer, Wire, anthropic_sse, anthropic_start, anthropic_text

pytestmark = pytest.mark.asyncio(loop_scope="module")

CODE = "def greet(name):\n    return f'hello {name}'\n\n\ndef leave(name):\n    return f'bye {name}'\n"
READY = "· ready"
ZSHENV = "module_path=({usr}/lib/*/zsh/*(/))\nfpath=({usr}/share/zsh/functions/**/*(/))\n"
"""Where a zsh finds its parts that was not installed."""


class Chat:
    """In a place of its own, and in a new terminal each time it is started."""

    def __init__(self, make_terminal: Callable[[], Terminal], root: Path, wire: Wire) -> None:
        self._make_terminal = make_terminal
        self.terminal = make_terminal()
        self.root = root
        self.wire = wire
        self.file = root / "greet.py"
        self.file.write_text(CODE)

    async def start(self, *arguments: str) -> None:
        await self.terminal.start(["odin-lsp", "chat", *arguments], self.root, height=50)
        await self.terminal.shows(READY)

    async def restart(self, *arguments: str) -> None:
        await self.terminal.close()
        self.terminal = self._make_terminal()
        await self.terminal.start(["odin-lsp", "chat", *arguments], self.root, height=50)

    async def say(self, text: str) -> None:
        await self.terminal.write(text)
        await self.terminal.press("Enter")

    def hold(self, text: str) -> None:
        """The model says this, and goes on until somebody hangs up."""
        self.wire.play(Answer([anthropic_sse(anthropic_start(), *anthropic_text(0, text))], held=True))

    @property
    def pid(self) -> int:
        """Of the one that was started last."""
        found = (it for it in Path("/proc").iterdir() if it.name.isdecimal() and self._is_it(it))
        return max(int(it.name) for it in found)

    def _is_it(self, process: Path) -> bool:
        try:
            is_here = (process / "cwd").readlink() == self.root
            return is_here and b"odin-lsp\0chat" in (process / "cmdline").read_bytes()
        except OSError:
            return False


@pytest.fixture(scope="module")
def programs(installed: Path) -> Path:
    return installed


@pytest_asyncio.fixture(loop_scope="module")
async def chat(own_root: Path, wire: Wire, env: dict[str, str]) -> AsyncIterator[Chat]:
    wire.answers.clear()
    tmux = shutil.which("tmux") or str(program(TMUX))
    here = {**env, **at_home(own_root.parent), "ODIN_TITLES": "false"}
    chat = Chat(lambda: Terminal(tmux, own_root.parent / "run", here), own_root, wire)
    yield chat
    await chat.terminal.close()
    assert not wire.answers


@pytest_asyncio.fixture(loop_scope="module")
async def hosted(own_root: Path, wire: Wire, env: dict[str, str]) -> AsyncIterator[Chat]:
    """One that works through a process that stays; that is ended."""
    wire.answers.clear()
    tmux = shutil.which("tmux") or str(program(TMUX))
    here = {**env, **at_home(own_root.parent), "ODIN_TITLES": "false", "ODIN_HOST": "on"}
    chat = Chat(lambda: Terminal(tmux, own_root.parent / "run", here), own_root, wire)
    yield chat
    await chat.terminal.close()
    stopping = await asyncio.create_subprocess_exec("odin-lsp", "host", "stop", env=here, stdout=-3, stderr=-3)
    await stopping.wait()
    assert not wire.answers


async def test_a_chat_through_a_host_reviews_steers_undoes_and_outlives_its_terminal(hosted: Chat) -> None:
    chat = hosted
    play_calls(chat.wire, ("Read", {"file_path": "greet.py"}))
    change = {"old_string": "hello {name}", "new_string": "Hello, {name}!"}
    play_calls(chat.wire, ("EditTool", {"file_path": "greet.py", **change}))
    play_calls(chat.wire, ("ExecuteCommand", {"command": "until test -e go; do sleep 0.1; done"}))
    chat.wire.play(says("Polite."))
    await chat.start()
    await chat.terminal.write("be polite in @gre")
    await chat.terminal.shows("greet.py")
    await chat.terminal.press("Tab", "Enter")
    await chat.say("")
    await chat.terminal.shows("Accept this hunk?")
    await chat.say("y")
    await chat.terminal.shows("Allow? [")
    await chat.say("y")
    await chat.terminal.shows("until test")
    await chat.say("and quickly")
    await chat.terminal.shows("sent to the running turn")
    (chat.root / "go").touch()
    await chat.terminal.shows("Polite.")
    assert "and quickly" in str(chat.wire.request["messages"][-1])
    assert chat.file.read_text() == CODE.replace("hello {name}", "Hello, {name}!")
    await chat.terminal.shows(READY)
    await chat.say("/undo")
    await chat.terminal.shows("restored: greet.py")
    assert chat.file.read_text() == CODE

    (chat.root / "go").unlink()
    play_calls(chat.wire, ("ExecuteCommand", {"command": "until test -e go; do sleep 0.1; done; seq 3"}))
    chat.wire.play(says("Counted."))
    await chat.terminal.shows(READY)
    await chat.say("count")
    await chat.terminal.shows("Allow? [")
    await chat.say("y")
    await chat.terminal.shows("until test -e go; do sleep 0.1; done; seq 3")
    os.kill(chat.pid, signal.SIGKILL)
    (chat.root / "go").touch()
    await until(lambda: _asked(chat.wire), "the turn goes on")
    await chat.restart("--continue")
    await chat.terminal.shows("Counted.")


async def test_a_question_is_asked_and_its_words_are_completed(chat: Chat) -> None:
    await chat.start("--mode", "ask")
    chat.wire.play(says("It greets **everybody**."))
    await chat.terminal.write("what does @gre")
    await chat.terminal.shows("greet.py")
    await chat.terminal.press("Tab", "Enter")
    await chat.say(" do?")
    screen = await chat.terminal.shows("It greets everybody.")

    assert "ask › what does @greet.py do?" in screen
    assert screen.count("It greets everybody.") == 1
    await chat.terminal.shows(" in · ")
    await chat.terminal.write("/con")
    await chat.terminal.shows("Show what the next message would send")
    await chat.terminal.press("C-c")
    await chat.say("/exit")


async def test_edits_are_reviewed_commands_approved_and_turns_undone(chat: Chat) -> None:
    play_calls(chat.wire, ("Read", {"file_path": "greet.py"}))
    edits = [
        {"old_string": "hello {name}", "new_string": "Hello, {name}!"},
        {"old_string": "bye {name}", "new_string": "Bye, {name}!"},
    ]
    play_calls(chat.wire, ("MultiEditTool", {"file_path": "greet.py", "edits": edits}))
    play_calls(chat.wire, ("ExecuteCommand", {"command": "seq 20 && touch made"}))
    chat.wire.play(says("Polite."))
    await chat.start()
    await chat.say("be polite")
    await chat.terminal.shows("Accept this hunk?")
    await chat.say("?")
    await chat.terminal.shows("reject it (optional reason)")
    await chat.say("y")
    await chat.terminal.shows("(2 of 2)")
    await chat.say("n")
    await chat.terminal.shows("Why not?")
    await chat.say("too loud")
    await chat.terminal.shows("Allow? [")
    assert "too loud" in results(chat.wire)[0]
    await chat.say("y")
    screen = await chat.terminal.shows("Polite.")

    assert "… 12 lines above\n  13\n" in screen
    assert chat.file.read_text() == CODE.replace("hello {name}", "Hello, {name}!")
    await chat.say("/undo")
    await chat.terminal.shows("restored")
    assert chat.file.read_text() == CODE


async def test_what_is_typed_in_a_turn_steers_it(chat: Chat) -> None:
    play_calls(chat.wire, ("ExecuteCommand", {"command": "until test -e go; do sleep 0.1; done"}))
    chat.wire.play(says("Red, then."))
    chat.hold("I am about to")
    await chat.start("--yes")
    await chat.say("paint it")
    await chat.terminal.shows("until test")
    await chat.say("in red")
    await chat.terminal.shows("sent to the running turn")
    (chat.root / "go").touch()
    await chat.terminal.shows("Red, then.")
    assert "in red" in str(chat.wire.request["messages"][-1])
    await chat.terminal.shows(READY)
    await chat.say("paint it again")
    await chat.terminal.shows("I am about to")
    await chat.say("in red")
    await chat.terminal.shows("sent to the running turn")
    await chat.terminal.press("Escape")
    await chat.terminal.shows("interrupted")
    screen = await chat.terminal.shows("Send it again")

    assert "if you still need it: in red" in " ".join(screen.split())  # wherever the line is cut
    assert screen.count("I am about to") == 1


async def test_what_was_half_written_outlives_a_question(chat: Chat) -> None:
    chat.hold("")
    await chat.start()
    await chat.say("wait")
    await until(lambda: _asked(chat.wire), "the model is asked")
    await chat.terminal.write("half a")
    await chat.terminal.press("Escape")
    await chat.terminal.shows("interrupted")
    await chat.terminal.shows("edit › half a")


@pytest.mark.parametrize("key", ["C-c", "Escape"])
async def test_to_stop_keeps_what_was_streamed_and_says_what_was_spent(chat: Chat, key: str) -> None:
    chat.hold("I was going to")
    await chat.start()
    await chat.say("go")
    await chat.terminal.shows("I was going to")
    await chat.terminal.press(key)
    await chat.terminal.shows("interrupted")
    screen = await chat.terminal.shows(" in · ")

    assert screen.index("I was going to") < screen.index("interrupted") < screen.index(" in · ")
    await chat.terminal.press("C-c")
    await chat.terminal.shows("Ctrl-D or /exit leaves")
    await chat.terminal.press("C-d")


async def test_a_single_turn_that_is_stopped_keeps_what_was_streamed_and_says_what_was_spent(chat: Chat) -> None:
    chat.hold("I was going to")
    shell = 'trap : INT; odin-lsp ask x; echo "code $?"; exec sleep 1000'
    await chat.terminal.start(["bash", "-c", shell], chat.root)
    await chat.terminal.shows("I was going to")
    await chat.terminal.press("C-c")
    screen = await chat.terminal.shows("code 130")

    assert screen.count("I was going to") == 1
    assert screen.index("I was going to") < screen.index("interrupted") < screen.index(" in · ")


async def test_a_turn_that_was_killed_is_continued(chat: Chat) -> None:
    chat.wire.play(says("Sunny."))
    chat.hold("Tomorrow it will")
    await chat.start("--mode", "ask")
    await chat.say("what is the weather?")
    await chat.terminal.shows("Sunny.")
    await chat.terminal.shows(READY)
    await chat.say("and tomorrow?")
    await chat.terminal.shows("Tomorrow it will")
    os.kill(chat.pid, signal.SIGKILL)

    chat.wire.play(says("Tomorrow it will rain."))
    await chat.restart("--continue", "--mode", "ask")
    await chat.terminal.shows("and tomorrow?")
    await chat.terminal.shows("The last turn was cut off.")
    await chat.say("/continue")
    await chat.terminal.shows("Tomorrow it will rain.")


async def test_an_earlier_session_is_chosen_and_an_earlier_message_is_at_hand(chat: Chat) -> None:
    chat.wire.play(says("One."), says("Two."), says("Three."))
    await chat.start("--mode", "ask")
    await chat.say("first question")
    await chat.terminal.shows("One.")
    await chat.terminal.shows(READY)
    await chat.say("/new")
    await chat.say("second question")
    await chat.terminal.shows("Two.")
    await chat.terminal.press("C-d")

    await chat.restart("--resume")
    await chat.terminal.shows("2. ")
    await chat.say("2")
    await chat.terminal.shows("One.")
    await chat.terminal.press("Up")
    await chat.terminal.shows("second question")
    await chat.terminal.press("Up", "Up")
    await chat.terminal.shows("edit › first question")
    await chat.terminal.press("Enter")
    await chat.terminal.shows("Three.")
    assert [it["content"][-1]["text"] for it in chat.wire.request["messages"] if it["role"] == "user"] == [
        "first question",
        "first question",
    ]


async def test_a_chat_that_is_ended_while_it_asks_is_ended(chat: Chat) -> None:
    play_calls(chat.wire, ("ExecuteCommand", {"command": "touch made"}))
    await chat.start()
    await chat.say("go")
    await chat.terminal.shows("Allow? [")
    process = Path(f"/proc/{chat.pid}")
    os.kill(int(process.name), signal.SIGTERM)

    async def gone() -> bool:
        return not process.exists()

    await until(gone, "it ends")
    assert not (chat.root / "made").exists()


async def test_a_message_has_many_lines_and_a_mode(chat: Chat) -> None:
    chat.wire.play(says("Three lines."))
    await chat.start("--mode", "edit")
    await chat.terminal.press("BTab")
    await chat.terminal.shows("ask ›")
    await chat.terminal.write("one")
    await chat.terminal.press("M-Enter")
    await chat.terminal.write("two\\")
    await chat.terminal.press("Enter")
    await chat.terminal.paste("three\nfour")
    await chat.terminal.shows("four")
    await chat.terminal.press("Enter")
    await chat.terminal.shows("Three lines.")

    assert chat.wire.request["messages"][-1]["content"][-1]["text"] == "one\ntwo\nthree\nfour"


async def test_a_command_of_the_user_is_shown_once_and_told_to_the_model(chat: Chat) -> None:
    chat.wire.play(says("Nine it is."))
    await chat.start("--mode", "ask")
    await chat.say("!cat greet.py")
    await chat.terminal.shows("exit code 0")
    screen = await chat.terminal.shows("bye {name}")
    assert screen.count("return f'hello {name}'") == 1
    await chat.terminal.shows(READY)
    await chat.say("how many?")
    await chat.terminal.shows("Nine it is.")
    assert "def leave(name)" in str(chat.wire.request["messages"])


async def test_a_window_that_changes_its_size_loses_nothing(chat: Chat) -> None:
    words = " ".join(f"word{number}" for number in range(40))
    chat.hold(words)
    await chat.start("--mode", "ask")
    await chat.say("go")
    await chat.terminal.shows("word39")
    await chat.terminal.resize(50, 30)
    await chat.terminal.resize(90, 40)
    await chat.terminal.press("C-c")
    await chat.terminal.shows("interrupted")
    await chat.terminal.shows(READY)


@pytest.mark.parametrize("signal_", [signal.SIGTERM, signal.SIGHUP])
async def test_a_chat_that_is_ended_from_outside_keeps_its_session(chat: Chat, signal_: signal.Signals) -> None:
    chat.wire.play(says("Kept."))
    await chat.start("--mode", "ask")
    await chat.say("remember this")
    await chat.terminal.shows("Kept.")
    process = Path(f"/proc/{chat.pid}")
    os.kill(int(process.name), signal_)

    async def gone() -> bool:
        return not process.exists()

    await until(gone, "it ends")
    await chat.restart("--continue")
    await chat.terminal.shows("Kept.")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
async def test_shells_complete_commands_and_options(chat: Chat, shell: str) -> None:
    found = shutil.which(shell) or str(program({"zsh": ZSH, "fish": FISH}[shell]))
    setups = {
        "bash": "source <(odin-lsp completion bash)",
        "zsh": "autoload -U compinit; compinit -u; source <(odin-lsp completion zsh)",
        "fish": "odin-lsp completion fish | source",
    }
    options = {"bash": ["--norc"], "zsh": [], "fish": ["--no-config"]}[shell]
    unpacked = Path(found).parent / "root" / "usr"
    (chat.root.parent / "home" / ".zshenv").write_text(ZSHENV.format(usr=unpacked) if unpacked.is_dir() else "")
    await chat.terminal.start([found, *options], chat.root, width=200)
    await until(lambda: _is_prompted(chat.terminal), "a prompt")
    await chat.say(f"{setups[shell]}; echo READ''Y")
    await chat.terminal.shows("READY")
    for typed, completed in (
        ("odin-lsp sessions exp", "odin-lsp sessions export"),
        ("odin-lsp ask --max-b", "odin-lsp ask --max-budget"),
        ("odin-lsp chat --mode pl", "odin-lsp chat --mode plan"),
        ("odin-lsp permissions restr", "odin-lsp permissions restrict"),
    ):
        await chat.terminal.write(typed)
        await chat.terminal.press("Tab")
        await chat.terminal.shows(completed)
        await chat.terminal.press("C-u")


async def _asked(wire: Wire) -> bool:
    return not wire.answers


async def _is_prompted(terminal: Terminal) -> bool:
    return bool((await terminal.screen()).strip())
