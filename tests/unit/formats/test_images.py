import base64
import sys

import pytest

from odin_lsp.formats.images import MAX_BYTES, SMALLER_SIDE, Unusable, decoded, image_of, measured
from tests.support.pictures import gif, jpeg, png, webp


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (png(30, 20), "image/png"),
        (jpeg(30, 20), "image/jpeg"),
        (gif(30, 20), "image/gif"),
        (webp(30, 20), "image/webp"),
    ],
)
def test_an_image_is_known_by_its_bytes_and_measured_by_its_head(data, media_type):
    found = measured(data, "shot.txt")

    assert (found.media_type, found.width, found.height) == (media_type, 30, 20)


def test_what_is_small_enough_is_sent_as_it_is():
    image = image_of(png(30, 20), "shot.png")

    assert base64.b64decode(image.data) == png(30, 20)
    assert (image.name, image.width, image.height) == ("shot.png", 30, 20)


def test_what_no_provider_takes_is_made_smaller():
    image = image_of(png(9000, 30), "long.png")

    assert (image.media_type, image.width, image.height) == ("image/jpeg", SMALLER_SIDE, 7)
    assert len(image.data) * 3 // 4 <= MAX_BYTES


def test_without_pillow_a_large_image_is_refused_with_the_limit_and_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)

    with pytest.raises(Unusable, match=r"9,000 × 30 pixels.*8,000 pixels a side.*pip install 'odin-lsp\[images\]'"):
        image_of(png(9000, 30), "long.png")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'<?xml version="1.0"?><svg xmlns="x"/>', "is an SVG, which models read as text"),
        (b"just words", "is not an image that models take"),
        (b"", "is not an image that models take"),
        (png(30, 20)[:20], "is cut off: its size cannot be read"),
        (png(30, 20)[:-20], "is cut off: its end is missing"),
        (jpeg(30, 20)[:8], "is cut off: its size cannot be read"),
        (webp(30, 20)[:-1], "is cut off"),
        (png(claims=(0, 5)), "it says that it has no pixels"),
        (png(claims=(60_000, 60_000)), "more than 50,000,000 pixels are not opened"),
        (png(9000, 30)[:-40] + b"IEND", "cannot be made smaller"),
    ],
)
def test_what_is_no_image_or_would_burst_is_refused_in_words(data, why):
    with pytest.raises(Unusable, match=f"shot.png.*{why}"):
        image_of(data, "shot.png")


def test_base64_is_checked():
    assert decoded("aGk=", "it") == b"hi"
    with pytest.raises(Unusable, match="it is not valid base64"):
        decoded("aGk", "it")
