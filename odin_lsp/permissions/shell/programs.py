"""Programs by name: where they are, and what kind they are of."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from odin_lsp.patterns import program_name
from odin_lsp.permissions.program_search import is_within, programs_on
from odin_lsp.permissions.shell.grammar import names
from odin_lsp.workspace.ripgrep import find_ripgrep

SHELLS = names("sh bash dash ash zsh ksh mksh fish csh tcsh rbash pwsh powershell cmd")
PRIVILEGE = names("sudo doas su pkexec runuser gosu run0 sudoedit visudo")
WRAPPERS = PRIVILEGE | names(
    "env xargs timeout nice nohup setsid stdbuf command exec builtin time coproc busybox toybox watch parallel ionice"
    " chrt taskset numactl flock unshare nsenter chroot fakeroot script scriptreplay strace ltrace gdb valgrind perf"
    " catchsegv setarch linux32 linux64 i386 x86_64 prlimit setpriv cgexec bwrap firejail systemd-run dbus-run-session"
    " unbuffer expect rlwrap entr caffeinate arch proxychains proxychains4 torify torsocks faketime eatmydata dumb-init"
    " tini chpst softlimit envdir daemonize start-stop-daemon screen tmux at batch ssh ssh-agent eval trap source ."
    " sshpass npx pnpx bunx uvx pipx doppler direnv mise asdf nix-shell logsave choom hyperfine multitime chronic"
    " ifne pee xvfb-run dbus-launch cpulimit run-parts su-exec uclampset tsp nq sem"
)
"""They run what they are given. Their inner command is looked at for what is forbidden; they are never allowed."""
RUNNERS = names(
    # of projects
    "uv poetry pipenv hatch pdm rye conda mamba micromamba pixi npm pnpm yarn bun corepack bundle bundler composer"
    " cargo go deno dotnet dart flutter mix tox nox nx turbo lerna rush lage wireit"
    # watching, and several at once
    " watchexec nodemon concurrently conc npm-run-all npm-run-all2 run-s run-p onchange chokidar ts-node ts-node-dev"
    " ts-node-esm tsx esno jiti vite-node babel-node zx pm2 forever foreman honcho overmind hivemind goreman air reflex"
    " modd gow fswatch cargo-watch task pueue fd fdfind pre-commit"
    # with other variables, versions or rights
    " cross-env cross-env-shell env-cmd dotenv dotenvx envchain envconsul aws-vault aws-okta chamber op sops infisical"
    " vault teller nix nix-develop devbox devenv flox guix pyenv rbenv nodenv jenv volta fnm nvm rvm rustup"
    # elsewhere
    " docker docker-compose podman podman-compose nerdctl kubectl oc ctr crictl lxc incus distrobox toolbox flatpak"
)
"""They may run what they are given, and do other things as well. They are looked at as wrappers are, but a rule may
allow them."""
GIT_RUNS = names("bisect rebase submodule difftool mergetool filter-branch for-each-repo")
"""Commands of git that do so."""
CODE = names("eval trap watch script su ssh at batch parallel expect tmux screen")
"""They take a whole line of shell as an argument."""
BUILTINS = names(
    "alias unalias bind bg fg jobs break continue caller cd compgen complete compopt declare typeset local readonly"
    " dirs pushd popd disown enable export getopts hash help history let logout mapfile readarray read return set"
    " shift shopt suspend times ulimit umask unset wait exit kill fc"
)
"""Of bash: they change the shell itself, and the meaning of what follows."""
_INTERPRETER = re.compile(
    r"(python|pypy|perl|ruby|node|nodejs|php|lua|luajit|tclsh|wish|guile|ghci?|runghc|scala|java|jshell|julia|r"
    r"|rscript|deno|bun|osascript|irb|ipython|sqlite|psql|mysql|racket|erl|elixir|iex|ocaml|swipl|octave)[\d.]*"
)
PROJECT = names(
    "make gmake just rake ninja pytest py.test tox nox invoke npm pnpm yarn gulp grunt jest vitest mocha gradle gradlew"
    " mvn mvnw ant bazel cmake ctest uv poetry pipenv hatch pdm rye pre-commit composer bundle mix"
)
"""They run the project's own code, whatever that is."""
SHARP = names(
    # files
    "rm rmdir unlink shred mv cp ln install dd tee truncate split csplit chmod chown chgrp chattr setfacl mkfifo mknod"
    " patch tar bsdtar cpio ar zip unzip 7z gzip gunzip bzip2 xz zstd rsync mount umount shuf iconv xxd hexdump hd"
    " strings base32 base64 basenc uuencode uudecode openssl gpg age pass objcopy strip m4 gcc g++ cc clang ld as"
    " ffmpeg convert magick pandoc gs pdflatex latex tex awk gawk mawk nawk bc dc jq yq egrep fgrep zgrep zcat ack ag"
    # what waits, shows or never ends
    " yes sleep top htop btop atop iotop ed red ex vi vim rvim vimdiff nvim view rview emacs emacsclient nano pico code"
    " less more most man info dialog whiptail pv mc ranger xterm"
    # the machine and its other programs
    " kill pkill killall crontab anacron systemctl service launchctl journalctl dmesg swapoff sysctl ip iptables ss"
    " netstat env printenv ps lsof gcore debugfs logrotate update-alternatives useradd usermod passwd chsh chpasswd"
    " vipw defaults security wall write logger lp lpr mkswap modprobe insmod ldconfig"
    # the network
    " curl wget nc ncat netcat socat telnet ftp tftp sftp scp mosh rlogin rclone restic aria2c ping ping6 traceroute"
    " mtr dig drill kdig delv nslookup host whois resolvectl systemd-resolve getent nmap tcpdump tshark mail mailx"
    " sendmail xdg-open open lynx w3m links http https ssh-keygen ssh-add ssh-copy-id ssh-keyscan"
    # whole systems in one word
    " docker docker-compose podman nerdctl buildah lxc ctr crictl kubectl helm vagrant terraform ansible"
    " ansible-playbook aws gcloud az gh glab heroku fly npm pnpm yarn pip pip3 gem cargo go apt apt-get dpkg rpm dnf"
    " yum brew pacman apk snap flatpak conda mamba svn"
)
"""What they do depends on their arguments: to allow one, a rule has to say more than the name."""
VERSIONS = {
    "--version": names(
        "python python2 python3 pip pip3 uv perl ruby node npm php lua gcc g++ cc clang make cmake ninja cargo rustc"
        " rustup java javac bash zsh ruff docker"
    ),
    "-V": names("python python2 python3 cargo rustc"),
    "-v": names("node npm perl ruby php lua"),
    "-version": names("java javac"),
    "version": names("go"),
}
"""Who tells its version so. A version manager may look into the workspace for which one it is, and is held to reading;
what runs code of the project for it (`yarn`, `pnpm`, `mvn`, `gradle`, `dotnet`) is not here."""


def is_interpreter(name: str) -> bool:
    return name in SHELLS or bool(_INTERPRETER.fullmatch(name))


def is_wrapper(name: str) -> bool:
    return name in WRAPPERS or name.startswith(("ld-linux", "ld.so", "ld-musl"))


def runs_others(argv: Sequence[str]) -> bool:
    """Whether a command may be written in its words, be it as words or as shell code."""
    name = program_name(argv[0])
    return is_wrapper(name) or name in SHELLS | RUNNERS or (name == "git" and any(word in GIT_RUNS for word in argv))


def tells_its_version(argv: Sequence[str]) -> bool:
    return len(argv) == 2 and argv[0] in VERSIONS.get(argv[1], ())


def find_program(name: str, roots: Sequence[Path]) -> Path | None:
    """The program that `name` means; never a file of the workspace, whatever it is called or linked to."""
    if name == "rg":
        return find_ripgrep(roots)
    found = programs_on(os.environ.get("PATH", os.defpath), name)
    return next((path for path in found if not _leads_into(path, roots)), None)


def _leads_into(path: Path, roots: Sequence[Path]) -> bool:
    return any(is_within(Path(os.path.realpath(place)), roots) for place in (path.parent, path))
