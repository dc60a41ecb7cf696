from collections.abc import Iterator

import httpx
import pytest

from ombud.app import Workspace
from web.running import make_workspace, running


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    made = make_workspace(tmp_path_factory.mktemp("workspace"))
    yield made
    made.close()


@pytest.fixture(scope="session")
def address(workspace: Workspace) -> Iterator[str]:
    with running(workspace) as url:
        yield url


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=30) as open_client:
        yield open_client
