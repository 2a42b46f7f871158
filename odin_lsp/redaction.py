"""What looks like a key, a token or a password, by its name or by itself: for what is kept, passed on or sent away."""

import re
from collections.abc import Collection, Iterable, Mapping

SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH(?!ORS?(?:_|$))|COOKIE|SIGNATURE|PRIVATE|BEARER|_PAT$|_PWD$|_DSN$|CONNECTION_STRING|"
    r"CONN_STR|WEBHOOK|SESSION_ID|_SID$",
    re.IGNORECASE,
)
"""Of a variable."""
_ISSUED = (
    "sk-", "sk_", "pk_", "rk_", "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-",
    "xoxa-", "xoxb-", "xoxp-", "xoxe-", "xoxr-", "xoxs-", "xapp-", "AKIA", "ASIA", "AIza", "hf_", "npm_", "pypi-",
    "ya29.", "eyJ", "SG.", "dop_v1_", "shpat_", "dckr_pat_", "whsec_",
)  # fmt: skip
"""How the keys begin that are issued by others."""
_SHORTEST = 15
"""Characters of such a key."""
_ISSUED_KEY = re.compile(rf"\b(?:{'|'.join(map(re.escape, _ISSUED))})[\w.-]{{12,}}")
SECRET_VALUE = re.compile(
    r"://[^/\s:@]*:[^/\s@]+@"  # a password in an address
    r"|-----BEGIN "
    rf"|{_ISSUED_KEY.pattern}"
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
_KEY_BLOCK = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY[A-Z ]*-----(?:(?!-----).)*(?:-----END [A-Z ]*-----)?", re.DOTALL
)
_PASSWORD = re.compile(r"(?<=://)[^/\s:@\"'<>]*:[^/\s@\"'<>,]+(?=@)")

MOST_LEARNT = 100
_LEARNT: dict[str, None] = {}


def learn(secret: str) -> None:
    """From now on this is a secret, wherever it stands: a key that this process was given while it ran. The last ones
    are known."""
    if len(secret) >= MIN_SECRET_CHARS:
        _LEARNT.pop(secret, None)
        _LEARNT[secret] = None
        for oldest in [*_LEARNT][:-MOST_LEARNT]:
            del _LEARNT[oldest]


def learnt() -> tuple[str, ...]:
    return tuple(_LEARNT)


def without_learnt(text: str) -> str:
    for secret in learnt():
        text = text.replace(secret, HIDDEN)
    return text


def secrets_of(environ: Mapping[str, str]) -> set[str]:
    return {value for name, value in environ.items() if SECRET_NAME.search(name) or SECRET_VALUE.search(value)}


def is_secret_variable(name: str, environ: Mapping[str, str], known: Collection[str] = ()) -> bool:
    """Whether a variable is, or looks like, a key, or has one in it. `known` are names of variables with keys."""
    if name in known or SECRET_NAME.search(name):
        return True
    value = environ.get(name, "")
    keys = {*secrets_of(environ), *(environ.get(it, "") for it in known)}
    return looks_secret(value) or any(len(it) >= MIN_SECRET_CHARS and it in value for it in keys)


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
    text = without_learnt(text)
    for pattern in (_PRIVATE_KEY, SECRET_VALUE, _NAMED, _RANDOM):
        text = pattern.sub(HIDDEN, text)
    return text


def without_keys(text: str) -> str:
    """The text as it may be kept: without what is a key by its own form, or has been learnt to be one. Words stay, also
    `npm_lifecycle_event`."""
    text = without_learnt(text)
    if "PRIVATE KEY" in text:
        text = _KEY_BLOCK.sub(HIDDEN, text)
    if "://" in text:
        text = _PASSWORD.sub(HIDDEN, text)
    if len(text) >= _SHORTEST and any(map(text.__contains__, _ISSUED)):
        text = _ISSUED_KEY.sub(lambda found: HIDDEN if any(map(str.isdigit, found[0])) else found[0], text)
    return text
