"""A workspace, and the places where agents look for their IDE."""

import pytest


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "greet.py").write_text("".join(f"line {number}\n" for number in range(1, 31)))
    return root


@pytest.fixture
def locks(tmp_path, monkeypatch):
    """Of Claude Code."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    return tmp_path / "claude" / "ide"


@pytest.fixture
def found_by_gemini(tmp_path, monkeypatch):
    """Where Gemini CLI looks."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    return tmp_path / "temporary" / "gemini" / "ide"
