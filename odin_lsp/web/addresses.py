"""URLs that have one meaning only, and the addresses that are public. Pure: nothing here asks the network.

The URL is taken apart here and nowhere else: the HTTP client gets the checked address and the path, so there is no
second parser that could see another host in it."""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Literal
from urllib.parse import quote

from odin_lsp.errors import ToolError

MAX_URL_CHARS = 2000
"""A person who is asked must be able to see the whole of it."""
DEFAULT_PORTS = {"http": 80, "https": 443}
FIRST_FREE_PORT = 1024
NOT_FOR_HTTP = frozenset(
    {1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, *range(6665, 6670), 6679, 6697, 10080}
)
"""Above 1023: ports that browsers refuse too, since other protocols are spoken there."""

Address = IPv4Address | IPv6Address
Kind = Literal["public", "loopback", "private", "link-local", "metadata", "multicast", "reserved"]
ALLOWABLE: frozenset[Kind] = frozenset({"loopback", "private"})
"""What the user's settings can open for a host. Nothing opens the rest."""

METADATA = frozenset(
    ip_address(it)
    for it in (
        *("169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "168.63.129.16", "192.0.0.192"),
        *("fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254"),
    )
)
"""Where clouds hand out the machine's credentials, and settings."""
NETWORKS: dict[Kind, tuple[str, ...]] = {
    "loopback": ("127.0.0.0/8", "::1/128"),
    "link-local": ("169.254.0.0/16", "fe80::/10"),
    "private": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"),
    "multicast": ("224.0.0.0/4", "ff00::/8"),
    "reserved": (
        *("0.0.0.0/8", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24"),
        *("203.0.113.0/24", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),
    ),
}
_NETWORKS_4: list[tuple[Kind, IPv4Network]] = [
    (kind, IPv4Network(it)) for kind, all_ in NETWORKS.items() for it in all_ if ":" not in it
]
_NETWORKS_6: list[tuple[Kind, IPv6Network]] = [
    (kind, IPv6Network(it)) for kind, all_ in NETWORKS.items() for it in all_ if ":" in it
]
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_ISATAP = 0x5EFE
"""What an interface's id begins with if an IPv4 address follows, whatever its first two bits say of who gave it."""

INTERNAL_NAMES = frozenset(
    {"localhost", "local", "localdomain", "internal", "intranet", "lan", "corp", "home", "private", "arpa"}
)
"""Last labels that no public host has."""

_URL = re.compile(r"(https?)://([^/?#]*)([^#]*)(#.*)?", re.IGNORECASE | re.DOTALL)
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]+)(?::(\d{1,5}))?", re.IGNORECASE)
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f-\xa0\\\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ud800-\udfff]")
_NUMBER = re.compile(r"0x[0-9a-f]*|\d+")


@dataclass(frozen=True, slots=True)
class Target:
    """A URL of which every part is known."""

    scheme: str
    host: str
    """Lower case, ASCII (punycode), without a final dot; an address in its one canonical spelling."""
    port: int
    path: str
    """With the query; what is not ASCII is percent-encoded. Fragments are not sent."""

    @property
    def bracketed(self) -> str:
        """The host as it stands in a URL."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def authority(self) -> str:
        return self.bracketed if self.port == DEFAULT_PORTS[self.scheme] else f"{self.bracketed}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def literal(self) -> Address | None:
        """The address, if the URL names one instead of a host."""
        try:
            return ip_address(self.host)
        except ValueError:
            return None


def parse(url: str) -> Target:
    """`url` taken apart, or a `ToolError`: what could mean two things means nothing."""
    if len(url) > MAX_URL_CHARS:
        raise ToolError(f"the URL is longer than {MAX_URL_CHARS:,} characters")
    if found := _FORBIDDEN.search(url):
        raise ToolError(f"the URL contains U+{ord(found[0]):04X}, which no URL may contain; encode it")
    whole = _URL.fullmatch(url)
    if whole is None:
        raise ToolError("only http:// and https:// URLs can be fetched")
    scheme, authority, path = whole[1].lower(), whole[2], whole[3]
    if "@" in authority:
        raise ToolError("a URL with a user name or password is not fetched; leave out what stands before the @")
    parts = _AUTHORITY.fullmatch(authority)
    if parts is None:
        raise ToolError("the URL names no host that can be understood")
    port = int(parts[2]) if parts[2] else DEFAULT_PORTS[scheme]
    if port not in DEFAULT_PORTS.values() and not (FIRST_FREE_PORT <= port <= 65535 and port not in NOT_FOR_HTTP):
        raise ToolError(f"port {port} is not one for web pages")
    path = quote(path, safe="%/?:@!$&'()*+,;=~-._[]|")
    return Target(scheme, _host(parts[1]), port, path if path.startswith("/") else f"/{path}")


def host_of(url: str) -> str:
    """The host that rules are compared with, label by label; `ToolError` for what is no URL to fetch."""
    return parse(url).host


def kind_of(address: Address) -> Kind:
    """What an address is for. An address that wraps another one counts as what it wraps."""
    if address in METADATA:
        return "metadata"
    if isinstance(address, IPv4Address):
        for kind, network in _NETWORKS_4:
            if address in network:
                return kind
        return "public"
    if address.ipv4_mapped is not None:
        return kind_of(address.ipv4_mapped)
    if address in _NAT64:
        return kind_of(_last_four(address))
    for kind, network in _NETWORKS_6:
        if address in network:
            return kind
    if (int(address) >> 32) & 0xFCFFFFFF == _ISATAP and (kind := kind_of(_last_four(address))) != "public":
        return kind
    return "public" if address in _GLOBAL_UNICAST else "reserved"


def _last_four(address: IPv6Address) -> IPv4Address:
    return IPv4Address(int(address) & 0xFFFFFFFF)


def is_internal_name(host: str) -> bool:
    """A name that only a private network knows: its own suffix, or no suffix at all."""
    name, dot, last = host.rpartition(".")
    return not dot or not name or last in INTERNAL_NAMES


def shown(host: str) -> str:
    """A host for people: a name in another script stands beside its ASCII form, so that look-alikes are seen."""
    if "xn--" not in host:
        return host
    import idna  # its tables take a while to load, and few hosts need them

    try:
        return f"{host} ({idna.decode(host)})"
    except idna.IDNAError:
        return host


def _host(written: str) -> str:
    if written.startswith("["):
        try:
            return str(IPv6Address(written[1:-1]))
        except ValueError:
            raise ToolError(f"{written} is no IPv6 address") from None
    host = (written.lower() if written.isascii() else _ascii(written)).removesuffix(".")
    labels = host.split(".")
    if not all(_LABEL.fullmatch(label) for label in labels) or len(host) > 253:
        raise ToolError("the URL names no host that can be understood")
    return str(_ipv4(labels)) if _NUMBER.fullmatch(labels[-1]) else host


def _ascii(name: str) -> str:
    import idna

    try:
        return idna.encode(name, uts46=True, std3_rules=True).decode("ascii").lower()
    except idna.IDNAError:
        raise ToolError("the URL's host is no valid international name") from None


def _ipv4(labels: list[str]) -> IPv4Address:
    """As every resolver reads it: decimal, octal or hexadecimal numbers, of which the last fills what is left."""
    numbers = [_number(label) for label in labels]
    *first, last = numbers
    if len(numbers) > 4 or any(number > 255 for number in first) or last >= 256 ** (5 - len(numbers)):
        raise ToolError(f"{'.'.join(labels)} is no IPv4 address")
    return IPv4Address(sum(number << (24 - 8 * index) for index, number in enumerate(first)) + last)


def _number(label: str) -> int:
    try:
        if label.startswith("0x"):
            return int(label[2:] or "0", 16)
        return int(label, 8) if len(label) > 1 and label.startswith("0") else int(label)
    except ValueError:
        raise ToolError(f"{label} is no part of an IPv4 address") from None
