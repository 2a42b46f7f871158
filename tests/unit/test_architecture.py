"""The layers, as a test: a module imports only from the rows above its own."""

import ast
import sys
from pathlib import Path
from subprocess import run

import pytest

import odin_lsp
from odin_lsp import library

ROOT = Path(odin_lsp.__file__).parent
VALUES = {
    "brought",
    "named_files",
    "errors",
    "values",
    "modes",
    "patterns",
    "messages",
    "records",
    "events",
    "reply_events",
    "session_events",
    "server_states",
    "ports",
    "config",
}
VALUES |= {"markdown", "redaction", "folders", "frames", "garbage", "json_rpc", "locks", "logs", "private_files"}
VALUES |= {"command_mark", "display", "foreign_data", "loop_share", "loop_watch", "printing", "waiting_calls"}
VALUES |= {"reading", "scratch", "state_folder", "system", "tasks"}
"""And what everything needs of the system."""
MAY_IMPORT = {
    **dict.fromkeys(VALUES, VALUES),
    "formats": VALUES,
    "workspace": VALUES,
    "models": VALUES,
    "sessions": VALUES,
    "extensions": VALUES | {"workspace", "web"},
    "permissions": VALUES | {"workspace", "extensions"},
    "review": VALUES | {"workspace"},
    "intelligence": VALUES | {"workspace"},
    "web": VALUES,
    "commands": VALUES | {"workspace", "permissions"},
    "language_servers": VALUES | {"workspace", "intelligence", "permissions", "commands"},
    "mcp": VALUES | {"workspace", "extensions", "permissions", "commands", "web"},
    "project": VALUES | {"workspace", "models", "permissions", "extensions"},
    "tools": VALUES
    | {
        "formats",
        "workspace",
        "intelligence",
        "extensions",
        "sessions",
        "review",
        "permissions",
        "commands",
        "web",
        "mcp",
    },
    "agent": VALUES
    | {
        "formats",
        "workspace",
        "intelligence",
        "language_servers",
        "mcp",
        "extensions",
        "models",
        "sessions",
        "review",
        "permissions",
        "commands",
        "web",
        "project",
        "tools",
    },
}
MAY_IMPORT["host"] = VALUES
MAY_IMPORT["connecting"] = VALUES | {"workspace"}
MAY_IMPORT["library"] = MAY_IMPORT["agent"] | {"agent"}
MAY_IMPORT["ide"] = MAY_IMPORT["library"]
MAY_IMPORT["server"] = MAY_IMPORT["library"] | {"host", "library", "ide"}
MAY_IMPORT["terminal"] = VALUES | {"workspace", "host", "library"}
"""What it does, programs of others can do too."""
MAY_IMPORT["agent_door"] = VALUES | {"workspace", "host", "project", "agent", "library"}
MAY_IMPORT["mcp_door"] = VALUES | {"tools", "agent", "agent_door"}
MAY_IMPORT["hook_door"] = VALUES | {"workspace", "agent_door"}
MAY_IMPORT["acp"] = VALUES | {"workspace", "host", "models", "extensions", "library"}
EVERYTHING = {"cli", "__main__", "__init__"}
"""The ways in."""
ONLY_IN = {
    "pygls": "server/",
    "lsprotocol": "server/",
    "rich": "terminal/drawing.py",
    "prompt_toolkit": "terminal/line_editor.py",
    "acp": (),  # the SDK is the other side in tests
    "openai": (),
    "anthropic": ("models/platforms/", "models/account/"),
    "google": ("models/platforms/", "models/account/"),
    "boto3": "models/platforms/bedrock.py",
    "botocore": "models/platforms/bedrock.py",
    "justhtml": "web/page.py",
    "redis": "sessions/publish.py",
    "mcp": "mcp/",
    "mcp_types": "mcp/",
    "PIL": "formats/images.py",
    "websockets": "ide/claude.py",
    "pypdf": "formats/pdf.py",
}
MOST_LINES = 400
MODULES = sorted(ROOT.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_point_upwards(path):
    here = path.relative_to(ROOT).as_posix()
    part = here.split("/")[0].removesuffix(".py")
    assert part in MAY_IMPORT or part in EVERYTHING, f"{here} belongs to no row"
    for name in imports(path):
        top, *rest = name.split(".")
        if top == "odin_lsp" and rest and rest[0] != part and part not in EVERYTHING:
            assert rest[0] in MAY_IMPORT[part], f"{here} imports {name}"
        if top in ONLY_IN:
            assert here.startswith(ONLY_IN[top]), f"{here} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_module_can_be_read_in_one_go(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def test_importing_odin_imports_nothing():
    found = "print([it for it in sys.modules if it.startswith('odin_lsp.')])"
    code = f"import odin_lsp, sys; {found}; odin_lsp.Mode; {found}"

    before, after = run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.splitlines()

    assert before == "[]"
    assert "odin_lsp.library" in after


def test_what_odin_offers_is_the_library():
    assert sorted(odin_lsp.__all__) == sorted([*library.__all__, "__version__"])
    assert all(getattr(odin_lsp, name) is getattr(library, name) for name in library.__all__)
    assert not hasattr(odin_lsp, "Core")


def imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names] if node.module == "odin_lsp" else [""]
            yield from (f"{node.module or ''}.{name}".strip(".") for name in names if name != "__version__")
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
