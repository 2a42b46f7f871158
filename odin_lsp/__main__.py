"""`python -m odin_lsp` is `odin-lsp`."""

import sys

from odin_lsp.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
