"""Each session as a Markdown document that any editor can open."""

import os
import time
from pathlib import Path

from odin_lsp.markdown import harmless
from odin_lsp.sessions.session import Session, TurnRecord

MODE_NAMES = {"ask_mode": "Ask", "plan_mode": "Plan", "edit_mode": "Edit"}


def write_transcript(session: Session) -> Path:
    """Bring the document up to date; where it is."""
    path = session.log.path.with_suffix(".md")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_suffix(".md.new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
        file.write(render(session))
    draft.replace(path)
    return path


def render(session: Session) -> str:
    """What models, pages and files said stands in it, and whoever opens it may have a preview: it must do nothing."""
    return "\n".join([f"# {harmless(session.title)}", "", *(_turn(turn) for turn in session.turns)])


def _turn(turn: TurnRecord) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(turn.timestamp))
    quoted = "\n".join(f"> {line}" for line in harmless(turn.body).splitlines())
    tools = harmless("".join(f"- {tool.name}: {tool.description}\n" for tool in turn.tool_history))
    ended = "" if turn.reason == "end_turn" else f"*{turn.reason.replace('_', ' ')}*\n\n"
    details = f"<details><summary>{len(turn.tool_history)} tools</summary>\n\n{tools}\n</details>\n\n" if tools else ""
    return f"## {MODE_NAMES[turn.mode]} · {when}\n\n{quoted}\n\n{details}{ended}{harmless(turn.answer_summary)}\n"
