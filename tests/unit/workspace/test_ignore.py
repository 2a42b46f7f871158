"""What is hidden by its name, and who can change that."""

import os
import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odin_lsp.config import FileRules
from odin_lsp.workspace import secret_names
from odin_lsp.workspace.ignore import Ignore
from odin_lsp.workspace.name_list import by_folder, joined
from odin_lsp.workspace.secret_names import is_secret, secrets_among
from odin_lsp.workspace.uris import folded

SECRETS = [
    ".env", ".env.local", ".env~", ".env.bak", ".env.swp", ".envrc", ".ENVRC.old", "prod.env", "prod.env.bak",
    ".git-credentials", ".git-credentials~", ".kube/config", "home/.KUBE/Config", ".kube/config.bak",
    ".docker/config.json", ".cargo/credentials.toml", ".config/gcloud/application_default_credentials.json",
    ".config/gh/hosts.yml", "id_rsa", "id_rsa.bak", "id_rsa.pub.bak", "id_ed25519_work", "id_ecdsa~", ".id_rsa.swp",
    "x.ppk", "x.pem", "x.pem.orig", "x.key", "x.key~", "terraform.tfstate", "terraform.tfstate.backup",
    "x.tfstate.1700000000.backup", "secrets.yaml", "secrets.yml.save", "secrets.json", "secrets.toml.old",
    "credentials", "home/Credentials", "credentials.bak", "service-account.json", "service-account-prod.json",
    "service_account_key.json~", ".codex/auth.json", "home/.Codex/Auth.json", ".claude.json", ".claude.json.backup",
    ".claude/.credentials.json", ".gemini/oauth_creds.json", ".vault-token", ".dev.vars", ".dev.vars.production",
    ".envs/.production/.django", ".envs/x", "deploy_key", "deploy-key~", "deploy_rsa", "passwords.txt", "password.txt",
    "passwords.txt.bak", "passwords.csv", "wp-config.php", "wp-config.php.bak", "wp-config.php~", ".s3cfg", ".boto",
    ".my.cnf", ".dockercfg", "rclone.conf", ".m2/settings.xml", ".azure/msal_token_cache.json", ".password-store/a.gpg",
    ".config/github-copilot/apps.json", "sops/age/keys.txt",
    "credentials.json", "kubeconfig", "kubeconfig~", ".kubeconfig.swp", "deep/.env/inner", ".ssh/id_rsa.pub",
]  # fmt: skip
PUBLIC = [
    ".env.example", ".env.sample", ".env.template", ".env.production.example", ".env.dist", "example.env",
    "secrets.yaml.example", "id_rsa.pub", "id_ed25519_work.pub", "config", "config.json", "kube/config",
    ".docker/Dockerfile", ".kube/notes", "env.py", "environment", "x.key.ts", "my.env.js", "kubeconfig.go",
    "keys.py", "hosts.yml", "secrets.py", "credentials.py", "credentials.ts", "credentials/__init__.py",
    "credentials/store.py", "src/Credentials/index.ts", "deploy_key/main.go", "deploy_keys.py", "deploy_key.pub",
    "service_account.py", "service-accounts/a.py", "service-account.json.example", "auth.json", "src/auth.json",
    ".codex/config.toml", ".claude/settings.json", ".dev.vars.example", "envs/prod.yaml", ".envs.md", "passwords.py",
    "passwords.html", "wp-config-sample.php", "settings.xml", "keys.txt", "vault-token.go", "claude.json",
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


def test_a_name_that_is_a_secret_as_a_file_is_none_as_a_folder(ignore, tmp_path):
    for name in ("pkg/credentials", "deploy_key"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "credentials").write_text("x")
        (tmp_path / name / "__init__.py").write_text("x")
        assert not ignore.hides(tmp_path / name)
        assert not ignore.hides(tmp_path / name / "__init__.py")
        assert ignore.hides(tmp_path / name / "credentials")
    assert ignore.hidden_in(str(tmp_path / "pkg"), ["credentials", "x.py"]) == []
    assert ignore.hidden_in(str(tmp_path / "deploy_key"), ["credentials", "__init__.py"]) == ["credentials"]


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


# many names at once: the same as one by one

PIECES = sorted(
    {piece for name in (*SECRETS, *PUBLIC) for piece in re.split(r"(?<=[./_-])|(?=[./~_-])", name) if piece}
)
FILE_NAMES = st.lists(st.sampled_from([*PIECES, "x", "\u00e9", "\udcff", "\n"]), min_size=1, max_size=5).map("".join)


def any_of(name, patterns):
    return any(fnmatchcase(folded(name), pattern) for pattern in patterns)


@given(FILE_NAMES.filter(lambda name: "/" not in name))
def test_a_name_is_judged_as_the_table_of_secret_names_reads(name):
    if any_of(name, secret_names.SECRET_FOLDERS):
        expected = True
    else:
        expected = any_of(name, secret_names.SECRET_NAMES) and not any_of(name, secret_names.PUBLIC_NAMES)
    expected = expected or any_of(name, secret_names.SECRET_FILES)
    assert is_secret([name]) == expected
    assert secrets_among("src", [name]) == ([name] if expected else [])


def test_a_pattern_of_a_secret_name_tells_how_it_begins_or_has_a_dot_behind_its_star():
    for pattern in secret_names._ALL_NAMES:
        assert re.match(r"\*\.|[^*?\[]{3}|[^*?\[]+\Z", pattern), pattern


def visible_of(ignore, below, names):
    return joined(ignore.visible(below, by_folder(names)))


WORLD_NAMES = ("a.py", "prod.env", "credentials", "config", "notes.md", "auth.json", "x.log", ".ssh", "private")


@pytest.mark.parametrize("rules", [{}, {"deny": ("*.md", "/PRIVATE/**")}, {"allow": ("prod.env", "**/.kube/**")}])
@pytest.mark.parametrize("said", [{}, {"": "private/\n*.log\n"}, {"": "*.log\n", "src/": "!x.log\nconfig\n"}])
@pytest.mark.parametrize("roots", [[""], ["", "src"], ["src/private"], [".aws"], ["private/.odin"]])
def test_many_names_are_judged_at_once_as_each_by_itself(tmp_path, rules, said, roots):
    folders = ("", "src/", "src/private/", ".kube/", ".aws/", "credentials/", "src/.codex/", "private/.odin/")
    for folder in folders:
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    for folder, text in said.items():
        (tmp_path / folder / ".odinignore").write_text(text)
    ignore = Ignore([tmp_path / it for it in roots], FileRules(**rules))
    names = [f"{folder}{name}" for folder in folders for name in WORLD_NAMES]

    visible = visible_of(ignore, str(tmp_path), names)

    assert sorted(visible) == sorted(name for name in names if not ignore.hides(tmp_path / name))
    in_full = [f"{str(tmp_path)[1:]}/{name}" for name in names]
    assert visible_of(ignore, "", in_full) == [f"{str(tmp_path)[1:]}/{name}" for name in visible]


def test_many_files_in_a_folder_are_no_more_questions_to_the_system_than_one(tmp_path, monkeypatch):
    (tmp_path / "src" / "inner").mkdir(parents=True)
    (tmp_path / ".odinignore").write_text("*.log\n")
    ignore = Ignore([tmp_path], FileRules(deny=("*.md",)))
    asked = []
    look = os.stat
    monkeypatch.setattr(os, "stat", lambda name, **options: asked.append(name) or look(name, **options))

    def asked_for(count):
        asked.clear()
        visible_of(ignore, str(tmp_path), [f"src/inner/{number}.py" for number in range(count)])
        return len(asked)

    assert asked_for(1) == 4  # once it is read as well
    assert asked_for(1) == asked_for(1_000) == 3


def test_a_workspace_that_is_the_whole_disk_hides_the_same(tmp_path):
    ignore = Ignore([Path("/")], FileRules())
    assert visible_of(ignore, "", ["a.py", ".env", "src/id_rsa"]) == ["a.py"]
