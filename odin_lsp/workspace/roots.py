"""The workspace folders: what they are called among each other, and whether being in one says something of a file."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from odin_lsp.errors import ToolError
from odin_lsp.workspace.name_list import FileNames
from odin_lsp.workspace.uris import is_relative, printable


def labels(roots: Sequence[Path]) -> dict[str, Path]:
    """What tells the folders apart: nothing if there is only one, else the ends of their paths, each as long. One whose
    path is no longer than that has none: it is called by all of it."""
    if len(roots) < 2:
        return dict(zip([""], roots, strict=False))
    words = 1
    while len({root.parts[-words:] for root in roots}) < len(roots):
        words += 1
    return {"/".join(root.parts[-words:]): root for root in roots if len(root.parts) > words}


def outermost(roots: Sequence[Path]) -> list[Path]:
    """Without those that lie in others."""
    return [root for root in roots if not any(root != it and root.is_relative_to(it) for it in roots)]


def vouches(root: Path) -> bool:
    """Whether being in this folder says something about a file: in the user's home, or above it, everything is."""
    home = Path.home().resolve()
    return root != home and root not in home.parents


def in_full(labels: Mapping[str, Path], name: str, is_there: Callable[[Path], bool]) -> str:
    """A relative name: below the folder whose label it begins with, or below the only one that has its beginning."""
    for label, root in labels.items():
        if not label:
            return f"{root}/{name}"
        if name == label or name.startswith(f"{label}/"):
            return f"{root}{name[len(label) :]}"
    first = PurePosixPath(name).parts[:1]
    having = {label: root for label, root in labels.items() if first and is_there(root / first[0])}
    if len(having) == 1:
        return f"{next(iter(having.values()))}/{name}"
    meant = " or ".join(printable(f"{label}/{name}") for label in having or labels)
    raise ToolError(f"{printable(name)} could be in more than one workspace folder; name {meant}")


def shown_in(labels: Mapping[str, Path], path: Path) -> str:
    for label, root in labels.items():
        if path.is_relative_to(root):
            name = str(PurePosixPath(label, path.relative_to(root).as_posix()))
            return printable(name if is_relative(name) else f"./{name}")
    return printable(str(path))


def shown_below(labels: Mapping[str, Path], found: FileNames) -> Iterator[str]:
    for label, root in labels.items():
        if found.folder.is_relative_to(root):
            start = PurePosixPath(label, found.folder.relative_to(root).as_posix()).as_posix()
            names = found.names if start == "." else (f"{start}/{name}" for name in found.names)
            return (printable(name if is_relative(name) else f"./{name}") for name in names)
    return map(printable, found.paths())
