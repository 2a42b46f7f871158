"""`odin-lsp neovim`: where the plugin for Neovim is that comes with this server."""

from pathlib import Path

from odin_lsp.printing import print_exactly

ABOUT = "print the folder of the Neovim plugin that comes with this server"
INSTALL = (
    "to install it: mkdir -p ~/.local/share/nvim/site/pack/odin/start && "
    'ln -sfn "$(odin-lsp neovim)" ~/.local/share/nvim/site/pack/odin/start/odin'
)


def run() -> int:
    print_exactly(f"{plugin()}\n")
    return 0


def plugin() -> Path:
    """In a wheel it is part of the package, in a clone beside it."""
    package = Path(__file__).resolve().parents[1]
    wheel, clone = (it / "editors" / "neovim" for it in (package, package.parent))
    return wheel if wheel.is_dir() else clone
