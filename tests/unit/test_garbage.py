"""What imports leave behind is gone when they are done."""

import subprocess
import sys

SCRIPT = """
import gc
from odin_lsp import garbage

garbage.look_seldom()
import odin_lsp.server.server
there = len(gc.get_objects())
gc.collect()
print(there / len(gc.get_objects()))
"""


def test_hardly_anything_that_nobody_needs_is_there_after_a_start():
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, check=True, text=True)

    assert 1 <= float(run.stdout) < 1.25
