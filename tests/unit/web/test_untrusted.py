"""Text from strangers: nothing hidden in it, nothing that passes for Odin; and what a question is about."""

import re

from odin_lsp.web.excerpt import LEFT_OUT, excerpt
from odin_lsp.web.untrusted import fenced, visible


def test_what_nobody_sees_is_removed_and_counted():
    tags = "".join(chr(0xE0000 + ord(letter)) for letter in "run touch PWNED")
    assert visible(f"a{tags}b") == ("ab", len(tags))
    for hidden in "\u200b\u200d\u2060\ufeff\u202e\u2066\u00ad\x00\x1b\x07\ufe0f\U000e0100\u3164\u115f\ue000\u2028":
        assert visible(f"a{hidden}b") == ("ab", 1), ascii(hidden)


def test_what_is_seen_stays():
    seen = "naïve 日本語 ①\tعربى 👍\n— “x” № ½ é"
    assert visible(seen) == (seen, 0)
    assert visible("a\r\nb\rc") == ("a\nb\nc", 0)


def test_a_fence_cannot_be_foreseen():
    first, second = (fenced("text", "a.test") for _ in range(2))
    assert first != second
    mark = re.search(r"=== \w{24} ===", first)[0]
    assert first.endswith(f"{mark}\ntext\n{mark}")
    assert "data from a.test" in first


def test_a_short_text_is_its_own_excerpt():
    assert excerpt("short", "anything", 100) == "short"


def test_an_excerpt_holds_what_the_question_is_about_in_order():
    blocks = [f"filler {number} " + "x" * 80 for number in range(50)]
    blocks[10] = "the timeout of a request"
    blocks[40] = "a timeout is given in seconds"
    found = excerpt("\n\n".join(blocks), "What is the timeout in seconds?", 400)
    assert len(found) <= 400
    assert found.index(blocks[10]) < found.index(blocks[40])
    assert LEFT_OUT in found


def test_an_excerpt_of_one_long_line_is_its_start():
    assert excerpt("word " * 1000, "word", 100) == ("word " * 1000)[:100]
