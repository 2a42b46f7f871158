"""`odin-lsp acp`: Odin for editors that speak the Agent Client Protocol."""

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Namespace

ABOUT = "serve an editor that speaks the Agent Client Protocol (ACP), over stdin and stdout"


def run(options: "Namespace") -> int:
    from odin_lsp.acp.agent import Agent
    from odin_lsp.cli import door

    return door.run(partial(Agent, attaches=options.attaches), options.log_level)
