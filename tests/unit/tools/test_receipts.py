"""What the model is told of its edits."""

from odin_lsp.ports import Decision
from tests.support.reviewing import Bench


async def test_of_many_hunks_all_are_told_with_their_lines_and_the_users_words(tmp_path):
    bench = Bench(tmp_path)
    path = bench.write("long.txt", "".join(f"line {number}\nrest {number}\n" for number in range(1, 151)))
    await bench.read(path)

    def decide(hunk):
        number = hunk.range.start.line // 2 + 1
        if number % 2:
            return Decision(hunk_id=hunk.id, decision="accept")
        return Decision(hunk_id=hunk.id, decision="reject", reason=f"not the {number}th")

    bench.editor.decide = decide
    result = await bench.edit(path, "line", "LINE", replace_all=True)

    assert "75 accepted, 75 rejected" in result.content
    for number in range(2, 151, 2):
        assert f"- rejected (line {2 * number - 1}): not the {number}th" in result.content
    accepted = next(it for it in result.content.splitlines() if it.startswith("- accepted"))
    assert all(str(2 * number - 1) in accepted for number in range(1, 151, 2))
