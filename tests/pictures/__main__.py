"""Pictures and screens for the docs, taken from the real programs: all of them, or those of the editors named."""

import asyncio
import sys

from tests.pictures import neovim, plain, site, terminal, trust, vscode_chat, vscode_code, vscode_use

TAKEN = {
    "vscode": (vscode_chat.take, vscode_code.take, vscode_use.take),
    "neovim": (neovim.take,),
    "plain": (plain.take,),
    "terminal": (terminal.take,),
    "trust": (trust.take,),
    "site": (site.take,),
}


async def main() -> None:
    for name in sys.argv[1:] or TAKEN:
        for take in TAKEN[name]:
            await take()


if __name__ == "__main__":
    asyncio.run(main())
