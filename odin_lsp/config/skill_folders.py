"""Where skills may be, known without what reads them."""

from pathlib import Path

from odin_lsp.config.loading import FOLDER, user_file

SKILLS = "skills"
"""In Odin's own folder, of a project or of the user."""
SKILLS_OF_OTHERS = (".agents/skills", ".claude/skills")
"""Below a project, and below the user's home."""


def may_have_skills(root: Path | None) -> bool:
    bases = [(root, root / FOLDER)] if root else []
    folders = (
        folder
        for base, own in (*bases, (Path.home(), user_file().parent))
        for folder in (own / SKILLS, *(base / it for it in SKILLS_OF_OTHERS))
    )
    return any(map(Path.is_dir, folders))
