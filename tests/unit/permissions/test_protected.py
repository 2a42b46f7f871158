"""Which files always ask, as the docs list them."""

from pathlib import Path

from odin_lsp.permissions.protected import PATTERNS

PAGE = Path(__file__).parents[3] / "docs" / "review.md"


def test_the_docs_name_every_protected_file():
    page = PAGE.read_text(encoding="utf-8").lower()
    names = [it.removesuffix("**") for patterns in PATTERNS.values() for it in patterns]

    assert [it for it in names if f"`{it}`" not in page] == []
