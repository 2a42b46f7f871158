"""Reviews in editors that know nothing of Odin: previews, hints, questions. What the model hears is what happened."""

import asyncio
import json

import pytest
from lsprotocol import types

from tests.e2e.conftest import Screen
from tests.support import wire as kit

OLD = "alpha = 1\nbeta = 2\ngamma = 3\ndelta = 4\n"
FIRST = OLD.replace("alpha = 1", "alpha = 20")
BOTH = FIRST.replace("gamma = 3", "gamma = 30")
EDITS = [
    {"old_string": "alpha = 1", "new_string": "alpha = 20"},
    {"old_string": "gamma = 3", "new_string": "gamma = 30"},
]


class Editor(Screen):
    """Stands for clients that differ in what they do with an annotated edit, and in what they say they did."""

    def __init__(self, client) -> None:
        super().__init__(client)
        self.diagnostics = {}
        self.previews = []
        self.asked = []
        self.refreshed = 0
        self.does = lambda edits: edits
        self.says = types.ApplyWorkspaceEditResult(True)
        self.opens = True
        self.hidden = False
        self.presses = None
        self._told = asyncio.Event()
        lsp = client.lsp
        lsp.protocol.fm.features.pop(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, None)
        lsp.protocol.fm.features.pop(types.WINDOW_SHOW_DOCUMENT, None)
        lsp.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self._publish(params))
        lsp.feature(types.WINDOW_SHOW_DOCUMENT)(lambda params: self._show(params))
        lsp.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)(lambda params: self._ask(params))
        lsp.feature(types.WORKSPACE_CODE_LENS_REFRESH)(lambda *_: self._refresh())

    async def apply(self, params):
        [edit] = params.edit.document_changes
        if not params.edit.change_annotations:
            return await super().apply(params)
        self.previews.append(params.edit)
        self._told.set()
        if self.hidden:
            await asyncio.Event().wait()
        edit.edits = self.does(edit.edits)
        if edit.edits:
            await super().apply(params)
        return self.says

    async def until(self, condition):
        async with asyncio.timeout(20):
            while not condition():
                self._told.clear()
                await self._told.wait()

    async def hints(self, path, count):
        await self.until(lambda: len(self.diagnostics.get(path.as_uri(), [])) == count)
        return self.diagnostics[path.as_uri()]

    async def fixes(self, path, *hints, line=None):
        """At hints that the editor knows, or on a line."""
        place = hints[0].range if hints else types.Range(types.Position(line, 0), types.Position(line, 0))
        return await self.client.lsp.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(path.as_uri()),
                place,
                types.CodeActionContext(hints, only=[types.CodeActionKind.QuickFix]),
            )
        )

    async def lenses(self, path):
        params = types.CodeLensParams(types.TextDocumentIdentifier(path.as_uri()))
        return await self.client.lsp.text_document_code_lens_async(params) or []

    async def run(self, command):
        params = types.ExecuteCommandParams(command.command, command.arguments)
        await self.client.lsp.workspace_execute_command_async(params)

    def messages(self):
        return [it.message for it in self.client.lsp.messages]

    def _publish(self, params):
        self.diagnostics[params.uri] = list(params.diagnostics)
        self._told.set()

    def _show(self, params):
        assert params.take_focus is False
        path = self.paths[params.uri]
        if self.opens:
            asyncio.get_running_loop().call_later(0.01, self.open, path)
        return types.ShowDocumentResult(self.opens)

    def _ask(self, params):
        self.asked.append(params.message)
        return types.MessageActionItem(self.presses) if self.presses else None

    def _refresh(self):
        self.refreshed += 1


@pytest.fixture
def one(root):
    (root / "one.py").write_text(OLD)
    return root / "one.py"


@pytest.fixture
def editor(start, anthropic, one):
    """An editor with these surfaces."""

    async def editor(*, annotations=False, hints=False, show=False):
        edits = types.WorkspaceEditClientCapabilities(
            document_changes=True,
            resource_operations=[types.ResourceOperationKind.Create],
            change_annotation_support=types.ChangeAnnotationsSupportOptions() if annotations else None,
        )
        documents = types.TextDocumentClientCapabilities(
            publish_diagnostics=types.PublishDiagnosticsClientCapabilities(),
            code_action=types.CodeActionClientCapabilities(),
            code_lens=types.CodeLensClientCapabilities(),
        )
        client = await start(
            odin={"version": 1, "events": True},
            window=types.WindowClientCapabilities(show_document=types.ShowDocumentClientCapabilities(show)),
            workspace=types.WorkspaceClientCapabilities(
                apply_edit=True, workspace_edit=edits, code_lens=types.CodeLensWorkspaceClientCapabilities(True)
            ),
            text_document=documents if hints else None,
            **anthropic,
        )
        made = Editor(client)
        made.paths = {one.as_uri(): one}
        return made

    return editor


@pytest.fixture
def edit(wire, one):
    """A turn in which the model reads a file and changes two of its lines, or does what it is told."""

    def edit(editor, *calls, turn_id="t"):
        calls = calls or (("MultiEditTool", {"file_path": str(one), "edits": EDITS}),)
        for step in ([("Read", {"file_path": str(one)})], calls):
            blocks = [
                block
                for index, (name, arguments) in enumerate(step)
                for block in kit.anthropic_call(index, f"toolu_{index}_{name}", name, json.dumps(arguments))
            ]
            wire.play(kit.Answer([kit.anthropic_sse(kit.anthropic_start(), *blocks, *kit.anthropic_end("tool_use"))]))
        wire.play(
            kit.Answer(
                [
                    kit.anthropic_sse(
                        kit.anthropic_start(), *kit.anthropic_text(0, "done"), *kit.anthropic_end("end_turn")
                    )
                ]
            )
        )
        return asyncio.ensure_future(editor.client.command("edit", text="change it", turnId=turn_id))

    return edit


def states(outcome):
    return [it["state"] for it in outcome["receipts"]]


def result(wire):
    [block] = [block for block in wire.request["messages"][-1]["content"] if block["type"] == "tool_result"]
    return block["content"] if isinstance(block["content"], str) else block["content"][0]["text"]


REFUSED = types.ApplyWorkspaceEditResult(False)


@pytest.mark.parametrize(
    ("does", "says", "text", "expected", "heard"),
    [
        (lambda edits: edits, None, BOTH, ["accepted", "accepted"], ": accepted (lines "),
        (lambda edits: edits[:1], None, FIRST, ["accepted", "rejected"], ": 1 accepted, 1 rejected."),
        (lambda edits: [], None, OLD, ["rejected", "rejected"], ": 2 rejected."),
        (lambda edits: [], REFUSED, OLD, ["rejected", "rejected"], ": 2 rejected."),
        (lambda edits: edits, REFUSED, BOTH, ["accepted", "accepted"], ": accepted (lines "),
    ],
    ids=["all are ticked", "one is ticked", "a no that is told as a yes", "a no", "a yes that is told as a no"],
)
async def test_a_preview_is_what_the_document_says_not_what_the_editor_answers(
    editor, edit, wire, one, does, says, text, expected, heard
):
    screen = await editor(annotations=True, hints=True)
    screen.does, screen.says = does, says or screen.says
    screen.open(one)

    outcome = await edit(screen)

    assert screen.text(one) == text
    assert states(outcome) == expected
    assert heard in result(wire)
    [shown] = screen.previews
    [document] = shown.document_changes
    assert document.text_document.version == 1
    [annotation] = shown.change_annotations.values()
    assert annotation.needs_confirmation
    assert screen.diagnostics == {}


async def test_what_a_preview_applied_can_be_taken_back_and_nothing_else(editor, edit, one):
    screen = await editor(annotations=True)
    screen.open(one)

    def tick(edits):
        screen.type(one, "# typed\n", 4)
        return []

    screen.does = tick
    outcome = await edit(screen)
    assert states(outcome) == ["superseded", "superseded"]
    assert {it["reason"] for it in outcome["receipts"]} == {"the user typed in the file while it was shown"}
    assert await screen.client.command("undoTurn") == {"restored": [], "kept": []}

    screen.does = lambda edits: edits[1:]
    assert states(await edit(screen, turn_id="again")) == ["rejected", "accepted"]
    assert (await screen.client.command("undoTurn"))["restored"] == [one.as_uri()]
    assert screen.text(one) == OLD + "# typed\n"


async def test_a_hidden_preview_stays_pending_after_a_cancel_too(editor, edit, one):
    screen = await editor(annotations=True)
    screen.hidden = True
    screen.open(one)
    turn = edit(screen)
    await screen.until(lambda: screen.previews)
    [pending] = (await screen.client.command("review.list"))["proposals"]

    await screen.client.command("cancel", turnId="t")
    outcome = await turn

    assert [it["state"] for it in pending["files"][0]["hunks"]] == ["pending", "pending"]
    assert outcome["reason"] == "interrupted"
    assert states(outcome) == ["pending", "pending"]
    assert screen.text(one) == OLD


async def test_a_hidden_preview_can_be_decided_by_commands(editor, edit, one):
    screen = await editor(annotations=True)
    screen.hidden = True
    screen.open(one)
    turn = edit(screen)
    await screen.until(lambda: screen.previews)

    await screen.client.command("review.accept")

    assert states(await turn) == ["accepted", "accepted"]
    assert screen.text(one) == BOTH


async def test_a_preview_of_a_file_that_is_not_open_has_it_opened_first(editor, edit, one):
    screen = await editor(annotations=True, show=True)

    assert states(await edit(screen)) == ["accepted", "accepted"]
    assert screen.text(one) == BOTH
    assert screen.previews[0].document_changes[0].text_document.version == 1


@pytest.mark.parametrize("annotations", [True, False])
async def test_a_new_file_is_asked_about_whatever_else_the_editor_can_do(editor, edit, wire, root, annotations):
    screen = await editor(annotations=annotations, hints=True, show=True)

    outcome = await edit(screen, ("WriteFile", {"file_path": str(root / "new.py"), "content": "x = 1\n"}))

    assert states(outcome) == ["rejected"]
    assert screen.asked[0].splitlines()[0] == f"Create {root / 'new.py'}?"
    assert screen.asked[0].endswith("+ x = 1")
    assert screen.previews == []


async def test_hints_are_decided_with_quick_fixes(editor, edit, wire, one):
    screen = await editor(hints=True)
    screen.open(one)
    turn = edit(screen)

    first, second = await screen.hints(one, 2)
    assert (first.severity, first.source) == (types.DiagnosticSeverity.Hint, "Odin")
    assert first.range == types.Range(types.Position(0, 8), types.Position(0, 9))
    assert first.message.endswith("- alpha = 1\n+ alpha = 20")
    assert second.range == types.Range(types.Position(2, 0), types.Position(2, 9))
    assert second.message.endswith("- gamma = 3\n+ gamma = 30")
    accept, reject, accept_all = await screen.fixes(one, first)
    assert [it.title for it in (accept, reject, accept_all)] == [
        "Odin: Accept this change",
        "Odin: Reject this change",
        "Odin: Accept all changes in this file",
    ]
    assert list(accept_all.arguments) == [{"uri": one.as_uri()}]
    await screen.run(accept)
    assert await screen.hints(one, 1) == [second]
    await screen.run((await screen.fixes(one, second))[1])
    outcome = await turn

    assert states(outcome) == ["accepted", "rejected"]
    assert screen.text(one) == FIRST
    assert ": 1 accepted, 1 rejected." in result(wire)
    assert screen.diagnostics[one.as_uri()] == []
    assert screen.messages().count("Odin proposes 2 changes in one.py: use the quick fixes to accept or reject") == 1
    assert screen.asked == screen.previews == []


async def test_quick_fixes_are_where_changes_are_even_if_the_editor_has_not_drawn_them(editor, edit, one):
    screen = await editor(hints=True)
    screen.open(one)
    assert not await screen.fixes(one, line=0)
    turn = edit(screen)
    first, second = await screen.hints(one, 2)

    assert await screen.fixes(one, line=0) == await screen.fixes(one, first)
    assert not await screen.fixes(one, line=1)
    accept, _, _ = await screen.fixes(one, line=2)
    assert list(accept.arguments) == [{"hunkIds": [second.code]}]
    await screen.run(accept)
    await screen.run((await screen.fixes(one, line=0))[1])

    assert states(await turn) == ["rejected", "accepted"]


async def test_hints_are_decided_with_code_lenses(editor, edit, one):
    screen = await editor(hints=True)
    screen.open(one)
    assert await screen.lenses(one) == []
    turn = edit(screen)
    await screen.hints(one, 2)

    lenses = await screen.lenses(one)
    assert [(it.range.start.line, it.command.title) for it in lenses] == [
        (0, "Odin: Accept"),
        (0, "Odin: Reject"),
        (0, "Odin: Accept all in this file"),
        (2, "Odin: Accept"),
        (2, "Odin: Reject"),
    ]
    await screen.run(lenses[1].command)
    await screen.hints(one, 1)
    await screen.run((await screen.lenses(one))[0].command)

    assert states(await turn) == ["rejected", "accepted"]
    assert screen.text(one) == OLD.replace("gamma = 3", "gamma = 30")
    assert await screen.lenses(one) == []
    assert screen.refreshed >= 2


async def test_all_hints_of_a_file_are_accepted_at_once(editor, edit, one):
    screen = await editor(hints=True)
    screen.open(one)
    turn = edit(screen)
    hint, _ = await screen.hints(one, 2)

    await screen.run((await screen.fixes(one, hint))[2])

    assert states(await turn) == ["accepted", "accepted"]
    assert screen.text(one) == BOTH
    assert screen.diagnostics[one.as_uri()] == []


async def test_typing_moves_hints_and_ends_those_that_are_typed_into(editor, edit, one):
    screen = await editor(hints=True)
    screen.open(one)
    turn = edit(screen)
    _, second = await screen.hints(one, 2)

    screen.type(one, "# new\n", 0)
    await screen.until(lambda: screen.diagnostics[one.as_uri()][0].range.start.line == 1)
    moved = screen.diagnostics[one.as_uri()]
    assert [(it.range.start.line, it.code) for it in moved][1] == (3, second.code)
    screen.type(one, "5", 1, 8, 9)
    await screen.until(lambda: len(screen.diagnostics[one.as_uri()]) == 1)
    await screen.run((await screen.fixes(one, second))[0])

    assert states(await turn) == ["superseded", "accepted"]
    assert screen.text(one) == "# new\nalpha = 5\nbeta = 2\ngamma = 30\ndelta = 4\n"


async def test_hints_come_back_when_a_document_is_opened_again_and_go_with_the_review(editor, edit, one):
    screen = await editor(hints=True)
    screen.open(one)
    turn = edit(screen)
    await screen.hints(one, 2)

    screen.diagnostics.clear()
    screen.client.lsp.text_document_did_close(
        types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(one.as_uri()))
    )
    screen.open(one)
    await screen.hints(one, 2)
    await screen.client.command("cancel", turnId="t")

    assert states(await turn) == ["pending", "pending"]
    await screen.hints(one, 2)
    await screen.client.command("review.reject")
    await screen.hints(one, 0)


async def test_a_file_that_is_not_open_is_shown_first(editor, edit, one):
    screen = await editor(hints=True, show=True)
    turn = edit(screen)
    hint, _ = await screen.hints(one, 2)

    await screen.run((await screen.fixes(one, hint))[2])

    assert states(await turn) == ["accepted", "accepted"]
    assert screen.text(one) == BOTH


async def test_a_file_that_cannot_be_shown_is_asked_about(editor, edit, one):
    screen = await editor(hints=True, show=True)
    screen.opens = False

    assert states(await edit(screen)) == ["rejected", "rejected"]
    assert len(screen.asked) == 1
    assert one.as_uri() not in screen.diagnostics


@pytest.mark.parametrize(
    ("presses", "expected", "text"),
    [
        ("Accept", ["accepted", "accepted"], BOTH),
        ("Reject", ["rejected", "rejected"], OLD),
        (None, ["rejected", "rejected"], OLD),
    ],
)
async def test_questions_are_for_everybody_else(editor, edit, wire, one, presses, expected, text):
    screen = await editor()
    screen.presses = presses
    screen.open(one)

    outcome = await edit(screen)

    assert states(outcome) == expected
    assert screen.text(one) == text
    [asked] = screen.asked
    assert asked.splitlines()[0] == f"Change {one}?"
    assert "@@ line 3\n- gamma = 3\n+ gamma = 30" in asked
    assert "accepted" in result(wire) if presses == "Accept" else "2 rejected" in result(wire)
