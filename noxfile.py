"""What a change has to pass: `nox` runs what needs nothing but Python, `nox -s tests -- -k queue` a part of it. The
rest, `nox -s hostile thorough extension programs editors`, takes its time, or fetches Node's packages, programs of
Debian's, editors and a browser."""

import tempfile
from pathlib import Path

import nox

nox.needs_version = ">=2026.10"
nox.options.default_venv_backend = "virtualenv"

GROUPS = nox.project.load_toml("pyproject.toml")
ODIN = Path(".nox/odin/bin").absolute()
EDITOR_TESTS = sorted(map(str, Path("tests/editors").glob("test_*.py")))
EDITORS: dict[str, list[str]] = {"plain": [], "terminal": [], "vscode": [], "neovim": []}
"""In the order in which they begin: what ends last is to be short."""
for _file in EDITOR_TESTS:
    EDITORS[next((it for it in EDITORS if _file.startswith(f"tests/editors/test_{it}")), "plain")].append(_file)
AT_ONCE = ("-n", "4", "--dist", "worksteal")
"""Even on two cores: many tests wait for processes, and while they do another one can work."""
EDITORS_AT_ONCE = ("-n", "3", "--dist", "loadfile", "--no-loadscope-reorder")
"""The tests of a file share an editor, which is several processes itself."""
WITH_PROGRAMS = tuple(f"tests/adversarial/test_{name}.py" for name in ("options", "reader", "sandbox"))
UNIT = ("tests/unit", "tests/providers")
HOSTILE = ("tests/adversarial",)
WINDOWS = """
acp config connecting extensions formats hook_door ide intelligence library mcp_door models project review sessions
tools workspace server/test_rpc.py server/test_front_door.py server/test_event_sender.py
terminal/test_person.py
"""
"""The parts that need no more of the system than Windows has."""


@nox.session(reuse_venv=True)
def lint(session: nox.Session) -> None:
    """Style and format, by ruff; and what runs on GitHub, by zizmor."""
    session.install(*nox.project.dependency_groups(GROUPS, "lint", "workflows"))
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("zizmor", "--quiet", "--offline", "--strict-collection", ".github")


@nox.session(reuse_venv=True, default=False)
def odin(session: nox.Session) -> None:
    """Install Odin as its users do, and what the sessions below need: they share this environment, to be fast."""
    session.install(".[bedrock,images,mcp,pdf,redis]", *nox.project.dependency_groups(GROUPS, "types", "test", "docs"))


@nox.session(venv_backend="none", requires=["odin"])
def types(session: nox.Session) -> None:
    """Types, by pyright in its strict mode."""
    session.run(ODIN / "pyright", "--pythonpath", str(ODIN / "python"), external=True)


@nox.session(venv_backend="none", requires=["odin"])
def tests(session: nox.Session) -> None:
    """The parts, each through its own seam."""
    _pytest(session, *UNIT, "-m", "not thorough")


@nox.session(venv_backend="none", requires=["odin"], default=False)
def hostile(session: nox.Session) -> None:
    """What broken and hostile input does to them; in `.ci/run` a sample of it, and all of it in `adversarial`."""
    _pytest(session, *HOSTILE, "-m", "not thorough")


@nox.session(venv_backend="none", requires=["odin"], default=False)
def thorough(session: nox.Session) -> None:
    """The same for every byte of an answer, thousands of random cases, and what is very large."""
    _pytest(session, *UNIT, *HOSTILE, "tests/e2e", "-m", "thorough")


@nox.session(venv_backend="none", requires=["odin"], default=False)
def windows(session: nox.Session) -> None:
    """Types as they are on Windows and macOS; then the parts with what Windows does not have taken away from them."""
    for platform in ("Windows", "Darwin"):
        session.run(ODIN / "pyright", "--pythonpath", str(ODIN / "python"), "--pythonplatform", platform, external=True)
    parts = (f"tests/unit/{it}" for it in WINDOWS.split())
    single = map(str, Path("tests/unit").glob("test_*.py"))
    _pytest(session, "-p", "tests.support.as_windows", *parts, *single, "-m", "not thorough")


@nox.session(python=["3.11", "3.12", "3.13", "3.14"], reuse_venv=True, default=False)
@nox.parametrize("dependencies", ["lowest-direct", "highest"], ids=["lowest", "newest"])
def versions(session: nox.Session, dependencies: str) -> None:
    """The parts with each Python that is here, with the lowest versions of what Odin depends on, and with the newest:
    `nox -s "versions-3.13(lowest)" -- tests/unit/review` for some of it."""
    session.install("uv")
    install = ("uv", "pip", "install", "--quiet", "--python", f"{session.bin}/python")
    session.run_install(*install, "--resolution", dependencies, ".[bedrock,images,mcp,pdf,redis]")
    session.run_install(*install, *nox.project.dependency_groups(GROUPS, "types", "test"))
    parts = session.posargs or UNIT
    session.run("pytest", "-n", "3", "--dist", "worksteal", "-m", "not thorough", *parts)


@nox.session(venv_backend="none", requires=["odin"], default=False)
def coverage(session: nox.Session) -> None:
    """Which lines and branches of Odin a plain `nox` reaches, in processes that tests start as well."""
    session.run(ODIN / "coverage", "erase", external=True)
    chosen = ("-p", "tests.support.counted_supervisors", *AT_ONCE, "-m", "not thorough", *UNIT, "tests/e2e")
    session.run(ODIN / "coverage", "run", "-m", "pytest", *chosen, *session.posargs, external=True)
    session.run(ODIN / "coverage", "combine", "--quiet", external=True)
    session.run(ODIN / "coverage", "report", external=True)


@nox.session(venv_backend="none", requires=["odin"], default=False)
def debug(session: nox.Session) -> None:
    """The parts with asyncio in its debug mode: it notices what is called from another thread, or never awaited."""
    session.env["PYTHONASYNCIODEBUG"] = "1"
    _pytest(session, "tests/unit", "-m", "not thorough")


@nox.session(venv_backend="none", requires=["odin"])
def e2e(session: nox.Session) -> None:
    """The whole: a real server, spoken to as an editor does."""
    _pytest(session, "tests/e2e", "-m", "not thorough")


@nox.session(venv_backend="none", requires=["odin"], default=False)
def programs(session: nox.Session) -> None:
    """What needs programs that are not on every machine, and are fetched: luacheck, bubblewrap, tree, jq and others."""
    lua = ("--config", "editors/neovim/.luacheckrc", "--quiet", "editors/neovim")
    session.run(ODIN / "python", "-m", "tests.editors.debian", "luacheck", *lua, external=True)
    session.env["FETCH_PROGRAMS"] = "1"
    _pytest(session, *WITH_PROGRAMS)


@nox.session(venv_backend="none", default=False)
def extension(session: nox.Session) -> None:
    """The extension of VS Code by itself: its style, its types, its parts and its page, and how large it gets."""
    with session.chdir("editors/vscode"):
        quietly = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
        session.run("npm", "install", "--no-save", *quietly, external=True)
        session.run("npm", "run", "check", external=True)
        session.run("npm", "test", external=True)


@nox.session(venv_backend="none", requires=["odin"], default=False)
def editors(session: nox.Session) -> None:
    """Odin in real editors, which are fetched if they are not here: all of them, or those named: `-- neovim`."""
    chosen = [name for name in EDITORS if name in session.posargs] or list(EDITORS)
    files = [file for name in chosen for file in EDITORS[name]]
    rest = [argument for argument in session.posargs if argument not in EDITORS]
    sources = {"debian": EDITORS, "code_server": ("vscode",), "agents": ("plain",)}
    for source in (name for name, editors in sources.items() if set(editors) & set(chosen)):
        session.run(ODIN / "python", "-m", f"tests.editors.{source}", external=True)
    session.env["PYTHONDONTWRITEBYTECODE"] = ""
    session.run(ODIN / "pytest", *EDITORS_AT_ONCE, *files, *rest, external=True)


@nox.session(venv_backend="none", requires=["odin"], default=False)
def pictures(session: nox.Session) -> None:
    """Take the pictures and screens of the docs anew, from the real programs: all, or those named: `-- vscode`."""
    session.run(ODIN / "python", "-m", "tests.pictures", *session.posargs, external=True)


@nox.session(venv_backend="none", requires=["odin"], default=False)
def adversarial(session: nox.Session) -> None:
    """What hostile repositories, pages and models can do, as a table of what was tried and what held: with the system's
    hand and without it, as root and as a plain user."""
    session.run(ODIN / "python", "-m", "tests.adversarial.table", *session.posargs, external=True)


@nox.session(venv_backend="none", requires=["odin"], default=False)
def fuzz(session: nox.Session) -> None:
    """Every property that the tests state, with 10,000 examples; and 100,000 commands for the shell policy."""
    session.run(ODIN / "python", "-m", "tests.adversarial.shell_fuzz", external=True)
    session.env["FUZZ_EXAMPLES"] = "10000"
    session.env["PYTEST_TIMEOUT"] = "0"
    _pytest(session, *UNIT, *HOSTILE, "-m", "hypothesis")


@nox.session(venv_backend="none", requires=["odin"], default=False)
def mutants(session: nox.Session) -> None:
    """Whether the tests notice when the code changes: 300 small changes, drawn by a seed: `-- --count 100 --seed 2`."""
    session.run(ODIN / "python", "-m", "tests.mutants", *session.posargs, external=True)


@nox.session(venv_backend="none", requires=["odin"], default=False)
def defects(session: nox.Session) -> None:
    """Whether the tests notice if something that was once wrong is wrong again: all of it, or some: `-- cache turn`."""
    session.run(ODIN / "python", "-m", "tests.defects", *session.posargs, external=True)


@nox.session(venv_backend="none", requires=["odin"], default=False)
def capabilities(session: nox.Session) -> None:
    """Whether Odin does what it was asked for: the rows of `tests/capabilities.txt` with their tests and what came of
    each; all of them, or those of some names and kinds: `-- C-036 P`."""
    session.run(ODIN / "python", "-m", "tests.capabilities", *session.posargs, external=True)


@nox.session(venv_backend="none", requires=["odin"])
def docs(session: nox.Session) -> None:
    """The documentation matches the code and its links hold; `-- --write` brings it up to date."""
    write = "--write" in session.posargs
    session.run(ODIN / "python", "docs/generate.py", *([] if write else ["--check"]), external=True)
    with tempfile.TemporaryDirectory() as site:
        session.run(
            *(ODIN / "mkdocs", "build", "--quiet", "--strict"),
            *("--config-file", "docs/site/mkdocs.yml", "--site-dir", site),
            env={"NO_MKDOCS_2_WARNING": "1"},
            external=True,
        )


@nox.session(venv_backend="none", default=False)
def documented(session: nox.Session) -> None:
    """Run every command that README and the docs show, from an empty folder on a fresh clone."""
    session.run("python3", "-m", "tests.documented", external=True)


@nox.session(reuse_venv=True, requires=["odin"], default=False)
def release(session: nox.Session) -> None:
    """Build what is committed into `dist`: sdist, wheel, vsix and the plugin of Neovim, twice the same; check what is
    in them, install each where nothing is, and have it answer. The folder can be named: `-- /tmp/odin`."""
    session.install(*nox.project.dependency_groups(GROUPS, "release"))
    session.run(ODIN / "python", "-m", "tests.release", session.bin, *session.posargs, external=True)


@nox.session(venv_backend="none", requires=["odin"], default=False)
def bench(session: nox.Session) -> None:
    """Measure what docs/performance.md says, write it there, and hold it against the budget."""
    for module in ("tests.bench", "tests.bench.loop"):
        session.run(ODIN / "python", "-m", module, external=True)
    session.run(ODIN / "pytest", "tests/bench", *session.posargs, external=True)  # one after the other: they measure


@nox.session(venv_backend="none", requires=["odin"], default=False)
def peers(session: nox.Session) -> None:
    """Measure other agents beside Odin, fetched from npm, and write what comes of it to docs/performance.md: all of
    them, or those named: `-- odin claude`."""
    session.run(ODIN / "python", "-m", "tests.bench.peers", *session.posargs, external=True)


@nox.session(venv_backend="none", requires=["odin"], default=False)
def faults(session: nox.Session) -> None:
    """A fault at the file operations of a whole turn, one by one: all of them, or some: `-- -k once`."""
    session.env["PYTEST_TIMEOUT"] = "0"
    _pytest(session, "tests/faults")


@nox.session(venv_backend="none", requires=["odin"], default=False)
def soak(session: nox.Session) -> None:
    """A day with all that may happen on one, in five minutes or as many as are named: `-- 60 --seed 7`.
    Or work without a pause, of which nothing may stay: `-- messages 10000`, `-- sessions 1000` each in its own."""
    is_work = session.posargs[:1] in (["messages"], ["sessions"])
    module = "tests.bench.soak" if is_work else "tests.soak"
    session.run(ODIN / "python", "-m", module, *session.posargs, external=True)


def _pytest(session: nox.Session, *folders: str) -> None:
    """Processes start faster if Python may keep what it has compiled."""
    session.env["PYTHONDONTWRITEBYTECODE"] = ""
    session.run(ODIN / "pytest", *AT_ONCE, *folders, *session.posargs, external=True)
