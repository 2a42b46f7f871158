"""Each session as a Markdown document that any editor can open."""

from pathlib import Path

from odin_lsp import private_files
from odin_lsp.sessions.export import transcript
from odin_lsp.sessions.listing import transcript_path
from odin_lsp.sessions.session import Session


def write_transcript(session: Session) -> Path:
    """Bring the document up to date; where it is."""
    path = transcript_path(session.log.path)
    private_files.write_file(path, [transcript(session).encode("utf-8", "replace")], durable=False)
    return path
