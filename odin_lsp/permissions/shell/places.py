"""Where the operands of a command lead: in the workspace, and no secret."""

import os
from collections.abc import Sequence
from pathlib import Path

from odin_lsp.config import FileRules
from odin_lsp.permissions.protected import protection
from odin_lsp.workspace.ignore import FILE_NAME, Ignore
from odin_lsp.workspace.roots import vouches
from odin_lsp.workspace.uris import printable


class Places:
    def __init__(self, roots: Sequence[Path], rules: FileRules) -> None:
        self.roots = tuple(root.resolve() for root in roots)
        self._rules = rules
        self._ignore = Ignore(self.roots, rules)

    def problem(self, name: str, cwd: Path, *, writing: bool = False) -> str:
        """Why a command may not touch this without a question; empty if it may."""
        if name == os.devnull:
            return ""
        if "\0" in name:
            return "a name with a NUL character"
        path = cwd / name
        real = Path(os.path.realpath(path))
        if self._ignore.hides(Path(os.path.normpath(path))) or self._ignore.hides(real):
            return f"{printable(name)} looks like a secret, or the settings hide it"
        if not self.inside(real):
            return f"{printable(name)} is outside of the workspace"
        try:
            if real.exists() and not (real.is_file() or real.is_dir()):
                return f"{printable(name)} is no regular file"
        except OSError as error:
            return f"{printable(name)} cannot be looked up: {error.strerror}"
        if writing and (reason := protection(real) or protection(real / "anything")):
            return f"{printable(name)} {reason}"
        return ""

    def inside(self, path: Path) -> bool:
        return any(path.is_relative_to(root) for root in self.roots if vouches(root))

    def hides_more(self, cwd: Path) -> bool:
        """The user has hidden files that a program which sweeps through folders would not spare."""
        above = [cwd, *cwd.parents]
        return bool(self._rules.deny) or any((folder / FILE_NAME).exists() for folder in (*self.roots, *above))
