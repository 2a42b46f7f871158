"""Make a Python that an operating system manages, from this one: `make-python.py FOLDER [MODULE THAT IT LACKS]…`."""

import os
import shutil
import sys
import sysconfig
from pathlib import Path

import pip

folder, *lacking = sys.argv[1:]
modules = Path(sysconfig.get_path("stdlib"))
programs, lib = Path(folder) / "bin", Path(folder) / "lib" / modules.name
programs.mkdir(parents=True)
lib.mkdir(parents=True)
shutil.copy2(os.path.realpath(sys.executable), programs / "python3")
for module in (*modules.iterdir(), Path(pip.__file__).parent):
    if module.name not in ("site-packages", "EXTERNALLY-MANAGED", *lacking):
        (lib / module.name).symlink_to(module)
for library in modules.parent.glob("libpython*"):
    (lib.parent / library.name).symlink_to(library)
(lib / "EXTERNALLY-MANAGED").write_text("[externally-managed]\nError=Use its own packages.\n")
