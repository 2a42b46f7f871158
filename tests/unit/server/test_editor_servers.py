"""The editor's language servers, asked through an editor that answers as the test says, well or badly."""

import asyncio
import json
from types import SimpleNamespace

import pytest
from lsprotocol import types
from pygls.lsp.server import LanguageServer

from odin_lsp.config import Timeouts
from odin_lsp.intelligence.servers import Problem, Told, Unavailable
from odin_lsp.server.client import Abilities
from odin_lsp.server.editor_servers import EditorServers
from odin_lsp.server.rpc import OdinProtocol
from odin_lsp.workspace.buffers import Buffers

DEFINITION, HOVER, RENAME = "textDocument/definition", "textDocument/hover", "textDocument/rename"
SYMBOLS = "textDocument/documentSymbol"
ALL = frozenset({"request", "diagnostics"})
UNANSWERED = object()


class Editor:
    """Answers what Odin asks by the method of LSP, or `diagnostics`."""

    def __init__(self, **answers):
        self.answers = {SYMBOLS: answers_of(("pyright", True, [])), **answers}
        self.asked = []
        self.buffers = Buffers()
        self._rpc = LanguageServer("odin", "1", protocol_cls=OdinProtocol).protocol
        self._rpc.connect(SimpleNamespace(send=self._take))

    def servers(self, answers=ALL, seconds=10.0):
        return EditorServers(self._rpc, self.buffers, answers, lambda: Timeouts(client=seconds))

    def _take(self, body):
        message = json.loads(body)
        if "id" not in message:
            return
        params = message["params"]
        self.asked.append(params)
        answer = self.answers.get(params.get("method", "diagnostics"))
        if answer is UNANSWERED:
            return
        said = {"error": answer} if isinstance(answer, dict) and "code" in answer else {"result": answer}
        self._rpc.receive(json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}).encode())


def answers_of(*answers, late=(), failed=()):
    told = [{"server": server, "ready": ready, "result": result} for server, ready, result in answers]
    broken = [{"server": server, "reason": reason} for server, reason in failed]
    return {"answers": told, "late": list(late), "failed": broken}


def place(line, character=0):
    return {"line": line, "character": character}


def diagnostic(message, line=0, start=0, end=1, **rest):
    return {"range": {"start": place(line, start), "end": place(line, end)}, "message": message, **rest}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("x = '😀😀' + nothing\n")
    return path


async def ask(editor, path, method, **kwargs):
    [server] = await editor.servers(**kwargs).of(path)
    return await server.ask(method, {"textDocument": {"uri": path.as_uri()}})


async def test_a_question_goes_to_the_editor_as_lsp_has_it_and_is_bounded(path):
    editor = Editor(**{DEFINITION: answers_of(("pyright", True, [{"uri": "file:///b.py"}]))})

    assert await ask(editor, path, DEFINITION) == Told([{"uri": "file:///b.py"}], is_ready=True)
    assert editor.asked[-1] == {
        "method": DEFINITION,
        "uri": path.as_uri(),
        "params": {"textDocument": {"uri": path.as_uri()}},
        "timeoutMs": 9000,
    }


@pytest.mark.parametrize(
    ("method", "answer", "told"),
    [
        (DEFINITION, answers_of(("a", True, [1, 2]), ("b", True, [2, 3])), Told([1, 2, 3], is_ready=True)),
        (DEFINITION, answers_of(("a", True, None), ("b", True, {"uri": "x"})), Told([{"uri": "x"}], is_ready=True)),
        (DEFINITION, answers_of(("a", True, [1]), ("b", False, [])), Told([1], is_ready=False)),
        (DEFINITION, answers_of(("a", True, [1]), late=["b"]), Told([1], is_ready=False)),
        (DEFINITION, answers_of(("a", True, [1]), failed=[("b", "No Project")]), Told([1], is_ready=False)),
        (HOVER, answers_of(("a", True, None), ("b", True, {"contents": "b"})), Told({"contents": "b"}, is_ready=True)),
        (HOVER, answers_of(("a", True, {"contents": "a"}), late=["b"]), Told({"contents": "a"}, is_ready=True)),
        (RENAME, answers_of(("a", True, None), ("b", False, {"changes": {}})), Told({"changes": {}}, is_ready=False)),
        (HOVER, answers_of(("a", True, None), ("b", False, None)), Told(None, is_ready=False)),
    ],
)
async def test_what_several_servers_know_in_parts_is_joined_and_of_all_else_one_is_taken(path, method, answer, told):
    assert await ask(Editor(**{method: answer}), path, method) == told


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (answers_of(), "no language server offers it"),
        (answers_of(late=["pyright"]), "pyright did not answer in time"),
        (answers_of(late=["a"], failed=[("b", "No Project")]), "b: No Project; a did not answer in time"),
        (None, "cannot be read: `the argument`"),
        ({"answers": [{"server": "a"}]}, "`answers.0.ready` is missing"),
        ({"answers": [{"server": "a", "ready": "perhaps"}]}, "`answers.0.ready`"),
        ({"answers": {}, "more": 1}, "`answers` must be a list; `more` is not known here"),
        ({"code": -32603, "message": "attempt to index a nil value"}, "attempt to index a nil value"),
    ],
)
async def test_an_editor_that_cannot_tell_or_talks_nonsense_is_said_to(path, answer, why):
    with pytest.raises(Unavailable, match=why):
        await ask(Editor(**{DEFINITION: answer}), path, DEFINITION)


async def test_an_editor_that_never_answers_is_left(path):
    editor = Editor(**{DEFINITION: UNANSWERED})

    async with asyncio.timeout(5):
        with pytest.raises(Unavailable, match="did not answer textDocument/definition in time"):
            await ask(editor, path, DEFINITION, seconds=0.05)


async def test_a_document_is_named_as_the_editor_spells_it(path):
    link = path.with_name("link.py")
    link.symlink_to(path)
    editor = Editor()
    editor.buffers.open(link.as_uri(), 1, path.read_text())

    await editor.servers().of(path)

    assert editor.asked[0]["uri"] == link.as_uri()


async def test_who_serves_a_language_is_asked_once(path, tmp_path):
    editor = Editor(**{SYMBOLS: answers_of(("pyright", True, None), ("jedi", True, []), late=["ruff"])})
    servers = editor.servers()

    [first] = await servers.of(path)
    await servers.of(tmp_path / "b.py")

    assert first.name == "pyright and jedi and ruff"
    assert len(editor.asked) == 1


async def test_a_server_that_is_gone_is_looked_for_again(path):
    editor = Editor(**{HOVER: answers_of()})
    servers = editor.servers()
    [server] = await servers.of(path)

    with pytest.raises(Unavailable):
        await server.ask(HOVER, {})
    editor.answers[SYMBOLS] = answers_of()

    assert await servers.of(path) == ()


@pytest.mark.parametrize("answer", [answers_of(), "nonsense", {"code": 1, "message": "no"}])
async def test_where_nobody_serves_a_language_nobody_is_asked_again_for_a_while(path, answer):
    editor = Editor(**{SYMBOLS: answer})
    servers = editor.servers()

    assert await servers.of(path) == await servers.of(path) == ()
    assert len(editor.asked) == 1


async def test_an_editor_is_asked_only_what_it_answers(path):
    editor = Editor()
    servers = editor.servers(answers=())

    assert await servers.of(path) == ()
    assert await servers.problems([path], 1.0) == {}
    assert editor.asked == []


async def test_code_actions_come_resolved(path):
    [server] = await Editor().servers().of(path)

    assert server.offers("textDocument/codeAction")
    assert not server.offers("codeAction/resolve")


async def test_problems_are_at_characters_of_the_text_and_odins_own_are_left_out(path):
    found = [
        diagnostic("undefined", start=13, end=20, severity=1, code="reportUndefined", source="Pyright"),
        diagnostic("far away", line=9, start=9, end=9, severity=4, code=7),
        diagnostic("a pending hunk", source="Odin"),
    ]
    editor = Editor(diagnostics={"items": [{"uri": path.as_uri(), "diagnostics": found, "current": True}]})

    problems = (await editor.servers().problems([path], 2.0))[path]

    assert problems.is_current
    assert problems.found == (
        Problem(
            line=0,
            character=11,
            end_line=0,
            end_character=18,
            severity="error",
            message="undefined",
            code="reportUndefined",
            source="Pyright",
        ),
        Problem(line=1, character=0, end_line=1, end_character=0, severity="hint", message="far away", code="7"),
    )
    assert editor.asked == [{"uris": [path.as_uri()], "patienceMs": 2000}]


@pytest.mark.parametrize(("version", "current", "is_current"), [(3, True, True), (2, True, False), (3, False, False)])
async def test_problems_of_another_version_are_not_current(path, version, current, is_current):
    item = {"uri": path.as_uri(), "diagnostics": [], "current": current, "version": version}
    editor = Editor(diagnostics={"items": [item]})
    editor.buffers.open(path.as_uri(), 3, "")

    assert (await editor.servers().problems([path], 1.0))[path].is_current is is_current


async def test_without_paths_all_that_the_editor_knows_is_told_at_once(path, tmp_path):
    items = [
        {"uri": uri, "diagnostics": [diagnostic("old")], "current": False}
        for uri in (path.as_uri(), "untitled:1", (tmp_path / "gone.py").as_uri())
    ]
    editor = Editor(diagnostics={"items": items})

    problems = await editor.servers().problems([], 5.0)

    assert [*problems] == [path]
    assert editor.asked == [{"uris": [], "patienceMs": 0}]


@pytest.mark.parametrize(
    "answer",
    [
        "nonsense",
        {"items": [{"uri": "file:///a.py"}]},
        {"code": 1, "message": "no"},
        {"items": [{"uri": "file:///elsewhere.py", "diagnostics": [], "current": True}]},
    ],
)
async def test_diagnostics_that_cannot_be_read_or_that_nobody_asked_for_are_none(path, answer):
    assert await Editor(diagnostics=answer).servers().problems([path], 1.0) == {}


async def test_diagnostics_without_a_place_or_a_text_are_left_out(path):
    broken = [
        {},
        {"message": "no place"},
        {**diagnostic("x"), "range": {"start": 1}},
        {**diagnostic("x"), "message": 1},
    ]
    odd = diagnostic("odd", severity=[1], code={"value": 1}, source=None)
    item = {"uri": path.as_uri(), "diagnostics": [*broken, odd], "current": True}

    problems = await Editor(diagnostics={"items": [item]}).servers().problems([path], 1.0)

    assert [(it.message, it.severity, it.code) for it in problems[path].found] == [("odd", "error", "")]


@pytest.mark.parametrize(
    ("declared", "expected"),
    [(["request", "diagnostics"], ALL), (["request", 1], {"request"}), (True, set()), (None, set())],
)
def test_a_client_says_what_it_answers(declared, expected):
    capabilities = types.ClientCapabilities(experimental={"odin": {"version": 1, "editor": declared}})

    assert Abilities.of(capabilities).editor == expected


async def test_who_has_answered_and_whose_diagnostics_are_shown_is_listed_with_counts(path):
    found = [
        diagnostic("a", source="ruff", severity=2),
        diagnostic("b", source="pyright", severity=1),
        diagnostic("c", source="pyright"),
        diagnostic("d", source="pyright", severity=3),
        diagnostic("e", source="Odin", severity=1),
        diagnostic("f", severity=2),
    ]
    items = [{"uri": path.as_uri(), "diagnostics": found, "current": True}]
    editor = Editor(
        **{SYMBOLS: answers_of(("pyright", True, []), ("gopher", True, [])), "diagnostics": {"items": items}}
    )
    servers = editor.servers()
    await servers.of(path)

    states = await servers.all_states()

    assert {it.name: (it.errors, it.warnings) for it in states} == {
        "pyright": (2, 0),
        "gopher": (None, None),
        "ruff": (0, 1),
        "the editor": (0, 1),
    }
    assert {(it.owner, it.state, it.root) for it in states} == {("editor", "ready", "")}
    assert editor.asked[-1] == {"uris": [], "patienceMs": 0}


async def test_of_an_editor_that_tells_nothing_nothing_is_listed(path):
    editor = Editor(diagnostics={"code": -32603, "message": "broken"})

    assert await editor.servers().all_states() == ()
    assert await editor.servers(frozenset()).all_states() == ()
