"""What to search for: the names, files and words of a question."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    stem: str
    """What its variants have in common: `cancel` for "cancelled" and "cancellation"."""

    @property
    def pattern(self) -> str:
        """Matches where a word or a hump begins: "log" does not mean `dialog`. For both Python and ripgrep."""
        return rf"(?:\b|_|\d)(?i:{literal(self.stem)})|[a-z]{literal(self.stem.capitalize())}"

    def occurs_in(self, text: str) -> bool:
        return self.stem in text.lower() and bool(re.search(self.pattern, text))


@dataclass(frozen=True, slots=True)
class Terms:
    names: tuple[str, ...] = ()
    """Identifiers and quoted texts: searched for as they are written."""
    files: tuple[str, ...] = ()
    words: tuple[Word, ...] = ()
    asked: tuple[str, ...] = ()
    """Plain words of which the question speaks as of code: "who calls total?". Names, if the project defines them."""

    def __bool__(self) -> bool:
        return bool(self.names or self.files or self.words or self.asked)

    @property
    def identifiers(self) -> tuple[str, ...]:
        """What a definition of each name would be called."""
        return tuple(own for name in self.names if (own := _own(name)).isidentifier())

    def met_by(self, text: str) -> frozenset[str]:
        """The names and words that occur in `text`."""
        names = {name for name in self.names if (own := _own(name)) in text and whole(own).search(text)}
        return frozenset(names | {word.text for word in self.words if word.occurs_in(text)})

    def all_written(self) -> tuple[str, ...]:
        return (*self.names, *self.files, *(word.text for word in self.words)) or self.asked

    def with_names(self, defined: Iterable[str]) -> "Terms":
        """The same where these of the words asked about turned out to be names."""
        names = tuple(defined)
        lower = {name.lower() for name in names}
        words = tuple(word for word in self.words if word.text not in lower)
        return replace(self, names=_first(_NAMES, (*names, *self.names)), words=words)


def find_terms(prompt: str, context: str = "") -> Terms:
    """The prompt's own terms; the names and files of the context fill up what it leaves free."""
    quoted = [text for match in _QUOTED.finditer(prompt) if (text := _inner(match))]
    unquoted = _QUOTED.sub(" ", prompt)
    asked = [word for shape in _ASKED_ABOUT for word in shape.findall(unquoted) if word.lower() not in _NOT_ASKED]
    for shape in _ASKED_ABOUT:
        unquoted = shape.sub(r" \1", unquoted)
    tokens = _TOKEN.findall(unquoted)
    around = [*_TOKEN.findall(context), *(f"{name}()" for name in _CALLED.findall(context))]
    files = (token.removeprefix("./").lstrip("/") for token in (*quoted, *tokens, *around) if _is_file(token))
    names = (
        *(text for text in quoted if not _is_file(text)),
        *(word for word in _WHAT_IT_DOES.findall(prompt) if word.lower() in _STOP_WORDS - _POINTING),
        *(token.removesuffix("()") for token in (*tokens, *around) if _is_name(token)),
    )
    plain = (token for token in tokens if not _is_file(token) and not _is_name(token))
    words = {word.stem: word for token in plain for word in _words(token)}
    found = Terms(_first(_NAMES, names), _first(_FILES, files), tuple(words.values())[:_WORDS])
    return replace(found, asked=_first(_ASKED, (word for word in asked if word not in found.identifiers)))


def widened(terms: Terms) -> Terms:
    """The parts of the names and the beginnings of the words: for when the terms themselves are not found."""
    parts = (part for name in terms.names for part in _HUMPS.findall(name))
    stems = (_stem(part.lower()) for part in parts if len(part) > 3)
    beginnings = (word.stem[:5] for word in terms.words if len(word.stem) > 5)
    return Terms(words=tuple(Word(stem, stem) for stem in _first(_WORDS, (*stems, *beginnings))))


def whole(name: str) -> re.Pattern[str]:
    """Matches `name` where it is no part of a longer one."""
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def literal(text: str) -> str:
    """A search pattern for `text` itself, in the dialects of both Python and ripgrep."""
    return re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text)


_NAMES, _FILES, _WORDS, _ASKED = 4, 3, 5, 2

_QUOTED = re.compile(r"`[^`\n]+`|\"[^\"\n]+\"|(?<!\w)'[^'\n]+'(?!\w)")
_WHAT_IT_DOES = re.compile(r"\bwhat does (\w+) do\b", re.IGNORECASE)
"""There also a word that is in every question is a name: `add`, `get`, `update`."""
_KIND = r"(?:function|method|class|type|struct|interface|enum|trait|constant|variable|macro)"
_IT = rf"(?:(?:the|a|an|this|our)\s+)?(?:{_KIND}\s+)?([^\W\d]\w*)(?!\w|[./-]\w)(?:\s+{_KIND}\b)?"
_ASKED_ABOUT = tuple(
    re.compile(shape, re.IGNORECASE)
    for shape in (
        rf"\bwhat\s+(?:does|do)\s+{_IT}\s+(?:do|return|mean)\b",
        rf"\b(?:who|what|which\s+\w+|where\s+do\s+we)\s+(?:calls?|uses?|invokes?|defines?|implements?)\s+{_IT}",
        rf"\b(?:where|how)\s+(?:is|are)\s+{_IT}\s+(?:used|called|invoked|defined|declared|implemented)\b",
        rf"\b(?:callers?|uses|usages?|references?|definition|implementations?)\s+(?:of|to)\s+{_IT}",
        rf"\bthe\s+{_KIND}\s+([^\W\d]\w*)(?!\w|[./-]\w)",
        rf"\bthe\s+([^\W\d]\w*)\s+{_KIND}\b",
    )
)
"""Questions about code, each around what it is about."""
_TOKEN = re.compile(r"(?:\.{0,2}/|\.)?\w+(?:[./-]+\w+)*(?:\(\))?")
_CALLED = re.compile(r"\b([^\W\d]\w{2,})\(")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NAME = re.compile(r"\w*[^\W_]_\w+|\w*[a-z0-9][A-Z]\w*|[A-Z]{2,}[a-z]\w+|_\w+|[^\W\d]\w+(?:\.[^\W\d]\w+)+")
_EXTENSIONS = """
    c cc cfg clj conf cpp cs css csv dart ex exs go h hpp hs html ini java js json jsx kt lock lua md mjs ml
    php pl proto py pyi r rb rs rst scala scss sh sql svelte swift tf toml ts tsx txt vim vue xml yaml yml
    zig
"""
_SUFFIXES = frozenset(_EXTENSIONS.split())


def _own(name: str) -> str:
    """`c` of `a.b.c`: where it is defined, nobody says whose it is."""
    last = name.rpartition(".")[2]
    return last if last.isidentifier() else name


def _inner(quoted: re.Match[str]) -> str:
    return quoted[0][1:-1].strip().removesuffix("()")[:80]


def _is_file(token: str) -> bool:
    return " " not in token and "." in token[1:] and token.rpartition(".")[2].lower() in _SUFFIXES


def _is_name(token: str) -> bool:
    return token.endswith("()") or (bool(_NAME.fullmatch(token)) and not _is_file(token))


def _words(token: str) -> Iterator[Word]:
    for text in re.findall(r"[^\W\d_]\w+", token):
        lower = text.lower()
        if len(lower) > 2 and lower not in _STOP_WORDS:
            yield Word(lower, _stem(lower))


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) > 3:
            stem = word.removesuffix(ending)
            doubled = stem[-1] == stem[-2] and stem[-1] not in "aeious"
            return stem[:-1] if doubled else stem
    return word.removesuffix("s") if len(word) > 3 and not word.endswith("ss") else word


def _first(count: int, texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))[:count]


_ENDINGS = ("ations", "ation", "ings", "ing", "ers", "ies", "ied", "ed", "er", "es", "ly")
_ENGLISH = """
    a about actually add adding adds after all also an and any are as at be because been before behind being
    between but by called can change class classes code codebase could create creates define defined
    definition describe did do does doing done each else every exactly example explain file files find fix
    for from function functions get gets give given goes going had happen happens has have help here how if
    implement implementation implemented improve in inside instead into is it its just kind know lets like
    line lines located look made make makes many may me mean means method methods more most much must my
    need needs new nor not now of off on one only or other our out over place places please project purpose
    quite really refactor remove repo repository same see should show so some something such summarise
    summarize sure tell than that the their them then there these they thing things this those though
    through to too under until update use used uses using very want wants was way we well were what when
    where whether which while who why will with within without work working works workspace would you your
"""
_STOP_WORDS = frozenset(_ENGLISH.split())
_POINTING = frozenset(["all", "each", "every", "it", "one", "that", "these", "they", "this", "those", "we", "you"])
_NOT_ASKED = frozenset([*_POINTING, "a", "an", "the", "code", "file", "our", *re.findall(r"\w{3,}", _KIND)])
