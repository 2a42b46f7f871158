"""One setting is changed in a file, and no other byte of it."""

import json

import pytest

from odin_lsp.config.writing import with_setting

CASES = {
    "nothing": ("", '{\n  "model": "a/b"\n}\n'),
    "an empty object": ("{}\n", '{\n  "model": "a/b"\n}\n'),
    "other settings": ('{\n\t"role": "x"}', '{\n\t"model": "a/b",\n\t"role": "x"}'),
    "lines as on Windows": ('{\r\n  "role": "x"\r\n}', '{\r\n  "model": "a/b",\r\n  "role": "x"\r\n}'),
    "an old value": ('{"role": "x",  "model" : "old/é" , "z": [1]}', '{"role": "x",  "model" : "a/b" , "z": [1]}'),
    "the same key deeper": ('{"models": {"model": 1}, "model": 2}', '{"models": {"model": 1}, "model": "a/b"}'),
    "twice": ('{"model": 1, "model": 2}', '{"model": 1, "model": "a/b"}'),
    "a byte order mark": ('\ufeff{"model": 1}', '\ufeff{"model": "a/b"}'),
}


@pytest.mark.parametrize(("before", "after"), CASES.values(), ids=CASES)
def test_all_else_stays(before, after):
    assert with_setting(before, "model", "a/b") == after
    assert json.loads(after.removeprefix("\ufeff"))["model"] == "a/b"


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1,}', "// no\n{}"])
def test_what_is_no_settings_file_is_not_touched(text):
    with pytest.raises(ValueError, match=r"Expect|object|JSON|Illegal|property"):
        with_setting(text, "model", "a/b")
