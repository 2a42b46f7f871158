"""What programs make of their options, asked of the programs themselves."""

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

PROBE = "--odin-probe"
"""No program knows it: it is refused where an option is read, and taken where a value is."""
STRAY = "%"
"""No program has this letter."""
REFUSED = (
    r"(?i:unrecogni[sz]ed|unknown|invalid|illegal) (option|argument|flag|switch|predicate):?( --)? [-`'\"]*{}(?![\w-])"
    r"(?!['\"`]* (for|to) )"  # an argument that is refused for an option is its value
)
REFUSED_AS_A_VALUE = re.compile(rf"{PROBE}['\"`]* (for|to) ")
REFUSED_BY_BASH = r": {}: invalid option"
MISSING = re.compile(r"((requires|needs) an?|missing|takes (one|two)) (argument|value|parameter)", re.IGNORECASE)
PATIENCE = 60


def takes_next_word(argv_prefix: Sequence[str], option: str, cwd: Path) -> bool:
    """Whether the word behind the option is its value, whatever it looks like."""
    said = _said([*argv_prefix, option, PROBE], cwd)
    if _refuses(said, PROBE) or _refuses(said, option):
        return False
    alone = _said([*argv_prefix, option], cwd)
    assert REFUSED_AS_A_VALUE.search(said) or MISSING.search(alone), f"{option}: {said!r}, alone {alone!r}"
    return True


def knows(argv_prefix: Sequence[str], option: str, cwd: Path) -> bool:
    """Whether there is such an option, be it with a value or without."""
    return not _refuses(_said([*argv_prefix, option, PROBE], cwd), option)


def letters_go_on(argv_prefix: Sequence[str], option: str, cwd: Path) -> bool:
    """Whether what is written behind a letter in one word is more letters, and not its value."""
    said = _said([*argv_prefix, option + STRAY, "1"], cwd)
    return _refuses(said, STRAY) or _refuses(said, option + STRAY)


def _refuses(said: str, option: str) -> bool:
    shown = "--" if option.startswith("--") else f"-{option.lstrip('-')}"
    return bool(
        re.search(REFUSED.format(re.escape(option.lstrip("-"))), said)
        or re.search(REFUSED_BY_BASH.format(re.escape(shown)), said)
    )


def _said(argv: Sequence[str], cwd: Path) -> str:
    done = subprocess.run(
        argv,
        cwd=cwd,
        env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.stderr.decode("utf-8", "replace")
