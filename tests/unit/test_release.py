"""What a release depends on, as far as reading shows it: `nox -s release` builds and tries one."""

import re
import tarfile
from pathlib import Path

import pytest
import yaml
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

from odin_lsp import __version__
from tests.release.building import Built
from tests.release.contents import names, problems, strangers

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "checks.yml"


def test_github_runs_what_a_person_runs():
    jobs = yaml.safe_load(WORKFLOW.read_text())["jobs"]
    said = {name: [it["run"] for it in job["steps"] if "run" in it][-1] for name, job in jobs.items()}

    assert said["checks"] == ".ci/run"
    assert said["release"].endswith("nox -s release")
    assert "python3 -m venv .venv && .venv/bin/pip install -q nox && .venv/bin/nox" in said["release"]


def test_every_action_is_named_by_its_commit():
    used = re.findall(r"uses: (\S+)", WORKFLOW.read_text())

    assert used
    assert [it for it in used if not re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", it)] == []


@pytest.fixture
def plugin(tmp_path):
    """An archive with these files and what each plugin has."""

    def plugin(*more, without=()):
        has = ["LICENSE", "README.md", "doc/odin.txt", "doc/tags", "lsp/odin.lua", "lua/odin/init.lua"]
        has += ["lua/odin/protocol.lua", "plugin/odin.lua", *more]
        path = tmp_path / "odin.nvim-1.0.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            for name in has:
                if name not in without:
                    archive.addfile(tarfile.TarInfo(f"odin.nvim/{name}"))
        return Built("plugin", path)

    return plugin


def test_a_package_has_what_it_needs_and_nothing_else(plugin):
    assert problems(plugin(), "1.0") == []
    assert names(plugin().path)[:2] == ["LICENSE", "README.md"]
    assert problems(plugin(without=["doc/tags"]), "1.0") == ["doc/tags is missing"]
    assert problems(plugin("test/run.lua", "lua/odin/chat/init.lua"), "1.0") == ["test/run.lua does not belong there"]


@pytest.mark.parametrize(("kind", "builder"), [("sdist", SdistBuilder), ("wheel", WheelBuilder)])
def test_what_is_packed_is_known(kind, builder):
    packed = [it.distribution_path for it in builder(str(ROOT)).recurse_included_files()]

    assert "odin_lsp/__init__.py" in packed
    assert strangers(kind, packed, __version__) == []
