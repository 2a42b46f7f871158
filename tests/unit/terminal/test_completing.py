"""What is offered for what is half typed."""

import pytest

from odin_lsp.terminal.completing import Known, with_folders

KNOWN = Known(
    [("undo", "[turn]", "Undo the last turn"), ("exit", "", "Leave")],
    with_folders(["src/greet.py", "README.md", "src/deep/agree.py", "my notes.txt"]),
    ["anthropic/claude-opus-4-6", "openai/gpt-6-sol", "offline/odin"],
)


@pytest.mark.parametrize(
    ("before", "offered"),
    [
        ("/", ["/undo", "/exit"]),
        ("/u", ["/undo"]),
        ("what does /u", []),
        ("/undo x", []),
        ("/model ", ["offline/odin", "openai/gpt-6-sol", "anthropic/claude-opus-4-6"]),
        ("/model o", ["offline/odin", "openai/gpt-6-sol", "anthropic/claude-opus-4-6"]),
        ("/model Opus", ["anthropic/claude-opus-4-6"]),
        ("/model offline/odin x", []),
        ("why is @gre", ["src/greet.py", "src/deep/agree.py"]),
        ("@src", ["src/", "src/deep/", "src/greet.py", "src/deep/agree.py"]),
        ("@READ", ["README.md"]),
        ("@prob", ["problems"]),
        ("@my", ['"my notes.txt"']),
        ("mail me@src", []),
        ("@nowhere", []),
        ("", []),
    ],
)
def test_a_slash_offers_commands_and_an_at_sign_places_and_models_are_offered_where_one_is_named(before, offered):
    found = list(KNOWN.completed(before))

    assert [it.text for it in found] == offered
    assert all(f"{before[: len(before) - it.replaces]}{it.text}".endswith(it.text) for it in found)


def test_a_command_says_what_may_follow_it_and_what_it_does():
    assert [it.about for it in KNOWN.completed("/")] == ["[turn] · Undo the last turn", "Leave"]
