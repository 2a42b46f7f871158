"""What a project brings besides its text, and what the model is sent."""

import json

import pytest

from tests.support.mcp_servers import entry


@pytest.fixture
def serve(odin, tmp_path, monkeypatch):
    """Have the project name servers that do what tables say."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    odin.settings["mcp"] = {"wait": 30, "timeout": 20}

    def serve(**tables):
        entries = {name: entry(tmp_path, table, name) for name, table in tables.items()}
        (odin.root / ".mcp.json").write_text(json.dumps({"mcpServers": entries}))

    return serve


@pytest.fixture
async def requests(odin, monkeypatch):
    """What the model was sent."""
    sent = []

    def watch():
        model = odin.core.models.get(odin.core.models.selected)
        stream = type(model).stream

        def recorded(self, request):
            sent.append(request)
            return stream(self, request)

        monkeypatch.setattr(type(model), "stream", recorded)

    odin.watch = watch
    return sent
