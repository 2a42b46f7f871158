"""Odin can be imported where only Windows' modules and names are there; `nox -s windows` runs more of the tests so."""

import subprocess
import sys
from pathlib import Path

IMPORTS = """
import importlib, pkgutil, sys
import tests.support.as_windows
import odin_lsp
for module in pkgutil.walk_packages(odin_lsp.__path__, "odin_lsp."):
    if module.name.removeprefix("odin_lsp.") not in ("__main__", "commands.supervisor", "commands.connect_broker"):
        importlib.import_module(module.name)
locks = sys.modules["odin_lsp.locks"]
print(len([it for it in sys.modules if it.startswith("odin_lsp.")]), locks.sys.platform, hasattr(locks, "fcntl"))
"""


def test_every_module_can_be_imported_without_what_windows_does_not_have():
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", IMPORTS], cwd=root, capture_output=True, text=True, timeout=120)

    assert done.returncode == 0, done.stderr
    count, platform, has_fcntl = done.stdout.split()
    assert int(count) > 400
    assert (platform, has_fcntl) == ("win32", "False")
