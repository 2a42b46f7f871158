"""Text reaches a device by few modules only, and each of them makes it fit to be shown."""

import ast
import re
from pathlib import Path

import pytest

import odin_lsp

ROOT = Path(odin_lsp.__file__).parent
BOUNDARIES = {
    "printing.py": "what commands print, and what people are told on stderr",
    "logs.py": "the log, whose formatter makes each line fit to be shown",
    "terminal/drawing.py": "what is drawn with rich",
    "terminal/output.py": "an answer that is piped on",
    "server/window.py": "what any editor shows in its own window",
    "server/tracing.py": "lines of the log, as the log's formatter makes them",
}
NO_TEXT = {
    "cli/main.py": "settles what the streams are, and writes nothing to them",
    "terminal/review.py": "gives the terminal to the person's own editor",
    "server/transport.py": "frames of a protocol",
    "commands/supervisor.py": "a process of its own, which Odin reads",
    "models/account/__main__.py": "a process of its own, which Odin reads",
    "formats/pdf.py": "a process of its own, which Odin reads",
    "web/page.py": "a process of its own, which Odin reads",
    "workspace/fallback_search.py": "a process of its own, which Odin reads",
}
STREAMS = {"stdout", "stderr", "__stdout__", "__stderr__"}
ASKED = {"isatty", "flush", "encoding", "errors"}
"""What a stream may be asked anywhere."""
WRITERS = {"print", "input", "StreamHandler", "print_exc", "print_exception", "showwarning"}
WINDOW = {
    *("ShowMessageParams", "ShowMessageRequestParams", "MessageActionItem", "LogMessageParams", "LogTraceParams"),
    *("WorkDoneProgressBegin", "WorkDoneProgressReport"),
    *("window_show_message", "window_show_message_request", "window_log_message", "log_trace"),
}
METHODS = {"window/showMessage", "window/showMessageRequest", "window/logMessage", "$/progress", "$/logTrace"}
NOTABLE = re.compile("|".join(map(re.escape, [*STREAMS, *WRITERS, *WINDOW, *METHODS, "os.write"])))
"""It takes long to parse all of Odin."""


def writes(tree):
    """Whatever could bring text to a device, with its line."""
    harmless = {id(it.value) for it in ast.walk(tree) if isinstance(it, ast.Attribute) and it.attr in ASKED}
    for it in ast.walk(tree):
        match it:
            case ast.Attribute(value=ast.Name("sys"), attr=name) if name in STREAMS and id(it) not in harmless:
                yield it.lineno, f"sys.{name}"
            case ast.ImportFrom(module="sys", names=names) if {it.name for it in names} & STREAMS:
                yield it.lineno, "from sys"
            case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name)) if name in WRITERS | WINDOW:
                yield it.lineno, name
            case ast.Call(func=ast.Attribute(ast.Name("os"), "write"), args=[ast.Constant(1 | 2), *_]):
                yield it.lineno, "os.write"
            case ast.Call(args=[ast.Constant(method), *_]) if method in METHODS:
                yield it.lineno, method


def test_nothing_is_written_past_the_boundary():
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in sorted(ROOT.rglob("*.py"))}
    found = {name: list(writes(ast.parse(text))) for name, text in texts.items() if NOTABLE.search(text)}
    allowed = BOUNDARIES | NO_TEXT

    assert {name: it for name, it in found.items() if it and name not in allowed} == {}
    assert {name for name in allowed if not found.get(name)} == set()


@pytest.mark.parametrize(
    "code",
    [
        "print(x)",
        "sys.stdout.write(x)",
        "sys.stderr.buffer.write(x)",
        "json.dump(x, sys.stdout)",
        "out = sys.__stderr__",
        "from sys import stderr",
        "os.write(2, x)",
        "input(x)",
        "logging.StreamHandler()",
        "types.ShowMessageParams(1, x)",
        "server.window_log_message(x)",
        "peer.notify('$/progress', x)",
    ],
)
def test_what_would_write_is_found(code):
    assert list(writes(ast.parse(code)))


def test_to_look_at_a_stream_is_not_to_write():
    assert not list(writes(ast.parse("sys.stdout.isatty(); sys.stdout.flush(); sys.stdout.encoding; os.write(fd, x)")))


def test_clients_of_acp_are_told_and_asked_in_one_place():
    """There, `Outgoing` makes it fit to be shown."""
    callers = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "acp").rglob("*.py")
        for it in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(it, ast.Attribute) and it.attr in ("notify", "ask") and ast.unparse(it.value).endswith("_peer")
    ]

    assert callers == ["acp/session.py"] * 2
