"""What is hidden by its name, and who can change that."""

import pytest

from odin_lsp.config import FileRules
from odin_lsp.workspace.ignore import Ignore

SECRETS = [
    ".env", ".env.local", ".env~", ".env.bak", ".env.swp", ".envrc", ".ENVRC.old", "prod.env", "prod.env.bak",
    ".git-credentials", ".git-credentials~", ".kube/config", "home/.KUBE/Config", ".kube/config.bak",
    ".docker/config.json", ".cargo/credentials.toml", ".config/gcloud/application_default_credentials.json",
    ".config/gh/hosts.yml", "id_rsa", "id_rsa.bak", "id_rsa.pub.bak", "id_ed25519_work", "id_ecdsa~", ".id_rsa.swp",
    "x.ppk", "x.pem", "x.pem.orig", "x.key", "x.key~", "terraform.tfstate", "terraform.tfstate.backup",
    "x.tfstate.1700000000.backup", "secrets.yaml", "secrets.yml.save", "secrets.json", "secrets.toml.old",
    "credentials.json", "kubeconfig", "kubeconfig~", ".kubeconfig.swp", "deep/.env/inner", ".ssh/id_rsa.pub",
]  # fmt: skip
PUBLIC = [
    ".env.example", ".env.sample", ".env.template", ".env.production.example", ".env.dist", "example.env",
    "secrets.yaml.example", "id_rsa.pub", "id_ed25519_work.pub", "config", "config.json", "kube/config",
    ".docker/Dockerfile", ".kube/notes", "env.py", "environment", "x.key.ts", "my.env.js", "kubeconfig.go",
    "keys.py", "hosts.yml", "secrets.py",
]  # fmt: skip


@pytest.fixture
def ignore(tmp_path):
    return Ignore([tmp_path], FileRules())


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_hidden_by_its_name(ignore, tmp_path, name):
    assert ignore.hides(tmp_path / name)


@pytest.mark.parametrize("name", PUBLIC)
def test_what_only_looks_like_a_secret_is_not(ignore, tmp_path, name):
    assert not ignore.hides(tmp_path / name)


@pytest.mark.parametrize("folder", ["", "src", "private"])
@pytest.mark.parametrize("said", ["!*", "!**", "!.env\n!private/**\n!/private/key", "!../private/key"])
def test_no_odinignore_shows_a_secret_or_what_the_settings_deny(tmp_path, folder, said):
    for name in ("src", "private"):
        (tmp_path / name).mkdir()
    (tmp_path / folder / ".odinignore").write_text(said)
    ignore = Ignore([tmp_path], FileRules(deny=("private/**", "*.log")))
    for name in ("private/key", ".env", "src/.env", "private/.env", "src/x.log"):
        assert ignore.hides(tmp_path / name)


def test_what_the_user_allows_is_shown_with_all_its_names(tmp_path):
    ignore = Ignore([tmp_path], FileRules(allow=(".kube/config", "prod.env")))
    assert not ignore.hides(tmp_path / ".kube" / "config")
    assert not ignore.hides(tmp_path / "prod.env")
    assert ignore.hides(tmp_path / "test.env")
