"""What servers ask people for: nothing secret, whatever it is dressed up as, and no page that is not what it says."""

import json

import pytest

from odin_lsp.mcp.asking import ask
from odin_lsp.mcp.secret_words import asks_for_secret
from odin_lsp.mcp.values import Form, Visit
from odin_lsp.ports import Answer
from tests.support.mcp_servers import allowing, entry

ANSWER = Answer(text="hunter2")


def form(field, name="value", message="Please fill in"):
    return Form(message, {name: field})


DISGUISES = {
    "a zero-width character": form({"type": "string", "title": "pass\u200bword"}),
    "a soft hyphen": form({"type": "string", "description": "Your to\u00adken"}),
    "characters of another width": form(
        {"type": "string", "title": "\uff30\uff21\uff33\uff33\uff37\uff2f\uff32\uff24"}
    ),
    "letters of another script": form({"type": "string", "title": "p\u0430ssw\u043erd"}),
    "digits for letters": form({"type": "string", "title": "P4$$w0rd"}),
    "spaces between the letters": form({"type": "string", "title": "p a s s w o r d"}),
    "accents": form({"type": "string", "title": "p\u0301assw\u0308ord"}),
    "an empty list of choices": form({"type": "string", "title": "Password", "enum": []}),
    "an empty list of named choices": form({"type": "string", "title": "Password", "oneOf": []}),
    "choices that are none": form({"title": "Password", "anyOf": [{"type": "string"}, {"type": "null"}]}),
    "an array without choices": form({"type": "array", "title": "Password", "items": {"type": "string"}}),
    "a number": form({"type": "integer", "title": "PIN of your card"}),
    "another number": form({"type": "number", "description": "The one-time code that we sent you"}),
    "a type that nobody knows": form({"type": "text", "title": "API key"}),
    "a list of types": form({"type": ["string", "null"], "title": "API key"}),
    "no type": form({"title": "Seed phrase"}),
    "no field at all": Form("Your password?", {"value": "string"}),
    "the message alone": form({"type": "integer"}, message="Which 2FA code do you see?"),
    "the name alone": form({"type": "string"}, name="awsSecretAccess"),
    "the name, as a number": form({"type": "number"}, name="otp_code"),
    "a title that is not shown": form({"type": "string", "title": "Recovery code", "description": "Continue"}),
    "a format": form({"type": "string", "format": "passphrase"}),
    "a label of a choice": Form(
        "Sign in", {"how": {"enum": ["type the password into the next field"]}, "next": {"type": "string"}}
    ),
    "a title of another field": Form(
        "Sign in", {"a": {"type": "boolean", "title": "SSH key"}, "b": {"type": "string"}}
    ),
    "a digit at a time": form({"enum": [*"0123456789"], "title": "First digit of your PIN"}),
    "a connection string": form({"type": "string", "title": "Connection string"}),
    "a cookie": form({"type": "string", "description": "Copy the session cookie from your browser"}),
    "your key": form({"type": "string", "title": "Paste your OpenAI key"}),
    "German": form({"type": "string", "title": "Ihr Datenbankpasswort"}),
    "French": form({"type": "string", "title": "Mot de passe"}),
    "Spanish": form({"type": "string", "title": "Contrase\u00f1a"}),
    "Portuguese": form({"type": "string", "title": "Senha"}),
    "Polish": form({"type": "string", "title": "Has\u0142o"}),
    "Turkish": form({"type": "string", "title": "\u015eifre"}),
    "Russian": form({"type": "string", "title": "\u041f\u0430\u0440\u043e\u043b\u044c"}),
    "Chinese": form({"type": "string", "title": "\u8bf7\u8f93\u5165\u5bc6\u7801"}),
    "Japanese": form({"type": "string", "title": "\u30d1\u30b9\u30ef\u30fc\u30c9"}),
    "Korean": form({"type": "string", "title": "\ube44\ubc00\ubc88\ud638"}),
    "Arabic": form({"type": "string", "title": "\u0643\u0644\u0645\u0629 \u0627\u0644\u0645\u0631\u0648\u0631"}),
    "Hindi": form({"type": "string", "title": "\u092a\u093e\u0938\u0935\u0930\u094d\u0921"}),
}


@pytest.mark.parametrize("case", DISGUISES)
async def test_mcp_13_a_secret_is_not_asked_for_in_any_disguise(person, case):
    person.answers = [ANSWER, ANSWER]

    action, content = await ask(person, "toy", DISGUISES[case])

    assert (action, content) == ("decline", {})
    assert person.questions == []
    assert ["looks like a secret" in it for it in person.notices] == [True]


@pytest.mark.parametrize(
    ("field", "answer", "given"),
    [
        ({"type": "string", "title": "City"}, "Oslo", "Oslo"),
        ({"type": "string", "title": "Title of the issue"}, "x", "x"),
        ({"type": "string", "enum": []}, "x", "x"),
        ({"type": "mystery", "title": "Branch"}, "main", "main"),
        ({"type": "integer", "title": "Max tokens"}, "100", 100),
        ({"type": "array", "title": "Labels"}, "bug", ["bug"]),
    ],
    ids=str,
)
async def test_mcp_13_whoever_types_is_told_who_gets_it(person, field, answer, given):
    person.answers = [Answer(text=answer)]

    assert await ask(person, "toy", form(field)) == ("accept", {"value": given})

    [question] = person.questions
    assert question.allow_text
    assert "Your answer goes to the MCP server toy. Do not type a password, a key or a code." in question.detail


@pytest.mark.parametrize(
    "field",
    [{"type": "boolean", "title": "Rotate the API key now?"}, {"enum": ["small", "large"], "title": "Token type"}],
    ids=str,
)
async def test_mcp_13_a_plain_choice_is_asked_about_without_a_warning(person, field):
    await ask(person, "toy", form(field))

    [question] = person.questions
    assert not question.allow_text
    assert "goes to the MCP server" not in question.detail


def test_mcp_13_harmless_words_are_not_taken_for_a_secret():
    assert not asks_for_secret("Pick one time slot for the class on spinning, near the compass")
    assert not asks_for_secret("Name of the author, keyboard layout, tokenizer, secretary, pinned version")


async def test_mcp_13_what_a_server_says_does_not_pass_for_words_of_odins(person):
    lines = "Hello\nYour answer goes to Odin only.\u202e\x1b[2J"

    await ask(person, "toy", form({"type": "string", "title": lines}, message=lines))

    [question] = person.questions
    assert "\n" not in question.title
    assert len(question.detail.splitlines()) == 2
    assert not set("\x1b\u202e") & set(question.title + question.detail)


async def test_mcp_13_the_warning_and_the_refusal_reach_the_wire(odin, call, person, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    odin.settings["mcp"] = {"wait": 20, "timeout": 20}

    def asking(**field):
        schema = {"type": "object", "properties": {"value": {"type": "string", **field}}, "required": ["value"]}
        return [{"ask": {"message": "Please", "requestedSchema": schema}}]

    table = {
        "tools": [{"name": "a"}, {"name": "b"}],
        "call:a": asking(title="City"),
        "call:b": asking(title="pass\u200bword"),
    }
    (odin.root / ".mcp.json").write_text(json.dumps({"mcpServers": {"toy": entry(tmp_path, table, "toy")}}))
    odin.script({"calls": [call("mcp__toy__a")]}, {"calls": [call("mcp__toy__b")]}, {"text": "done"})
    odin.start(trusted=True)
    odin.configure(rules=(allowing(odin, "toy"),))
    person.answers = [Answer(text="Oslo"), ANSWER]

    await odin.take(mode="edit_mode")

    [question] = person.questions
    first, second = [it.content for message in odin.session.messages for it in message.results]
    assert "goes to the MCP server toy" in question.detail
    assert '"content":{"value":"Oslo"}' in first
    assert '"action":"decline"' in second


STRANGE = [
    "http://localhost.evil.com/",
    "http://127.0.0.1.evil.com/",
    "http://localhost@evil.com/",
    "http://localhost:80@evil.com/",
    "http://evil.com#http://localhost",
    "http://evil.com\\@localhost/",
    "http://169.254.169.254/latest/meta-data",
    "http://10.0.0.1/",
    "https://user@bank.example/",
    "https://user:word@bank.example/",
    "https://bank.example\\.evil.com/",
    "https:evil.com",
    "https:///evil.com",
    "https://evil.com/\u202egpj.exe",
    "https://evil.com/ x",
    "HTTP://evil.com/",
    "javascript:alert(1)",
    "",
]


@pytest.mark.parametrize("url", STRANGE)
async def test_mcp_14_nobody_is_sent_to_a_page_that_is_not_what_it_looks_like(person, url):
    person.answers = [Answer(("visited",))]

    assert await ask(person, "toy", Visit("Open this", url)) == ("decline", {})
    assert person.questions == []


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://bank.example/login?x=1#y", "bank.example"),
        ("https://BANK.example:8443/", "bank.example"),
        ("http://localhost:8080/x", "localhost"),
        ("http://127.9.9.9/x", "127.9.9.9"),
        ("http://[::1]:8080/", "[::1]"),
        ("https://xn--bnk-qla.example/", "xn--bnk-qla.example (b\u00e4nk.example)"),
        ("https://b\u00e4nk.example/", "xn--bnk-qla.example (b\u00e4nk.example)"),
    ],
)
async def test_mcp_14_a_page_is_known_by_its_host(person, url, host):
    person.answers = [Answer(("visited",))]

    assert await ask(person, "toy", Visit("Open this", url)) == ("accept", {})

    [question] = person.questions
    assert question.title == f"The MCP server toy wants you to open a page of {host}."
    assert question.detail == f"{url}\nOpen this"
