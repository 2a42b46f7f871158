"""What holds for every test: no key, no settings and no sessions of the person who runs it, no network but loopback.

It is done at import, in `os.environ`, so that the processes which tests start inherit it.
"""

import atexit
import ipaddress
import os
import shutil
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.support.disks import never_wait_for_them
from tests.support.sampling import EXAMPLES, SEED, sampled

PRIVATE = (
    "ANTHROPIC_",
    "GEMINI_",
    "GOOGLE_",
    "OPENAI_",
    "ODIN_",
    "AWS_",
    "AZURE_",
    "CLOUDSDK_",
    "CLOUD_ML_",
    "GCLOUD_",
)
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
HOMES = {
    "HOME": "",
    "XDG_CACHE_HOME": ".cache",
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
}


def _forget_the_person() -> None:
    for name in list(os.environ):
        if name.startswith(PRIVATE) or name.upper() in PROXIES:
            del os.environ[name]
    os.environ.pop("XDG_RUNTIME_DIR", None)  # hosts are found there; they are in the state folder otherwise
    os.environ |= {"AWS_EC2_METADATA_DISABLED": "true", "NO_GCE_CHECK": "true"}  # SDKs would ask 169.254.169.254
    os.environ["ODIN_HOST"] = "off"  # nobody would end it
    os.environ["ODIN_TITLES"] = "0"  # it would take the answers that a test has made for others
    home = Path(tempfile.mkdtemp(prefix="odin-tests-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    for name, folder in HOMES.items():
        (home / folder).mkdir(parents=True, exist_ok=True)
        os.environ[name] = str(home / folder)
    programs = os.environ.get("PATH", os.defpath).split(os.pathsep)
    beside = str(Path(sys.executable).parent)  # language servers are there, which turns that edit would start
    os.environ["PATH"] = os.pathsep.join(it for it in programs if it != beside)


def _stay_on_loopback() -> None:
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def guarded_connect(self: socket.socket, address: Any, /) -> None:
        _refuse_strangers(self, address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any, /) -> int:
        _refuse_strangers(self, address)
        return connect_ex(self, address)

    socket.socket.connect = guarded_connect
    socket.socket.connect_ex = guarded_connect_ex


def _refuse_strangers(connecting: socket.socket, address: Any) -> None:
    """No `OSError`: the code under test could take that for an unreachable host and carry on."""
    if connecting.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(address[0]):
        raise RuntimeError(f"a test tried to connect to {address[0]}; tests may use loopback only")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host == "localhost"


_forget_the_person()
_stay_on_loopback()
never_wait_for_them()
settings.register_profile("odin", max_examples=EXAMPLES, deadline=None)
settings.load_profile("odin")


def pytest_report_header() -> list[str]:
    return [f"a sample: SAMPLE_SEED={SEED}"] if SEED else []


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of two tests that are thorough one is a sample; a day is lived in each."""
    thorough = [it for it in items if it.get_closest_marker("thorough") and it.path.name != "test_day.py"]
    left = {*thorough}.difference(sampled(thorough, 2))
    items[:] = [it for it in items if it not in left]
    config.hook.pytest_deselected(items=list(left))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Any:
    report = yield
    return report if hasattr(report, "wasxfail") else _not_skipped(report)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Any:
    return _not_skipped((yield))


def _not_skipped(report: Any) -> Any:
    """Where everything is installed a skipped test is one that nobody runs: with `CI` set it fails."""
    if report.skipped and os.environ.get("CI"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome, report.longrepr = "failed", f"with CI set no test may be skipped: {reason}"
    return report
