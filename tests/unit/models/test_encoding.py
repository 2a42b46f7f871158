"""Messages as they are sent: made once, kept as long as they live."""

import gc
import json

from odin_lsp.messages import Message, Text, user
from odin_lsp.models.encoding import Blocks, Kept, Turns, encode, with_list


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


def in_turns(made=None):
    """Results are parts that begin with `r`; `made` notes each message that is encoded."""

    def blocks(message):
        if made is not None:
            made.append(message.text)
        parts = [it.text.encode() for it in message.parts]
        results = tuple(it for it in parts if it.startswith(b"r"))
        return Blocks(message.role, results, tuple(it for it in parts if it not in results))

    return Turns(blocks, lambda turn: turn.role[:1].encode() + b":" + b"".join(turn.blocks))


def sent(turns, messages):
    settled, last = turns.of(messages)
    return [*settled, *(it.role[:1].encode() + b":" + b"".join(it.blocks) for it in last)]


def said(role, *texts):
    return Message(role, tuple(map(Text, texts)))


def talk(count):
    return [said("assistant" if number % 2 else "user", str(number)) for number in range(count)]


def test_messages_of_one_role_are_one_turn_with_results_first():
    messages = [said("user", "a"), said("assistant"), said("user", "b", "r", "c"), said("assistant", "d")]

    assert sent(in_turns(), messages) == [b"u:rabc", b"a:d"]


def test_a_conversation_that_grows_is_sent_as_if_it_were_new():
    turns, messages = in_turns(), [*talk(9), said("assistant"), said("user", "a"), said("user", "r"), *talk(8)]

    for count in range(len(messages) + 1):
        assert sent(turns, messages[:count]) == sent(in_turns(), messages[:count])


def test_what_has_settled_is_not_made_again_whichever_conversation_is_sent_in_between():
    made = []
    turns, messages, other = in_turns(made), talk(40), talk(30)
    for conversation in (messages, other):
        turns.of(conversation)
    made.clear()

    assert sent(turns, messages) == sent(in_turns(), messages)
    assert sent(turns, other) == sent(in_turns(), other)
    assert made == []

    turns.of([*messages, said("user", "new")])
    assert made == ["new"]


def test_a_message_that_was_exchanged_in_the_middle_is_sent():
    turns, messages = in_turns(), talk(40)
    turns.of(messages)
    messages[10] = said("user", "shortened")

    assert sent(turns, messages)[10] == b"u:shortened"


def test_a_lone_surrogate_does_not_keep_a_request_from_being_sent():
    assert json.loads(encode({"text": "a\ud83d b 👋"})) == {"text": "a? b 👋"}


def test_a_list_that_is_ready_becomes_the_last_field():
    assert json.loads(with_list(encode({"a": "ä"}), "b", [b"1", b'{"c":2}'])) == {"a": "ä", "b": [1, {"c": 2}]}
