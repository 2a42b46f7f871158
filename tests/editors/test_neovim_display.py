"""Everything that a server may send, with hostile text in every field of it, through the plugin in Neovim: it is shown,
it is harmless, nothing throws, and each question is asked."""

import json
import os
import subprocess
from pathlib import Path

from odin_lsp.display import shown, shown_exactly, shown_line
from tests.editors.conftest import PLUGIN
from tests.support.hostile import CLIPBOARD, TEXTS, assert_harmless
from tests.support.hostile_wire import FILE

WALK = Path(__file__).parent / "hostile_walk.lua"
WRITTEN_OUT = r"\x1b]52;c;b3du\x07"
EMOJI = "👩‍💻 ❤️ 1️⃣ Zoë 日本 می‌خواهم \u200bz a\u200db \ufe0f é…"


def walked(nvim: Path, home: Path, values: Path = FILE) -> dict:
    command = [nvim, "--headless", "-u", "NONE", "-l", WALK, PLUGIN, values]
    done = subprocess.run(
        command, capture_output=True, timeout=120, check=False, cwd=home, env={**os.environ, "HOME": str(home)}
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-4000:]
    return json.loads(done.stdout)


def test_dev_10_nothing_hostile_reaches_neovim_raw_and_each_question_is_asked(nvim: Path, tmp_path: Path) -> None:
    seen = walked(nvim, tmp_path)

    assert seen["problems"] == []
    assert seen["asked"] == seen["questions"] > 0
    for where in ("lines", "virtual", "messages", "titles", "bars", "list", "items", "prompts", "previews", "names"):
        texts = set(seen[where])
        assert any(WRITTEN_OUT in it for it in texts), where
        for text in texts:
            assert_harmless(text)
            assert where == "messages" or "\n" not in text
    assert any("… (" in it and "characters more)" in it for it in seen["titles"])
    assert any("first ⏎ second" in it for it in seen["prompts"])
    assert "first" in seen["questionTitles"]


def test_dev_11_neovim_has_the_same_rules_as_the_server(nvim: Path, tmp_path: Path) -> None:
    values = json.loads(FILE.read_text())
    texts = [
        it.replace("\ud800", "")
        for it in (*TEXTS, EMOJI, f"\n{CLIPBOARD}\n", "%s %% %", "tab\there", "a\u00a0b\u3000c")
    ]
    path = tmp_path / "values.json"
    path.write_text(json.dumps({**values, "texts": texts, "events": [], "questions": [], "reviews": [], "answers": {}}))

    rules = walked(nvim, tmp_path, path)["rules"]

    for text, (plain, line, exact) in zip(texts, rules, strict=True):
        assert plain == shown(text)
        assert line.replace(",", "") == shown_line(text).replace(",", "")
        assert exact == shown_exactly(text)
