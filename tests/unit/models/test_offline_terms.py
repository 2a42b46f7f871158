"""What is searched for."""

import re

import pytest

from odin_lsp.models.offline.terms import find_terms, literal, widened


@pytest.mark.parametrize(
    ("prompt", "names", "files", "words"),
    [
        ("Where is TurnManager defined?", ["TurnManager"], [], []),
        ("where is parse_config used", ["parse_config"], [], []),
        ("what does os.path.join do", ["os.path.join"], [], []),
        ("why does run() fail", ["run"], [], ["fail"]),
        ("who calls run()?", ["run"], [], []),
        ("find `the text`, \"this one\" and 'that'", ["the text", "this one", "that"], [], []),
        ("what's in odin_lsp/models/base.py and setup.cfg?", [], ["odin_lsp/models/base.py", "setup.cfg"], []),
        ("How are sessions stored and restored?", [], [], ["sessions", "stored", "restored"]),
        ("explain the read-only client/server split, e.g. on Node", [], [], ["read", "client", "server", "split"]),
        ("sessions of a session", [], [], ["session"]),
        ("what does it do?", [], [], []),
        ("What does add do?", ["add"], [], []),
        ("what does authentication do?", [], [], ["authentication"]),
    ],
)
def test_names_and_files_are_told_from_words(prompt, names, files, words):
    terms = find_terms(prompt)

    assert list(terms.names) == names
    assert list(terms.files) == files
    assert [word.text for word in terms.words][:4] == words


@pytest.mark.parametrize(
    ("prompt", "asked", "words"),
    [
        ("what does total do?", ["total"], ["total"]),
        ("Who calls total?", ["total"], ["total"]),
        ("where is Cart used?", ["Cart"], ["cart"]),
        ("which files use the Cart class", ["Cart"], ["cart"]),
        ("find all callers of add", ["add"], []),
        ("show me the function load", ["load"], ["load"]),
        ("how are load, store and free implemented, and who calls load?", ["load"], ["load", "store", "free"]),
    ],
)
def test_what_a_question_about_code_is_about_may_be_a_name(prompt, asked, words):
    terms = find_terms(prompt)

    assert list(terms.asked) == asked
    assert [word.text for word in terms.words] == words
    assert terms.names == ()


@pytest.mark.parametrize(
    "prompt",
    [
        "How are sessions stored and restored?",
        "why does the login fail after a restart?",
        "what does it do?",
        "what does this function do?",
        "who uses the code?",
        "explain the read-only client/server split",
        "what happens when a crossing is cancelled?",
        "add a test for the parser",
        "who uses read-only files?",
        "who calls parse_config, and what does os.path.join do?",
    ],
)
def test_ordinary_prompts_ask_about_no_further_names(prompt):
    assert find_terms(prompt).asked == ()


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("cancelled", "cancel"),
        ("cancellation", "isCancelled"),
        ("cancel", "CANCELLED"),
        ("sessions", "session_store"),
        ("queries", "query"),
        ("stored", "storage"),
        ("parser", "parse"),
        ("processes", "process"),
    ],
)
def test_a_word_meets_its_variants(asked, written):
    (word,) = find_terms(asked).words

    assert word.occurs_in(f"x = {written}(1)")


@pytest.mark.parametrize(("asked", "written"), [("log", "dialog"), ("lock", "_Block"), ("test", "latest")])
def test_a_word_is_not_met_by_the_end_of_another(asked, written):
    (word,) = find_terms(asked).words

    assert not word.occurs_in(written)


def test_the_context_lends_names_and_files_but_no_words():
    context = '<context kind="selection" file="ferry/cli.py" lines="3-9">\nmoor(quay, tide_table)\n</context>'

    terms = find_terms("why does this fail", context)

    assert terms.files == ("ferry/cli.py",)
    assert set(terms.names) == {"moor", "tide_table"}
    assert [word.text for word in terms.words] == ["fail"]


def test_names_are_widened_to_their_parts():
    assert [word.stem for word in widened(find_terms("CrossingManager and HTTPServer")).words] == [
        "cross",
        "manag",
        "http",
        "serv",
    ]


@pytest.mark.parametrize("text", ["a.b", "f(x)[0]", "$a|b^", "{1}*+?", "back\\slash", "a-b c#d"])
def test_a_literal_pattern_matches_itself(text):
    assert re.fullmatch(literal(text), text)


def test_long_prompts_have_few_terms():
    terms = find_terms(" ".join(f"some_name_{n} file{n}.py word{n}" for n in range(1000)))

    assert (len(terms.names), len(terms.files), len(terms.words)) == (4, 3, 5)
