"""Protected files are found where they are, and taken out where they are new."""

from odin_lsp.commands.guard import Guard


def test_what_exists_and_what_could_is_protected(tmp_path):
    (tmp_path / ".git" / "hooks").mkdir(parents=True)
    (tmp_path / "sub" / ".VSCode").mkdir(parents=True)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.py").touch()

    protect = Guard([tmp_path]).protect

    assert {tmp_path / ".git", tmp_path / "sub" / ".VSCode", tmp_path / "odinconfig.json"} <= set(protect)
    assert not any(path.is_relative_to(tmp_path / "src") for path in protect)


def test_a_workspace_in_a_protected_folder_is_not_protected_itself(tmp_path):
    root = tmp_path / ".claude" / "worktrees" / "one"
    root.mkdir(parents=True)
    (root / "main.py").touch()
    assert root / "main.py" not in Guard([root]).protect


def test_what_a_protected_link_leads_to_is_protected(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / ".git").symlink_to("real")
    assert tmp_path / "real" in Guard([tmp_path]).protect


def test_new_ones_are_moved_away_and_old_ones_stay(tmp_path):
    root, aside = tmp_path / "ws", tmp_path / "aside"
    (root / "sub").mkdir(parents=True)
    (root / "CLAUDE.md").write_text("old")
    guard = Guard([root])
    (root / "odinconfig.json").write_text("{}")
    (root / "sub" / ".vscode").mkdir()
    (root / "sub" / ".vscode" / "tasks.json").write_text("[]")
    (root / ".envrc2").write_text("free")

    moved = guard.take_out(aside)

    assert [path.relative_to(root).as_posix() for path, _ in moved] == ["odinconfig.json", "sub/.vscode"]
    assert sorted(path.name for path in root.iterdir()) == [".envrc2", "CLAUDE.md", "sub"]
    assert (moved[1][1] / "tasks.json").read_text() == "[]"
    assert guard.take_out(aside) == []
