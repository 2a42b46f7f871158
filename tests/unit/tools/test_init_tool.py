"""ODIN.md: four sections, reviewed like any other edit."""

import pytest

from odin_lsp.ports import Decision, ReviewAnswer
from tests.support.context import reviewed, tool_context
from tests.support.reviewing import Bench


class Editor:
    """Accepts everything and writes to disk."""

    def __init__(self, root):
        self.root = root
        self.reviews = []

    async def review(self, review):
        self.reviews.append(review)
        hunks = [hunk for file in review.files for hunk in file.hunks]
        return ReviewAnswer(decisions=tuple(Decision(hunk_id=it.id, decision="accept") for it in hunks))

    async def close_review(self, proposal_id):
        pass

    async def apply(self, change):
        path = self.root / "ODIN.md"
        [file] = self.reviews[-1].files
        path.write_bytes(file.proposed_text.encode())


@pytest.fixture
def editor(root):
    return Editor(root)


@pytest.fixture
def context(context, editor, root, tmp_path):
    return tool_context(context.files, editor, tmp_path, mode="edit_mode")


@pytest.fixture
def init(use, context):
    async def init(**arguments):
        return await reviewed(use("InitTool", **arguments), context)

    return init


async def test_components_are_told_with_what_they_define_for_others(init, root):
    (root / "src" / "cart.py").write_text(
        "def _hidden(): ...\ndef checkout(): ...\nclass Cart:\n    def total(self): ...\n"
    )

    await init()

    assert "- `src/` (Python): `Cart`, `checkout`, `main`\n" in (root / "ODIN.md").read_text()


async def test_a_project_gets_its_four_sections_reviewed(init, root, editor):
    output = await init()

    text = (root / "ODIN.md").read_text()
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Overview",
        "## Architecture",
        "## Components",
        "## Commands",
    ]
    assert "Python" in text
    assert "`src/`" in text
    assert editor.reviews[0].files[0].note == "changes what agents are told"
    assert output.added > 5


async def test_what_the_file_says_besides_stays_and_only_differences_are_shown(init, root, editor):
    (root / "ODIN.md").write_bytes(b"# Mine\r\n\r\n## Overview\r\n\r\nold words\r\n\r\n## Rules\r\n\r\nBe kind.\r\n")

    await init(overview="New words.")

    text = (root / "ODIN.md").read_bytes().decode()
    assert text.startswith("# Mine\r\n\r\n## Overview\r\n\r\nNew words.\r\n\r\n## Rules\r\n\r\nBe kind.\r\n\r\n## Arch")
    assert text.count("\n") == text.count("\r\n")
    assert "old words" in "".join(hunk.old_text for hunk in editor.reviews[0].files[0].hunks)
    assert "Be kind" not in "".join(hunk.old_text for hunk in editor.reviews[0].files[0].hunks)


async def test_a_home_that_is_open_is_looked_at_only_if_that_was_allowed(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "ws"))
    bench = Bench(tmp_path)
    bench.editor.says = "deny"

    result = await bench.use("InitTool")

    assert [it.title for it in bench.editor.questions] == [f"May Odin look at {bench.root}?"]
    assert result.failed
    assert not (bench.root / "ODIN.md").exists()
