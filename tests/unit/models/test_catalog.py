"""The catalog agrees with the providers' own lists, and adds up."""

import inspect
import re
from typing import get_args

import pytest

from odin_lsp.models.catalog import DEFAULTS, ENTRIES, cost, find
from odin_lsp.records import Usage


def models(provider):
    names = [entry.ref.removeprefix(f"{provider}/") for entry in ENTRIES if entry.ref.startswith(provider)]
    assert names
    return names


def test_anthropic_lists_every_claude_and_deprecates_none():
    from anthropic.resources.messages.messages import DEPRECATED_MODELS
    from anthropic.types.model import Model

    listed = set(get_args(get_args(Model)[0]))

    assert set(models("anthropic")) <= listed - set(DEPRECATED_MODELS)


def test_google_lists_every_gemini_and_announces_no_shutdown():
    from google.genai._gaos.types.interactions import model as module

    commented = re.findall(r'# (.+)\n\s+"([\w.-]+)",', inspect.getsource(module))
    notes = {name: note.lower() for note, name in commented}

    for name in models("google"):
        assert name in get_args(get_args(module.Model)[0])
        assert not re.search(r"deprecat|shut ?down|retire", notes[name])


def test_openai_lists_every_gpt_and_deprecates_none():
    module = pytest.importorskip("openai.types.shared.chat_model")
    deprecated = inspect.getsource(module).partition("Deprecated values")[2]
    assert deprecated

    for name in models("openai"):
        assert name in get_args(module.ChatModel)
        assert f'"{name}"' not in deprecated


@pytest.mark.parametrize(("provider", "pair"), DEFAULTS.items())
def test_defaults_are_in_the_catalog(provider, pair):
    for name in pair:
        assert find(f"{provider}/{name}") in ENTRIES


def test_no_model_is_listed_twice():
    assert len({entry.ref for entry in ENTRIES}) == len(ENTRIES)


def test_every_kind_of_token_has_its_own_price():
    usage = Usage(
        input_tokens=1_000_000,
        output_tokens=100_000,
        cache_read_tokens=2_000_000,
        cache_write_tokens=400_000,
    )

    assert cost("anthropic/claude-sonnet-5-5", usage) == pytest.approx(2.00 + 1.00 + 0.40 + 1.00)


def test_a_long_prompt_makes_the_whole_request_dearer():
    just_short = Usage(input_tokens=272_000, output_tokens=1_000)
    long = Usage(input_tokens=72_000, cache_read_tokens=200_001, output_tokens=1_000)

    assert cost("openai/gpt-6-sol", just_short) == pytest.approx(0.544 + 0.010)
    assert cost("openai/gpt-6-sol", long) == pytest.approx(2 * (0.144 + 0.0400002) + 1.5 * 0.010)


def test_haiku_costs_five_times_as_much_above_a_hundred_thousand_tokens():
    assert cost("anthropic/claude-haiku-5-5", Usage(100_000, 10_000)) == pytest.approx(0.015)
    assert cost("anthropic/claude-haiku-5-5", Usage(200_000, 10_000)) == pytest.approx(0.125)


def test_an_unknown_model_is_small_and_has_no_price():
    entry = find("acme/anvil-1")

    assert (entry.ref, entry.context, entry.max_output, entry.thinking) == (
        "acme/anvil-1",
        128_000,
        32_768,
        False,
    )
    assert cost("acme/anvil-1", Usage(1_000_000, 1_000_000)) == 0


@pytest.mark.parametrize("ref", ["offline/odin", "scripted//tmp/replies.json"])
def test_local_models_are_free_and_roomy(ref):
    assert find(ref).context == 1_000_000
    assert cost(ref, Usage(1_000_000, 1_000_000)) == 0
