"""The answer to `initialize` that comes before the server is that of the server."""

import json
import random
from types import SimpleNamespace

import pytest

from odin_lsp.frames import framed
from odin_lsp.project.project import Project
from odin_lsp.server.front_door import FrontDoor, result
from odin_lsp.server.server import OdinServer
from tests.support.trusting import trust_folder

SYNC = {"textDocument": {"synchronization": {"willSave": True, "willSaveWaitUntil": False, "didSave": True}}}
FILES = {
    "workspace": {"fileOperations": {"didCreate": True, "didRename": True, "didDelete": False, "willRename": True}}
}
CLIENTS = {
    "nothing": {},
    "nulls": {"textDocument": None, "workspace": {"fileOperations": None}, "general": None, "notebookDocument": None},
    "documents": SYNC,
    "files": FILES,
    "notebooks": {"notebookDocument": {"synchronization": {"dynamicRegistration": True}}},
    "utf-8": {"general": {"positionEncodings": ["utf-8", "utf-16"]}},
    "utf-32": {"general": {"positionEncodings": ["utf-32"]}},
    "no encoding of ours": {"general": {"positionEncodings": ["utf-7"]}},
    "renames": {"textDocument": {"rename": {"prepareSupport": True}}},
    "everything": {
        **SYNC,
        **FILES,
        "notebookDocument": {"synchronization": {}},
        "experimental": {"odin": {"events": True}},
    },
}
REFUSED = {
    "another message first": {"jsonrpc": "2.0", "id": 1, "method": "shutdown"},
    "a notification": {"jsonrpc": "2.0", "method": "initialize", "params": {"capabilities": {}}},
    "no capabilities": {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}},
    "an id that is none": {"jsonrpc": "2.0", "id": True, "method": "initialize", "params": {"capabilities": {}}},
    **{
        f"{name}": {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}, name: value}}
        for name, value in {
            "processId": "x",
            "rootUri": 1,
            "trace": "loud",
            "clientInfo": {"name": 1},
            "workspaceFolders": [{"uri": "file:///a"}],
        }.items()
    },
}


class Line:
    """A client that sends bytes, a few at a time."""

    def __init__(self, data, size=2**14):
        self.data, self.size, self.written = data, size, []

    def read(self, size):
        taken, self.data = self.data[: self.size], self.data[self.size :]
        return taken

    def write(self, data):
        self.written.append(data)


def by_the_server(params):
    server, answers = OdinServer(), []
    server.rpc.connect(SimpleNamespace(send=answers.append))
    server.rpc.receive(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode())
    return json.loads(answers[0]).get("result")


def at_the_door(client):
    return json.loads(json.dumps(result(client, Project())))


def called(params):
    return framed(json.dumps({"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": params}).encode())


def rest_of(door):
    rest = b""
    while data := door.read(10):
        rest += data
    return rest


def answered(call):
    line = Line(call)
    FrontDoor(line).welcome(Project())
    return line.written[0].partition(b"\r\n\r\n")[2]


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_the_answer_is_that_of_the_server_in_each_field(client):
    said, expected = at_the_door(client), by_the_server({"capabilities": client})

    assert said.keys() == expected.keys()
    assert said["serverInfo"] == expected["serverInfo"]
    assert said["capabilities"].keys() == expected["capabilities"].keys()
    for name, value in expected["capabilities"].items():
        assert said["capabilities"][name] == value, name


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_columns_are_counted_as_the_answer_says(client):
    server = OdinServer()
    server.rpc.take_over({"capabilities": client})

    assert server.buffers.encoding == at_the_door(client)["capabilities"]["positionEncoding"]


def test_so_it_is_for_clients_that_offer_any_of_it():
    chance = random.Random(7)
    names = [f"{time}{act}" for time in ("will", "did") for act in ("Create", "Delete", "Rename")]
    for _ in range(20):
        client = {
            "textDocument": {
                "synchronization": {it: chance.choice((True, False)) for it in ("willSave", "willSaveWaitUntil")}
            },
            "workspace": {"fileOperations": {name: chance.choice((True, False, None)) for name in names}},
        }
        assert at_the_door(client) == by_the_server({"capabilities": client})


def test_settings_of_the_editor_and_the_workspace_are_in_it(tmp_path):
    (tmp_path / "odinconfig.json").write_text('{"smallModel": "offline/odin"}')
    options = {"settings": {"model": "anthropic/claude-opus-5-5"}, "secrets": {"anthropic": "sk-1"}}
    folders = [{"uri": tmp_path.as_uri(), "name": "a"}]
    params = {"capabilities": {}, "workspaceFolders": folders, "initializationOptions": options}
    trust_folder(tmp_path)
    line = Line(called(params))

    assert FrontDoor(line).welcome(Project()) == params

    answer = json.loads(line.written[0].partition(b"\r\n\r\n")[2])
    assert answer == {"jsonrpc": "2.0", "id": 7, "result": by_the_server(params)}
    about = answer["result"]["capabilities"]["experimental"]["odin"]
    assert (about["model"], about["smallModel"]) == ("anthropic/claude-opus-5-5", "offline/odin")


@pytest.mark.parametrize("is_trusted", [True, False])
def test_skills_are_named_in_it(tmp_path, is_trusted):
    for name in ("release", "review"):
        (tmp_path / ".claude" / "skills" / name).mkdir(parents=True)
        (tmp_path / ".claude" / "skills" / name / "SKILL.md").write_text(
            f"---\nname: {name}\ndescription: x\n---\nDo.\n"
        )
    if is_trusted:
        trust_folder(tmp_path)
    params = {"capabilities": {}, "workspaceFolders": [{"uri": tmp_path.as_uri(), "name": "a"}]}

    for said in (json.loads(answered(called(params))), {"result": by_the_server(params)}):
        about = said["result"]["capabilities"]["experimental"]["odin"]
        assert about["skills"] == (["release", "review"] if is_trusted else [])


@pytest.mark.parametrize("size", [1, 7, 2**14])
def test_what_follows_is_left_to_the_server(size):
    more = framed(b'{"jsonrpc":"2.0","method":"initialized","params":{}}') + b"Content-Le"
    door = FrontDoor(line := Line(called({"capabilities": {}}) + more, size))

    assert door.welcome(Project()) is not None
    assert (len(line.written), rest_of(door)) == (1, more)


@pytest.mark.parametrize("message", REFUSED.values(), ids=REFUSED)
def test_what_is_out_of_shape_is_the_servers_to_refuse(message):
    sent = framed(json.dumps(message).encode())
    door = FrontDoor(line := Line(sent))

    assert door.welcome(Project()) is None
    assert (line.written, rest_of(door)) == ([], sent)


@pytest.mark.parametrize(
    "sent", [b"", b"Content-Length: 5\r\n\r\n{", b"no frame\r\n\r\n", framed(b"{"), framed(b"[NaN]")]
)
def test_what_is_no_message_is_the_servers_to_refuse(sent):
    door = FrontDoor(line := Line(sent))

    assert door.welcome(Project()) is None
    assert (line.written, rest_of(door)) == ([], sent)


def test_capabilities_that_cannot_be_read_are_as_if_they_were_not_there():
    params = {
        "processId": 7,
        "capabilities": {
            "textDocument": {"synchronization": 5},
            "general": {"positionEncodings": ["utf-8", 8], "markdown": 5},
            "experimental": {"odin": {"events": True}},
        },
    }
    assert by_the_server(params) is None

    server = OdinServer()
    server.rpc.take_over(params)

    assert (server.process_id, server.buffers.encoding, server.abilities.events) == (7, "utf-8", True)
    assert at_the_door(params["capabilities"])["capabilities"]["positionEncoding"] == "utf-8"
