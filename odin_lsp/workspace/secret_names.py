"""Which files are secrets, by their names."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import translate
from functools import lru_cache
from typing import Literal

from odin_lsp.workspace.uris import folded

Kind = Literal["secret", "file", "parent", "plain"]
KEPT_NAMES = 20_000
BACKUPS = ("~", ".bak", ".old", ".orig", ".save", ".sw?")
SECRET_NAMES = (
    ".env", ".env.*", ".env~", ".envrc*", ".netrc*", "_netrc*", ".npmrc*", ".pypirc*", ".pgpass*", ".htpasswd*",
    ".git-credentials*", "credentials.json*", "secrets.yaml*", "secrets.yml*", "secrets.json*", "secrets.toml*",
    ".credentials.json*", ".claude.json*", ".vault-token*", ".dev.vars", ".dev.vars.*", ".s3cfg*", ".dockercfg*",
    ".my.cnf*", ".mylogin.cnf*",
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", ".id_*.sw?", ".secrets.*.sw?",
    *(
        name
        for kind in ("pem", "p12", "pfx", "keystore", "jks", "kdbx", "ppk", "tfstate")
        for name in (f"*.{kind}", f"*.{kind}[.~]*")
    ),
    *(
        f"{name}{end}"
        for name in (
            "*.key", "*.env", "kubeconfig", ".kubeconfig", ".boto", "service-account*.json", "service_account*.json",
            "serviceaccount*.json", "passwords.txt", "password.txt", "passwords.csv", "wp-config.php", "rclone.conf",
        )
        for end in ("", *BACKUPS)
    ),
)  # fmt: skip
"""As `fnmatch` reads them. `key.ts` and its like are code, so of some only copies are meant besides."""
SECRET_FILES = tuple(
    f"{name}{end}"
    for name in ("credentials", "deploy_key", "deploy-key", "deploy_rsa", "deploy_ed25519")
    for end in ("", *BACKUPS)
)
"""Names that are secrets as files; a folder of that name has code in it."""
SECRET_FOLDERS = (".ssh", ".aws", ".gnupg", ".envs", ".password-store")
SECRET_PATHS = (
    ".kube/config*", ".docker/config.json*", ".cargo/credentials*", ".gem/credentials*", "gh/hosts.yml",
    ".terraform.d/credentials*", "gcloud/*credentials*", "gcloud/access_tokens.db", ".codex/auth.json*",
    "opencode/auth.json*", ".gemini/oauth_creds.json*", "github-copilot/hosts.json", "github-copilot/apps.json",
    ".azure/accesstokens.json", ".azure/msal_token_cache*", ".m2/settings.xml*", ".m2/settings-security.xml*",
    "age/keys.txt",
)  # fmt: skip
"""Files that are secret in a folder of this name only."""
PUBLIC_NAMES = ("*.example", "*.sample", "*.template", "*.dist", "*.pub", "example.env", "sample.env", "template.env")
"""What only looks like one of these: there is nothing in it that others must not know."""
_SECRET_NAME = re.compile("|".join(map(translate, SECRET_NAMES)))
_SECRET_FILE = re.compile("|".join(map(translate, SECRET_FILES)))
_SECRET_PATH = re.compile("|".join(map(translate, SECRET_PATHS)))
_PUBLIC_NAME = re.compile("|".join(map(translate, PUBLIC_NAMES)))
_SECRET_PARENTS = frozenset(path.partition("/")[0] for path in SECRET_PATHS)
_ALL_NAMES = (*SECRET_NAMES, *SECRET_FILES, *SECRET_FOLDERS, *PUBLIC_NAMES, *_SECRET_PARENTS)
_START = 3
"""Characters with which a name has to begin as one of these does; those that begin with a `*` have a dot behind it."""
_STARTS = frozenset(name[:_START] for name in _ALL_NAMES if not name.startswith("*"))


def is_secret(parts: Sequence[str], *, is_folder: bool = False) -> bool:
    """Whether a path of these names is, by one of them or by two that follow each other."""
    kinds = [_kind(part) for part in parts]
    if "secret" in kinds or (kinds[-1:] == ["file"] and not is_folder):
        return True
    return any(
        kind == "parent" and _SECRET_PATH.match(f"{folded(parent)}/{folded(name)}")
        for kind, parent, name in zip(kinds, parts, parts[1:], strict=False)
    )


def secrets_among(folder: str, names: Iterable[str]) -> list[str]:
    """Those of the names that are secrets as files in a folder of this name, which is none itself."""
    if _kind(folder) == "parent":
        return [name for name in names if is_secret((folder, name))]
    return [name for name in names if _kind(name) in ("secret", "file")]


def is_public(name: str) -> bool:
    """Whether it only looks like a secret."""
    return _PUBLIC_NAME.match(folded(name)) is not None


def _kind(name: str) -> Kind:
    """By itself, or only with what comes after it. What most names begin with tells nothing; few differ in the rest."""
    if name.isascii() and _tells_nothing(name[:_START]):
        return _kind_of(f"-.{name.partition('.')[2]}")
    return _kind_of(name)


@lru_cache(KEPT_NAMES)
def _tells_nothing(start: str) -> bool:
    """Whether no name in the tables begins so; none of these ends with dots or spaces."""
    lower = start.lower()
    return start.isprintable() and lower not in _STARTS and lower.rstrip(". ") not in _STARTS


@lru_cache(KEPT_NAMES)
def _kind_of(name: str) -> Kind:
    name = folded(name)
    if name in SECRET_FOLDERS or (_SECRET_NAME.match(name) and not _PUBLIC_NAME.match(name)):
        return "secret"
    if _SECRET_FILE.match(name):
        return "file"
    return "parent" if name in _SECRET_PARENTS else "plain"
