"""What the offline model says. It quotes and counts; it never claims to have understood."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from odin_lsp.models.offline.evidence import Callers, Evidence, Kind, Place, block, kind, passage
from odin_lsp.models.offline.terms import Terms
from odin_lsp.models.offline.turn import Turn

CHECKS: Mapping[str, str] = {
    "pyproject.toml": "pytest",
    "package.json": "npm test",
    "Cargo.toml": "cargo test",
    "go.mod": "go test ./...",
    "Makefile": "make test",
}
"""By the file that stands at the root of a project: what usually runs its tests."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Lines of a file as they stand there, from `line` on."""

    path: str
    line: int
    lines: tuple[str, ...]


def answer(turn: Turn, terms: Terms, evidence: Evidence, places: Sequence[Place]) -> str:
    first = places[0]
    if first.defines in terms.identifiers:
        lead = f"{code(first.defines)} is defined in {_at(turn, first)}."
    else:
        lead = f"The best match for {_listed(terms.all_written())} is {_at(turn, first)}, which {_why(first)}."
    seen = len({path for path, _ in evidence.hits})
    lead += f" The search saw matches in {seen} file{'s' if seen > 1 else ''}." if seen else ""
    items = (f"**{_at(turn, place)}** {_why(place)}\n\n{_quoted(evidence, place)}" for place in places)
    defined = dict.fromkeys(place.defines for place in places if place.defines in evidence.callers)
    return page(lead, *items, *(_used(turn, name, evidence.callers[name]) for name in defined if name))


def plan(turn: Turn, terms: Terms, evidence: Evidence, places: Sequence[Place]) -> str:
    lead = (
        f"A plan from search alone: where {_listed(terms.all_written())} can be found, and in which order to go"
        " there. What to write is not in it; that takes you or a language model."
    )
    order = tuple(_TASKS)
    steps = [
        f"{_TASKS[kind(turn.shown(place.path))]} {_at(turn, place)}, which {_why(place)}.\n\n{_quoted(evidence, place)}"
        for place in sorted(places, key=lambda place: order.index(kind(turn.shown(place.path))))
    ]
    if not any(kind(turn.shown(place.path)) == "tests" for place in places):
        steps.append("Add a test: none of the best matches is one.")
    steps.append(_verification(turn, evidence))
    return page(lead, "## Steps", *(f"{number}. {step}" for number, step in enumerate(steps, 1)))


def overview(turn: Turn, quotes: Sequence[Quote]) -> str:
    if not quotes:
        return page(
            "No README, pyproject.toml, package.json, Makefile, Cargo.toml or go.mod was found that says so. Ask"
            " for a name or a file of the project instead.",
            *_failures(turn),
        )
    lead = f"The project says this itself, in {_listed([turn.shown(quote.path) for quote in quotes])}."
    items = (
        f"**{code(f'{turn.shown(quote.path)}:{quote.line}')}**\n\n{fenced(quote.lines, _language(quote.path))}"
        for quote in quotes
    )
    return page(lead, *items)


def nothing_found(turn: Turn, terms: Terms) -> str:
    searched = _listed(terms.all_written())
    if not turn.done:
        return page(f"No search tool may be used now, so {searched} could not be looked for.")
    return page(
        f"Nothing was found for {searched}, neither in files nor in their names. Try an exact identifier in"
        " backticks, a file name, or a rarer word that the code itself would use.",
        *_failures(turn),
    )


def no_terms() -> str:
    return page(
        "There is nothing in this to search for. Name an identifier in backticks, a file, or words that the code"
        " itself would use, such as: where is `parse_config` defined?"
    )


def page(*paragraphs: str) -> str:
    return "\n\n".join((*paragraphs, _SIGNATURE))


def fenced(lines: Sequence[str], language: str) -> str:
    """The lines as code. The fence is longer than any that they hold: they cannot break out of it."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join((fence + language, *lines, fence))


def code(text: str) -> str:
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{ticks}{text}{ticks}"


_SIGNATURE = (
    "*This is Odin's offline search; no language model took part. For one, set ANTHROPIC_API_KEY,"
    ' GEMINI_API_KEY or OPENAI_API_KEY, or "model" in odinconfig.json.*'
)
_USES, _LONGEST_USE = 20, 120
_TASKS: Mapping[Kind, str] = {
    "code": "Look at",
    "documents": "Keep in step",
    "tests": "Run and extend",
    "noise": "Leave alone, unless it is made by hand,",
}


def _at(turn: Turn, place: Place) -> str:
    return code(f"{turn.shown(place.path)}:{place.line}")


def _used(turn: Turn, name: str, callers: Callers) -> str:
    """Who calls it, in code before tests."""
    if not callers.found:
        return f"No use of {code(name)} was found ({callers.note})."
    order = tuple(_TASKS)
    ordered = sorted(callers.found, key=lambda it: order.index(kind(turn.shown(it.path))))
    lines = [
        f"- {code(f'{turn.shown(it.path)}:{it.line}')}{f' in {code(it.within)}' if it.within else ''}: "
        f"{code(it.text.strip()[:_LONGEST_USE])}"
        for it in ordered[:_USES]
    ]
    more = [f"- and {len(ordered) - _USES} more"] if len(ordered) > _USES else []
    return "\n".join([f"{code(name)} is used here ({callers.note}):\n", *lines, *more])


def _why(place: Place) -> str:
    if place.defines:
        return f"defines {code(place.defines)}"
    return f"mentions {_listed(place.met)}" if place.met else "matches by its name"


def _quoted(evidence: Evidence, place: Place) -> str:
    lines = evidence.lines.get(place.path, {})
    quoted = (block if place.defines else passage)(lines, place.line)
    return (
        fenced(quoted, _language(place.path))
        if quoted
        else "(not quoted: the line was not read, is empty or very long)"
    )


def _language(path: str) -> str:
    return PurePosixPath(path).suffix[1:]


def _verification(turn: Turn, evidence: Evidence) -> str:
    for name, command in CHECKS.items():
        for path in evidence.files:
            if turn.shown(path) == name:
                return f"Verify: {code(name)} is at the root, so {code(command)} is what usually runs the tests."
    return "Verify with the project's own tests; the search did not see how they are run."


def _failures(turn: Turn) -> Iterator[str]:
    """What a tool said when it failed: without it, "nothing found" would be half the truth."""
    for done in turn.failures()[:1]:
        said = done.result.content.strip().split("\n")[0][:200]
        yield f"{len(turn.failures())} of {len(turn.done)} tool calls failed; {done.call.name} said: {code(said)}"


def _listed(texts: Sequence[str]) -> str:
    *rest, last = map(code, texts)
    return f"{', '.join(rest)} and {last}" if rest else last
