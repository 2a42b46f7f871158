"""`odin-lsp extensions`."""

import json

import pytest

from odin_lsp.cli.main import main


@pytest.fixture
def listed(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    root = tmp_path / "project"
    root.mkdir()

    def listed(*options):
        assert main(["extensions", "--cwd", str(root), *options]) == 0
        return capsys.readouterr().out

    listed.root = root
    return listed


def test_where_nothing_is_plugged_in_this_is_said(listed):
    assert listed().startswith("nothing is plugged in")
    assert json.loads(listed("--json")) == []


def test_each_is_listed_with_its_file_and_why_it_is_not_used(listed):
    (listed.root / ".mcp.json").write_text("{")
    skill = listed.root / ".claude/skills/deploy/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: deploy\ndescription: ship it\n---\nx")

    untrusted = listed()
    main(["permissions", "trust", "--yes", "--cwd", str(listed.root)])
    listed()
    trusted = listed()

    assert untrusted.startswith(f"skill deploy: ship it\n  {skill}\n  not used: you have not agreed to it (`odin-lsp")
    assert f"file .mcp\n  {listed.root / '.mcp.json'}\n  line 1: not valid JSON" in untrusted
    assert trusted.startswith(f"skill deploy: ship it (5 tokens)\n  {skill}\nfile")
