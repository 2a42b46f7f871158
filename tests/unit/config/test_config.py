import json

import pytest

from odin_lsp import config
from odin_lsp.config import loading
from tests.support.trusting import Everything


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch):
    for name in loading.ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def write(tmp_path):
    def write(text, name=config.FILE_NAME):
        (tmp_path / name).write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
        return tmp_path

    return write


@pytest.fixture
def user(monkeypatch, tmp_path_factory):
    """The user's own file."""
    path = tmp_path_factory.mktemp("user") / config.FILE_NAME
    monkeypatch.setattr(loading, "user_file", lambda: path)
    return path


def load(root, **kwargs):
    settings, problems = config.load(root, **kwargs)
    return settings, [str(problem) for problem in problems]


def test_without_any_file_the_defaults_hold(tmp_path):
    settings, problems = load(tmp_path)

    assert problems == []
    assert (settings.limits.max_turns, settings.limits.max_budget_usd, settings.limits.max_tokens) == (100, 0, 8192)


def test_a_bad_value_is_reported_by_name_and_line_and_the_default_is_used(write):
    root = write('{\n  "limits": {\n    "maxTurns": "many"\n  },\n  "model": "anthropic/claude-sonnet-5-5"\n}')

    settings, [problem] = load(root, agreed=Everything())

    assert settings.limits.max_turns == 100
    assert settings.model == "anthropic/claude-sonnet-5-5"
    assert problem.startswith(f"{root / config.FILE_NAME}:3: `limits.maxTurns`")
    assert "it is not used" in problem


def test_an_unknown_key_is_reported(write):
    root = write('{"model": "offline/odin",\n "colour": 3}')

    settings, [problem] = load(root, agreed=Everything())

    assert problem.endswith(":2: `colour` is not known here")
    assert settings.model == "offline/odin"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "1: not valid JSON"),
        ('{"a": 1,}', "1: not valid JSON"),
        ("[]", "1: it is not a JSON object"),
        ("{} // comment", "1: not valid JSON"),
        ("[" * 100_000, "nested too deeply"),
        (" " * (1024 * 1024 + 1), "larger than 1 MiB"),
    ],
)
def test_a_file_that_is_no_json_object_is_reported_and_not_used(write, text, message):
    settings, [problem] = load(write(text))

    assert message in problem
    assert settings == config.Config()


def test_a_byte_order_mark_is_no_problem(write):
    said = write('\ufeff{"model": "offline/odin"}')

    assert load(said, agreed=Everything()) == (config.Config(model="offline/odin"), [])


def test_a_key_that_stands_twice_is_reported(write):
    settings, [problem] = load(write('{"model": "a/b",\n"model": "offline/odin"}'), agreed=Everything())

    assert "2: `model` stands here twice" in problem
    assert settings.model == "offline/odin"


def test_layers_lie_over_each_other(write, user, monkeypatch):
    user.write_text('{"model": "offline/user", "timeouts": {"client": 3}, "forbiddenCommands": ["rm"]}')
    root = write({"forbiddenCommands": ["dd"]})
    monkeypatch.setenv("ODIN_MODEL", "offline/environment")

    settings, problems = load(root, settings={"timeouts": {"person": 9}}, flags={"smallModel": "offline/flag"})

    assert problems == []
    assert (settings.model, settings.small_model) == ("offline/environment", "offline/flag")
    assert (settings.timeouts.client, settings.timeouts.person) == (3, 9)
    assert settings.forbidden_commands == ("rm", "dd")
    assert settings.fixed == {"model", "small_model"}
    assert load(root, settings={"model": "offline/editor"})[0].fixed == {"model"}


@pytest.mark.parametrize("trusted", [False, True])
@pytest.mark.parametrize("values", [{"keys": {"anthropic": ["X"]}}, {"network": {"proxy": "http://evil.test"}}])
def test_a_workspace_cannot_lead_keys_elsewhere(write, values, trusted):
    settings, [problem] = load(write(values), agreed=Everything() if trusted else ())

    assert settings == config.Config()
    assert "is not taken from a workspace" in problem


def test_an_untrusted_workspace_may_only_restrict(write):
    values = {"allowedCommands": ["*"], "forbiddenCommands": ["rm"], "limits": {"maxTurns": 500, "maxTokens": 100}}

    settings, problems = load(write(values))
    trusted, none = load(write(values), agreed=Everything())

    assert settings.allowed_commands == ()
    assert settings.forbidden_commands == ("rm",)
    assert (settings.limits.max_turns, settings.limits.max_tokens) == (100, 100)
    assert len(problems) == 2
    assert (trusted.allowed_commands, trusted.limits.max_turns, none) == (("*",), 500, [])


def test_nobody_gives_back_a_tool_that_another_layer_has_disabled(write, user):
    user.write_text('{"tools": {"disabled": ["WebFetch"], "disabledIn": {"ask": ["AskUser"]}}}')
    root = write({"tools": {"disabled": ["Memory"], "disabledIn": {"ask": ["LS"], "helper": ["Grep"]}}})

    settings, problems = load(root, settings={"tools": {"disabled": []}})

    assert problems == []
    assert settings.tools.disabled == ("WebFetch", "Memory")
    assert settings.tools.off("ask", "helper") == {"WebFetch", "Memory", "AskUser", "LS", "Grep"}


@pytest.mark.parametrize("script", ["scripted/x.json", "scripted/x.json@low", "scripted/@low"])
def test_an_untrusted_workspace_cannot_bring_a_script(write, script):
    settings, [problem] = load(write({"model": script}))

    assert settings.model is None
    assert "until you trust" in problem


def test_a_bad_entry_of_a_list_costs_only_itself(write):
    settings, [problem] = load(write('{"forbiddenCommands": ["rm", 3, "dd"]}'))

    assert settings.forbidden_commands == ("rm", "dd")
    assert "`forbiddenCommands.1`" in problem


def test_the_editors_settings_are_checked_too(tmp_path):
    settings, problems = load(tmp_path, settings={"limits": 3, "timeouts": {"client": -1}})

    assert settings == config.Config()
    assert all(problem.startswith("the editor's settings: `") for problem in problems)
    assert len(problems) == 2


def test_the_schema_describes_every_key():
    properties = config.schema()["properties"]

    assert properties.keys() >= {"model", "smallModel", "limits", "forbiddenCommands"}
    assert all("description" in value or "$ref" in value for value in properties.values())
