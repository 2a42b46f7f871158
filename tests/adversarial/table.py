"""Which rows of the security catalogue were tried and held, with the system's hand and without it, as root and as a
plain user: `python -m tests.adversarial.table [PYTEST ARGUMENTS]`.

Rows are named by tests: `test_path_10_…`, `TestExec07…`. Each column of the table is a run of its own; this module is
also the plugin that those runs write their part with."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from odin_lsp.permissions import sandbox

ROWS = {
    "EXEC": 15, "PATH": 25, "TXT": 15, "EDIT": 22, "CFG": 12, "TRUST": 18, "APPR": 8, "MODE": 6, "NET": 16, "INJ": 12,
    "SEC": 7, "SES": 12, "PROV": 21, "RPC": 12, "MCP": 14, "AGT": 2, "RED": 3, "DOOR": 19, "IDE": 11, "DEV": 15,
    "PROG": 7, "FLOOR": 8, "HOOK": 3, "READ": 12,
}  # fmt: skip
"""Areas of the catalogue, and how many rows each has."""
BY_OTHER_NAMES = {
    "PATH-15": "test_cfg_01_a_name_in_disguise",
    "MODE-03": "test_agt_02_a_helper_never_has_a_mode_above_its_turns",
    "INJ-11": "test_c_082_a_helper_hands_over_what_it_did",
    "INJ-12": "test_a_summary_takes_the_place_of_what_is_old_and_the_users_words_stay",
    "PROV-01": "test_the_time_to_wait",
    "PROV-02": "test_a_spent_budget_is_not_waited_for",
    "PROV-03": "test_a_status_becomes_the_error_that_says_what_to_do",
    "PROV-04": "test_an_overload_within_an_answer",
    "PROV-05": "cut_at_any_byte",
    "PROV-06": "test_a_server_that_is_too_slow",
    "PROV-07": "test_a_call_that_cannot_be_read",
    "PROV-08": "test_a_call_that_was_cut_off",
    "PROV-09": "test_a_refusal_is",
    "PROV-10": "test_a_turn_that_pauses_forever",
    "PROV-11": "test_every_stop_reason",
    "PROV-12": "test_an_empty_answer_is_asked_for_once_more",
    "PROV-13": "test_events_out_of_order",
    "PROV-14": "test_mode_01_forged_names",
    "PROV-15": "test_every_finish_reason",
    "PROV-17": "test_a_redirect_is_not_followed",
    "PROV-18": "test_characters_survive_being_split",
    "DOOR-02": "test_what_a_killed_host_has_left_is_replaced",
    "DOOR-09": "test_fifty_guests_in_twenty_sessions",
}
"""Rows that are shown by tests of something wider, by the beginning of their names."""
NOT_APPLICABLE = {
    "RPC-12": "takes hours: `nox -s soak -- 480`",
    "DEV-10": "needs Neovim: `nox -s editors -- neovim`",
    "DEV-11": "needs Neovim: `nox -s editors -- neovim`",
    "DEV-14": "needs Node: `nox -s extension`, `test/hostile.test.ts` and `test/hostile-page.test.ts`",
}
IN_FUNCTION = re.compile(r"test_([a-z]+)_(\d\d(?!\d)(?:_(?:to_)?\d\d(?!\d|_\d{3}))*)")
"""Several rows may follow each other; a number in the words after them, such as `10_000`, is none."""
IN_CLASS = re.compile(r"Test([A-Z][a-z]+)(\d\d)")
HERE = "tests/adversarial/"
TESTS = ("tests/unit", "tests/providers", "tests/adversarial", "tests/e2e")
OF_COMMANDS = tuple(
    f"tests/adversarial/test_{name}.py"
    for name in ("exec", "modes", "shell", "git", "sandbox", "reader", "then_and_now", "approvals")
)
"""What could be otherwise where the system does not hold commands."""
WITHOUT_SANDBOX, RESULTS = "CATALOGUE_WITHOUT_SANDBOX", "CATALOGUE_RESULTS"
NOBODY = 65534

Outcomes = dict[str, list[str]]
"""How the tests of each row ended."""
_outcomes: Outcomes = {}


def rows_of(nodeid: str) -> Iterator[str]:
    for area, numbers in (*IN_FUNCTION.findall(nodeid), *IN_CLASS.findall(nodeid)):
        first, *rest = numbers.split("_to_")
        for number in (*first.split("_"), *_between(first, rest)):
            if 1 <= int(number) <= ROWS.get(area.upper(), 0):
                yield f"{area.upper()}-{int(number):02}"
    yield from (row for row, name in BY_OTHER_NAMES.items() if name in nodeid)


def _between(first: str, rest: list[str]) -> Iterator[int]:
    return iter(range(int(first) + 1, int(rest[0]) + 1) if rest else ())


# --- the plugin, in each run


def pytest_configure() -> None:
    if os.environ.get(WITHOUT_SANDBOX):
        sandbox.mechanisms = lambda: frozenset[sandbox.Mechanism]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    others = [item for item in items if HERE not in item.nodeid and not any(rows_of(item.nodeid))]
    items[:] = [item for item in items if item not in others]
    config.hook.pytest_deselected(items=others)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or report.outcome != "passed":
        for row in {*rows_of(report.nodeid), "all"}:
            _outcomes.setdefault(row, []).append(report.outcome)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if RESULTS in os.environ and not hasattr(session.config, "workerinput"):
        Path(os.environ[RESULTS]).write_text(json.dumps(_outcomes))


# --- the runs, one after the other


def main(arguments: list[str]) -> int:
    columns: dict[str, Outcomes] = {}
    failed = False
    for who in ["root", "plain user"] if os.getuid() == 0 else ["plain user"]:
        for held in (True, False) if sandbox.available() else (False,):
            name = f"{who}, {'held' if held else 'not held'}"
            sys.stdout.write(f"--- {name}\n")
            sys.stdout.flush()
            columns[name], passed = _run(who, arguments or [*(TESTS if held else OF_COMMANDS)], held=held)
            failed = failed or not passed
    sys.stdout.write("\n".join([*_table(columns), ""]))
    return int(failed)


def _run(who: str, arguments: list[str], *, held: bool) -> tuple[Outcomes, bool]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir()
        results = Path(folder) / "results.json"
        environment = {**os.environ, RESULTS: str(results), WITHOUT_SANDBOX: "" if held else "1"}
        python, identity = sys.executable, {}
        if who == "plain user" and os.getuid() == 0:
            python = _for_anybody(Path(folder) / "environment")
            identity = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
            scratch = Path(folder) / "tmp"
            scratch.mkdir()
            environment |= {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
            environment |= {"TMPDIR": str(scratch), "HYPOTHESIS_STORAGE_DIRECTORY": str(scratch / "hypothesis")}
            for path in (Path(folder), home, scratch):
                os.chown(path, NOBODY, NOBODY)
        options = ("-q", "-n", "2", "--dist", "worksteal", "-p", "tests.adversarial.table", "-p", "no:cacheprovider")
        done = subprocess.run([python, "-m", "pytest", *options, *arguments], env=environment, check=False, **identity)
        found: Outcomes = json.loads(results.read_text()) if results.exists() else {}
        return found, done.returncode == 0


def _for_anybody(folder: Path) -> str:
    """An interpreter with the packages of this one that anybody may start: root's own may be where nobody else gets."""
    system = shutil.which("python3", path=os.defpath) or sys.executable
    subprocess.run([system, "-m", "venv", "--without-pip", folder], check=True)
    packages = [Path.cwd(), *(path for path in sys.path if path.endswith("site-packages"))]
    [own] = folder.glob("lib/python*/site-packages")
    (own / "odin.pth").write_text("\n".join(map(str, packages)))
    programs = folder / "bin"
    (programs / "rg").symlink_to(Path(sysconfig.get_path("scripts")) / "rg")
    script = programs / "odin-lsp"
    script.write_text(f"#!{programs}/python\nimport sys\nfrom odin_lsp.cli.main import main\nsys.exit(main())\n")
    script.chmod(0o755)
    wanted = ("async-timeout",)  # by redis, in versions of Python that are older than this one
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", own, *wanted], check=True)
    return str(programs / "python")


def _table(columns: Mapping[str, Outcomes]) -> Iterator[str]:
    yield "rows of the catalogue"
    yield f"{'':9} {' '.join(f'{name:22}' for name in columns)}"
    for area, count in ROWS.items():
        for row in (f"{area}-{number:02}" for number in range(1, count + 1)):
            if row in NOT_APPLICABLE and not any(row in outcomes for outcomes in columns.values()):
                yield f"{row:9} not applicable: {NOT_APPLICABLE[row]}"
            else:
                yield f"{row:9} {' '.join(f'{_said(outcomes.get(row, [])):22}' for outcomes in columns.values())}"
    for name, outcomes in columns.items():
        rows = {row: how for row, how in outcomes.items() if row != "all"}
        held = sum("failed" not in how for how in rows.values())
        tests = outcomes.get("all", [])
        yield f"{name}: {held} held of {len(rows)} tried, in {len(tests):,} tests, {tests.count('failed')} failed"


def _said(outcomes: list[str]) -> str:
    if not outcomes:
        return "not tried"
    failed = sum(outcome == "failed" for outcome in outcomes)
    return f"DID NOT HOLD ({failed}/{len(outcomes)})" if failed else f"held ({len(outcomes)})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
