"""What may be shown of a text that others wrote: a model, a repository, a server, whoever prints.

A terminal obeys control characters, and people are misled by characters that hide or reorder what they read. Each of
these is written out, so that it is seen and does nothing. This changes what is drawn, never what is applied, copied,
saved or sent."""

import re

MOST_OF_LABEL = 1000
"""Characters of a name, a title or a label that are shown."""
LINE_BREAK = " ⏎ "
"""Stands for the end of a line where there is only one line: what follows it must not pass for a part of it."""

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Controls, what reorders text, what has no width, letters that look like nothing, and half of a character."""
_LINE_END = re.compile(r"\r?\n")
_JOINERS = frozenset("\u200c\u200d")
_EMOJI_STYLE = frozenset("\ufe0e\ufe0f")
_KEYCAPS = frozenset("0123456789#*")


def shown(text: str) -> str:
    """Any number of lines, which end with `\\n`; tabs stay."""
    return shown_after("", text)


def shown_after(before: str, text: str) -> str:
    """The same for a piece of a text that comes in pieces: `before` is the last character that came before it. An
    emoji may be cut anywhere."""
    if text.isascii() and text.isprintable():
        return text
    start = len(before)
    whole = before + text.replace("\r\n", "\n")

    def written_out(found: re.Match[str]) -> str:
        at = found.start()
        return found[0] if at < start or _belongs(whole, at) else escaped(found[0])

    return _HIDDEN.sub(written_out, whole)[start:]


def shown_line(text: str, most: int | None = MOST_OF_LABEL) -> str:
    """One line: a name, a title, a label. If it is cut, it says so."""
    line = shown(_LINE_END.sub(LINE_BREAK, text.strip("\r\n")).replace("\t", " "))
    return line if most is None else cut_label(line, most)


def shown_exactly(text: str) -> str:
    """A line that is decided on as it is, such as one of a diff: all is written out that could be taken for something
    else, also what is fine in prose."""
    return "".join(it if it == "\t" or (it.isprintable() and not _HIDDEN.match(it)) else escaped(it) for it in text)


def cut_label(line: str, most: int) -> str:
    return line if len(line) <= most else f"{line[:most]}… ({len(line) - most:,} characters more)"


def escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode()


def _belongs(text: str, at: int) -> bool:
    """Whether it is a part of what people see: it joins two emoji, or two letters of a script that needs it, or says
    how an emoji is drawn. What has not come yet is taken for such a part."""
    before, after = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    if text[at] in _EMOJI_STYLE:
        return before in _KEYCAPS or (_is_visible(before) and not before.isalpha())
    is_joiner = text[at] in _JOINERS
    return is_joiner and (_is_visible(before) or before in _EMOJI_STYLE) and (not after or _is_visible(after))


def _is_visible(character: str) -> bool:
    return not character.isascii() and not character.isspace() and not _HIDDEN.match(character)
