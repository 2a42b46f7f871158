"""What an agent is doing, told where it happens, with its counts."""

import json

from odin_lsp.events import ActivityChanged
from odin_lsp.messages import Message, Text
from odin_lsp.models.base import Attempt, Reply
from odin_lsp.records import Retry
from tests.support.reviewing import Bench


def activities(odin):
    return [(it.activity, it.detail) for it in odin.of(ActivityChanged)]


def test_in_words_an_activity_comes_before_its_counts():
    told = (ActivityChanged("executing", "3 tools"), ActivityChanged("waiting_headers"))

    assert [it.words for it in told] == ["working: 3 tools", "waiting for the model"]


async def test_a_request_connects_waits_for_headers_and_streams(odin, call):
    odin.script({"calls": [call("Glob", pattern="*"), call("LS", path=str(odin.root))]}, {"text": "done"})

    await odin.take()

    ref = f"scripted/{odin.script_file}"
    assert activities(odin) == [
        *(("connecting", ref), ("waiting_headers", ""), ("executing", "2 tools")),
        *(("waiting_headers", ""), ("streaming", ""), ("idle", "")),
    ]


async def test_a_request_that_is_made_again_is_counted(odin):
    odin.settings["retries"] = {"attempts": 6}
    odin.script({"error": "busy"}, {"text": "done"})

    await odin.take()

    assert ("retrying", "retry 2/6: busy") in activities(odin)


async def test_a_cooldown_says_how_long_it_takes(odin):
    class Limited:
        ref = "scripted/limited"

        async def stream(self, request):
            yield Attempt(self.ref, "its limit is reached", 5.2, "cooling", 2, 6)
            yield Reply(Message("assistant", (Text("done"),)), "end")

        async def aclose(self):
            pass

    odin.start().models.get = lambda _: Limited()
    await odin.take()

    assert ("cooling", "cooldown 5 s, retry 2/6: its limit is reached") in activities(odin)
    assert [it.retry for it in odin.of(ActivityChanged) if it.retry] == [Retry(2, 6, 5.2, "its limit is reached")]


async def test_that_a_conversation_is_made_shorter_is_told_with_its_size(odin):
    odin.settings["limits"] = {"maxContext": 20_000, "maxTokens": 1000}
    odin.start()
    for number in range(20):
        odin.session.append(Message("user", (Text(f"{number} {'word ' * 1000}"),)))
        odin.session.append(Message("assistant", (Text("yes"),)))
    odin.script({"text": "done"})

    await odin.take()

    [detail] = [detail for activity, detail in activities(odin) if activity == "compacting"]
    assert detail.endswith(" tokens")
    assert int(detail.removesuffix(" tokens").replace(",", "")) > 16_000


async def test_that_the_small_model_verifies_an_edit_is_told(tmp_path):
    bench = Bench(tmp_path)
    path = bench.write("a.txt", "one\ntwo\nthree\n")
    bench.context.shown.note(path, 2, ["two"], total=3)

    async def small(instructions, text):
        return json.dumps({"is_sufficient": True})

    object.__setattr__(bench.context, "small", small)
    await bench.edit(path, "two", "TWO")

    told = [(it.activity, it.detail) for it in bench.events if isinstance(it, ActivityChanged)]
    assert told == [("verifying", "1 edit of a.txt"), ("executing", "1 edit")]
