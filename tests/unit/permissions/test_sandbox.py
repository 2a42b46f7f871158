"""The sandbox: policies in the words of each mechanism, and what the kernel of this machine makes of them."""

import errno
import os
import re
import struct
from pathlib import Path

import pytest

from odin_lsp.commands.environment import find_shell
from odin_lsp.commands.output import Output
from odin_lsp.commands.runner import Runner, Spec
from odin_lsp.permissions import bubblewrap, landlock, sandbox, seatbelt, seccomp
from odin_lsp.permissions.reader import Reach
from odin_lsp.permissions.sandbox import Confinement, Policy

ALLOWED = 0x7FFF0000


HANDED_OVER = -1


def decided(program, architecture, number, *arguments):
    """What the kernel would answer: the errno, or 0. A filter is a small program, and this a machine for it."""
    data = struct.pack("=iIQ6Q", number, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    steps = list(struct.iter_unpack("=HBBI", program))
    at, value = 0, 0
    while True:
        code, yes, no, operand = steps[at]
        at += 1
        match code:
            case seccomp.LOAD:
                [value] = struct.unpack_from("=I", data, operand)
            case seccomp.AND:
                value &= operand
            case seccomp.EQUAL:
                at += yes if value == operand else no
            case seccomp.AT_LEAST:
                at += yes if value >= operand else no
            case seccomp.RETURN:
                return {ALLOWED: 0, seccomp.HAND_OVER: HANDED_OVER}.get(operand, operand & 0xFFFF)
            case _:
                raise AssertionError(f"unknown step {code:#x}")


@pytest.fixture(params=seccomp.MACHINES)
def machine(request):
    return request.param, *seccomp.MACHINES[request.param]


def test_a_filter_refuses_what_it_should_on_every_machine(machine):
    name, architecture, numbers = machine
    strict = seccomp.program(name, network=False, metadata=False, truncation=True)
    loose = seccomp.program(name, network=True, metadata=True, truncation=True)
    for call in seccomp.METADATA:
        if call in numbers:
            assert decided(strict, architecture, numbers[call]) == errno.EPERM
            assert decided(loose, architecture, numbers[call]) == 0
    for request in seccomp.SET_FLAGS:
        assert decided(strict, architecture, numbers["ioctl"], 0, request) == errno.EPERM
        assert decided(loose, architecture, numbers["ioctl"], 0, request) == 0
    assert decided(strict, architecture, numbers["socket"]) == errno.EPERM
    assert decided(loose, architecture, numbers["socket"], 2) == 0
    for call in seccomp.ALWAYS:
        assert decided(loose, architecture, numbers[call]) == errno.EPERM
    for call in ("openat", "truncate", "ioctl"):
        assert decided(strict, architecture, numbers[call]) == 0


@pytest.mark.parametrize("brokered", [False, True])
def test_a_filter_knows_the_sockets_of_a_network(machine, brokered):
    """Families from 0 to 50: the internet, netlink's routes, and unix sockets that somebody connects."""
    name, architecture, numbers = machine
    program = seccomp.program(name, network=True, metadata=True, truncation=True, brokered=brokered)

    def made(call="socket"):
        tried = (
            (family, kind | 0o2004000, protocol) for family in range(51) for kind in range(7) for protocol in (0, 15)
        )
        return {it for it in tried if decided(program, architecture, numbers[call], *it) == 0}

    assert {family for family, _, _ in made()} == ({1, 2, 10, 16} if brokered else {2, 10, 16})
    assert {protocol for family, _, protocol in made() if family == 16} == {0}
    assert {kind & 0xF for family, kind, _ in made() if family == 1} == ({1, 5} if brokered else set())
    assert {(family, kind & 0xF) for family, kind, _ in made("socketpair")} == {(1, 1), (1, 5)}
    assert decided(program, architecture, numbers["connect"]) == (HANDED_OVER if brokered else 0)
    assert decided(program, architecture, numbers["socket"], 1 << 32 | 17) == errno.EPERM


def test_a_filter_refuses_other_names_for_the_same_calls(machine):
    name, architecture, numbers = machine
    program = seccomp.program(name, network=False, metadata=False, truncation=True)
    for other, _ in seccomp.MACHINES.values():
        assert (decided(program, other, 9999) == 0) is (other == architecture)
    if name == "x86_64":
        assert decided(program, architecture, seccomp.X32 | numbers["socket"]) == errno.EPERM


def test_a_filter_refuses_to_type_into_terminals(machine):
    name, architecture, numbers = machine
    program = seccomp.program(name, network=True, metadata=True, truncation=True)
    assert decided(program, architecture, numbers["ioctl"], 0, seccomp.TYPE_INTO_TERMINAL) == errno.EPERM
    assert decided(program, architecture, numbers["ioctl"], 0, 0xFFFF00005412) == errno.EPERM
    assert decided(program, architecture, numbers["ioctl"], 0, 0x5413) == 0


def test_a_filter_looks_after_truncation_for_old_kernels(machine):
    name, architecture, numbers = machine
    program = seccomp.program(name, network=True, metadata=True, truncation=False)
    assert decided(program, architecture, numbers["truncate"]) == errno.EPERM
    assert decided(program, architecture, numbers["openat2"]) == errno.ENOSYS
    assert decided(program, architecture, numbers["openat"], 0, 0, os.O_RDONLY | os.O_TRUNC) == errno.EPERM
    assert decided(program, architecture, numbers["openat"], 0, 0, os.O_WRONLY | os.O_TRUNC | os.O_CREAT) == 0
    assert decided(program, architecture, numbers["openat"], 0, 0, os.O_RDONLY) == 0


def test_a_filter_for_readers_leaves_them_nothing_but_themselves(machine):
    name, architecture, numbers = machine
    reading = seccomp.program(name, network=False, metadata=False, truncation=True, reading=True)

    def answer(call, *arguments):
        return decided(reading, architecture, numbers[call], *arguments)

    for call in seccomp.NO_READING:
        if call in numbers:
            assert answer(call) == errno.EPERM
    for call in seccomp.OF_ANY_PROCESS:
        assert (answer(call, 0), answer(call, 1)) == (0, errno.EPERM)
    assert (answer("prlimit64", 0), answer("prlimit64", 4711)) == (0, errno.EPERM)
    assert (answer("setpriority", 0, 0), answer("setpriority", 0, 4711)) == (0, errno.EPERM)
    assert (answer("clone", 17), answer("clone", 0x10000011), answer("clone", 0x00020000)) == (0, *[errno.EPERM] * 2)
    assert answer("clone3") == errno.ENOSYS
    assert [answer("personality", it) for it in (0, 0xFFFFFFFF, 0x0400000)] == [0, 0, errno.EPERM]
    assert [answer("socketpair", 1, it) for it in (1, 0o2000001, 2, 3, 5)] == [0, 0, *[errno.EPERM] * 3]
    assert [answer("fcntl", 3, it) for it in (1, 3, 8, 15)] == [0, 0, errno.EPERM, errno.EPERM]
    assert {answer(call) for call in seccomp.SIGNALS} == {0}


def test_a_filter_looks_after_signals_for_old_kernels(machine):
    name, architecture, numbers = machine
    program = seccomp.program(name, network=False, metadata=False, truncation=True, reading=True, signals=False)
    assert {decided(program, architecture, numbers[call]) for call in seccomp.SIGNALS} == {errno.EPERM}


def test_the_numbers_of_calls_are_the_kernels():
    """As far as the headers on this machine know them."""
    header = Path("/usr/include/asm-generic/unistd.h")
    defined = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text() if header.exists() else ""))
    wrong = {name: number for name, number in seccomp.GENERIC.items() if defined.get(name, str(number)) != str(number)}
    assert wrong == {}


def test_bubblewrap_has_the_whole_disk_read_only_and_its_exceptions_in_order():
    words = bubblewrap.arguments("/usr/bin/bwrap", [Path("/ws")], [Path("/ws/.git")], network=False)
    text = " ".join(words)
    assert "--ro-bind / / --dev /dev --proc /proc --bind /ws /ws --ro-bind /ws/.git /ws/.git" in text
    assert "--cap-drop ALL " in text
    assert {"--die-with-parent", "--unshare-pid", "--unshare-net"} <= set(words)
    assert "--unshare-net" not in bubblewrap.arguments("/usr/bin/bwrap", [], [], network=True)


def test_seatbelt_says_it_in_its_own_words():
    profile = seatbelt.profile([Path('/Users/me/a "b"')], [Path("/Users/me/.git")], network=False)
    assert profile.splitlines() == [
        "(version 1)",
        "(allow default)",
        "(deny file-write*)",
        "(deny signal)",
        "(allow signal (target same-sandbox))",
        "(deny process-info* (target others))",
        '(allow file-write* (literal "/dev/null"))',
        '(allow file-write* (literal "/dev/zero"))',
        '(allow file-write* (literal "/dev/dtracehelper"))',
        '(allow file-write* (subpath "/Users/me/a \\"b\\""))',
        '(deny file-write* (regex #"^/[uU][sS][eE][rR][sS]/[mM][eE]/\\.[gG][iI][tT](/|$)"))',
        "(deny network*)",
    ]
    with_network = seatbelt.profile([Path("/ws")], [], network=True, agents=[Path("/run/agent")]).splitlines()
    assert [it for it in with_network if "network" in it] == [
        "(deny network-outbound (remote unix-socket))",
        '(allow network-outbound (remote unix-socket (path-literal "/private/var/run/mDNSResponder")))',
        '(allow network-outbound (remote unix-socket (path-literal "/run/agent")))',
        '(allow network-outbound (remote unix-socket (subpath "/ws")))',
    ]


REACH = Reach(
    run=(Path("/usr"),),
    names=(Path("/ws"),),
    files=(Path("/ws"), Path("/proc/stat"), Path("/dev/full")),
    hidden=(Path("/ws/.env"),),
)


def test_bubblewrap_gives_readers_a_root_with_nothing_else_in_it():
    words = bubblewrap.arguments("/usr/bin/bwrap", [Path("/tmp/own")], [], REACH, network=False)
    text = " ".join(words)
    assert "--ro-bind / /" not in text
    assert "--ro-bind-try /usr /usr --ro-bind-try /ws /ws --ro-bind /dev/null /ws/.env --dev /dev" in text
    assert "--bind /tmp/own /tmp/own" in text


def test_seatbelt_allows_readers_nothing_by_default():
    lines = seatbelt.profile([Path("/private/tmp/own")], [], REACH, network=False).splitlines()
    assert lines[1] == "(deny default)"
    assert '(allow file-read* file-map-executable process-exec* (subpath "/usr"))' in lines
    assert lines.index('(allow file-read* (subpath "/ws"))') < lines.index(
        '(deny file-read-data (regex #"^/[wW][sS]/\\.[eE][nN][vV](/|$)"))'
    )
    assert not any("file-write*" in line and "/ws" in line for line in lines)
    assert "(deny network*)" in lines


def test_landlock_gives_readers_what_they_name_and_never_the_workspace_to_run(tmp_path):
    for name in ("bin", "ws/deep", "ws/other"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "ws" / "deep" / ".env").touch()
    (tmp_path / "ws" / "deep" / "a.txt").touch()
    root = tmp_path / "ws"
    reach = Reach(run=(tmp_path,), names=(root,), files=(root,), hidden=(root / "deep" / ".env",))
    rules = sandbox.confine(Policy(read=reach), frozenset({"landlock"})).rules
    inside = {str(Path(it).relative_to(tmp_path)): rights for it, rights in rules if it.startswith(str(tmp_path))}
    reading = landlock.READ_FILE | landlock.READ_DIR
    assert inside == {
        "bin": landlock.READS, "ws": landlock.READ_DIR, "ws/other": reading, "ws/deep/a.txt": reading,
    }  # fmt: skip


def test_the_best_that_works_is_taken(tmp_path):
    reading, writing = Policy(), Policy((tmp_path,), protect=(tmp_path / ".git",))
    every = frozenset({"landlock", "namespaces", "bubblewrap"})
    assert sandbox.confine(reading, every).mechanism == "landlock"
    assert sandbox.confine(writing, every).mechanism == "namespaces"
    assert sandbox.confine(writing, frozenset({"landlock"})).mechanism == "landlock"
    assert sandbox.confine(reading, frozenset()) is None
    seatbelted = sandbox.confine(writing, frozenset({"seatbelt"}))
    assert seatbelted.prefix[:2] == (seatbelt.PROGRAM, "-p")


def test_bubblewrap_gets_its_arguments_and_the_filter_where_it_looks_for_it(tmp_path, monkeypatch):
    monkeypatch.setattr(bubblewrap, "find", lambda: "/usr/bin/bwrap")
    (tmp_path / ".git").mkdir()
    policy = Policy((tmp_path,), protect=(tmp_path / ".git", tmp_path / "none"), network=True)

    confinement = sandbox.confine(policy, frozenset({"bubblewrap"}))

    assert confinement == Confinement(
        mechanism="bubblewrap",
        prefix=tuple(bubblewrap.arguments("/usr/bin/bwrap", [tmp_path], [tmp_path / ".git"], network=True)),
        filter=seccomp.program(os.uname().machine, network=True, metadata=True, truncation=True),
        filter_descriptor=bubblewrap.FILTER_DESCRIPTOR,
    )


@pytest.mark.parametrize(
    ("version", "answer"), [(landlock.HOLDS_SIGNALS - 1, errno.EPERM), (landlock.HOLDS_SIGNALS, 0)]
)
def test_a_reader_sends_no_signals_be_it_that_the_filter_has_to_hold_them(monkeypatch, version, answer):
    monkeypatch.setattr(sandbox, "_landlock", lambda: version)
    architecture, numbers = seccomp.MACHINES[os.uname().machine]

    program = sandbox.confine(Policy(read=REACH), frozenset({"landlock"})).filter

    assert {decided(program, architecture, numbers[call]) for call in seccomp.SIGNALS} == {answer}


def test_landlock_alone_leaves_a_folder_with_protected_names_to_its_parts(tmp_path):
    for name in (".git", "src", "deep/.vscode", "deep/free"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "README").touch()
    protect = (tmp_path / ".git", tmp_path / "deep" / ".vscode", tmp_path / "odinconfig.json")
    rules = sandbox.confine(Policy((tmp_path,), protect=protect), frozenset({"landlock"})).rules
    inside = {str(Path(it).relative_to(tmp_path)) for it, _ in rules if it.startswith(str(tmp_path))}
    assert inside == {"src", "README", "deep/free"}


@pytest.fixture
async def confined(tmp_path):
    """Runs a command in a confinement; gives its exit code and what it printed."""
    runner = Runner()
    count = 0

    async def confined(command, confinement):
        nonlocal count
        count += 1
        output = Output(tmp_path / f"output-{count}", lambda text: None)
        argv = (find_shell(), "--noprofile", "--norc", "-c", command)
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        spec = Spec(argv=argv, cwd=tmp_path, environment=environment, confinement=confinement)
        ended = await (await runner.start(spec, output)).wait(60)
        assert ended.how == "exited", ended
        return ended.exit_code, output.shown

    yield confined
    await runner.close()


@pytest.mark.parametrize("version", range(1, max(2, landlock.abi() + 1)))
async def test_every_version_of_landlock_keeps_files_as_they_are(confined, tmp_path, version):
    (tmp_path / "file").write_text("keep")
    policy = seccomp.program(os.uname().machine, network=False, metadata=False, truncation=version >= 3)
    rules = (("/dev/null", landlock.WRITE_FILE),)
    confinement = Confinement(
        mechanism="landlock", landlock=version, rights=landlock.CHANGES, rules=rules, filter=policy
    )
    script = (
        "import os, sys\n"
        "def truncate(): os.truncate('file', 0)\n"
        "def truncating(): os.open('file', os.O_RDONLY | os.O_TRUNC)\n"
        "def write(): open('file', 'w')\n"
        "def make(): open('new', 'w')\n"
        "def link(): os.link('file', 'new')\n"
        "def rename(): os.rename('file', 'new')\n"
        "def remove(): os.remove('file')\n"
        "def mode(): os.chmod('file', 0)\n"
        "for it in (truncate, truncating, write, make, link, rename, remove, mode):\n"
        "    try: it()\n"
        "    except OSError: continue\n"
        "    sys.exit(it.__name__)\n"
        "open('/dev/null', 'w').write('x')\n"
        "print(open('file').read())"
    )
    code, text = await confined(f'python3 -c "{script}"', confinement)
    assert (code, text) == (0, "keep\n")
    assert (tmp_path / "file").read_text() == "keep"


async def test_a_sandbox_that_cannot_be_set_up_runs_nothing(tmp_path):
    runner = Runner()
    output = Output(tmp_path / "output", lambda text: None)
    broken = Confinement(mechanism="landlock", landlock=landlock.abi(), filter=b"nonsense")
    spec = Spec(argv=("/bin/sh", "-c", "echo ran"), cwd=tmp_path, environment={}, confinement=broken)
    ended = await (await runner.start(spec, output)).wait(60)
    await runner.close()
    assert (ended.how, output.shown) == ("failed", "")
    assert "seccomp" in ended.problem
