"""Bash, as far as it can be understood from its text: a row of simple commands, or why it is more than that.

What can be understood is written out again from what was read (`Step.text`), so that bash and this parser cannot
disagree about it. All other commands, at any depth, are still found, for whoever looks for what is forbidden."""

import shlex
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from odin_lsp.permissions.shell.words import Word, read_word
from odin_lsp.workspace.uris import printable

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_COMMANDS = 50
MAX_CHARS = 10_000
MAX_DEPTH = 60
MAX_QUOTED = 40
PLAIN_WORDS = frozenset({"word", "number", "string", "raw_string", "concatenation", "string_content"})
NOT_PLAIN = {
    "subshell": "it has a subshell",
    "compound_statement": "it has a group of commands",
    "function_definition": "it defines a function",
    "command_substitution": "it has a command substitution",
    "process_substitution": "it has a process substitution",
    "simple_expansion": "it expands a variable",
    "expansion": "it expands a variable",
    "arithmetic_expansion": "it expands an expression",
    "brace_expression": "it expands braces",
    "ansi_c_string": "it has an encoded string",
    "translated_string": "it has a translated string",
    "variable_assignment": "it sets a variable",
    "variable_assignments": "it sets a variable",
    "declaration_command": "it declares or shows variables",
    "unset_command": "it unsets a variable",
    "heredoc_redirect": "it feeds a text to a program",
    "herestring_redirect": "it feeds a text to a program",
    "negated_command": "it negates a command",
}
CANNOT_PARSE = "Odin cannot parse it"
JOINERS = frozenset({"&&", "||", "|", ";", "\n"})
TEST = Word("test", "test")


@dataclass(frozen=True, slots=True)
class Command:
    words: tuple[Word, ...]
    redirects: tuple[str, ...] = ()
    """Harmless ones, as they are written."""

    @property
    def argv(self) -> tuple[str, ...] | None:
        values = tuple(word.value for word in self.words if word.value is not None)
        return values if len(values) == len(self.words) else None

    @property
    def guess(self) -> tuple[str, ...]:
        return tuple(word.guess for word in self.words)


@dataclass(frozen=True, slots=True)
class Step:
    joiner: str
    """What stands before it; empty for the first."""
    command: Command

    def text(self, argv: Sequence[str]) -> str:
        """The step with these words for its own, as a text that means nothing else."""
        between = {"": "", ";": "; ", "\n": "; "}.get(self.joiner, f" {self.joiner} ")
        return between + " ".join([*map(shlex.quote, argv), *self.command.redirects])


@dataclass(frozen=True, slots=True)
class Script:
    text: str
    steps: tuple[Step, ...]
    """The whole, if `problem` is empty."""
    problem: str
    """Why it is not understood as a row of simple commands."""
    commands: tuple[Command, ...]
    """All at any depth, in their order."""
    background: bool
    targets: tuple[str, ...]
    """Where redirections lead, as far as one can tell."""
    texts: tuple[str, ...]
    """What is fed to programs."""
    functions: tuple[tuple[str, str], ...]
    """Names and bodies."""


def parse(text: str) -> Script:
    problem = _suspicious(text)
    root = _parser().parse(text.encode("utf-8", "replace")).root_node
    found = _Found()
    for node, depth in _walk(root):
        reason = found.see(node, depth)
        problem = problem or reason
    if len(found.commands) > MAX_COMMANDS:
        problem = problem or f"it has more than {MAX_COMMANDS} commands"
    steps: tuple[Step, ...] = ()
    if not problem:
        try:
            steps = tuple(_steps(root, ""))
        except _NotPlain as reason:
            problem = str(reason)
    if not problem and not steps:
        problem = "it has no command"
    return Script(
        text,
        () if problem else steps,
        problem,
        tuple(found.commands),
        found.background,
        tuple(found.targets),
        tuple(found.texts),
        tuple(found.functions),
    )


class _NotPlain(Exception):
    pass


class _Found:
    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.targets: list[str] = []
        self.texts: list[str] = []
        self.functions: list[tuple[str, str]] = []
        self.background = False

    def see(self, node: "Node", depth: int) -> str:
        """Take note of one node; why the script is not plain, if that is why."""
        match node.type:
            case "command" | "declaration_command" | "unset_command":
                self.commands.append(_loose_command(node))
            case "test_command":
                self.commands.append(Command((TEST, *(read_word(_text(it)) for it in _parts_of_test(node)))))
            case "file_redirect":
                self.targets += [read_word(_text(it)).guess for it in node.children_by_field_name("destination")]
            case "heredoc_body":
                self.texts.append(_text(node))
            case "herestring_redirect":
                self.texts += [read_word(_text(it)).guess for it in node.named_children]
            case "function_definition":
                name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
                self.functions.append((_text(name) if name else "", _text(body) if body else ""))
            case "&":
                self.background = True
                return "it runs in the background"
            case "ERROR":
                return CANNOT_PARSE
            case _:
                pass
        if node.is_missing:
            return CANNOT_PARSE
        if depth > MAX_DEPTH:
            return "it is nested too deeply"
        reason = NOT_PLAIN.get(node.type, "")
        return f"{reason} (`{_quoted(node)}`)" if reason else ""


@cache
def _parser() -> "Parser":
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def _suspicious(text: str) -> str:
    if len(text) > MAX_CHARS:
        return f"it has more than {MAX_CHARS:,} characters"
    if "\\\n" in text:
        return "it has a line that goes on in the next one"
    for character in text:
        if character in "\n\t" or " " <= character <= "~":
            continue
        if unicodedata.category(character)[0] in "CZ" or not character.isprintable():
            return f"it has an invisible character (U+{ord(character):04X})"
    return ""


def _walk(root: "Node") -> Iterator[tuple["Node", int]]:
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        yield node, depth
        stack += [(child, depth + 1) for child in reversed(node.children)]


def _steps(node: "Node", joiner: str) -> Iterator[Step]:
    match node.type:
        case "program" | "list" | "pipeline":
            for child in node.children:
                if child.type in JOINERS:
                    joiner = child.type
                elif child.type != "comment":
                    yield from _steps(child, joiner)
                    joiner = ";"
        case "redirected_statement":
            yield from _redirected(node, joiner)
        case "command":
            yield Step(joiner, _command(node))
        case "test_command":
            yield Step(joiner, _test(node))
        case _:
            raise _NotPlain("it is more than a row of simple commands")


def _redirected(node: "Node", joiner: str) -> Iterator[Step]:
    """The parser hangs a redirection to the whole row; to bash it belongs to the last command of it."""
    body = node.child_by_field_name("body")
    if body is None:
        raise _NotPlain("it writes to a file")
    steps = list(_steps(body, joiner))
    words: list[Word] = []
    redirects: list[str] = []
    for redirect in node.children_by_field_name("redirect"):
        text, more = _redirect(redirect)
        redirects.append(text)
        words += more
    last = steps[-1].command
    steps[-1] = replace(steps[-1], command=Command((*last.words, *words), redirects=(*last.redirects, *redirects)))
    yield from steps


def _command(node: "Node") -> Command:
    words: list[Word] = []
    redirects: list[str] = []
    for child in node.children:
        if child.type == "file_redirect":
            text, more = _redirect(child)
            redirects.append(text)
            words += more
        else:
            words.append(_word(child.children[0] if child.type == "command_name" else child))
    return Command(tuple(words), tuple(redirects))


def _test(node: "Node") -> Command:
    """`[ -f x ]` and `[[ -f x ]]` as `test -f x`, which says the same where nothing is left to the shell."""
    words: list[Word] = []
    for part in _parts_of_test(node):
        is_operator = part.type == "test_operator" or not part.is_named
        words.append(read_word(_text(part)) if is_operator else _word(part))
        if words[-1].value is None or (words[-1].pattern and node.children[0].type == "[["):
            raise _NotPlain("it has a test that only the shell can read")
    if "\n" in _text(node):
        raise _NotPlain("it has a test of several lines")
    return Command((TEST, *words))


def _parts_of_test(node: "Node") -> Iterator["Node"]:
    for child in node.children[1:-1] if node.type == "test_command" else node.children:
        if child.type in ("unary_expression", "binary_expression"):
            yield from _parts_of_test(child)
        else:
            yield child


def _loose_command(node: "Node") -> Command:
    words: list[Word] = []
    for child in node.children:
        if child.type == "file_redirect":
            words += [read_word(_text(it)) for it in child.children_by_field_name("destination")[1:]]
        elif child.type not in ("variable_assignment", "herestring_redirect", "heredoc_redirect"):
            words.append(read_word(_text(child)))
    return Command(tuple(words))


def _word(node: "Node") -> Word:
    word = read_word(_text(node))
    if node.type not in PLAIN_WORDS or any(it.is_named and it.type not in PLAIN_WORDS for it, _ in _walk(node)):
        raise _NotPlain("it has a word that only the shell can read")
    if word.value is None:
        raise _NotPlain(f"only the shell knows what `{word.raw}` means")
    return word


def _redirect(node: "Node") -> tuple[str, list[Word]]:
    """A harmless redirection, and the words behind it, which the parser takes for its targets."""
    descriptor = node.child_by_field_name("descriptor")
    number = _text(descriptor) if descriptor else ""
    target, *more = node.children_by_field_name("destination") or [None]
    operator = next((it.type for it in node.children if not it.is_named), "")
    if target is not None and number in ("", "0", "1", "2"):
        where = _text(target)
        if operator in (">", ">>", "<", "&>") and where == "/dev/null":
            return f"{number}{operator}{where}", [_word(it) for it in more if it is not None]
        if operator == ">&" and where in ("1", "2"):
            return f"{number}{operator}{where}", [_word(it) for it in more if it is not None]
    raise _NotPlain("it reads from a file" if operator == "<" else "it writes to a file")


def _quoted(node: "Node") -> str:
    """Its beginning, for people and models."""
    text = printable(_text(node))
    return text if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]}…"


def _text(node: "Node") -> str:
    return (node.text or b"").decode("utf-8", "replace")
