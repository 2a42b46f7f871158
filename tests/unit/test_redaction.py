"""What looks like a secret, and what only talks about one."""

import pytest

from odin_lsp.redaction import MOST_LEARNT, learn, learnt, looks_secret, redacted, secrets_of, without_keys

SECRETS = [
    "sk-ant-api03-abcdefghijklmnop",
    "the key is AKIAIOSFODNN7EXAMPLE",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "password=hunter22",
    "password: hunter22",
    'api_key = "abcdef123456"',
    "the password is s3cr3tpass",
    "Authorization: Bearer abc123def456",
    "redis://user:pass@host:6379/0",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MEFCQ0RFRkdISUpLTE1OT1A",
]
HARMLESS = [
    "the token is checked by the middleware",
    "passwords are stored in the keyring, never in the file",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke it",
    "the API key comes from ANTHROPIC_API_KEY",
    "see https://example.org/docs/auth?page=2",
    "test_a_very_long_name_of_a_test_that_says_what_it_is_about",
    "keys are sorted before they are hashed",
]


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_recognised_and_hidden(text):
    assert looks_secret(text)
    assert "[hidden]" in redacted(f"before {text} after")
    assert redacted(f"before {text} after").endswith(" after")


@pytest.mark.parametrize("text", HARMLESS)
def test_a_sentence_about_secrets_is_none(text):
    assert not looks_secret(text)
    assert redacted(text) == text


def test_what_is_known_to_be_secret_is_hidden_whatever_it_looks_like():
    assert redacted("open sesame, please", ["open sesame"]) == "[hidden], please"
    assert redacted("no", ["no"]) == "no"


def test_a_variable_is_secret_by_its_name_or_by_its_value():
    secret = {"GITHUB_PAT": "one", "DB_DSN": "two", "AUTHORIZATION": "three", "DATABASE_URL": "x://me:pass@host"}
    public = {"GIT_AUTHOR_NAME": "me", "LANG": "C", "HOME": "/root"}

    assert secrets_of(secret | public) == set(secret.values())


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("use sk-ant-api03-abcdefghijklmnop, please", "use [hidden], please"),
        ("key=AKIAIOSFODNN7EXAMPLE", "key=[hidden]"),
        ("(ghp_16C7e42F292c6912E7710c838347Ae178B4a)", "([hidden])"),
        ("redis://user:pass@host:6379/0", "redis://[hidden]@host:6379/0"),
        ("it is eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N", "it is [hidden]"),
        (
            "a -----BEGIN RSA PRIVATE KEY-----\nDEK-Info: AES-128-CBC\n\nMIIE\n-----END RSA PRIVATE KEY----- z",
            "a [hidden] z",
        ),
        ("a -----BEGIN OPENSSH PRIVATE KEY-----\\nb3Bl\\n", "a [hidden]"),
    ],
)
def test_a_key_is_not_kept(text, kept):
    assert without_keys(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        *HARMLESS,
        "npm_lifecycle_event and hf_hub_download_path, pk_users_primary_index",
        "Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MEFCQ0RFRkdISUpLTE1OT1A",
        "password=hunter22, as in the manual",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        '{"url":"http://host:8080","mail":"me@example.org"}',
        "git@github.com:me/x.git and http://host:80/a@b",
    ],
)
def test_what_is_no_key_by_its_own_form_is_kept(text):
    assert without_keys(text) == text


def test_what_was_learnt_to_be_a_secret_is_hidden_everywhere_and_the_last_ones_are_known():
    learn("first of all")
    learn("short")
    assert redacted("it is first of all.") == without_keys("it is first of all.") == "it is [hidden]."
    assert redacted("it is short") == "it is short"
    for number in range(MOST_LEARNT):
        learn(f"a secret {number:03}")
    assert len(learnt()) == MOST_LEARNT
    assert without_keys("first of all, a secret 000, a secret 099") == "first of all, [hidden], [hidden]"
