"""Files that Odin does not show to a model: keys and credentials."""

from fnmatch import fnmatchcase
from pathlib import PurePath

SECRET_NAMES = (
    ".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "*.keystore", "*.jks", "*.kdbx", "id_rsa", "id_dsa",
    "id_ecdsa", "id_ed25519", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".htpasswd", "kubeconfig",
    "credentials.json",
)  # fmt: skip
SECRET_FOLDERS = (".ssh", ".aws", ".gnupg")
PUBLIC_NAMES = (".env.example", ".env.sample", ".env.template")


def is_secret(path: PurePath) -> bool:
    name = path.name.casefold()
    if name in PUBLIC_NAMES:
        return False
    return any(fnmatchcase(name, secret) for secret in SECRET_NAMES) or any(
        part.casefold() in SECRET_FOLDERS for part in path.parts
    )
