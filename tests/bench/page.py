"""docs/performance.md: what `nox -s bench` measures, and behind that a section for each bench that is run by itself."""

import re
from pathlib import Path

PAGE = Path("docs/performance.md")
_SECTION = re.compile(r"\n<!-- (\w+) -->\n(.*?)\n<!-- end of \1 -->\n", re.DOTALL)


def write_beginning(text: str) -> None:
    _write(text, _sections())


def write_section(name: str, text: str) -> None:
    """A new one comes last."""
    _write(_SECTION.sub("", PAGE.read_text(encoding="utf-8")), {**_sections(), name: text})


def _sections() -> dict[str, str]:
    return dict(_SECTION.findall(PAGE.read_text(encoding="utf-8")))


def _write(beginning: str, sections: dict[str, str]) -> None:
    written = (f"\n<!-- {name} -->\n{text}\n<!-- end of {name} -->\n" for name, text in sections.items())
    PAGE.write_text(f"{beginning.rstrip()}\n{''.join(written)}", encoding="utf-8")
