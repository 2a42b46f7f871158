"""The ledger: what the model has seen of which file, and what has changed since."""

import pytest

from odin_lsp.agent.preview import LineSpan, seen_files
from tests.support.reviewing import Bench

TEXT = "one\ntwo\nthree\nfour\nfive\n"


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


@pytest.fixture
def a(bench):
    path = bench.write("a.txt", TEXT)
    bench.open(path)
    return path


async def of(bench, path):
    [file] = [it for it in await seen_files(bench.context.shown, bench.files) if it.path == str(path)]
    return [(it.first, it.last) for it in file.seen], file.is_whole, file.is_current, file.changed


async def test_it_says_which_lines_were_seen_and_that_they_are_as_they_were(bench, a):
    await bench.use("Read", file_path=a, offset=2, limit=1)
    await bench.use("Read", file_path=a, offset=4, limit=2)
    bench.type(a, "!", 2, 5)

    assert await of(bench, a) == ([(2, 2), (4, 5)], False, True, ())


async def test_it_says_which_of_the_lines_that_were_seen_are_others_now(bench, a):
    await bench.read(a)
    bench.type(a, "new\n", 0)
    assert await of(bench, a) == ([(1, 5)], True, False, ())

    bench.type(a, "TWO", 2, 0, 3)
    bench.type(a, "", 4, 0, 4)

    assert await of(bench, a) == ([(1, 5)], True, False, (LineSpan(2, 2), LineSpan(4, 4)))


async def test_of_a_file_that_is_gone_all_lines_are_others(bench):
    path = bench.write("b.txt", "one\ntwo\n")
    await bench.read(path)

    path.unlink()

    assert await of(bench, path) == ([(1, 2)], True, False, (LineSpan(1, 2),))


async def test_what_odin_itself_has_edited_is_as_it_knows_it(bench, a):
    await bench.read(a)
    digest = (await seen_files(bench.context.shown, bench.files))[0].seen[0].digest

    await bench.edit(a, "two", "TWO")

    [file] = await seen_files(bench.context.shown, bench.files)
    assert file.is_current
    assert file.seen[0].digest != digest


async def test_what_would_be_sent_comes_with_the_files_that_the_model_has_seen(odin, call):
    odin.script({"calls": [call("Read", file_path="greet.py")]}, {"text": "seen"})
    await odin.take("look")

    sent = await odin.core.preview(None, None, "and now?")

    assert [it.path for it in sent.files] == [str(odin.root / "greet.py")]
