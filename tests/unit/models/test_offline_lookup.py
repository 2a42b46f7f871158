"""The offline model with the real tools: asked about a function, it tells its definition and its callers."""

import pytest

from odin_lsp.messages import Message, Text
from odin_lsp.models.base import Connection, Request, ToolSpec
from odin_lsp.models.offline import connect
from odin_lsp.models.reference import ModelRef
from tests.support.reviewing import Bench

FILES = {
    "Cart.java": "class Cart {\n  int sumUp() {\n    return 1;\n  }\n}\n",
    "Shop.java": "class Shop {\n  void checkout(Cart cart) {\n    // sumUp\n    print(cart.sumUp());\n  }\n}\n",
    "tests/CartTest.java": 'class CartTest {\n  void test() { check(new Cart().sumUp(), "sumUp"); }\n}\n',
    "other.py": "def lonely_helper():\n    pass\n",
    "till.ts": "export class Till {\n  total(): number {\n    return 1;\n  }\n}\n",
    "desk.ts": 'import { Till } from "./till";\n// total\nexport function close() {\n  return new Till().total();\n}\n',
}


@pytest.fixture
def bench(tmp_path):
    bench = Bench(tmp_path, mode="ask_mode")
    for name, text in FILES.items():
        bench.write(name, text)
    return bench


async def ask(bench, prompt):
    model = connect(ModelRef("offline", "odin"), Connection())
    about = Text("<reminder>\nMode: ask_mode\n</reminder>")
    messages = [Message("user", (about, Text(prompt)))]
    for _ in range(4):
        tools = tuple(ToolSpec(name, "", {}) for name in bench.executor.tools)
        request = Request(system=(f"You are Odin.\nWorkspace: {bench.root}",), messages=tuple(messages), tools=tools)
        reply = [event async for event in model.stream(request)][-1]
        messages.append(reply.message)
        if reply.stop == "end":
            return reply.message.text
        results = {}
        await bench.executor.run(reply.message, results)
        messages.append(Message("user", tuple(results[call.id] for call in reply.message.calls)))
    raise AssertionError("more than four steps")


@pytest.mark.parametrize("prompt", ["what does sumUp do?", "Who calls `sumUp`?"])
async def test_a_question_about_a_function_is_answered_with_its_definition_and_its_callers(bench, prompt):
    answer = await ask(bench, prompt)

    assert "`sumUp` is defined in `Cart.java:2`." in answer
    assert "int sumUp() {\n    return 1;" in answer
    assert (
        "`sumUp` is used here (by name only; others of the same name are not told apart):\n\n"
        "- `Shop.java:4` in `Shop.checkout`: `print(cart.sumUp());`\n"
        '- `tests/CartTest.java:2` in `CartTest`: `void test() { check(new Cart().sumUp(), "sumUp"); }`'
    ) in answer


async def test_that_nobody_uses_a_function_is_said_with_who_says_so(bench):
    answer = await ask(bench, "what is lonely_helper for?")

    assert "`lonely_helper` is defined in `other.py:1`." in answer
    assert "No use of `lonely_helper` was found (by name only; others of the same name are not told apart)." in answer


@pytest.mark.parametrize(
    "prompt", ["what does total do?", "who calls total?", "Where is the method total used?", "callers of total"]
)
async def test_a_plain_word_is_a_name_where_the_question_is_about_code_and_the_project_defines_it(bench, prompt):
    answer = await ask(bench, prompt)

    assert answer.startswith("`total` is defined in `till.ts:2`.")
    assert "- `desk.ts:4` in `close`: `return new Till().total();`" in answer


async def test_where_a_class_is_used_is_answered_with_its_definition_and_its_uses(bench):
    answer = await ask(bench, "where is Till used?")

    assert answer.startswith("`Till` is defined in `till.ts:1`.")
    assert "- `desk.ts:4`" in answer


async def test_a_word_that_the_project_does_not_define_stays_a_word(bench):
    answer = await ask(bench, "what does all do, and who calls pass?")

    assert "is defined in" not in answer
