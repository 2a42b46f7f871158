"""What git gets to know when it runs unasked: no settings of the user's, and none of a repository that start programs.

`tests/adversarial/test_git.py` holds the list of settings against those that the installed git knows."""

import os
import shutil
from collections.abc import Mapping


def _program(name: str) -> str:
    """By its full path: a repository's folder may be on the PATH."""
    return shutil.which(name, path=f"{os.defpath}:/run/current-system/sw/bin") or f"/bin/{name}"


CAT, FALSE, TRUE = _program("cat"), _program("false"), _program("true")

SETTINGS: Mapping[str, str] = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.alternateRefsCommand": TRUE,
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.askPass": FALSE,
    "core.editor": FALSE,
    "core.gitProxy": FALSE,
    "core.pager": CAT,
    "core.sshCommand": FALSE,
    "credential.helper": "",
    "diff.external": TRUE,
    "diff.ignoreSubmodules": "dirty",
    "diff.submodule": "short",
    "gpg.program": FALSE,
    "gpg.openpgp.program": FALSE,
    "gpg.x509.program": FALSE,
    "gpg.ssh.program": FALSE,
    "gpg.ssh.defaultKeyCommand": FALSE,
    "interactive.diffFilter": CAT,
    "log.showSignature": "false",
    "sequence.editor": FALSE,
    "status.submoduleSummary": "false",
    "submodule.recurse": "false",
    "uploadpack.packObjectsHook": FALSE,
    # Formats and orders that run programs can be set as well.
    "format.pretty": "medium",
    "branch.sort": "refname",
    "tag.sort": "refname",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "safe.bareRepository": "explicit",
    # Whoever owns it: what a foreign repository could do is held anyway.
    "safe.directory": "*",
}
"""They win over those of every file, and git hands them on to submodules."""

ENVIRONMENT: Mapping[str, str] = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_PAGER": CAT,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": FALSE,
    "GIT_SSH_COMMAND": FALSE,
    "GIT_PROXY_COMMAND": FALSE,
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_EDITOR": FALSE,
    "GIT_SEQUENCE_EDITOR": FALSE,
    "GIT_TRACE2": "0",
    "GIT_TRACE2_EVENT": "0",
    "GIT_TRACE2_PERF": "0",
    "GIT_CONFIG_COUNT": str(len(SETTINGS)),
    **{f"GIT_CONFIG_KEY_{number}": key for number, key in enumerate(SETTINGS)},
    **{f"GIT_CONFIG_VALUE_{number}": value for number, value in enumerate(SETTINGS.values())},
}
"""For every command that runs unasked, since git may be among its programs."""
