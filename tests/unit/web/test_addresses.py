"""URLs that have one meaning only, and which addresses are public."""

from ipaddress import ip_address

import pytest

from odin_lsp.errors import ToolError
from odin_lsp.web.addresses import host_of, is_internal_name, kind_of, parse, shown


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("https://docs.python.org", "https://docs.python.org/"),
        ("HTTPS://Docs.Python.ORG:443/3/?q=1#top", "https://docs.python.org/3/?q=1"),
        ("http://example.org:8080?q", "http://example.org:8080/?q"),
        ("https://example.org./", "https://example.org/"),
        ("https://example.org/ä b".replace(" ", "%20"), "https://example.org/%C3%A4%20b"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("http://[2001:DB8:0:0::1]/", "http://[2001:db8::1]/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
    ],
)
def test_a_url_has_one_spelling(written, url):
    assert parse(written).url == url
    assert parse(url).url == url


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org",
        "//example.org/",
        "ftp://example.org/",
        "http:/example.org",
        "http://",
        "http://:80/",
        "http://user@example.org/",
        "http://user:password@example.org/",
        "http://a..b/",
        "http://-a.org/",
        "http://%65xample.org/",
        "http://exa mple.org/",
        "http://example.org/a\tb",
        "http://example.org\\@docs.python.org/",
        "http://example.org/\u202egnp.exe",
        "http://256.256.256.256/",
        "http://1.2.3.4.5/",
        "http://08.8.8.8/",
        "http://[fe80::1%25eth0]/",
        "http://[::1",
        "http://example.org:22/",
        "http://example.org:65536/",
        "http://example.org:6667/",
        "http://example.org/" + "a" * 2000,
    ],
)
def test_what_could_mean_two_things_is_refused(url):
    with pytest.raises(ToolError):
        parse(url)


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("93.184.216.34", "public"),
        ("2606:4700::1111", "public"),
        ("64:ff9b::8.8.8.8", "public"),
        ("127.255.0.1", "loopback"),
        ("::1", "loopback"),
        ("::ffff:127.0.0.1", "loopback"),
        ("64:ff9b::10.0.0.1", "private"),
        ("::ffff:10.0.0.1", "private"),
        ("172.31.255.255", "private"),
        ("100.64.0.1", "private"),
        ("fd12::1", "private"),
        ("169.254.1.1", "link-local"),
        ("fe80::1", "link-local"),
        ("169.254.169.254", "metadata"),
        ("::ffff:169.254.169.254", "metadata"),
        ("100.100.100.200", "metadata"),
        ("fd00:ec2::254", "metadata"),
        ("168.63.129.16", "metadata"),
        ("192.0.0.192", "metadata"),
        ("64:ff9b::168.63.129.16", "metadata"),
        ("239.1.1.1", "multicast"),
        ("ff02::1", "multicast"),
        ("0.0.0.0", "reserved"),
        ("255.255.255.255", "reserved"),
        ("198.18.0.1", "reserved"),
        ("::", "reserved"),
        ("::127.0.0.1", "reserved"),
        ("2002:7f00:1::", "reserved"),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", "reserved"),
        ("64:ff9b:1::1", "reserved"),
        ("2001:db8::1", "reserved"),
        ("2002:a00:1::1", "reserved"),
        ("64:ff9b:1::10.0.0.1", "reserved"),
        ("::ffff:0:127.0.0.1", "reserved"),
        ("::5efe:127.0.0.1", "loopback"),
        ("2606:4700::5efe:127.0.0.1", "loopback"),
        ("2606:4700::200:5efe:10.0.0.1", "private"),
        ("2606:4700::300:5efe:169.254.169.254", "metadata"),
        ("2606:4700::5efe:8.8.8.8", "public"),
        ("2606:4700::1:5efe:127.0.0.1", "public"),
    ],
)
def test_every_address_has_a_kind(address, kind):
    assert kind_of(ip_address(address)) == kind


def test_addresses_just_beside_the_private_ones_are_public():
    for address in ("9.255.255.255", "11.0.0.0", "172.15.255.255", "172.32.0.0", "100.63.255.255", "100.128.0.0"):
        assert kind_of(ip_address(address)) == "public"


def test_a_host_of_a_rule_is_the_parsed_one():
    assert host_of("https://docs.python.org.evil.test/") == "docs.python.org.evil.test"
    assert host_of("https://evil.test#docs.python.org") == "evil.test"
    assert host_of("https://EVIL.test?docs.python.org/") == "evil.test"
    with pytest.raises(ToolError, match="user name or password"):
        host_of("https://docs.python.org@evil.test")


def test_a_look_alike_is_shown_beside_its_real_name():
    assert shown(host_of("https://\u0430pple.com/")) == "xn--pple-43d.com (\u0430pple.com)"
    assert shown("apple.com") == "apple.com"
    assert shown("xn--0.com") == "xn--0.com"


def test_internal_names_have_no_public_suffix():
    for name in (
        "localhost",
        "wiki",
        "printer.local",
        "metadata.google.internal",
        "a.localhost",
        "1.0.0.127.in-addr.arpa",
    ):
        assert is_internal_name(name)
    assert not is_internal_name("docs.python.org")
