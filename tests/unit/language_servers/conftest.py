import pytest

from tests.support.language_servers import World


@pytest.fixture
async def world(tmp_path):
    world = World(tmp_path)
    yield world
    await world.servers.close()
