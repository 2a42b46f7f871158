"""JSON with its comments, order and spaces."""

import json

import pytest

from odin_lsp.connecting import json_text
from odin_lsp.connecting.json_text import Unsuitable

TEXTS = {
    "nothing in it": "{}\n",
    "on one line": '{"a": 1, "b": [true, null]}',
    "on lines": '{\n  "b": 1,\n  "a": {\n    "c": "//"\n  }\n}\n',
    "with tabs and a comma too many": '{\n\t"a": 1, // one\n}\n',
    "with comments": '// first\n{\n  /* a */ "a": [1, 2] // two\n  // last\n}\n',
    "as on Windows": '{\r\n    "a": {\r\n        "x": 1\r\n    }\r\n}\r\n',
    "only a comment": "{ // nothing yet\n}",
    "twice the same name": '{"a": 1, "a": {"b": 2}}',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_is_put_in_and_taken_out_leaves_no_trace(text):
    value = {"command": "odin", "args": ["x"], "more": [{"y": 1}]}

    with_member = json_text.put(text, ("made", "odin"), value)
    with_item = json_text.add(with_member, ("list",), "z")

    assert json_text.value_at(with_item, ("made", "odin")) == value
    assert json_text.value_at(with_item, ("list",)) == ["z"]
    without_item = json_text.drop(with_item, ("list",))
    assert without_item == with_member
    assert json_text.drop(without_item, ("made",)) == text


def test_what_is_put_in_looks_like_the_rest():
    text = '{\n    "servers": {\n        "a": {} // mine\n    }\n}\n'

    text = json_text.put(text, ("servers", "odin"), {"args": ["b", "c"]})

    inside = '        "a": {}, // mine\n        "odin": {\n            "args": ["b", "c"]\n        }\n'
    assert text == f'{{\n    "servers": {{\n{inside}    }}\n}}\n'


def test_the_last_of_equal_items_is_taken_out():
    assert json_text.drop_item('{"a": ["x", "y", "x"]}', ("a",), "x") == '{"a": ["x", "y"]}'
    assert json_text.drop_item('{"a": ["x", "y"]}', ("a",), "x") == '{"a": ["y"]}'
    assert json_text.drop_item('{"a": ["x"]}', ("a",), "z") == '{"a": ["x"]}'


def test_names_that_are_missing_are_counted():
    assert [json_text.made_by('{"a": {"b": 1}}', it) for it in (("a", "b"), ("a", "c"), ("x", "y"))] == [0, 1, 2]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "line 1"),
        ('{"a": 1', "line 1"),
        ("{\n'a': 1}", "line 2"),
        ('{"a" 1}', "line 1"),
        ('{"a": 1} x', "line 1"),
        ("[]", "no JSON object"),
        ('{"a":' * 5000, "nested too deep"),
    ],
)
def test_what_is_no_object_is_not_changed(text, why):
    with pytest.raises(Unsuitable, match=why):
        json_text.put(text, ("b",), 1)


def test_what_is_of_another_kind_is_not_changed():
    with pytest.raises(Unsuitable, match="`a` is no object"):
        json_text.put('{"a": "all"}', ("a", "b"), 1)
    with pytest.raises(Unsuitable, match="`a` is no list"):
        json_text.add('{"a": "all"}', ("a",), 1)


def test_a_brace_never_ends_up_in_a_comment():
    text = '{"a": 1, // one\n "b": 2}'

    with pytest.raises(Unsuitable, match="no program can change safely"):
        json_text.drop(text, ("b",))
    assert json.loads(json_text.drop('{"b": 2, "a": 1}', ("b",))) == {"a": 1}
