"""Messages as they are sent: made once, kept as long as they live."""

import gc
import json

from odin_lsp.messages import Message, Text, user
from odin_lsp.models.encoding import Blocks, Kept, encode, turns, with_list


def test_what_is_made_of_a_message_is_made_once_and_forgotten_with_it():
    made = []
    kept = Kept(lambda message: made.append(message.text) or message.text)
    first, same_words = user("a"), user("a")

    assert [kept.of(it) for it in (first, same_words, first, same_words)] == ["a"] * 4
    assert made == ["a", "a"]

    del first
    gc.collect()
    assert len(kept) == 1


def test_a_message_in_the_place_of_another_is_another():
    kept = Kept(lambda message: message.text)

    assert [kept.of(Message("user", (Text(str(number)),))) for number in range(100)] == [str(it) for it in range(100)]
    assert len(kept) == 0


def test_messages_of_one_role_are_one_turn_with_results_first():
    messages = [
        Blocks("user", (), ("a",)),
        Blocks("assistant", (), ()),
        Blocks("user", ("r",), ("b", "c")),
        Blocks("assistant", (), ("d",)),
    ]

    assert list(turns(messages)) == [("user", ["r", "a", "b", "c"]), ("assistant", ["d"])]


def test_a_lone_surrogate_does_not_keep_a_request_from_being_sent():
    assert json.loads(encode({"text": "a\ud83d b 👋"})) == {"text": "a? b 👋"}


def test_a_list_that_is_ready_becomes_the_last_field():
    assert json.loads(with_list({"a": "ä"}, "b", [b"1", b'{"c":2}'])) == {"a": "ä", "b": [1, {"c": 2}]}
