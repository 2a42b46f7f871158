"""Questions and plans: search, read around the best places, answer. Four steps at most."""

from collections.abc import Iterable, Iterator
from glob import escape
from itertools import permutations

from odin_lsp.models.offline import answers, overview
from odin_lsp.models.offline.evidence import BLOCK, DEFINITION, Place, best, gather, rank
from odin_lsp.models.offline.terms import Terms, find_terms, literal, widened
from odin_lsp.models.offline.turn import Call, Move, Turn


def question(turn: Turn) -> Move:
    terms = find_terms(turn.inside(turn.prompt), turn.inside(turn.context))
    if topic := overview.find_topic(turn.prompt, terms):
        return overview.look(turn, topic)
    if not terms:
        return answers.no_terms()
    if not turn.done and (calls := turn.offered(_searches(terms, turn))):
        return calls
    evidence = gather(turn.done)
    terms = terms.with_names(name for name in terms.asked if evidence.has_definition(name))
    places = rank(evidence, terms, turn)
    wider = widened(terms)
    if not places and wider:
        if turn.steps == 1 and (calls := turn.offered(_wider_searches(wider))):
            return calls
        places = rank(evidence, wider, turn)
    chosen = best(places, _SHOWN)
    if not turn.results("Read") and (calls := turn.offered(_windows(chosen))):
        return calls
    if not chosen:
        return answers.nothing_found(turn, terms)
    if turn.mode == "plan_mode":
        return answers.plan(turn, terms, evidence, chosen)
    return answers.answer(turn, terms, evidence, chosen)


_SHOWN = 5
"""Places in an answer."""
_LOOKED_UP = 2
"""Names of which it is said who uses them."""
_READ = 3
"""Places that are read around; of the others only the line that was found is quoted."""


def _searches(terms: Terms, turn: Turn) -> Iterator[Call]:
    names = (*terms.identifiers, *terms.asked)
    for name in names[:_LOOKED_UP]:
        yield Call("Lookup", {"what": "definition", "symbol": name})
        yield Call("Lookup", {"what": "callers", "symbol": name})
    if ids := "|".join(map(literal, names)):
        yield _grep(rf"{DEFINITION}(?:{ids})\b|^(?:export\s+)?(?:{ids})(?:\s*:[^=]+)?\s*=", 40)
    if terms.names:
        yield _grep("|".join(map(literal, terms.names)), 100)
    for file in terms.files:
        pattern = f"**/{escape(file)}"
        yield Call("Glob", {"pattern": pattern})
        yield _grep(DEFINITION, 40, glob=pattern)
    words = terms.words[:4]
    stems = [literal(word.stem) for word in words]
    if stems:
        yield _grep(rf"{DEFINITION}\w*(?:{'|'.join(stems)})", 60, **_ANY_CASE)
    if pairs := "|".join(f"{one}.*{other}" for one, other in permutations(stems, 2)):
        yield _grep(pairs, 60, **_ANY_CASE)
    for word in words:
        yield _grep(word.pattern, 60)
    for word in words[:2]:
        yield Call("Glob", {"pattern": f"**/*{word.stem}*"})
    if turn.mode == "plan_mode":
        yield from (Call("Glob", {"pattern": name}) for name in answers.CHECKS)


def _wider_searches(terms: Terms) -> Iterator[Call]:
    yield _grep("|".join(literal(word.stem) for word in terms.words), 100, **_ANY_CASE)


_ANY_CASE = {"-i": True}


def _grep(pattern: str, limit: int, **options: object) -> Call:
    arguments = {"pattern": pattern, "output_mode": "content", "-n": True, "limit": limit}
    return Call("Grep", arguments | options)


def _windows(chosen: Iterable[Place]) -> Iterator[Call]:
    for place in tuple(chosen)[:_READ]:
        yield Call("Read", {"file_path": place.path, "offset": place.line, "limit": BLOCK})
