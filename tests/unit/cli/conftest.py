import pytest

from tests.support.model_servers import model_servers


@pytest.fixture
def serve(monkeypatch):
    with model_servers(monkeypatch) as serve:
        yield serve
