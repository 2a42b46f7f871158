"""Which files are secrets, by their names."""

import re
from collections.abc import Sequence
from fnmatch import translate
from functools import lru_cache
from typing import Literal

from odin_lsp.workspace.uris import folded

KEPT_NAMES = 20_000
BACKUPS = ("~", ".bak", ".old", ".orig", ".save", ".sw?")
SECRET_NAMES = (
    ".env", ".env.*", ".env~", ".envrc*", ".netrc*", "_netrc*", ".npmrc*", ".pypirc*", ".pgpass*", ".htpasswd*",
    ".git-credentials*", "credentials.json*", "secrets.yaml*", "secrets.yml*", "secrets.json*", "secrets.toml*",
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", ".id_*.sw?", ".secrets.*.sw?", ".credentials.json.sw?",
    *(
        name
        for kind in ("pem", "p12", "pfx", "keystore", "jks", "kdbx", "ppk", "tfstate")
        for name in (f"*.{kind}", f"*.{kind}[.~]*")
    ),
    *(f"{name}{end}" for name in ("*.key", "*.env", "kubeconfig", ".kubeconfig") for end in ("", *BACKUPS)),
)  # fmt: skip
"""As `fnmatch` reads them. `key.ts` and its like are code, so of some only copies are meant besides."""
SECRET_FOLDERS = (".ssh", ".aws", ".gnupg")
SECRET_PATHS = (
    ".kube/config*", ".docker/config.json*", ".cargo/credentials*", ".gem/credentials*", "gh/hosts.yml",
    ".terraform.d/credentials*", "gcloud/*credentials*", "gcloud/access_tokens.db",
)  # fmt: skip
"""Files that are secret in a folder of this name only."""
PUBLIC_NAMES = ("*.example", "*.sample", "*.template", "*.dist", "*.pub", "example.env", "sample.env", "template.env")
"""What only looks like one of these: there is nothing in it that others must not know."""
_SECRET_NAME = re.compile("|".join(map(translate, SECRET_NAMES)))
_SECRET_PATH = re.compile("|".join(map(translate, SECRET_PATHS)))
_PUBLIC_NAME = re.compile("|".join(map(translate, PUBLIC_NAMES)))
_SECRET_PARENTS = frozenset(path.partition("/")[0] for path in SECRET_PATHS)


def is_secret(parts: Sequence[str]) -> bool:
    """Whether a path of these names is, by one of them or by two that follow each other."""
    kinds = [_kind(part) for part in parts]
    if "secret" in kinds:
        return True
    return any(
        kind == "parent" and _SECRET_PATH.match(f"{folded(parent)}/{folded(name)}")
        for kind, parent, name in zip(kinds, parts, parts[1:], strict=False)
    )


def is_public(name: str) -> bool:
    """Whether it only looks like a secret."""
    return _PUBLIC_NAME.match(folded(name)) is not None


@lru_cache(KEPT_NAMES)
def _kind(name: str) -> Literal["secret", "parent", "plain"]:
    """By itself, or only with what comes after it."""
    name = folded(name)
    if name in SECRET_FOLDERS or (_SECRET_NAME.match(name) and not _PUBLIC_NAME.match(name)):
        return "secret"
    return "parent" if name in _SECRET_PARENTS else "plain"
