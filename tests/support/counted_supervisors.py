"""Supervisors count for coverage, too: `-p tests.support.counted_supervisors`.

They start without site-packages and without an environment, which is where coverage begins in other processes."""

import os
from pathlib import Path

import coverage

from odin_lsp.commands import supervising

CONFIG = "COVERAGE_PROCESS_CONFIG"
BEGIN = """
import os, sys
os.environ[{name!r}] = {config!r}
sys.path.append({packages!r})
import coverage
coverage.process_startup()
"""

supervising.PROGRAM = (
    BEGIN.format(name=CONFIG, config=os.environ[CONFIG], packages=str(Path(coverage.__file__).parents[1]))
    + supervising.PROGRAM
)
