"""Which questions are about the project as a whole."""

import pytest

from odin_lsp.models.offline.overview import find_topic
from odin_lsp.models.offline.terms import find_terms


@pytest.mark.parametrize(
    ("prompt", "topic"),
    [
        ("What is this project?", "about"),
        ("what does this repository do?", "about"),
        ("Give me an overview", "about"),
        ("tell me about the codebase", "about"),
        ("how do I run it?", "run"),
        ("How can we start the server?", "run"),
        ("how to test this", "test"),
        ("how do I run the unit tests", "test"),
        ("How do I install this package?", "install"),
        ("what does the package loader do?", None),
        ("what does the server do when a turn is cancelled?", None),
        ("how do I run CrossingPlan?", None),
        ("what is this project doing with cli.py", None),
        ("where is the readme parsed, cached and shown", None),
        ("how do sessions end?", None),
    ],
)
def test_the_topic_of_a_question(prompt, topic):
    assert find_topic(prompt, find_terms(prompt)) == topic
