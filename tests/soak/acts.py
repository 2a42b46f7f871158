"""What may happen on a day: what people do, and the model. Each act draws what it needs from a chance of its own, so
that a day without some of its acts is a day as well; where it makes no sense it does nothing."""

import asyncio
import json
from collections.abc import Awaitable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

from tests.e2e.steps import play_calls, results_of, says
from tests.soak.editor import NEVER, VALUE, offsets_of, path_at, values_of
from tests.soak.peer import Refused
from tests.soak.world import PATIENCE, Broken, World
from tests.support import wire as kit

AT_ONCE = {"content-type": "application/json", "retry-after": "0"}
MOST_TURNS = 3
MOST_GUESTS = 2
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"review": {"policy": "end"}},
    {"limits": {"maxTurns": 2}},
    {"files": {"deny": ["c.py"]}},
    {"cache": {"maxEntries": 1, "ttl": 0.01}},
    {"timeouts": {"client": 2}},
    {"no": "such setting"},
)

# turns


async def ask(world: World, chance: Random) -> None:
    """The model sees what is on the screen."""
    if len(world.turns) >= MOST_TURNS:
        return
    paths = chance.sample([*world.editor.saved], 2)
    plain = [
        ("Grep", {"pattern": "_1 = "}),
        ("Glob", {"pattern": "**/*.py"}),
        ("LS", {"path": "."}),
        ("ExecuteCommand", {"command": "pwd", "description": "see where this is"}),
        ("ExecuteCommand", {"command": NEVER, "description": "write in Ask"}),
        ("TodoWrite", {"todos": [{"id": "1", "content": "look", "status": chance.choice(["pending", "completed"])}]}),
        ("AgentTool", {"description": "look around", "prompt": "look around"}),
        ("Read", {"file_path": "missing.py"}),
    ]
    is_alone = not world.turns
    world.wire.sent.clear()
    play_calls(world.wire, *(("Read", {"file_path": str(path)}) for path in paths))
    play_calls(world.wire, *chance.sample(plain, 2))
    world.begin(chance.choice(["ask", "plan"]), text=f"what is it, {chance.random()}?")
    await world.settle()
    if is_alone and not world.turns and len(world.wire.sent) > 1:
        _compare_what_was_read(world, paths)


def _compare_what_was_read(world: World, paths: list[Path]) -> None:
    """What it has read before is told as its changes. A request that failed was made again, without results."""
    if not any(it["type"] == "tool_result" for it in world.wire.sent[1].body["messages"][-1]["content"]):
        return
    for path, text in zip(paths, results_of(world.wire.sent[1].body), strict=False):
        told = {name: value for line in text.splitlines() for name, value in VALUE.findall(line.partition("\t")[2])}
        if not told.items() <= values_of(world.editor.text(path)).items():
            raise Broken(f"the model read {told} of {path.name}, the screen has {world.editor.text(path)!r}")


async def edit(world: World, chance: Random) -> None:
    """Some values of some files, which the person has to decide on."""
    if len(world.turns) >= MOST_TURNS:
        return
    paths = chance.sample([it for it in world.editor.saved if values_of(world.editor.text(it))], chance.choice([1, 2]))
    for path in paths:
        if path not in world.editor.documents and chance.random() < 0.7:
            world.editor.open(path)
    play_edit(world, chance, paths)
    world.begin("edit", text="change it")
    await world.settle()


def play_edit(world: World, chance: Random, paths: list[Path]) -> None:
    play_calls(world.wire, *(("Read", {"file_path": str(path)}) for path in paths))
    calls: list[tuple[str, dict[str, Any]]] = []
    for path in paths:
        values = values_of(world.editor.text(path))
        names = chance.sample([*values], min(len(values), chance.randint(1, 4)))
        edits = [
            {"old_string": f"{it} = {values[it]}\n", "new_string": f"{it} = m{next(world.numbers)}\n"} for it in names
        ]
        calls.append(("MultiEditTool", {"file_path": str(path), "edits": edits}))
    if chance.random() < 0.2:
        number = next(world.numbers)
        calls.append(
            ("WriteFile", {"file_path": str(world.root / f"n{number}.py"), "content": f"n{number} = m{number}\n"})
        )
    play_calls(world.wire, *calls)


async def run_a_command(world: World, chance: Random) -> None:
    if world.turns:
        return
    number = str(next(world.numbers))
    world.editor.says_yes = chance.random() < 0.5
    if world.editor.says_yes:
        world.ran.append(number)
    command = f"echo {number} >> ran.txt"
    play_calls(world.wire, ("ExecuteCommand", {"command": command, "description": "note it"}))
    world.begin("edit", text="run it")
    await world.settle()


async def call_a_server(world: World, chance: Random) -> None:
    if world.turns:
        return
    world.editor.says_yes = True
    call = {"name": "mcp__scripted__echo", "arguments": {"text": str(next(world.numbers))}}
    play_calls(world.wire, ("CallTool", call))
    world.begin("edit", text="ask the server")
    await world.settle()


async def meet_a_fault(world: World, chance: Random) -> None:
    """Of the provider: the request is made again, or the turn fails, and the next one works."""
    if world.turns:
        return
    whole = says("a word").raw()
    faults: list[kit.Answer | bytes] = [
        kit.Answer([kit.anthropic_error(429, "slow down")], 429, AT_ONCE, framing="length"),
        kit.Answer([kit.anthropic_error(529, "busy")], 529, AT_ONCE, framing="length"),
        kit.Answer([kit.anthropic_error(400, "no")], 400, AT_ONCE, framing="length"),
        kit.Answer([kit.DIALECTS[0].spoken_error]),
        whole[: chance.randrange(len(whole))],
        b"",
    ]
    world.wire.play(*chance.choices(faults, k=chance.randint(1, 2)))
    world.begin("ask", text="try it")
    await world.settle()
    world.wire.answers.clear()


async def cancel(world: World, chance: Random) -> None:
    """A turn whose model does not end its answer, or the one that waits."""
    if not world.turns:
        words = kit.anthropic_sse(kit.anthropic_start(), *kit.anthropic_text(0, "I think", " that")[:-1])
        if chance.random() < 0.3:
            play_calls(world.wire, ("Read", {"file_path": "a.py"}))
        world.wire.play(kit.Answer([words], held=True))
        turn_id = world.begin("ask", text="think for ever")
        world.turns[turn_id].is_held = True
        moment = len(world.wire.sent) + chance.randint(0, 1)
        async with asyncio.timeout(PATIENCE):
            while len(world.wire.sent) < moment and not world.turns[turn_id].task.done():
                await asyncio.sleep(0.001)
        known = world.editor.started, world.editor.queued
        await world.editor.until(lambda: any(turn_id in it for it in known), PATIENCE)
        if turn_id not in world.editor.started:  # one that a decision let go on has got the answer that does not end
            await may_be_refused(world.command("cancel"))
        world.turns[turn_id].is_held = False
    turn_id = chance.choice([*world.turns])
    await world.command("cancel", turnId=turn_id, **({"drop": True} if chance.random() < 0.3 else {}))
    await world.editor.until(lambda: world.turns[turn_id].task.done(), PATIENCE)
    await world.settle()
    world.wire.answers.clear()


async def steer(world: World, chance: Random) -> None:
    if world.turns:
        await may_be_refused(world.command("steer", text="mind the gap", turnId=chance.choice([*world.turns])))


# reviews


async def decide(world: World, chance: Random) -> None:
    """On some hunks, in the editor or elsewhere."""
    pending = [it for review in world.editor.reviews.values() for it in review.pending]
    if not pending:
        return
    world.editor.is_late = chance.random() < 0.3
    chosen = chance.sample(pending, chance.randint(1, len(pending)))
    peer = chance.choice([None, *world.guests])
    kind = chance.choice(["accept", "accept", "reject", "modify"])
    await decide_on(world, chosen, kind, peer)
    await world.settle()


async def decide_on(world: World, chosen: list[str], kind: str, peer: Any = None) -> None:
    texts: dict[str, str] = {}
    made: dict[str, dict[str, str]] = {}
    for file, hunk in await _listed(world, chosen) if kind != "reject" else ():
        if kind == "modify":
            texts[hunk["id"]] = _own_text(hunk["newText"], next(world.numbers))
        made[hunk["id"]] = _made_by(world, file, hunk, texts.get(hunk["id"], hunk["newText"]))
        world.editor.wanted.update(made[hunk["id"]].items())
    name, more = ("reject", {}) if kind == "reject" else ("accept", {"texts": texts} if texts else {})
    world.editor.diary.append(f"{kind} {chosen}, which makes {made}")
    receipts = (await world.command(f"review.{name}", peer, hunkIds=chosen, **more))["receipts"]
    world.editor.diary.append(f"told {receipts}")
    shown = values_of("\n".join(world.editor.text(path) for path in world.editor.saved))
    for it in receipts:
        world.decided[it["hunkId"]] = it["state"]
        if it["state"] in ("accepted", "modified") and not made[it["hunkId"]].items() <= shown.items():
            raise Broken(f"{it} is not on the screen: {made[it['hunkId']]}")


async def _listed(world: World, chosen: list[str]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Where they are now, each with its file."""
    files = [file for shown in (await world.command("review.list"))["proposals"] for file in shown["files"]]
    return [(file, it) for file in files for it in file["hunks"] if it["id"] in chosen]


def _own_text(text: str, number: int) -> str:
    return VALUE.sub(rf"\1 = p{number}", text) if VALUE.search(text) else f"p{number}"


def _made_by(world: World, file: dict[str, Any], hunk: dict[str, Any], text: str) -> dict[str, str]:
    """The values that are others with it."""
    path = path_at(file["uri"])
    before = world.editor.text(path) if path in world.editor.saved else ""
    start, end = offsets_of(before, hunk["range"])
    return dict(values_of(before[:start] + text + before[end:]).items() - values_of(before).items())


async def reopen(world: World, chance: Random) -> None:
    reviews = world.editor.reviews.values()
    decided = [it for review in reviews for it in review.hunks if it not in review.pending]
    if decided:
        chosen = chance.choice(decided)
        for file, hunk in await _listed(world, [chosen]):  # perhaps a part of a word that others have changed since
            world.editor.wanted.update(_made_by(world, file, hunk, hunk["oldText"]).items())
        receipts = (await world.command("review.reopen", hunkIds=[chosen]))["receipts"]
        world.editor.diary.append(f"reopened: {receipts}")
        stays = [it for it in receipts if it.get("cause") == "typed"]  # as it was decided
        world.decided.update((it["hunkId"], it["state"]) for it in receipts if it not in stays)
        await world.settle()


async def undo(world: World, chance: Random) -> None:
    world.editor.diary.append(f"undone: {await world.command('undoTurn')}")
    world.decided.clear()  # what was accepted may wait again
    await world.settle()


# the person, at the editor


async def type_something(world: World, chance: Random) -> None:
    """Lines of their own, or other values; beside hunks and into them."""
    editor = world.editor
    if not editor.documents:
        editor.open(chance.choice([*editor.saved]))
    for _ in range(chance.randint(1, 5)):
        path = chance.choice([*editor.documents])
        lines = editor.text(path).split("\n")
        at = chance.randrange(len(lines))
        if (found := VALUE.fullmatch(lines[at])) and chance.random() < 0.5:
            editor.type(path, f"u{next(world.numbers)}", at, len(found[1]) + 3, len(lines[at]))
        else:
            editor.type(path, f"# typed {next(world.numbers)} ü👋\n", at)


async def save_or_close(world: World, chance: Random) -> None:
    if world.editor.documents:
        path = chance.choice([*world.editor.documents])
        world.editor.save(path)
        if chance.random() < 0.3:
            world.editor.close(path)


async def change_on_disk(world: World, chance: Random) -> None:
    """By another program, which the editor tells of."""
    closed = [it for it in world.editor.saved if it not in world.editor.documents and it.suffix == ".py"]
    if closed:
        path = chance.choice(closed)
        world.editor.saved[path] += f"# typed {next(world.numbers)}\n"
        path.write_text(world.editor.saved[path])
        _tell_of(world, path)


def _tell_of(world: World, path: Path) -> None:
    world.peer.tell("workspace/didChangeWatchedFiles", {"changes": [{"uri": path.as_uri(), "type": 2}]})


async def change_settings(world: World, chance: Random) -> None:
    if chance.random() < 0.7:
        world.editor.configure(chance.choice(SETTINGS))
    else:
        path = world.root / "odinconfig.json"
        world.editor.saved[path] = json.dumps(chance.choice(SETTINGS))
        path.write_text(world.editor.saved[path])
        _tell_of(world, path)
    await world.command("state")


async def change_folders(world: World, chance: Random) -> None:
    world.editor.change_folders(chance.choice([[world.root], [world.root, world.other]]))
    await world.command("state")


async def change_session(world: World, chance: Random) -> None:
    match chance.choice(["new", "resume", "fork", "compact", "list"]):
        case "new":
            await world.command("session.new")
        case "resume" if world.sessions:
            await may_be_refused(world.command("session.resume", sessionId=chance.choice(world.sessions)))
        case "fork" if world.sessions and not world.turns:
            await may_be_refused(world.command("session.fork", sessionId=world.sessions[-1]))
        case "compact" if not world.turns:
            await may_be_refused(world.command("compact"))
        case _:
            await world.command("session.list")


async def attach(world: World, chance: Random) -> None:
    """A terminal comes, asks, or goes."""
    if len(world.guests) < MOST_GUESTS and not world.control.error:
        await world.attach()
    elif world.guests and chance.random() < 0.5:
        guest = world.guests.pop(chance.randrange(len(world.guests)))
        world.wrong_of(guest)
        await guest.close()
    if world.guests and len(world.turns) < MOST_TURNS:
        world.begin("ask", chance.choice(world.guests), text="from a terminal")
    await world.settle()


async def may_be_refused(doing: Awaitable[Any]) -> None:
    with suppress(Refused):
        await doing
