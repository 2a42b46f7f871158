"""Three pieces of work, each with the folder it is done in and the script of a model that does it."""

import re
import shlex
import subprocess
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.playing import Call, Result, Script, Seen, Step

TESTS = "python3 -m unittest -q"
FILLED = 24
"""Functions that a module has besides those that matter."""
USERS = 22
MODULES = 28
WINDOW = 40_000
FACT = "QUOTA_SECONDS = 1847"
BACK = 9
"""So many modules ago the model has read what the next one needs."""


@dataclass(frozen=True)
class Task:
    name: str
    what: str
    verb: str
    text: str
    make: Callable[[Path], None]
    script: Callable[[Path], Script]
    is_done: Callable[[Path, str], bool]
    """By the folder and the answer."""
    max_context: int = 0


def module(name: str, *parts: str, filled: int = FILLED) -> str:
    """The parts, with other functions before, between and behind them."""
    each = filled // (len(parts) + 1)
    fillers = [_filler(name, number) for number in range(filled)]
    texts = [f'"""What {name} is for."""\n']
    for number, part in enumerate(parts):
        texts += [*fillers[number * each : (number + 1) * each], part]
    return "\n\n".join([*texts, *fillers[len(parts) * each :]])


def _filler(name: str, number: int) -> str:
    return (
        f"def {name}_part_{number}(value: int, factor: int = {number}) -> int:\n"
        f'    """Part {number} of what {name} does with a value."""\n'
        f"    if value < {number * 7}:\n"
        f"        return value * factor\n"
        f"    return value - {number * 3}\n"
    )


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def called(name: str, **arguments: Any) -> Call:
    return Call(name, arguments)


def grep(pattern: str, **arguments: Any) -> Call:
    return called("Grep", pattern=pattern, output_mode="content", **arguments)


def edit(path: Path, old: str, new: str, **arguments: Any) -> Call:
    return called("EditTool", file_path=str(path), old_string=old, new_string=new, **arguments)


def read(path: Path, **arguments: Any) -> Call:
    return called("Read", file_path=str(path), **arguments)


def insisting(calls: Sequence[Call], text: str = "") -> Generator[Step, Seen, Seen]:
    """What is refused because the file was not seen is read and made again."""
    seen = yield Step(calls, text)
    refused = [call for call, result in zip(calls, seen.results, strict=True) if _is_unseen(result)]
    if refused:
        yield Step([read(Path(path)) for path in dict.fromkeys(it.arguments["file_path"] for it in refused)])
        seen = yield Step(refused)
    return seen


def _is_unseen(result: Result) -> bool:
    return result.failed and re.search(r"\bread\b", result.text, re.IGNORECASE) is not None


# A feature

CART = """
class Cart:
    def __init__(self) -> None:
        self.lines: list[tuple[str, int, int]] = []

    def add(self, name: str, price: int, count: int = 1) -> None:
        self.lines.append((name, price, count))

    def total(self) -> int:
        return sum(line_total(price, count) for _, price, count in self.lines)
"""
PRICES = '''
def line_total(price: int, count: int) -> int:
    """In cents."""
    return price * count
'''
REPORT = """
def receipt(cart: Cart) -> str:
    rows = [f"{count} x {name}: {line_total(price, count)}" for name, price, count in cart.lines]
    return "\\n".join([*rows, f"total: {cart.total()}"])
"""
SHOP_TESTS = """import unittest

from shop.cart import Cart
from shop.report import receipt


class CartTests(unittest.TestCase):
    def test_total(self):
        cart = Cart()
        cart.add("tea", 250, 2)
        self.assertEqual(cart.total(), 500)

    def test_receipt(self):
        cart = Cart()
        cart.add("tea", 250, 2)
        self.assertEqual(receipt(cart), "2 x tea: 500\\ntotal: 500")
"""
NEW_TEST = """
    def test_discount(self):
        cart = Cart(discount=15)
        cart.add("tea", 333, 1)
        self.assertEqual(cart.total(), 283)
        self.assertIn("discount: 15 %", receipt(cart))
"""
DISCOUNTS = '''"""What is taken off."""


def reduced(cents: int, percent: int) -> int:
    """In the customer's favor."""
    return {}
'''
ROUNDED_UP, ROUNDED_DOWN = "-(-cents * (100 - percent) // 100)", "cents * (100 - percent) // 100"
LONG = 90
"""Functions in a file that nobody reads as a whole."""


def make_shop(root: Path) -> None:
    write(
        root,
        {
            ".gitignore": "__pycache__/\n",
            "README.md": f"# Shop\n\nCarts, prices and receipts, in cents. Run the tests with `{TESTS}`.\n",
            "shop/__init__.py": "",
            "shop/prices.py": module("prices", PRICES),
            "shop/cart.py": "from shop.prices import line_total\n\n" + module("cart", CART, filled=LONG),
            "shop/report.py": "from shop.cart import Cart\nfrom shop.prices import line_total\n\n"
            + module("report", REPORT),
            **{f"shop/{name}.py": module(name) for name in ("orders", "stock", "taxes", "users")},
            "tests/__init__.py": "",
            "tests/test_cart.py": SHOP_TESTS,
        },
    )


def add_a_discount(root: Path) -> Script:
    seen = yield Step([called("Glob", pattern="**/*.py"), grep("class Cart|total\\("), read(root / "README.md")])
    place = seen.place(root)
    cart, report, tests = place / "shop/cart.py", place / "shop/report.py", place / "tests/test_cart.py"
    found = re.search(r"(\d+):class Cart\b", seen.results[1].text)
    line = int(found[1]) if found else 1
    parts = [read(cart, limit=8), read(cart, offset=line - 3, limit=len(CART.splitlines()) + 6)]
    yield Step([*parts, read(report), read(tests)])
    edits = [
        _todos("in_progress", "pending", "pending"),
        called("WriteFile", file_path=str(place / "shop/discounts.py"), content=DISCOUNTS.format(ROUNDED_UP)),
        called(
            "MultiEditTool",
            file_path=str(cart),
            edits=[
                _replacing("from shop.prices", "from shop.discounts import reduced\nfrom shop.prices"),
                _replacing("self) -> None:\n", "self, discount: int = 0) -> None:\n        self.discount = discount\n"),
                _replacing("return sum(", "cents = sum("),
                _replacing("in self.lines)", "in self.lines)\n        return reduced(cents, self.discount)"),
            ],
        ),
        edit(
            report,
            '    return "\\n".join([*rows, f"total: {cart.total()}"])',
            '    less = [f"discount: {cart.discount} %"] if cart.discount else []\n'
            '    return "\\n".join([*rows, *less, f"total: {cart.total()}"])',
        ),
        grep("discount", glob="*.py"),
    ]
    seen = yield from insisting(edits, "The discount belongs to the cart, its arithmetic to a module of its own.")
    if "self.discount = discount" not in seen.results[-1].text:
        yield Step([grep("discount", glob="*.py")])
    last = SHOP_TESTS.splitlines()[-1]
    run = called("ExecuteCommand", command=TESTS, description="Run the tests")
    new_test = edit(tests, last, f"{last}\n{NEW_TEST.rstrip()}")
    seen = yield from insisting([new_test, _todos("completed", "completed", "in_progress"), run])
    if "FAILED" in seen.results[-1].text:
        mended = edit(place / "shop/discounts.py", ROUNDED_UP, ROUNDED_DOWN)
        yield from insisting([mended, run], "It has to be rounded down.")
    yield Step([_todos("completed", "completed", "completed")])
    return "Carts have a discount now, and receipts show it; a test covers both."


def _replacing(old: str, new: str) -> dict[str, str]:
    return {"old_string": old, "new_string": new}


def _todos(*states: str) -> Call:
    what = ("Compute the discount", "Show it on the receipt", "Test it")
    todos = [
        {"id": f"{number}", "content": it, "status": state}
        for number, (it, state) in enumerate(zip(what, states, strict=True))
    ]
    return called("TodoWrite", todos=todos)


def has_a_discount(root: Path, _answer: str) -> bool:
    return subprocess.run(shlex.split(TESTS), cwd=root, capture_output=True, check=False).returncode == 0 and (
        ROUNDED_DOWN in (root / "shop/discounts.py").read_text(encoding="utf-8")
    )


# A rename


def make_records(root: Path) -> None:
    source = 'class FetchError(Exception):\n    """No such record."""\n\n\n'
    source += "def fetch_record(key: int) -> int:\n    if key < 0:\n        raise FetchError(key)\n    return key * 2\n"
    users = {
        f"records/use_{number:02}.py": "from records.source import FetchError, fetch_record\n\n"
        + module(
            f"use_{number:02}",
            f"def first_{number}(key: int) -> int:\n    return fetch_record(key) + fetch_record(key + {number})\n",
            f"def second_{number}(key: int) -> int:\n    try:\n        return fetch_record(key)\n"
            f"    except FetchError:\n        return {number}\n",
            f"def third_{number}(keys: list[int]) -> list[int]:\n    return [fetch_record(it) for it in keys]\n",
        )
        for number in range(USERS)
    }
    tests = "import unittest\n\nfrom records import use_00, use_21\n\n\nclass Tests(unittest.TestCase):\n"
    tests += "    def test_first(self):\n        self.assertEqual(use_00.first_0(2), 8)\n\n"
    tests += "    def test_second(self):\n        self.assertEqual(use_21.second_21(-1), 21)\n"
    write(
        root,
        {
            ".gitignore": "__pycache__/\n",
            "README.md": "# Records\n\n`fetch_record` gets one, or raises `FetchError`.\n",
            "records/__init__.py": "",
            "records/source.py": source,
            **users,
            "tests/__init__.py": "",
            "tests/test_use.py": tests,
        },
    )


RENAMED = {"fetch_record": "load_record", "FetchError": "LoadError"}


def rename(root: Path) -> Script:
    seen = yield Step([grep("fetch_record|FetchError", **{"-C": 2})])
    place = seen.place(root)
    names = sorted({str(it.relative_to(root)) for it in root.rglob("*") if it.suffix in (".py", ".md")})
    names = [it for it in names if "fetch_record" in (root / it).read_text(encoding="utf-8")]
    if "ReplaceInFiles" in seen.tools:
        how = {"glob": "**/*", "whole_word": True}
        yield Step([called("ReplaceInFiles", pattern=old, replacement=new, **how) for old, new in RENAMED.items()])
    else:
        edits = [{"old_string": old, "new_string": new, "replace_all": True} for old, new in RENAMED.items()]
        calls = [called("MultiEditTool", file_path=str(place / it), edits=edits) for it in names]
        for first in range(0, len(calls), 6):
            yield from insisting(calls[first : first + 6])
    run = called("ExecuteCommand", command=TESTS, description="Run the tests")
    yield Step([grep("fetch_record|FetchError"), grep("load_record|LoadError", head_limit=30), run])
    return "`fetch_record` is `load_record` now, and `FetchError` is `LoadError`; the tests pass."


def is_renamed(root: Path, _answer: str) -> bool:
    texts = [it.read_text(encoding="utf-8") for it in root.rglob("*.*") if it.suffix in (".py", ".md")]
    left = any(old in text for text in texts for old in RENAMED)
    return not left and sum("load_record" in it for it in texts) == USERS + 2


# Research on a small window


def make_service(root: Path) -> None:
    files = {"service/limits.py": module("limits", f"{FACT}\n", "LATEST_HOUR = 23\n")}
    for number in range(MODULES):
        before = f"stage_{(number - BACK) % MODULES:02}"
        files[f"service/stage_{number:02}.py"] = module(
            f"stage_{number:02}",
            f"CEILING_{_letters(number)} = {1000 + number * 37}\n",
            f"def run_{number:02}(value: int) -> int:\n"
            f"    return min(value, CEILING_{_letters(number)}) + {before}.run_{(number - BACK) % MODULES:02}(value)\n",
        )
    write(root, files)


def research(root: Path) -> Script:
    seen = yield Step([called("Glob", pattern="**/*.py")])
    service = seen.place(root) / "service"
    yield Step([grep("^def run_")])
    yield Step([read(service / "limits.py")])
    said = f"`service/limits.py`: {FACT}. That is the limit asked for; now each stage."
    for number in range(MODULES):
        seen = yield Step([grep(f"run_{number:02}\\(", **{"-C": 3})], said)
        needed = f"CEILING_{_letters(number - BACK)} = {1000 + (number - BACK) * 37}"
        if number >= BACK and not seen.knows(needed):
            yield Step([grep(f"CEILING_{_letters(number - BACK)} = ")])
        yield Step([read(service / f"stage_{number:02}.py")])
        said = f"Stage {number} takes part."
    seen = yield Step([called("Glob", pattern="**/*.md")])
    if not seen.knows(FACT):
        return "I do not know any more."
    return f"All stages together have {FACT}."


def plan_and_edit(root: Path) -> Script:
    """Two turns: the plan ends the first."""
    seen = yield Step([called("Glob", pattern="**/*.py")])
    service = seen.place(root) / "service"
    for number in range(10):
        yield Step([read(service / f"stage_{number:02}.py")])
    yield Step([], "# Raise the ceilings\n\n## Steps\n\n- [ ] Raise each by one.\n")
    return "Nothing has to be changed."


def _letters(number: int) -> str:
    return chr(ord("A") + number // 26) + chr(ord("A") + number % 26)


TASKS = (
    Task(
        "feature",
        "a feature in three files, with a test",
        "edit",
        "Let a cart have a discount in percent, and show it on the receipt. Add a test.",
        make_shop,
        add_a_discount,
        has_a_discount,
    ),
    Task(
        "rename",
        f"a rename over {USERS + 2} files",
        "edit",
        "Rename fetch_record to load_record, and FetchError to LoadError, everywhere.",
        make_records,
        rename,
        is_renamed,
    ),
    Task(
        "research",
        f"research in 60 steps on a window of {WINDOW:,} tokens",
        "ask",
        "How long may a request take in all its stages together? Look at every stage.",
        make_service,
        research,
        lambda _, answer: FACT in answer,
        WINDOW,
    ),
)
