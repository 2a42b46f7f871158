"""What looks like a key, a token or a password, by its name or by itself: for what is kept, passed on or sent away."""

import re
from collections.abc import Iterable, Mapping

SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH(?!ORS?(?:_|$))|COOKIE|SIGNATURE|PRIVATE|BEARER|_PAT$|_PWD$|_DSN$|CONNECTION_STRING|"
    r"CONN_STR|WEBHOOK|SESSION_ID|_SID$",
    re.IGNORECASE,
)
"""Of a variable."""
SECRET_VALUE = re.compile(
    r"://[^/\s:@]*:[^/\s@]+@"  # a password in an address
    r"|-----BEGIN "
    r"|\b(?:sk-|sk_|pk_|rk_|ghp_|gho_|ghs_|ghu_|github_pat_|glpat-|xox[abp]-|AKIA|ASIA|AIza|hf_|npm_|pypi-|ya29\.|eyJ)[\w.-]{12,}"
)
_NAMED = re.compile(
    r"\b(?:pass(?:word|wd|phrase)?|pwd|secret|token|credential|bearer|authorization|(?:api|access|private)[ _-]?key)"
    r"s?\b[\"']?(?:\s*[:=](?:\s*(?:basic|bearer)\s)?[\"']?[^\s\"']{6,}|(?:\s*[:=]|\s+is)\s+[\"']?(?=[^\s\"']*\d)[^\s\"']{6,})",
    re.IGNORECASE,
)
"""A value, not a sentence about one."""
_RANDOM = re.compile(r"(?<![\w+=-])(?=[\w+=-]*[a-z])(?=[\w+=-]*[A-Z])(?=[\w+=-]*\d)[\w+=-]{40,}")
"""Too long and too mixed for a word; the hash of a commit is neither."""
_PRIVATE_KEY = re.compile(r"-----BEGIN [^-]*-----.*?(?:-----END [^-]*-----|\Z)", re.DOTALL)
_USER = re.compile(r"://[^/?#]*@")
_QUERY = re.compile(r"\?.*", re.DOTALL)
MIN_SECRET_CHARS = 8
"""Shorter ones would be found everywhere."""
HIDDEN = "[hidden]"


def secrets_of(environ: Mapping[str, str]) -> set[str]:
    return {value for name, value in environ.items() if SECRET_NAME.search(name) or SECRET_VALUE.search(value)}


def shown_url(url: str) -> str:
    """An address without what may be its password."""
    return _QUERY.sub("?…", _USER.sub("://…@", url))


def looks_secret(text: str) -> bool:
    return any(pattern.search(text) for pattern in (SECRET_VALUE, _NAMED, _RANDOM))


def redacted(text: str, known: Iterable[str] = ()) -> str:
    """The text without what looks secret, and without the secrets that are known to be."""
    for secret in sorted(known, key=len, reverse=True):
        if len(secret) >= MIN_SECRET_CHARS:
            text = text.replace(secret, HIDDEN)
    for pattern in (_PRIVATE_KEY, SECRET_VALUE, _NAMED, _RANDOM):
        text = pattern.sub(HIDDEN, text)
    return text
