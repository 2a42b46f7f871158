"""`odin-lsp acp`: Odin for editors that speak the Agent Client Protocol."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from odin_lsp.logs import Level

ABOUT = "serve an editor that speaks the Agent Client Protocol (ACP), over stdin and stdout"


def run(log_level: "Level | None") -> int:
    from odin_lsp.acp.agent import Agent
    from odin_lsp.cli import door

    return door.run(Agent, log_level)
