"""Commands get no secrets, nothing that steers programs, and no programs of the workspace by accident."""

import os
from pathlib import Path

import pytest

from odin_lsp.commands.environment import (
    QUIET,
    child_environment,
    find_shell,
    find_virtual_environment,
    trusted_path,
)

SECRETS = {
    "ANTHROPIC_API_KEY": "x",
    "GEMINI_API_KEY": "x",
    "GH_TOKEN": "x",
    "github_token": "x",
    "AWS_SECRET_ACCESS_KEY": "x",
    "AWS_SESSION_TOKEN": "x",
    "DB_PASSWORD": "x",
    "PGPASSWORD": "x",
    "MYSQL_PWD": "x",
    "SSH_AUTH_SOCK": "/run/agent",
    "AZURE_CREDENTIALS": "x",
    "SENTRY_DSN": "x",
    "MY_PAT": "x",
    "SLACK_WEBHOOK": "x",
    "DATABASE": "postgres://me:hunter2@db/x",
    "HTTPS_PROXY": "http://me:hunter2@proxy:8080",
    "SOMETHING": "ghp_0123456789abcdefghij",
    "OTHER": "sk-ant-0123456789abcdef",
    "PEM": "-----BEGIN PRIVATE THING-----",
}
STEERING = (
    "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "BASH_FUNC_ls%%", "PS4", "PROMPT_COMMAND", "CDPATH", "GLOBIGNORE",
    "IFS", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "GIT_EXTERNAL_DIFF", "GIT_DIR",
    "GIT_SSH_COMMAND", "GIT_CONFIG_COUNT", "LESSOPEN", "LESS", "NODE_OPTIONS", "NODE_PATH", "PYTHONPATH",
    "PYTHONSTARTUP", "PYTHONHOME", "PERL5OPT", "PERL5LIB", "RUBYOPT", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS",
    "CLASSPATH", "RIPGREP_CONFIG_PATH", "GREP_OPTIONS", "TAR_OPTIONS", "MAKEFLAGS", "RUSTC_WRAPPER", "GCONV_PATH",
    "LOCPATH", "TERMINFO", "HOSTALIASES", "ZDOTDIR", "INPUTRC", "SUDO_ASKPASS", "npm_config_script_shell",
    "VIRTUAL_ENV", "ODIN_MODEL", "BROWSER",
)  # fmt: skip
ORDINARY = {"HOME": "/home/me", "USER": "me", "LANG": "de_DE.UTF-8", "JAVA_HOME": "/opt/java", "GOPATH": "/home/me/go"}


@pytest.mark.parametrize("name", SECRETS)
def test_secrets_stay_behind(name):
    assert name not in child_environment(SECRETS, [])


@pytest.mark.parametrize("name", STEERING)
def test_what_steers_programs_stays_behind(name):
    assert child_environment({name: "/evil"}, []).get(name) in (None, QUIET.get(name))


@pytest.mark.parametrize(
    "name",
    ["AWS_PROFILE", "AWS_CONFIG_FILE", "AWS_ACCESS_KEY_ID", "AZURE_CLIENT_ID", "CLOUDSDK_CONFIG", "CLOUD_ML_REGION"],
)
def test_a_command_gets_nothing_of_platforms(name):
    """Neither credentials, nor as whom to act, nor a file that could name a program for them."""
    assert name not in child_environment({name: "value"}, [])
    assert child_environment({name: "value"}, [], passed=[name])[name] == "value"


def test_the_ordinary_goes_along():
    assert ORDINARY.items() <= child_environment(ORDINARY, []).items()


def test_keys_under_names_of_the_users_own_stay_behind_too():
    environ = {"WORK": "abc", "HOME": "/home/me"}
    assert "WORK" not in child_environment(environ, [], secret_names={"WORK"})


def test_the_user_may_pass_on_what_looks_like_a_secret():
    assert child_environment(SECRETS, [], passed=("SSH_AUTH_SOCK",))["SSH_AUTH_SOCK"] == "/run/agent"


def test_nobody_is_asked_anything():
    environment = child_environment({}, [])
    assert environment["PAGER"] == environment["GIT_PAGER"] == "cat"
    assert environment["GIT_TERMINAL_PROMPT"] == "0"


def test_the_path_has_neither_relative_entries_nor_the_workspace(tmp_path):
    root = tmp_path / "ws"
    (root / "bin").mkdir(parents=True)
    (tmp_path / "link").symlink_to(root / "bin")
    path = f".:::bin:{root}:{root / 'bin'}:{tmp_path / 'link'}:/usr/bin:{root}/../ws/bin:/bin:/usr/bin"

    assert trusted_path(path, [root]) == "/usr/bin:/bin"
    assert trusted_path("", [root]) == os.defpath


def test_bash_is_found_by_its_absolute_path():
    shell = find_shell()
    assert shell is not None
    assert Path(shell).is_absolute()


def test_the_nearest_virtual_environment_is_found(tmp_path):
    root = tmp_path / "ws"
    deep = root / "packages" / "one" / "src"
    deep.mkdir(parents=True)
    assert find_virtual_environment(deep, [root]) is None

    for place in (tmp_path / ".venv", root / "venv", root / "packages" / "one" / ".venv"):
        (place / "bin").mkdir(parents=True)
        (place / "pyvenv.cfg").touch()
        (place / "bin" / "python").touch()
    assert find_virtual_environment(deep, [root]) == root / "packages" / "one" / ".venv"
    assert find_virtual_environment(root, [root]) == root / "venv"
    assert find_virtual_environment(tmp_path, [root]) is None


def test_a_virtual_environment_comes_first(tmp_path):
    environment = child_environment({"PATH": "/usr/bin"}, [tmp_path], virtual_environment=tmp_path / ".venv")
    assert environment["PATH"] == f"{tmp_path}/.venv/bin:/usr/bin"
    assert environment["VIRTUAL_ENV"] == f"{tmp_path}/.venv"
