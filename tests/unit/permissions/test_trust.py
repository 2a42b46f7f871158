"""Trust: of a folder, with the settings it had."""

import json
import os

import pytest

from odin_lsp.permissions.trust import MAX_KEPT, Trust


@pytest.fixture
def trust(tmp_path):
    return Trust(tmp_path / "state" / "trust.json")


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "ws"
    root.mkdir()
    (root / "odinconfig.json").write_text("{}")
    return root


def test_nothing_is_trusted_until_the_user_says_so(trust, root):
    assert trust.of(root) == "unknown"
    trust.decide(root, trusted=True)
    assert trust.of(root) == "trusted"
    trust.decide(root, trusted=False)
    assert trust.of(root) == "restricted"


@pytest.mark.parametrize("name", ["odinconfig.json", ".odin/agents/helper.md"])
def test_it_ends_when_the_settings_change(trust, root, name):
    trust.decide(root, trusted=True)
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text('{"allowedCommands": ["*"]}')

    assert trust.of(root) == "changed"


def test_an_agent_in_a_file_whose_name_is_no_text_counts_too(trust, root):
    file = root / ".odin" / "agents" / os.fsdecode(b"\xff.md")
    file.parent.mkdir(parents=True)
    file.write_text("---\nname: looker\n---\nLook.")
    trust.decide(root, trusted=True)
    assert trust.of(root) == "trusted"

    file.write_text("---\nname: looker\n---\nHack.")

    assert trust.of(root) == "changed"


def test_a_folder_says_nothing_about_others(trust, root, tmp_path):
    (root / "inner").mkdir()
    trust.decide(root, trusted=True)

    assert trust.of(root / "inner") == "unknown"
    assert trust.of(tmp_path) == "unknown"
    (tmp_path / "link").symlink_to(root)
    assert trust.of(tmp_path / "link") == "trusted"


def test_another_project_in_its_place_is_not_trusted(trust, root):
    trust.decide(root, trusted=True)
    root.rename(root.with_name("old"))
    root.mkdir()
    (root / "odinconfig.json").write_text('{"review": {"policy": "auto"}}')

    assert trust.of(root) == "changed"


def test_a_file_that_others_can_write_is_not_believed(trust, root, tmp_path):
    trust.decide(root, trusted=True)
    trust.keep()
    file = tmp_path / "state" / "trust.json"
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o666)

    assert trust.of(root) == "unknown"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"x": 1}'])
def test_a_file_that_makes_no_sense_trusts_nothing(trust, root, tmp_path, text):
    (tmp_path / "state").mkdir(mode=0o700)
    (tmp_path / "state" / "trust.json").write_text(text)

    assert trust.of(root) == "unknown"
    trust.decide(root, trusted=True)
    assert trust.of(root) == "trusted"


def test_a_decision_counts_here_at_once_and_everywhere_when_it_is_kept(trust, root, tmp_path):
    elsewhere = Trust(tmp_path / "state" / "trust.json")

    trust.decide(root, trusted=True)
    assert (trust.of(root), elsewhere.of(root)) == ("trusted", "unknown")
    trust.keep()
    assert elsewhere.of(root) == "trusted"
    elsewhere.decide(root, trusted=False)
    elsewhere.keep()
    assert trust.of(root) == "restricted"


def test_a_decision_that_cannot_be_kept_counts_here(root):
    trust = Trust(root / "odinconfig.json" / "state" / "trust.json")

    trust.decide(root, trusted=True)
    with pytest.raises(OSError, match="Not a directory"):
        trust.keep()

    assert trust.of(root) == "trusted"


def test_what_has_changed_since_is_named_with_its_difference(trust, root):
    commands = root / ".claude" / "commands"
    commands.mkdir(parents=True)
    for name in ("kept", "changed", "gone"):
        (commands / f"{name}.md").write_text(f"{name}: one\nsame\ntwo\n")
    (root / ".mcp.json").write_text('{"mcpServers": {"a": {"command": "a", "env": {"KEY": "sk-secret"}}}}')
    trust.decide(root, trusted=True)
    trust.keep()
    (commands / "changed.md").write_text("changed: one\nsame\nthree\n")
    (commands / "gone.md").unlink()
    (commands / "new.md").write_text("hello\n")
    (root / ".mcp.json").write_text("{}")

    changes = {it.name: it for it in trust.changes(root)}

    assert {name: it.how for name, it in changes.items()} == {
        ".claude/commands/changed.md": "changed",
        ".claude/commands/gone.md": "gone",
        ".claude/commands/new.md": "new",
        ".mcp.json": "changed",
    }
    assert changes[".claude/commands/changed.md"].diff == ("@@ -2,2 +2,2 @@", " same", "-two", "+three")
    assert changes[".mcp.json"].diff == ()
    assert "sk-secret" not in (root.parent / "state" / "trust.json").read_text()


@pytest.mark.parametrize(("length", "is_shown"), [(MAX_KEPT, True), (MAX_KEPT + 1, False)])
def test_a_difference_is_shown_of_what_is_not_too_long(trust, root, length, is_shown):
    command = root / ".claude" / "commands" / "a.md"
    command.parent.mkdir(parents=True)
    command.write_text("x" * length)
    trust.decide(root, trusted=True)
    trust.keep()
    command.write_text("y")

    (change,) = trust.changes(root)

    assert (change.how, bool(change.diff)) == ("changed", is_shown)


@pytest.mark.parametrize("stored", ["a fingerprint", {"fingerprint": "of files", "files": {}}])
def test_what_an_earlier_version_has_stored_counts_where_nothing_is_brought(trust, root, tmp_path, stored):
    """It was bound to files, and not to what they do."""
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "trust.json").write_text(json.dumps({str(root): stored}))

    assert trust.of(root) == "trusted"
    (root / "odinconfig.json").write_text('{"allowedCommands": ["make"]}')
    assert trust.of(root) == "changed"
