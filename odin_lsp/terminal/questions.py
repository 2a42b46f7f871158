"""A question on a terminal: shown, and answered with a letter, a number or words."""

from dataclasses import dataclass

from odin_lsp.display import shown_exactly, shown_line
from odin_lsp.ports import Answer, Option, Question
from odin_lsp.terminal.person import Person

EDIT = "edit "
YES = ("allow_once", "continue", "trust")
NO = ("deny", "stop", "restrict")
"""Ids of what a `y` and an `n` mean; the model's own options are known by their labels."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What can be said to a question."""

    question: Question

    @property
    def prompt(self) -> str:
        letters = [*("y" for it in [self.yes] if it), "n"]
        numbers = [f"1-{len(self.question.options)}"] if self.question.options else []
        return f"{'Answer' if self.question.kind == 'question' else 'Allow?'} [{','.join([*letters, *numbers, '?'])}]"

    @property
    def help(self) -> str:
        options = [f"{number}  {labelled(it)}" for number, it in enumerate(self.question.options, 1)]
        yes = [f"y  {shown_line(self.yes.label)}"] if self.yes else []
        no = [f"n  {shown_line(self.no.label) if self.no else 'give no answer'}"]
        several = ["You can give several numbers."] if self.question.multiple else []
        edit = [f"`{EDIT}COMMAND` allows another command in its place, once"] if self.question.editable else []
        meant = "your answer" if self.question.kind == "question" else "a no, and tell the model why"
        words = [f"Other words are {meant}."] if self.question.allow_text else []
        return "\n".join([*yes, *no, *options, "?  show this", *several, *edit, *words])

    @property
    def yes(self) -> Option | None:
        return self._meant(YES, "yes")

    @property
    def no(self) -> Option | None:
        return self._meant(NO, "no")

    def _meant(self, ids: tuple[str, ...], label: str) -> Option | None:
        found = (it for it in self.question.options if it.id in ids or it.label.lower() == label)
        return next(found, None)

    def understood(self, said: str) -> Answer | None:
        """`None`: it is no answer."""
        question = self.question
        if said in ("", "?"):
            return None
        if question.editable and said.startswith(EDIT):
            return Answer(("allow_once",), command=said.removeprefix(EDIT).strip())
        if said.lower() in ("y", "yes") and self.yes:
            return Answer((self.yes.id,))
        if said.lower() in ("n", "no"):
            return Answer((self.no.id,) if self.no else ())
        numbers = said.replace(",", " ").split()
        if numbers and all(it.isdecimal() and 1 <= int(it) <= len(question.options) for it in numbers):
            chosen = tuple(question.options[int(it) - 1].id for it in numbers)
            return Answer(chosen if question.multiple else chosen[:1])
        return Answer(text=said) if question.allow_text and (len(said) > 1 or not question.options) else None


def labelled(option: Option) -> str:
    return shown_line(f"{option.label}: {option.description}" if option.description else option.label)


async def answered(question: Question, person: Person) -> Answer | None:
    """What the person says; `None` if they say nothing. What is not understood is explained, and asked about again."""
    choices = Choices(question)
    header = f"{question.header}: " if question.header else ""
    text = f"{shown_line(f'{header}{question.title}')}\n{question.full_detail}".rstrip()
    person.say("\n" + "\n".join(map(shown_exactly, text.split("\n"))))
    for number, option in enumerate(question.options, 1):
        person.say(f"  {number}. {labelled(option)}")
    while (said := await person.ask(choices.prompt)) is not None:
        if answer := choices.understood(said):
            return answer if answer != Answer() else None
        if said:
            person.say(choices.help)
    return None
