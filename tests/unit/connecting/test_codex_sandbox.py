"""What lifts Codex' sandbox is named."""

from odin_lsp.cli.doctor import _agents
from odin_lsp.cli.main import main
from odin_lsp.connecting.codex_sandbox import list_what_lifts


def test_profiles_and_keys_that_lift_the_sandbox_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    file = tmp_path / "config.toml"
    assert list_what_lifts(tmp_path) == []
    file.write_text(
        'sandbox_mode = "workspace-write"\n[profiles.yolo]\nsandbox_mode = "danger-full-access"\n'
        '[profiles.safe]\nsandbox_mode = "read-only"\n[profiles.other]\nmodel = "m"\n'
    )

    assert list_what_lifts(tmp_path) == [
        f"`sandbox_mode = 'workspace-write'` in {file}",
        f"`profiles.yolo.sandbox_mode = 'danger-full-access'` in {file}",
    ]
    profile = tmp_path / "free.config.toml"
    profile.write_text('sandbox_mode = "danger-full-access"')
    assert f"`sandbox_mode = 'danger-full-access'` in {profile}" in list_what_lifts(tmp_path)
    profile.unlink()
    file.write_text("[")
    assert list_what_lifts(tmp_path) == [f"something that cannot be read in {file}"]


def test_the_doctor_does_not_say_that_codex_cannot_edit(tmp_path, monkeypatch):
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    (tmp_path / "codex").mkdir()
    (tmp_path / "codex" / "config.toml").write_text('[profiles.yolo]\nsandbox_mode = "danger-full-access"\n')
    monkeypatch.chdir(tmp_path)
    assert main(["connect", "codex", "--yes"]) == 0

    connected, lifted = _agents(tmp_path)

    assert "is off" not in connected.what
    assert "bypass-approvals" in connected.what
    assert (lifted.state, "profiles.yolo.sandbox_mode" in lifted.what) == ("wrong", True)
