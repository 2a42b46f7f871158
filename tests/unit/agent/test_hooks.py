"""In which order hooks are asked, what each of them sees, and what the model and the turn learn of it."""

import pytest

from odin_lsp.agent.hooks import HookDecision, Hooks
from tests.support.reviewing import Bench


@pytest.fixture
def seen():
    """What hooks were asked, in order."""
    return []


@pytest.fixture
def hook(seen):
    def make(decision=None, on="PreToolUse"):
        async def hook(event, call):
            seen.append((event, call))
            return decision if decision and event == on else HookDecision()

        return hook

    return make


@pytest.fixture
def bench(tmp_path):
    def make(*hooks):
        bench = Bench(tmp_path, hooks=Hooks(hooks))
        bench.write("a.txt", "one\n")
        bench.write("b.txt", "two\n")
        return bench

    return make


async def test_what_they_say_is_put_together_in_order(hook):
    hooks = Hooks([hook(HookDecision(system_message="one")), hook(), hook(HookDecision(system_message="two"))])

    assert await hooks.fire("PreToolUse", {}) == HookDecision(system_message="one\ntwo")


async def test_the_first_that_does_not_allow_has_the_last_word(hook, seen):
    refusal = HookDecision(allow=False, message="not here", system_message="look elsewhere")
    hooks = Hooks([hook(HookDecision(system_message="first")), hook(refusal), hook()])

    decision = await hooks.fire("PreToolUse", {})

    assert (decision.allow, decision.message, decision.system_message) == (False, "not here", "first\nlook elsewhere")
    assert len(seen) == 2


async def test_one_that_ends_the_turn_is_not_overruled(hook):
    assert not (await Hooks([hook(HookDecision(go_on=False)), hook()]).fire("PreToolUse", {})).go_on


async def test_later_ones_see_the_arguments_that_earlier_ones_have_set_and_the_last_hold(hook, seen):
    hooks = Hooks([hook(HookDecision(arguments={"path": "b"})), hook(), hook(HookDecision(arguments={"path": "c"}))])

    decision = await hooks.fire("PreToolUse", {"tool": "LS", "arguments": {"path": "a"}})

    assert [call["arguments"] for _, call in seen] == [{"path": "a"}, {"path": "b"}, {"path": "b"}]
    assert {call["tool"] for _, call in seen} == {"LS"}
    assert decision.arguments == {"path": "c"}


async def test_a_call_is_seen_before_and_with_its_result_afterwards(bench, hook, seen):
    watched = bench(hook())
    arguments = {"file_path": str(watched.root / "a.txt")}

    result = await watched.use("Read", **arguments)

    call = {"callId": "call 0", "tool": "Read", "arguments": arguments}
    assert seen == [("PreToolUse", call), ("PostToolUse", {**call, "result": result.content})]


async def test_a_call_that_fails_is_seen_as_such(bench, hook, seen):
    result = await (watched := bench(hook())).use("Read", file_path=watched.root / "none.txt")

    assert result.failed
    assert [(event, call.get("result")) for event, call in seen] == [
        ("PreToolUse", None),
        ("PostToolUseFailure", result.content),
    ]


async def test_the_model_reads_what_they_say_after_the_result(bench, hook):
    before, after = HookDecision(system_message="before"), HookDecision(system_message="after")
    watched = bench(hook(before), hook(after, on="PostToolUse"))

    result = await watched.use("Read", file_path=watched.root / "a.txt")

    assert "one" in result.content
    assert result.content.endswith("\nbefore\nafter")


async def test_a_call_runs_with_the_arguments_that_they_have_set(bench, hook, tmp_path):
    other = {"file_path": str(tmp_path / "ws" / "b.txt")}

    result = await (watched := bench(hook(HookDecision(arguments=other)))).use("Read", file_path=watched.root / "a.txt")

    assert "two" in result.content


@pytest.mark.parametrize(("message", "told"), [("not now", "not now"), ("", "a hook did not allow Read")])
async def test_a_call_that_they_do_not_allow_does_not_run_and_the_model_learns_why(bench, hook, message, told):
    watched = bench(hook(HookDecision(allow=False, message=message)))

    result = await watched.use("Read", file_path=watched.root / "a.txt")

    assert (result.failed, result.content) == (True, told)


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "PostToolUseFailure"])
async def test_the_turn_ends_after_the_step_if_one_of_them_wants_that(bench, hook, event):
    watched = bench(hook(HookDecision(go_on=False), on=event))
    name = "none.txt" if event == "PostToolUseFailure" else "a.txt"

    await watched.use("Read", file_path=watched.root / name)

    assert watched.executor.stopped
