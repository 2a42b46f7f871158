import pytest

from odin_lsp.errors import PermissionDenied
from odin_lsp.permissions.outside import OutsideGate
from odin_lsp.ports import Answer


class Person:
    def __init__(self, says):
        self.says = says
        self.questions = []

    async def ask(self, question):
        self.questions.append(question)
        return Answer((self.says,)) if self.says else None


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = tmp_path / "me"
    (home / "notes").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    return home


async def ask(person, *paths, opened=None):
    gate = OutsideGate(person)
    for path in paths:
        await gate.allow(path, str(path), opened)
    return [question.paths[0] for question in person.questions]


async def test_a_folder_is_allowed_for_the_session(home):
    person = Person("allow_session")
    one, two, other = (home / "notes" / "one"), (home / "notes" / "two"), (home / "other" / "three")

    assert await ask(person, one, two, home / "notes", other) == [str(one), str(other)]
    assert "Allow this folder in this session" in [it.label for it in person.questions[0].options]


async def test_a_file_of_the_home_itself_is_allowed_for_the_session_and_no_other(home):
    person = Person("allow_session")
    one, two = home / "one.txt", home / "two.txt"

    assert await ask(person, one, one, two) == [str(one), str(two)]
    assert "Allow this file in this session" in [it.label for it in person.questions[0].options]


@pytest.mark.parametrize("where", [".", ".."])
async def test_the_home_and_what_is_above_it_can_be_allowed_only_once(home, where):
    person = Person("allow_once")

    await ask(person, (home / where).resolve(), opened=(home / where).resolve())

    assert [it.id for it in person.questions[0].options] == ["allow_once", "deny"]
    assert person.questions[0].detail.startswith("It is a workspace folder that holds")


@pytest.mark.parametrize(
    ("is_open", "where"),
    [(False, "outside of the workspace folders"), (True, "holds a whole home folder")],
)
async def test_person_and_model_learn_where_it_is(home, is_open, where):
    person = Person(None)

    with pytest.raises(PermissionDenied, match=where):
        await ask(person, home / "one.txt", opened=home if is_open else None)

    assert where in person.questions[0].detail
