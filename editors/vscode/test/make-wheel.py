"""Write a wheel with a program `odin-lsp` that says its version: `make-wheel.py FOLDER VERSION [REQUIREMENT]`."""

import sys
import zipfile
from pathlib import Path

folder, version, *requirements = sys.argv[1:]
info = f"odin_lsp-{version}.dist-info"
Path(folder).mkdir(parents=True, exist_ok=True)
with zipfile.ZipFile(Path(folder) / f"odin_lsp-{version}-py3-none-any.whl", "w") as wheel:
    needs = "".join(f"Requires-Dist: {it}\n" for it in requirements)
    wheel.writestr("odin_small.py", f"def main():\n    print('{version}')\n")
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: odin-lsp\nVersion: {version}\n{needs}")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(f"{info}/entry_points.txt", "[console_scripts]\nodin-lsp = odin_small:main\n")
    wheel.writestr(f"{info}/RECORD", "")
