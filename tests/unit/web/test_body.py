"""Bytes become text, within bounds."""

import gzip
import zlib

import pytest

from odin_lsp.errors import ToolError
from odin_lsp.web.body import Unpacker, decode


def unpacked(coding, *pieces, most=1000):
    unpacker = Unpacker(coding, most)
    for piece in pieces:
        unpacker.feed(piece)
    return bytes(unpacker.body), unpacker.is_full


def test_packed_bodies_are_unpacked_piece_by_piece():
    packed = gzip.compress(b"hello")
    assert unpacked("gzip", *(packed[at : at + 1] for at in range(len(packed)))) == (b"hello", False)
    assert unpacked("deflate", zlib.compress(b"hello")) == (b"hello", False)
    assert unpacked("", b"hel", b"lo") == (b"hello", False)


@pytest.mark.parametrize("coding", ["", "gzip"])
def test_no_more_than_the_bound_is_kept(coding):
    pack = gzip.compress if coding else bytes
    assert unpacked(coding, pack(b"x" * 1000)) == (b"x" * 1000, False)
    assert unpacked(coding, pack(b"x" * 1001)) == (b"x" * 1000, True)


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "compress"])
def test_what_was_not_asked_for_is_refused(coding):
    with pytest.raises(ToolError, match="not asked for"):
        Unpacker(coding, 1000)


def test_broken_compression_is_an_error():
    with pytest.raises(ToolError, match="broken"):
        unpacked("gzip", b"no gzip at all")


@pytest.mark.parametrize(
    ("body", "charset", "text"),
    [
        ("日本語".encode("shift_jis"), "Shift_JIS", "日本語"),
        ("①".encode("cp932"), "shift_jis", "①"),
        ("日本語".encode("euc_jp"), "EUC-JP", "日本語"),
        ("日本語".encode(), None, "日本語"),
        ("\ufeff日本語".encode("utf-16-le"), "iso-8859-1", "日本語"),
        ("“naïve”".encode("cp1252"), "iso-8859-1", "“naïve”"),
        ("naïve".encode("cp1252"), None, "naïve"),
        ("日本語".encode()[:-1], None, "日本\ufffd"),
        (b"plain", "no-such-charset", "plain"),
        (b"+AGEAYg-", "utf-7", "+AGEAYg-"),
        (b"6162", "hex", "6162"),
        (b"abc", "punycode", "abc"),
        (b"\\u0061", "unicode_escape", "\\u0061"),
        (b"a", "x" * 10_000, "a"),
        (b"a", "a\0b", "a"),
    ],
)
def test_a_charset_is_believed_if_pages_are_written_in_it(body, charset, text):
    assert decode(body, charset, is_html=False) == text


def test_a_page_may_name_its_charset():
    page = '<html><head><meta charset="Shift_JIS"><title>日本語</title>'.encode("shift_jis")
    assert "日本語" in decode(page, None, is_html=True)
    assert "日本語" not in decode(page, None, is_html=False)
    older = '<meta http-equiv="Content-Type" content="text/html; charset=euc-kr">한국어'.encode("euc_kr")
    assert "한국어" in decode(older, None, is_html=True)
    assert "é" in decode('<meta charset="utf-16">é'.encode(), None, is_html=True)
