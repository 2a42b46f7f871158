"""Ways to write through a shell, and to reach what is beside it; and everything that must stay as it is."""

import os
import socket
import stat
import subprocess

from odin_lsp.permissions.shell import CommandVerdict

PYTHON = "import os, socket, mmap, ctypes;"

WRITES = [
    "echo x > a.txt",
    "echo x >> a.txt",
    ": > a.txt",
    "echo x >| a.txt",
    "echo x &> new",
    "exec 3<>a.txt; echo x >&3",
    "exec 3<a.txt; echo x > /proc/self/fd/3",
    "echo x > /proc/self/cwd/a.txt",
    'echo x > "/proc/self/root$PWD/a.txt"',
    "cat > new <<< text",
    "touch new",
    "touch a.txt",
    "touch -d 2001-01-01 a.txt",
    "rm a.txt",
    "rm -rf .",
    "unlink a.txt",
    "mv a.txt b.txt",
    "cp a.txt b.txt",
    "cp /etc/passwd a.txt",
    "ln a.txt hard",
    "ln -s /etc/passwd soft",
    "mkdir folder",
    "rmdir empty",
    "chmod 777 a.txt",
    "chmod -R 000 .",
    "chown 12345:12345 a.txt",
    "truncate -s 0 a.txt",
    "dd if=/dev/zero of=a.txt bs=1 count=1 conv=notrunc",
    "echo x | tee a.txt",
    "echo x | tee -a a.txt new",
    "sed -i s/plain/x/ a.txt",
    "sed -n 'w new' a.txt",
    "awk '{print > \"new\"}' a.txt",
    "perl -i -pe s/plain/x/ a.txt",
    "sort -o a.txt a.txt /etc/passwd",
    "uniq /etc/passwd new",
    "split a.txt part",
    "install -m 755 a.txt new",
    "mkfifo pipe",
    "mknod node c 1 3",
    "find . -type f -delete",
    "find . -name a.txt -exec rm {} +",
    "find . -fprint new",
    "echo a.txt | xargs rm",
    "tar cf new.tar a.txt",
    "tar xf archive.tar",
    "printf -- '--- a.txt\\n+++ a.txt\\n@@ -1 +1 @@\\n-plain\\n+x\\n' | patch a.txt",
    "git init -q other",
    "git config --global user.name x",
    "git -c user.name=x -c user.email=x commit -q --allow-empty -m x",
    "git stash",
    "sh ./script.sh",
    "env sh -c 'echo x > a.txt'",
    "eval 'echo x > a.txt'",
    "(echo x > late) & wait",
    "setsid sh -c 'echo x > late' & wait",
    "trap 'echo x > late' EXIT",
    "unshare -Urm sh -c 'mount -t tmpfs none empty; echo x > a.txt'",
    "unshare -Ur sh -c 'chmod 777 a.txt; echo x > a.txt'",
    "chattr +d a.txt",
    "setfattr -n user.x -v y a.txt",
    f"python3 -c '{PYTHON} os.truncate(\"a.txt\", 0)'",
    f"python3 -c '{PYTHON} os.open(\"a.txt\", os.O_RDONLY | os.O_TRUNC)'",
    f"python3 -c '{PYTHON} os.open(\".\", os.O_TMPFILE | os.O_RDWR)'",
    f'python3 -c \'{PYTHON} os.setxattr("a.txt", "user.x", b"y")\'',
    f"python3 -c '{PYTHON} os.utime(\"a.txt\", (1, 1))'",
    f"python3 -c '{PYTHON} f = os.open(\"a.txt\", os.O_RDWR); mmap.mmap(f, 1)[0] = 65'",
    f'python3 -c \'{PYTHON} ctypes.CDLL(None).renameat2(-100, b"a.txt", -100, b"script.sh", 2)\'',
    'echo x >> "$HOME/.bashrc"',
    'echo x >> "$HOME/.ssh/authorized_keys"',
    '(cd "$HOME" && rm .bashrc)',
    'mkdir -p "$HOME/.config/new"',
    'echo x > "$OUTSIDE/secret.txt"',
    'rm -r "$OUTSIDE"',
    'cp a.txt "${TMPDIR:-/tmp}/odin-canary-$$" && rm "${TMPDIR:-/tmp}/odin-canary-$$" && echo x > a.txt',
    "mktemp && echo x > a.txt",
    "echo x > /dev/shm/odin-canary && echo x > a.txt",
    "echo x > /proc/$PPID/comm",
    "crontab - <<< '* * * * * touch pwned'",
    "echo 1 > /proc/sys/kernel/printk_ratelimit && echo x > a.txt",
]
REACHES = [
    "exec 3<>/dev/tcp/127.0.0.1/$PORT; echo x >&3",
    "echo x > /dev/udp/127.0.0.1/$PORT",
    "curl -s http://127.0.0.1:$PORT/",
    f"python3 -c '{PYTHON} socket.create_connection((\"127.0.0.1\", '$PORT')).send(b\"x\")'",
    f"python3 -c '{PYTHON} socket.socket(type=socket.SOCK_DGRAM).sendto(b\"x\", (\"127.0.0.1\", '$PORT'))'",
    f"python3 -c '{PYTHON} socket.socket(socket.AF_INET6).connect((\"::ffff:127.0.0.1\", '$PORT'))'",
    f"python3 -c '{PYTHON} s = socket.socket(socket.AF_UNIX); s.connect(\"'$SOCKET'\"); s.send(b\"x\")'",
    f"python3 -c '{PYTHON} s = socket.socket(socket.AF_UNIX); s.connect(\"\\0'$ABSTRACT'\"); s.send(b\"x\")'",
    "kill -KILL $BYSTANDER",
    "grep -az . /proc/$ODIN/environ",
]

MODES_AND_TIMES = [
    "chmod -R 000 .git",
    'chmod 777 "$HOME/.bashrc"',
    'touch -d 2001-01-01 "$HOME/.bashrc"',
    'chown 12345 "$OUTSIDE/secret.txt"',
    "touch .git/config",
]


class Surroundings:
    """Everything that must stay as it is, ears on the loopback, and a process that has nothing to do with it."""

    def __init__(self, root, outside, home, monkeypatch, stack):
        self.folders = (root, home, outside)
        self.home = home
        self.tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.udp = stack.enter_context(socket.socket(type=socket.SOCK_DGRAM))
        port = self.tcp.getsockname()[1]
        self.udp.bind(("127.0.0.1", port))
        self.unix = stack.enter_context(socket.socket(socket.AF_UNIX))
        self.abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
        # A name in the file system may have no more than about 100 characters.
        monkeypatch.chdir(home)
        self.unix.bind("socket")
        self.abstract.bind(f"\0odin-{port}")
        for listening in (self.unix, self.abstract):
            listening.listen()
        for ear in (self.tcp, self.udp, self.unix, self.abstract):
            ear.setblocking(False)
        self.bystander = stack.enter_context(subprocess.Popen(["sleep", "600"]))
        stack.callback(self.bystander.kill)
        names = {
            "HOME": str(home),
            "OUTSIDE": str(outside),
            "PORT": str(port),
            "SOCKET": "../home/socket",
            "ABSTRACT": f"odin-{port}",
            "ODIN": str(os.getpid()),
            "BYSTANDER": str(self.bystander.pid),
        }
        for name, value in names.items():
            monkeypatch.setenv(name, value)

    def seen(self):
        return {str(path): self._state(path) for folder in self.folders for path in (folder, *folder.rglob("*"))}

    def reached(self):
        called = [ear for ear in (self.tcp, self.unix, self.abstract) if _called(ear)]
        return bool(called) or _received(self.udp) or self.bystander.poll() is not None

    @staticmethod
    def _state(path):
        status = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(status.st_mode) else None
        attributes = os.listxattr(path, follow_symlinks=False)
        return status.st_mode, status.st_uid, status.st_nlink, status.st_ino, status.st_mtime_ns, content, attributes


def _called(ear):
    try:
        ear.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def _received(ear):
    try:
        return bool(ear.recv(100))
    except BlockingIOError:
        return False


def unjudged(command, mode, cwd, roots):
    """The policy switched off."""
    return CommandVerdict("allow", "", (), command, background=False, offer_rule=None)
