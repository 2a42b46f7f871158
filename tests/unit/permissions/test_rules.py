"""Rules: which one counts, what they match, and that a rule which does not mean what it says is refused."""

import json

import pytest

from odin_lsp.config import Config, load, roles
from odin_lsp.patterns import CommandPattern, host_matches, path_matches
from odin_lsp.permissions.rules import Effect, Rules, Verdict, decide, has
from tests.support.trusting import Everything


def rule(decision, tool="ExecuteCommand", **more):
    return {"tool": tool, "decision": decision, **more}


def rules(*given, root=None, **settings):
    return Rules.of(Config(rules=given, **settings), root=root)


@pytest.mark.parametrize(
    ("pattern", "command", "covers"),
    [
        ("npm test", "npm test", True),
        ("npm test", "npm test -- --watch", True),
        ("npm test *", "npm test", True),
        ("npm test", "npm run test", False),
        ("npm test", "npm", False),
        ("npm test", "/usr/bin/npm test", False),
        ("npm run build:*", "npm run build:dev", True),
        ("npm run build:*", "npm run deploy", False),
        ("echo 'a b'", "echo a", False),
        ("*", "anything", True),
    ],
)
def test_to_allow_the_words_must_be_the_first_ones(pattern, command, covers):
    assert CommandPattern.of(pattern).covers(command.split()) is covers


@pytest.mark.parametrize(
    ("pattern", "command", "reaches"),
    [
        ("git push", "git push origin", True),
        ("git push", "git --no-pager push", True),
        ("git push", "git -C x push", True),
        ("git push", "git log push", False),
        ("git push", "/usr/local/bin/GIT push", True),
        ("rm -rf", "rm -f -r x", True),
        ("rm -rf", "rm -f x", False),
        ("curl --insecure", "curl x --insecure", True),
        ("npm *", "npm", True),
        ("docker system prune", "docker system df", False),
        ("k*", "kubectl get", True),
    ],
)
def test_to_forbid_the_words_are_found_behind_others(pattern, command, reaches):
    assert CommandPattern.of(pattern).reaches(command.split()) is reaches


@pytest.mark.parametrize("pattern", ["", "  ", "'", "''", '"a'])
def test_a_pattern_without_words_is_none(pattern):
    with pytest.raises(ValueError, match=r"empty|quotation"):
        CommandPattern.of(pattern)


@pytest.mark.parametrize("size", [1_000, 20_000])
def test_many_stars_do_not_make_matching_explode(size):
    """The work is bounded by the text: what takes exponential time would never end here."""
    pattern = CommandPattern.of("x " + "*a" * 200 + "b")

    assert not pattern.covers(["x", "a" * size])


@pytest.mark.parametrize(
    ("pattern", "host", "matches"),
    [
        ("docs.python.org", "docs.python.org", True),
        ("docs.python.org", "DOCS.python.org.", True),
        ("docs.python.org", "docs.python.org.evil.test", False),
        ("docs.python.org", "evil.docs.python.org", False),
        ("*.python.org", "docs.python.org", True),
        ("*.python.org", "python.org", False),
        ("*.python.org", "evilpython.org", False),
        ("*", "localhost", True),
    ],
)
def test_hosts_are_compared_by_whole_labels(pattern, host, matches):
    assert host_matches(pattern, host) is matches


def test_paths_are_matched_as_git_ignores_them():
    assert path_matches("src/**", "src/a/b.py")
    assert path_matches("*.sql", "db/x.sql")
    assert not path_matches("/build", "src/build")


def test_any_deny_wins_then_the_last_that_matches(tmp_path):
    told = rules(
        rule("allow", pattern="npm test"),
        rule("ask", pattern="npm", reason="ask me"),
        rule("allow", pattern="npm test unit"),
        rule("deny", pattern="npm publish", reason="never that"),
        rule("allow", pattern="npm publish"),
    )

    assert told.word_on(["npm", "test"], "edit_mode", tmp_path) == ("ask", "ask me")
    assert told.word_on(["npm", "test", "unit"], "edit_mode", tmp_path) == (
        "allow",
        CommandPattern(("npm", "test", "unit")),
    )
    assert told.word_on(["yarn"], "edit_mode", tmp_path) is None
    assert told.forbids(["npm", "publish"], "edit_mode", tmp_path) == "never that"


def test_a_rule_counts_in_its_modes_and_folders(tmp_path):
    (tmp_path / "sub").mkdir()
    told = rules(
        rule("deny", pattern="make", modes=["plan"]), rule("deny", pattern="tool", path="sub/**"), root=tmp_path
    )

    assert told.forbids(["make"], "plan_mode", tmp_path)
    assert not told.forbids(["make"], "edit_mode", tmp_path)
    assert told.forbids(["tool"], "edit_mode", tmp_path / "sub" / "deeper")
    assert not told.forbids(["tool"], "edit_mode", tmp_path)


def test_rules_for_other_tools(tmp_path):
    told = rules(
        rule("ask", "Read", path="*.sql"),
        rule("allow", "Read", path="public.sql"),
        rule("deny", "WebFetch", host="*.evil.test"),
        rule("allow", "WebFetch", host="docs.python.org"),
        rule("deny", "FileWrite", path="generated/**", reason="made by a tool"),
        root=tmp_path,
    )

    def verdict(tool, effect, **about):
        return decide(tool, effect, "edit_mode", told, **about).decision

    assert verdict("Read", Effect.READ_ONLY, path=tmp_path / "x.sql") == "ask"
    assert verdict("Read", Effect.READ_ONLY, path=tmp_path / "public.sql") == "allow"
    assert verdict("Read", Effect.READ_ONLY, path=tmp_path / "x.py") == "allow"
    assert verdict("WebFetch", Effect.NETWORK, host="x.evil.test") == "deny"
    assert verdict("WebFetch", Effect.NETWORK, host="docs.python.org") == "allow"
    assert verdict("WebFetch", Effect.NETWORK, host="elsewhere.test") == "ask"
    assert decide("WriteFile", Effect.MUTATING, "edit_mode", told, path=tmp_path / "generated" / "x") == Verdict(
        "deny", "made by a tool"
    )


def test_no_rule_gives_a_mode_what_it_cannot_do():
    told = rules(rule("allow", "*"))

    assert decide("WriteFile", Effect.MUTATING, "plan_mode", told).decision == "deny"


def loaded(tmp_path, values, *, workspace=False, trusted=False):
    user = tmp_path / "user.json"
    user.write_text("{}" if workspace else json.dumps(values))
    if workspace:
        (tmp_path / "odinconfig.json").write_text(json.dumps(values))
    config, problems = load(tmp_path, user=user, agreed=Everything() if trusted else ())
    return config, [str(problem) for problem in problems]


def test_a_rule_whose_example_fails_is_refused_by_name(tmp_path):
    good = rule("deny", pattern="git push", examples={"match": ["git -C x push"], "notMatch": ["git log"]})
    bad = rule("allow", pattern="npm test", examples={"match": ["npm run test"]})
    worse = rule("deny", pattern="rm", examples={"notMatch": ["/bin/rm x"]})

    config, problems = loaded(tmp_path, {"rules": [good, bad, worse]})

    assert [it.pattern for it in config.rules] == ["git push"]
    assert len(problems) == 2
    assert "the rule to allow ExecuteCommand `npm test` does not hold for its example `npm run test`" in problems[1]
    assert "the rule to deny ExecuteCommand `rm` does not hold for its example `/bin/rm x`" in problems[0]


@pytest.mark.parametrize("bad", [5, None, "", "'", ["rm"], {"rm": 1}])
def test_exec_15_a_bad_entry_is_reported_and_the_others_count(tmp_path, bad):
    config, problems = loaded(tmp_path, {"forbiddenCommands": ["rm", bad], "allowedCommands": ["make"]})

    assert config.forbidden_commands == ("rm",)
    assert config.allowed_commands == ()
    assert any("forbiddenCommands" in problem for problem in problems)
    assert any("`allowedCommands` is ignored because" in problem for problem in problems)


def test_exec_15_ten_thousand_entries_are_read(tmp_path):
    config, problems = loaded(tmp_path, {"forbiddenCommands": [f"tool{number}" for number in range(10_000)]})

    assert problems == []
    assert Rules.of(config).forbids(["tool9999"], "edit_mode", tmp_path)


def test_a_workspace_only_restricts_until_it_is_trusted(tmp_path):
    values = {
        "rules": [rule("allow", pattern="make"), rule("deny", pattern="rm"), rule("ask", pattern="ls")],
        "allowedCommands": ["make"],
        "forbiddenCommands": ["dd"],
    }

    config, problems = loaded(tmp_path, values, workspace=True)
    trusted, no_problems = loaded(tmp_path, values, workspace=True, trusted=True)

    assert [it.decision for it in config.rules] == ["deny", "ask"]
    assert config.allowed_commands == ()
    assert config.forbidden_commands == ("dd",)
    assert len(problems) == 2
    assert [it.decision for it in trusted.rules] == ["allow", "deny", "ask"]
    assert no_problems == []


FOREIGN = "mcp__git__git_log"


def on_foreign(mode, *given, arguments=None, tool=FOREIGN):
    return decide(tool, Effect.FOREIGN, mode, rules(*given), arguments=arguments or {}).decision


def test_a_tool_of_a_server_is_asked_about_in_edit_and_refused_elsewhere():
    assert [on_foreign(mode) for mode in ("edit_mode", "ask_mode", "plan_mode")] == ["ask", "deny", "deny"]


@pytest.mark.parametrize(
    ("named", "tool", "is_meant"),
    [
        ("mcp__git", FOREIGN, True),
        ("mcp__git__*", FOREIGN, True),
        (FOREIGN, FOREIGN, True),
        ("*", FOREIGN, True),
        ("mcp__gi", FOREIGN, False),
        ("mcp__git__git", FOREIGN, False),
        ("mcp__a__b", "mcp__a__b__c", False),
        ("mcp__", FOREIGN, False),
        ("mcp", FOREIGN, False),
    ],
)
def test_a_server_stands_for_all_its_tools_and_nothing_else(named, tool, is_meant):
    assert on_foreign("edit_mode", rule("allow", named), tool=tool) == ("allow" if is_meant else "ask")


@pytest.mark.parametrize(
    ("decision", "value", "decided"),
    [
        ("allow", "docs/a.md", "allow"),
        ("allow", ["docs/a.md", "docs/b.md"], "allow"),
        ("allow", ["docs/a.md", "src/b.py"], "ask"),
        ("allow", None, "ask"),
        ("deny", ["docs/a.md", "src/b.py"], "deny"),
        ("deny", "src/b.py", "ask"),
        ("deny", {"a": 1}, "ask"),
    ],
)
def test_a_rule_can_be_about_arguments(decision, value, decided):
    given = rule(decision, "mcp__git", arguments={"path": "docs/*"})

    assert on_foreign("edit_mode", given, arguments={"path": value}) == decided


def test_in_ask_and_plan_the_user_has_to_name_the_mode():
    anywhere, in_ask = rule("allow", "mcp__git"), rule("allow", "mcp__git", modes=["ask"])

    assert on_foreign("ask_mode", anywhere) == "deny"
    assert on_foreign("ask_mode", in_ask) == "allow"
    assert on_foreign("plan_mode", in_ask) == "deny"
    assert on_foreign("ask_mode", in_ask, rule("ask", FOREIGN)) == "deny"
    assert on_foreign("ask_mode", rule("deny", FOREIGN), in_ask) == "deny"


IN_ASK = rule("allow", "mcp__git", modes=["ask"])
ON_DOCS = {"path": "docs/*"}


@pytest.mark.parametrize(
    "given",
    [
        [],
        [rule("allow", "mcp__git")],
        [rule("allow", "mcp__git", modes=["plan"])],
        [IN_ASK],
        [{**IN_ASK, "tool": "*"}],
        [IN_ASK, rule("ask", FOREIGN)],
        [rule("ask", FOREIGN), IN_ASK],
        [rule("deny", FOREIGN), IN_ASK],
        [rule("deny", FOREIGN, modes=["edit"]), IN_ASK],
        [{**IN_ASK, "arguments": ON_DOCS}],
        [{**IN_ASK, "arguments": ON_DOCS}, rule("allow", "mcp__git")],
        [IN_ASK, rule("deny", FOREIGN, arguments=ON_DOCS)],
        [IN_ASK, rule("ask", FOREIGN, arguments=ON_DOCS)],
        [{**IN_ASK, "arguments": ON_DOCS}, rule("ask", FOREIGN)],
        [{**IN_ASK, "tool": "mcp__other"}],
    ],
)
def test_ask_has_a_tool_of_a_server_if_some_call_of_it_is_allowed_there(given):
    """And looks for such tools only then."""
    found = rules(*given)
    calls = [decide(FOREIGN, Effect.FOREIGN, "ask_mode", found, arguments={"path": it}) for it in ("docs/a", "b", "c")]

    assert has("ask_mode", FOREIGN, Effect.FOREIGN, found) is any(it.decision == "allow" for it in calls)
    assert found.let_servers_read("ask_mode") or not has("ask_mode", FOREIGN, Effect.FOREIGN, found)
    assert has("edit_mode", FOREIGN, Effect.FOREIGN, found)


@pytest.mark.parametrize("whose", ["user", "workspace", "editor", "role of the workspace"])
def test_a_workspace_cannot_say_that_a_tool_reads(tmp_path, whose):
    said = {"rules": [rule("allow", "mcp__git", modes=["ask", "edit"])]}
    user, workspace = tmp_path / "user.json", tmp_path / "odinconfig.json"
    if whose in ("user", "workspace"):
        {"user": user, "workspace": workspace}[whose].write_text(json.dumps(said))
    elif whose == "role of the workspace":
        workspace.write_text(json.dumps({"role": "mine", "roles": {"mine": said}}))

    config, problems = load(tmp_path, user=user, agreed=Everything(), settings=said if whose == "editor" else {})
    found = Rules.of(roles.in_role(config, config.role))

    assert problems == ()
    decided = [decide(FOREIGN, Effect.FOREIGN, mode, found).decision for mode in ("ask_mode", "edit_mode")]
    assert decided == (["allow", "allow"] if whose == "user" else ["deny", "allow"])
    assert has("ask_mode", FOREIGN, Effect.FOREIGN, found) is found.let_servers_read("ask_mode") is (whose == "user")


def test_arguments_are_for_tools_of_servers():
    with pytest.raises(ValueError, match="is for tools of MCP servers"):
        rules(rule("allow", "ExecuteCommand", arguments={"command": "ls"}))
