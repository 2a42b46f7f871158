"""Retries, keys and fallbacks, with time that does not pass."""

import asyncio

import pytest

from odin_lsp.config import Config, Retries
from odin_lsp.errors import ContextTooLong, KeyRejected, ModelError, ModelUnavailable
from odin_lsp.messages import Message, Text
from odin_lsp.models import providers, selection
from odin_lsp.models.base import Attempt, Limited, Network, Reached, Received, Reply, Request, Status, TextDelta
from odin_lsp.models.providers import Candidate
from odin_lsp.models.resilience import KeyPool, ResilientModel
from odin_lsp.models.service import http_client
from odin_lsp.records import RateLimit, Usage

REQUEST = Request((), ())
OK = Reply(Message("assistant", (Text("ok"),)), "end", Usage(input_tokens=1_000_000))
REF, OTHER = "anthropic/claude-opus-5-5", "openai/gpt-6-sol"


class World:
    """A chain of models whose answers are scripted per key, and a clock."""

    def __init__(self, answers, *, keys=("k1",), fallback=False, attempts=6, longest=60.0, refs=(REF, OTHER)):
        self.now = 0.0
        self.waits = []
        self.used = []
        self.answers = {key: list(value) for key, value in answers.items()}
        self.pool = KeyPool(lambda: self.now)
        chain = [[Candidate(refs[0], key, key) for key in keys]]
        chain += [[Candidate(refs[1], "other", "other")]] if fallback else []
        self.model = ResilientModel(
            chain,
            self.connect,
            retries=Retries(attempts=attempts, longestWait=longest),
            idle=5,
            pool=self.pool,
            proxied=lambda _: False,
            sleep=self.sleep,
            jitter=lambda: 1.0,
        )

    async def sleep(self, seconds):
        self.waits.append(seconds)
        self.now += seconds

    async def connect(self, candidate):
        world = self

        class Scripted:
            ref = candidate.ref

            async def stream(self, request):
                world.used.append(candidate.key)
                answer = world.answers[candidate.key].pop(0)
                if isinstance(answer, Exception):
                    yield TextDelta("half")
                    raise answer
                for event in answer if isinstance(answer, tuple) else (answer,):
                    yield event

            async def aclose(self):
                world.used.append(f"closed {candidate.key}")

        return Scripted()

    async def run(self):
        return [event async for event in self.model.stream(REQUEST) if not isinstance(event, Reached)]


async def test_a_good_answer_is_passed_on_with_its_price():
    [reply] = await World({"k1": [OK]}).run()

    assert (reply.usage.cost_usd, reply.usage.context_limit) == (4.0, 1_000_000)


async def test_a_busy_provider_is_asked_again_after_growing_waits():
    world = World({"k1": [*[ModelUnavailable("busy")] * 4, OK]})

    events = await world.run()

    assert world.waits == [0.5, 1, 2, 4]
    assert [event.activity for event in events if isinstance(event, Attempt)] == ["retrying"] * 4


async def test_tries_are_counted_and_end_with_the_reason():
    world = World({"k1": [ModelUnavailable("busy")] * 9}, attempts=3)

    with pytest.raises(ModelError, match=r"busy \(tried 3 times\)"):
        await world.run()
    assert len(world.used) == 3


async def test_the_provider_says_how_long_to_wait():
    world = World({"k1": [ModelUnavailable("slow down", retry_after=7, limited=True), OK]})

    events = await world.run()

    assert world.waits[0] >= 7
    assert [it.activity for it in events if isinstance(it, Attempt)] == ["cooling"]


async def test_a_wait_that_is_too_long_is_not_waited_for():
    world = World({"k1": [ModelUnavailable("tomorrow", retry_after=3600, limited=True)]})

    with pytest.raises(ModelUnavailable, match="tomorrow"):
        await world.run()
    assert world.waits == []


async def test_another_key_is_used_while_the_first_rests():
    world = World(
        {"k1": [ModelUnavailable("limit", retry_after=30, limited=True), OK], "k2": [OK, OK]}, keys=("k1", "k2")
    )

    events = await world.run()
    assert [it.activity for it in events if isinstance(it, Attempt)] == ["retrying_key"]
    await world.run()
    assert world.pool.stats(["k1", "k2"]) == (1, 2)
    world.now += 60
    await world.run()

    assert world.used == ["k1", "k2", "k2", "k1"]


async def test_a_rejected_key_is_not_tried_again():
    world = World({"k1": [KeyRejected("bad key")], "k2": [OK, OK]}, keys=("k1", "k2"))

    await world.run()
    await world.run()

    assert world.used == ["k1", "k2", "k2"]


async def test_the_only_key_being_rejected_is_the_end():
    with pytest.raises(KeyRejected):
        await World({"k1": [KeyRejected("bad key")]}).run()


async def test_after_three_faults_the_next_model_is_asked():
    world = World({"k1": [ModelUnavailable("busy")] * 3, "other": [OK]}, fallback=True)

    events = await world.run()

    assert world.used == ["k1", "k1", "k1", "other"]
    assert [event.running for event in events if isinstance(event, Attempt)][-1] == "openai/gpt-6-sol"


async def test_each_model_keeps_its_effort_and_costs_what_it_costs_without():
    refs = (f"{REF}@high", "google/gemini-3.8-flash@low")
    world = World({"k1": [ModelUnavailable("busy", retry_after=500)], "other": [OK]}, fallback=True, refs=refs)

    attempt, reply = [event async for event in world.model.stream(REQUEST) if isinstance(event, Attempt | Reply)]

    assert (world.model.ref, attempt.running) == refs
    assert (world.model.status().selected, world.model.status().running) == refs
    assert (reply.usage.cost_usd, reply.usage.context_limit) == (1.5, 1_000_000)


async def test_a_long_wait_leads_to_the_next_model_at_once():
    world = World({"k1": [ModelUnavailable("busy", retry_after=500)], "other": [OK]}, fallback=True)

    await world.run()

    assert world.used == ["k1", "other"]


@pytest.mark.parametrize("error", [ModelError("no such model"), ContextTooLong("too long")])
async def test_what_does_not_pass_is_not_tried_again(error):
    world = World({"k1": [error, OK]})

    with pytest.raises(type(error)):
        await world.run()
    assert len(world.used) == 1


async def test_silence_is_given_up():
    world = World({"k1": []})
    world.model._idle = 0.01

    class Silent:
        ref = REF

        async def stream(self, request):
            yield TextDelta("I …")
            await asyncio.Event().wait()

        async def aclose(self):
            pass

    async def connect(candidate):
        return Silent()

    world.model._connect = connect
    with pytest.raises(ModelError, match=r"was silent for 0.01 s \(tried 6 times\)"):
        await world.run()


async def test_a_provider_that_only_says_that_it_is_there_is_silent():
    world = World({}, attempts=1)
    world.model._idle = 0.2

    class Pings:
        ref = REF

        async def stream(self, request):
            loop = asyncio.get_running_loop()
            answers_at = loop.time() + 2
            while loop.time() < answers_at:
                yield Received(1, 1)
                await asyncio.sleep(0)
            await asyncio.sleep(0)
            yield OK

    async def connect(candidate):
        return Pings()

    world.model._connect = connect
    with pytest.raises(ModelError, match=r"was silent for 0\.2 s"):
        await world.run()


async def test_closing_closes_every_connection():
    world = World({"k1": [OK]})
    await world.run()

    await world.model.aclose()

    assert world.used[-1] == "closed k1"


@pytest.mark.parametrize(
    ("variables", "chosen"),
    [
        ({}, ("offline/odin", "offline/odin")),
        ({"ANTHROPIC_API_KEY": "a"}, ("anthropic/claude-sonnet-5-5", "anthropic/claude-haiku-5-5")),
        ({"GEMINI_API_KEY": "g"}, ("google/gemini-3.8-flash", "google/gemini-3.5-flash-lite")),
        ({"GOOGLE_API_KEY": "g"}, ("google/gemini-3.8-flash", "google/gemini-3.5-flash-lite")),
        ({"OPENAI_API_KEY": "o"}, ("openai/gpt-6-sol", "openai/gpt-6-luna")),
        (
            {"OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "a"},
            ("anthropic/claude-sonnet-5-5", "anthropic/claude-haiku-5-5"),
        ),
        ({"ANTHROPIC_API_KEY": "  "}, ("offline/odin", "offline/odin")),
    ],
)
def test_the_model_follows_the_key_that_is_set(monkeypatch, variables, chosen):
    for names in selection.KEY_VARIABLES.values():
        for name in names:
            monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert selection.choose(Config(), {}) == chosen


def test_the_editors_key_comes_first_and_keys_are_not_used_twice(monkeypatch):
    monkeypatch.setenv("A", "one")
    monkeypatch.setenv("B", "two")
    settings = Config(keys={"anthropic": ("A", "B")})

    found = selection.keys("anthropic", settings, {"anthropic": "one"})

    assert found == [("the editor", "one"), ("B", "two")]


async def test_the_status_tells_what_runs_and_which_keys_rest():
    world = World({"k1": [ModelUnavailable("limit", retry_after=30, limited=True)], "k2": [OK]}, keys=("k1", "k2"))
    events = await world.run()

    status = world.model.status()
    assert (status.selected, status.running) == (REF, REF)
    assert (status.keys_ready, status.keys, status.next_key_in) == (1, 2, 33.0)
    assert (status.context_limit, status.output_limit) == (1_000_000, 128_000)
    assert [it.status.keys_ready for it in events if isinstance(it, Status)] == [1]

    world = World({"k1": [ModelUnavailable("busy")] * 3, "other": [OK]}, fallback=True)
    await world.run()

    assert world.model.status().running == "openai/gpt-6-sol"


async def test_c_095_what_is_left_to_a_key_is_part_of_the_status_until_another_key_is_used():
    left = RateLimit(requests_limit=50, requests_left=49)
    world = World({"k1": [(Limited(left), OK), KeyRejected("bad")], "k2": [OK]}, keys=("k1", "k2"))

    told = [it.status.rate_limit for it in await world.run() if isinstance(it, Status)]
    assert told == [left]
    assert world.model.status().rate_limit == left
    await world.run()

    assert world.used == ["k1", "k1", "k2"]
    assert world.model.status().rate_limit is None


@pytest.mark.parametrize(
    ("ref", "proxy", "environment", "proxied"),
    [
        ("anthropic/x", None, {}, False),
        ("anthropic/x", "http://127.0.0.1:1", {}, True),
        ("google/x", None, {"HTTPS_PROXY": "http://127.0.0.1:1"}, True),
        ("offline/odin", "http://127.0.0.1:1", {}, False),
    ],
)
def test_c_096_it_is_known_which_models_are_reached_through_a_proxy(monkeypatch, ref, proxy, environment, proxied):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    config = Config.model_validate({"network": {"proxy": proxy}})

    assert providers.is_proxied(ref, config) is proxied


def test_a_proxys_password_stays_out_of_the_error():
    with pytest.raises(ModelError) as raised:
        http_client(Network(proxy="ftp://user:hunter2@proxy.test"))

    assert "hunter2" not in str(raised.value)


async def test_a_retired_model_closes_its_connections_now_or_after_the_answer_under_way():
    world = World({"k1": [OK, OK, OK]})
    async for _ in world.model.stream(REQUEST):
        await world.model.retire()
        assert world.used.count("closed k1") == 0

    assert world.used.count("closed k1") == 1
    async for _ in world.model.stream(REQUEST):
        pass
    assert world.used.count("closed k1") == 2


async def test_a_model_that_nobody_asks_closes_at_once_when_it_is_retired():
    world = World({"k1": [OK]})
    await world.model.warm()

    await world.model.retire()

    assert world.used.count("closed k1") == 1


async def test_two_who_want_a_model_at_once_get_the_same():
    world = World({"k1": [OK]})
    made, may_connect = [], asyncio.Event()
    connect = world.model._connect

    async def slowly(candidate):
        await may_connect.wait()
        made.append(candidate)
        return await connect(candidate)

    world.model._connect = slowly
    waiting = [asyncio.create_task(world.model.warm()) for _ in range(2)]
    await asyncio.sleep(0)
    may_connect.set()
    await asyncio.gather(*waiting)

    assert len(made) == 1


async def test_how_far_a_request_has_come_is_told_for_each_attempt():
    world = World({"k1": [ModelUnavailable("busy"), (Reached("waiting_token"), OK)]})

    events = [event async for event in world.model.stream(REQUEST)]

    assert [it for it in events if isinstance(it, Reached | Attempt)] == [
        Reached("connecting", REF),
        Reached("waiting_headers"),
        Attempt(REF, "busy", 0.5, "retrying", 2, 6),
        Reached("waiting_headers"),
        Reached("waiting_token"),
    ]


def test_a_platform_rests_for_itself():
    """None of them has a key."""
    bedrock, vertex = Candidate("bedrock/anthropic.claude-sonnet-5-5", None, ""), Candidate("vertex/a", None, "")
    pool = KeyPool()
    pool.rest(bedrock.credential, 60)
    assert (pool.wait(bedrock.credential) > 0, pool.wait(vertex.credential)) == (True, 0)
