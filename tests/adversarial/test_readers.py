"""READ: a file of a folder that cannot be read costs itself alone, whatever is in it: no other error than its reader's
own, and no time that grows faster than the file."""

import json
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odin_lsp import config
from odin_lsp import named_files as named_files_module
from odin_lsp.errors import ToolError
from odin_lsp.extensions import front_matter
from odin_lsp.extensions.custom_commands import command_of
from odin_lsp.extensions.front_matter import MAX_HEAD, Misunderstood
from odin_lsp.extensions.hook_files import hooks_of
from odin_lsp.extensions.json_files import object_of
from odin_lsp.extensions.mcp_files import servers_of
from odin_lsp.extensions.places import Brought
from odin_lsp.extensions.registry import Extensions, brought_extensions
from odin_lsp.foreign_data import MAX_DEPTH, ForeignDataError, parse_foreign_toml
from odin_lsp.formats.notebooks import Notebook
from odin_lsp.language_servers.choosing import _speaks_lsp
from odin_lsp.named_files import MAX_LOOKS, LookupBudget, TooManyNames, named_files
from odin_lsp.permissions.shell.git_repository import NotUnderstood, find_repository
from odin_lsp.workspace.globs import compiled_leniently
from odin_lsp.workspace.name_list import FileNames
from odin_lsp.workspace.survey import survey
from odin_lsp.workspace.text import split_lines
from tests.e2e.steps import says
from tests.support.sampling import EXAMPLES
from tests.support.trusting import Everything, agree_to_all

SIZE = 64 * 1024
DIGITS = "1" * 5000
MERGES = "\n".join(f"k{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 12) if i else ''}], x{i}: 1}}" for i in range(7))
"""413 bytes, more or less, that stand for 12 to the power of 6 maps."""

BROKEN_HEADS = {
    "anchor": "a: &x b",
    "alias": "a: *x",
    "merge keys": MERGES,
    "a merge key": "<<: {a: b}",
    "tag": "a: !!python/object/apply:os.system [touch ran]",
    "a date's tag": "a: !!timestamp 2024-99-99",
    "binary": "a: !!binary '=='",
    "lists in lists": f"a: {'[' * (MAX_HEAD - 100)}",
    "maps in maps": f"a: {'{' * (MAX_HEAD - 100)}",
    "keys of keys": "? " * (MAX_HEAD // 2 - 50),
    "items of items": "- " * (MAX_HEAD // 2 - 50),
    "many values": f"a: [{'a,' * (MAX_HEAD // 2 - 50)}]",
    "a list as a key": "? [a, b]\n: c",
    "no character": 'a: "\\UFFFFFFFF"',
    "two documents": "a: b\n--- x\nc: d",
    "a version": f"%YAML 1.{DIGITS}\n--- a",
    "not YAML": "a: [",
    "blanks": f"a: x{' ' * (MAX_HEAD - 100)}y\nb: *",
    "too long": "a: b\n" * 2000,
}
READ_HEADS = {
    "date": ("version: 2024-99-99", "2024-99-99"),
    "good date": ("version: 2024-01-02", "2024-01-02"),
    "time": ("version: 2024-01-02 99:99:99", "2024-01-02 99:99:99"),
    "digits": (f"version: {DIGITS}", DIGITS),
    "sixties": (f"version: {':'.join(['59'] * 2500)}", ":".join(["59"] * 2500)),
    "hexadecimal": ("version: 0x_", "0x_"),
    "binary number": ("version: 0b_", "0b_"),
    "number": ("version: 1.50", "1.50"),
    "half a character": ('version: "\\ud800"', "\ufffd"),
    "a switch": ("version: yes", "true"),
    "nothing": ("version: ~", ""),
    "a colon": ("version: use it: always", "use it: always"),
    "two brackets": ("version: [one] [two]", "[one] [two]"),
    "list": ("version: [one, 2]", "[one, 2]"),
    "lists in lists": (f"version: {'[' * 2000}{']' * 2000}", f"{'[' * 2000}{']' * 2000}"),
}


def brought(content, kind="mcp", name="x"):
    data = content.encode() if isinstance(content, str) else content
    return Brought(kind, "project", Path("/ws/x"), name, data)


def head(text):
    return f"---\n{text}\n---\nbody\n".encode()


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def encoded(value):
    """As something that is sent, shown or stored."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=str).encode()


@pytest.mark.parametrize("name", BROKEN_HEADS)
def test_read_01_a_head_that_refers_names_a_type_or_goes_too_far_is_broken(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    with pytest.raises(Misunderstood, match="head"):
        front_matter.parse(head(BROKEN_HEADS[name]))

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", READ_HEADS)
def test_read_02_a_plain_value_is_the_text_that_stands_there(name):
    text, meant = READ_HEADS[name]

    note = front_matter.parse(head(text))

    assert note.text("version") == meant
    assert note.body == "body"


BROKEN_JSON = {
    "digits": f'{{"a": {DIGITS}}}',
    "more digits": f'{{"a": {"1" * 400}}}',
    "infinite": '{"a": 1e999}',
    "no number": '{"a": NaN}',
    "deep": f'{{"a": {"[" * 20_000}{"]" * 20_000}}}',
    "just too deep": f'{{"a": {"[" * MAX_DEPTH}{"]" * MAX_DEPTH}}}',
    "open": "[" * 20_000,
    "a list": "[]",
    "comments and no end": '{"a": 1,' + "/**/" * 22 + "x}",
}


@pytest.mark.parametrize("name", BROKEN_JSON)
def test_read_03_json_that_nobody_can_use_is_broken(name):
    with pytest.raises(Misunderstood):
        object_of(brought(BROKEN_JSON[name]))


def test_read_03_json_that_can_be_used_can_be_encoded_and_named_in_a_path(tmp_path):
    text = '{"mcpServers": {"a": {"command": "x\\ud800", "cwd": "\\u0000", "env": {"B\\udfff": "\\u0000"}}}}'

    [server], problems = servers_of(brought(text))

    assert (server.command, server.cwd, server.env, problems) == ("x\ufffd", "\ufffd", {"B\ufffd": "\ufffd"}, [])
    assert not (tmp_path / server.cwd).exists()


MATCHERS = {"deep": "(" * 240 + ")" * 240, "repeated": "a{99999999999}", "long": "a" * 100_000, "open": "("}


@pytest.mark.parametrize("name", MATCHERS)
def test_read_03_a_hook_with_a_matcher_that_is_none_costs_itself(name):
    entry = {"hooks": [{"type": "command", "command": "x"}]}
    groups = [{"matcher": MATCHERS[name], **entry}, {"matcher": "Edit", **entry}]

    hooks, problems = hooks_of(brought(json.dumps({"hooks": {"PreToolUse": groups}}), "hooks"))

    assert [it.matcher for it in hooks if it.matcher != MATCHERS["deep"]] == ["Edit"]
    assert len(problems) == (0 if name == "deep" and len(hooks) == 2 else 1)


BROKEN_SETTINGS = {
    **{name: text for name, text in BROKEN_JSON.items() if name != "a list"},
    "many": json.dumps({"rules": [1] * 5000}),
    "many keys": json.dumps({f"a{number}": 1 for number in range(5000)}),
}


@pytest.mark.parametrize("name", BROKEN_SETTINGS)
def test_read_04_settings_that_nobody_can_use_are_told_once(name, tmp_path):
    write(tmp_path / "odinconfig.json", BROKEN_SETTINGS[name])

    in_force, [problem] = config.load(tmp_path, user=tmp_path / "none")

    assert in_force == config.load(tmp_path / "none", user=tmp_path / "none")[0]
    assert "the file is not used" in str(problem)


BROKEN_TOML = {
    "digits": f"a = {DIGITS}",
    "date": "a = 2024-99-99",
    "deep": f"a = {'[' * 5000}",
    "parts of a key": f"{'a.' * 20_000}a = 1",
    "quoted parts": f"""{'"a".' * 20_000}a = 1""",
    "parts of a table": f"[{'a.' * 20_000}a]",
}


@pytest.mark.parametrize("name", BROKEN_TOML)
def test_read_05_toml_that_nobody_can_use_is_none(name, tmp_path):
    with pytest.raises(ForeignDataError):
        parse_foreign_toml(BROKEN_TOML[name])

    texts = {"pyproject.toml": BROKEN_TOML[name], "package.json": BROKEN_JSON["digits"], "Makefile": "test:\n"}
    found = survey(FileNames(tmp_path, list(texts), is_whole=True), lambda path: texts[path.name])

    assert dict(found.commands) == {"make test": "Makefile"}


@pytest.mark.parametrize("name", BROKEN_JSON)
def test_read_05_a_package_that_nobody_can_read_is_of_no_version(name, tmp_path):
    write(tmp_path / "package.json", BROKEN_JSON[name])

    assert not _speaks_lsp(tmp_path / "bin" / "tsc")


async def test_read_06_a_notebook_with_half_characters_is_shown_and_the_turn_goes_on(odin, call):
    cell = '{"cell_type": "code", "id": "a\\ud800", "source": "half \\ud800", "outputs": []}'
    write(odin.root / "a.ipynb", f'{{"nbformat": 4, "nbformat_minor": 5, "cells": [{cell}]}}')
    write(odin.root / "b.ipynb", f'{{"cells": [{{"a": {DIGITS}}}]}}')
    odin.script(
        {"calls": [call("Read", file_path=str(odin.root / it)) for it in ("a.ipynb", "b.ipynb")]}, {"text": "read"}
    )

    outcome = await odin.take(mode="ask_mode")

    assert outcome.reason == "end_turn"


@pytest.mark.parametrize("name", ["hooks", "servers"])
def test_read_07_a_command_line_with_too_many_words_costs_itself(name, tmp_path):
    for number in range(60):
        (tmp_path / f"f{number}").mkdir()
    words = " ".join([*(f"f{number}" for number in range(60)), *(f"w{number}" for number in range(800))])
    entries = [{"hooks": [{"type": "command", "command": it}]} for it in (words, "true")]
    write(tmp_path / ".claude/settings.json", json.dumps({"hooks": {"Stop": entries}}))
    servers = {"many": {"command": words}, "few": {"command": "true"}}
    write(tmp_path / ".mcp.json", json.dumps({"mcpServers": servers}))

    found = Extensions.found(tmp_path, agreed=Everything())

    broken = [it.problem for it in found.listed if it.state == "broken" and it.owner == "project"]
    assert len(broken) == 2
    assert all("names more files and folders than Odin can follow" in it for it in broken)
    assert [it.command for it in found.hooks] == ["true"]
    assert set(found.servers) == {"few"}


def test_read_07_words_are_looked_for_no_more_often_than_is_allowed(tmp_path, monkeypatch):
    asked = []
    digest = named_files_module._digest
    monkeypatch.setattr(named_files_module, "_digest", lambda path: asked.append(path) or digest(path))
    budget = LookupBudget()

    for number in range(100):
        try:
            named_files(tmp_path, " ".join(f"w{number}-{it}" for it in range(200)), budget=budget)
        except TooManyNames:
            break

    assert MAX_LOOKS // 2 < len(asked) <= MAX_LOOKS


def test_read_07_a_word_that_is_too_long_for_a_name_names_nothing(tmp_path):
    assert named_files(tmp_path, "x" * 3000, cwd="y" * 3000) == {}


def use_head(data):
    note = front_matter.parse(data)
    encoded([dict(note.head), note.body, note.words("tools")])
    for key in note.head:
        with suppress(Misunderstood):
            note.text(key)


def use_command(data):
    command = command_of(brought(data, "command"))
    encoded([command.description, command.shell_commands, [str(it) for it in command.filled("a b")]])


def use_json(data):
    encoded(object_of(brought(data)))


def use_hooks(data):
    hooks, problems = hooks_of(brought(data, "hooks"))
    encoded([[it.name, it.timeout] for it in hooks] + problems)


def use_servers(data):
    servers, problems = servers_of(brought(data))
    encoded([[it.name, it.args, it.timeout, dict(it.env)] for it in servers] + problems)


def use_toml(data):
    parse_foreign_toml(data.decode("utf-8", "replace"))


def use_manifest(data):
    text = data.decode("utf-8", "replace")
    names = ("README.md", "package.json", "pyproject.toml", "Makefile", "justfile", "noxfile.py")
    found = survey(FileNames(Path("/ws"), names, is_whole=True), lambda _: text)
    encoded([found.summary, found.commands])


def use_notebook(data):
    notebook = Notebook.of(data.decode("utf-8", "replace"))
    for cell in notebook.cells if notebook else ():
        assert notebook.find(cell.id).id == cell.id
        encoded([cell.id, cell.kind])
        Notebook.of(notebook.replaced(cell, "x\ny"))
        Notebook.of(notebook.deleted(cell))


def use_patterns(data):
    patterns = compiled_leniently(split_lines(data.decode("utf-8", "replace")))
    assert patterns is None or patterns.match_file("a/b/c.py") in (True, False)


MCP = {
    "mcpServers": {
        "a": {"command": "npx", "args": ["-y", "it"], "env": {"KEY": "${KEY}"}, "cwd": ".", "timeout": 5},
        "b": {"url": "https://example.org", "headers": {"A": "b"}, "oauth": {"clientId": "x", "callbackPort": 80}},
    }
}
HOOKS = {
    "hooks": {"PreToolUse": [{"matcher": "Edit|W.*", "hooks": [{"type": "command", "command": "x", "timeout": 5}]}]}
}
NOTEBOOK = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "cells": [
        {"cell_type": "code", "id": "a", "source": ["x = 1\n", "x"], "outputs": [{"data": {"text/plain": ["1"]}}]},
        {"cell_type": "markdown", "id": "b", "source": "# Title", "metadata": {}},
    ],
}
PACKAGE = {"name": "x", "version": "7.0.0", "scripts": {"test": "vitest", "build": "tsc"}}
PYPROJECT = (
    '[project]\nname = "x"\nversion = "1.2"\nscripts = {odin = "a:b"}\n[tool.pytest.ini_options]\naddopts = "-q"\n'
)
HEAD = "name: reviewer\ndescription: Use it\ntools: Read, Bash(git add:*)\nmodel: ~\nlist:\n  - a\n  - b: c\n"
TEXT = "# Title\n\nRun !`git status` and read @docs/a.md for $1.\n"
IGNORED = "*.pyc\n!keep.pyc\n/build/\na/**/b\n[ab]*.[!c]\n# no\n\\#yes\n"
READERS = {
    "head": (use_head, [head(HEAD)], Misunderstood),
    "command": (use_command, [head(HEAD) + TEXT.encode(), TEXT.encode()], Misunderstood),
    "json": (
        use_json,
        [json.dumps(MCP, indent=1).encode(), b'{"a": [1, 2.5, true,], /* b */ "c": null} // d'],
        Misunderstood,
    ),
    "hooks": (use_hooks, [json.dumps(HOOKS).encode()], Misunderstood),
    "servers": (use_servers, [json.dumps(MCP).encode()], Misunderstood),
    "toml": (use_toml, [PYPROJECT.encode()], ForeignDataError),
    "manifest": (use_manifest, [PYPROJECT.encode(), json.dumps(PACKAGE).encode(), TEXT.encode()], ()),
    "notebook": (use_notebook, [json.dumps(NOTEBOOK).encode(), json.dumps(NOTEBOOK, indent=1).encode()], ()),
    "patterns": (use_patterns, [IGNORED.encode()], ()),
}
HOSTILE = [
    b"&a ", b"*a", b"<<: *a", b"!!int ", b"? ", b"- ", b": ", b"{", b"}", b"[", b"]", b"[[[[[[[[", b"{{{{{{{{", b'"',
    b"'", b"|", b">", b"%YAML 1.1\n", b"---\n", b"...\n", b"\n", b"\t", b"\0", b"\xff", b"\xef\xbb\xbf", b"\\",
    b"\\ud800",
    b"\\u0000", b'"\\UFFFFFFFF"', b"2024-99-99", b"0x_", b"1e999", b"NaN", DIGITS.encode(), b"/*", b"*/", b"//", b",",
    b"null", b"true", b'{"a":', b"a.b.", b"[[a]]\n", b'"""', b"'''", b"\xe2\x80\xae", b"\xf0\x9f\x98\x80", b"a" * 300,
    b"/" * 300, b"../" * 40, b"(" * 200, b"*" * 200, b"**/" * 50, b"[!", b"${", b"$(", b"!`", b"@",
]  # fmt: skip
"""What grammars are made of, and what readers stumble over."""


@st.composite
def spoiled(draw, samples):
    """A real text with some of it taken out, said again, or hostile."""
    data = draw(st.sampled_from(samples))
    for _ in range(draw(st.integers(0, 6))):
        start, end = sorted(draw(st.tuples(*[st.integers(0, len(data))] * 2)))
        piece = draw(st.sampled_from([*HOSTILE, data[start:end] * 2]))
        data = data[:start] + piece * draw(st.integers(1, 3)) + data[draw(st.sampled_from([start, end])) :]
    return data


made = st.lists(st.sampled_from([*HOSTILE, b"a", b" ", b"1", b"key: "]), max_size=60).map(b"".join)
"""Of nothing but that."""


FEWER = EXAMPLES // 4
"""As many readers share the time."""


@pytest.mark.filterwarnings("ignore:Possible nested set:FutureWarning")
@pytest.mark.parametrize("name", READERS)
def test_read_08_whatever_is_in_a_file_its_reader_raises_its_own_error_alone(name):
    use, samples, own = READERS[name]
    for sample in samples:
        use(sample)

    @settings(max_examples=FEWER)
    @given(spoiled(samples) | made | made.map(lambda it: head(it.decode("utf-8", "replace"))))
    def check(data):
        with suppress(own):
            use(data)

    check()


FILES = {
    ".claude/agents/a.md": head(HEAD), ".claude/skills/a/SKILL.md": head("name: a\ndescription: b"),
    ".claude/commands/a.md": head(HEAD) + TEXT.encode(), ".mcp.json": json.dumps(MCP).encode(),
    ".claude/settings.json": json.dumps(HOOKS).encode(), ".odin/hooks.json": json.dumps(HOOKS).encode(),
    "odinconfig.json": b'{"model": "a/b", "languageServers": {"servers": {"zls": {"command": ["zls"]}}}, "rules": []}',
    ".git/config": b'[core]\n\tbare = false\n[remote "a"]\n\turl = x\n', ".git/HEAD": b"ref: refs/heads/main\n",
}  # fmt: skip


def test_read_08_whatever_is_in_the_files_of_a_folder_it_can_be_listed(tmp_path):
    for path, sample in FILES.items():
        write(tmp_path / path, sample)

    @settings(max_examples=FEWER)
    @given(st.sampled_from(sorted(FILES)), st.data())
    def check(name, data):
        write(tmp_path / name, data.draw(spoiled([FILES[name]]) | made))
        found = Extensions.found(tmp_path, agreed=())
        _, problems = config.load(tmp_path, user=tmp_path / "none")
        encoded([str(it) for it in problems])
        encoded([[it.name, it.description, it.problem, it.source] for it in found.listed])
        encoded([[it.name, it.what, it.program] for it in brought_extensions(tmp_path)])
        broken = {it.source for it in found.listed if it.state == "broken"}
        assert broken <= {str(tmp_path / name)}
        with suppress(NotUnderstood):
            find_repository(tmp_path)
        write(tmp_path / name, FILES[name])

    check()


def pairs(size):
    return "".join(f"k{number:06}: some words and more of them, too\n" for number in range(size // 40))


GROWING = {
    "head": (
        use_head,
        head(pairs(MAX_HEAD - 200)),
        {name: head(text[: MAX_HEAD - 10]) for name, text in BROKEN_HEADS.items()},
    ),
    "front": (
        use_head,
        head(pairs(MAX_HEAD - 200)) + b"some words\n" * (SIZE // 11),
        {"lines": b"---\n" + b"---x\n" * (SIZE // 5), "blanks": b"---\n---" + b" " * SIZE + b"x"},
    ),
    "json": (
        use_json,
        json.dumps({f"k{number}": [number, "some words"] for number in range(SIZE // 30)}).encode(),
        {
            "comments": b'{"a": 1,' + b"/**/" * (SIZE // 4) + b"x}",
            "open comments": b"/*" * (SIZE // 2),
            "open strings": b'"\\' * (SIZE // 2),
            "open escapes": b'{"a":"' + b'\\"' * (SIZE // 2),
            "commas": b"," * SIZE,
            "commas and lines": b",\n" * (SIZE // 2),
            "lines": b"," + b"\n" * SIZE,
            "slashes": b"//" * (SIZE // 2),
            "lists": b"[]," * (SIZE // 3),
            "deep": b"[" * SIZE,
            "digits": b"1" * SIZE,
        },
    ),
    "toml": (
        use_toml,
        "".join(f'k{number} = "some words"\n' for number in range(SIZE // 20)).encode(),
        {
            "parts": b"a." * (SIZE // 2) + b"a=1",
            "a long table": b"["
            + b".".join([b"a"] * 12)
            + b"]\n"
            + b"".join(b"a%d=1\n" % it for it in range(SIZE // 8)),
            "letters": b"a" * SIZE,
            "quotes": b'"' * SIZE,
            "quoted": b'"a"' * (SIZE // 3),
            "open lists": b"a=" + b"[" * SIZE,
            "tables": b"[[a]]\n" * (SIZE // 6),
        },
    ),
    "notebook": (
        use_notebook_text := lambda data: Notebook.of(data.decode()),
        json.dumps({"cells": [{"cell_type": "code", "source": "some words"}] * (SIZE // 45)}).encode(),
        {
            "deep": b'{"cells":' + b"[" * SIZE,
            "blanks": b'{"cells":[' + b" " * SIZE + b"]}",
            "digits": b'{"cells":[' + b"1" * SIZE,
            "members": b'{"cells":[{' + b'"a":1,' * (SIZE // 6) + b'"cell_type":"","source":""}]}',
        },
    ),
    "words": (
        lambda data: named_files(Path("/none"), data.decode()),
        b"some words " * (9_000 // 11),
        {
            "digits": b"1" * 9_000,
            "lines": b"\n" * 9_000,
            "outputs": b">" * 9_000,
            "blanks": b">" + b" " * 9_000,
            "quotes": b'>"' * 4_500,
            "changes": b";rm " * 2_250,
        },
    ),
}
FACTOR = 40
"""How many times as long as a harmless text of the same size. What is quadratic takes hundreds of times as long."""


def seconds(use, data):
    """Of the processor, in the best of three times."""
    taken = []
    for number in range(3):
        for kept in (front_matter._understood, sys.modules[object_of.__module__]._understood):
            kept.cache_clear()
        begun = time.process_time()
        with suppress(Misunderstood, ForeignDataError, ToolError):
            use(data)
        taken.append(time.process_time() - begun)
        if number == 0 and taken[0] < 0.001:
            break
    return min(taken)


@pytest.mark.parametrize("name", GROWING)
def test_read_09_a_hostile_text_takes_about_as_long_as_a_harmless_one(name):
    use, harmless, hostile = GROWING[name]
    most = max(seconds(use, harmless), 0.002) * FACTOR

    slow = {it: taken for it, data in hostile.items() if (taken := seconds(use, data)) > most}

    assert slow == {}


SERVER = {"ask": ["ask", "where is greet?"], "doctor": ["doctor"], "extensions": ["extensions"]}
BROKEN_FILES = {
    ".claude/commands/date.md": head("version: 2024-99-99\ndescription: &x fine"),
    ".claude/agents/merges.md": head(MERGES),
    ".claude/skills/deep/SKILL.md": head(f"a: {'[' * 7000}"),
    ".mcp.json": f'{{"mcpServers": {{"a": {{"command": "x", "timeout": {DIGITS}}}}}}}'.encode(),
    ".odin/hooks.json": b'{"a": 1,' + b"/**/" * 5000 + b"x}",
}
GOOD_FILES = {".claude/commands/dated.md": head("version: 2024-99-99\ndescription: fine")}


@pytest.fixture
def spoilt(root):
    for name, data in {**BROKEN_FILES, **GOOD_FILES}.items():
        write(root / name, data)
    write(root / "greet.py", "def greet(name):\n    return name\n")
    return root


@pytest.mark.parametrize("name", SERVER)
def test_read_10_the_commands_work_in_a_folder_with_such_files(name, spoilt, monkeypatch):
    done = subprocess.run(
        [sys.executable, "-m", "odin_lsp", *SERVER[name]], cwd=spoilt, capture_output=True, text=True, timeout=120,
        stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip

    assert "Traceback" not in done.stderr + done.stdout
    if name == "ask":
        assert done.returncode == 0
        assert "greet.py" in done.stdout
    else:
        for path in BROKEN_FILES:
            assert path.rpartition("/")[2].partition(".")[0].strip(".") in done.stdout
        assert "has an anchor, an alias, a tag or a merge key" in done.stdout
        assert "more than 20 digits" in done.stdout


async def test_read_11_a_turn_is_answered_in_a_folder_with_such_files(spoilt, start, anthropic, wire):
    client = await start(trusted=True, **anthropic)
    wire.play(says("here it is"))

    outcome = await client.command("ask", text="where is greet?")
    listed = (await client.command("extensions"))["extensions"]

    assert outcome["reason"] == "end_turn"
    states = {Path(it["source"]).relative_to(spoilt).as_posix(): it["state"] for it in listed}
    assert {name for name, state in states.items() if state == "broken"} == set(BROKEN_FILES)
    assert states[".claude/commands/dated.md"] == "on"


async def test_read_12_what_a_folder_brings_anew_is_understood_in_a_thread(odin, monkeypatch):
    """Also before it is looked at on the loop, which compares it with what was agreed to."""
    understood = []
    parse = front_matter.parse_head_values

    def noted(text):
        understood.append((text, threading.current_thread() is threading.main_thread()))
        return parse(text)

    monkeypatch.setattr(front_matter, "parse_head_values", noted)
    odin.live.session.rename("one that has begun")
    agree_to_all(odin.project)
    for number in range(3):
        write(odin.root / f".odin/agents/a{number}.md", head(f"name: a{number}\ndescription: of {odin.root}"))
    odin.script({"text": "done"})

    outcome = await odin.take(mode="ask_mode")

    assert outcome.reason == "end_turn"
    assert [is_on_loop for text, is_on_loop in understood if str(odin.root) in text] == [False] * 3
