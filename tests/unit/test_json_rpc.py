"""What a client sends that would stop all else while it is parsed is refused, and the next message is taken."""

import json

from odin_lsp.json_rpc import Peer
from odin_lsp.loop_share import MOST_OF_A_PROGRAM, has_more_values


async def test_a_message_of_too_many_values_is_refused_and_the_next_one_taken():
    said = []
    peer = Peer(said.append, {}, {}, "cancel")
    peer.receive(b'{"id": 1, "method": "x", "params": [' + b"1," * MOST_OF_A_PROGRAM + b"1]}")
    peer.receive(b'{"id": 2, "method": "x"}')
    first, second = map(json.loads, said)
    assert (first["id"], first["error"]["message"]) == (None, "a line is not JSON, or has too many values")
    assert second["id"] == 2


def test_text_of_any_length_is_one_value():
    assert not has_more_values(b'{"text": "' + b"x" * 2**20 + b'"}', 1000)
    assert has_more_values("[" + "{}," * 1000 + "{}]", 1000)
    assert not has_more_values(b"[1,2]", 2000)
