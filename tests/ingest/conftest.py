from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.shelf import Shelf


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    monkeypatch.delenv("OMBUD_HOME", raising=False)
    made = Shelf(tmp_path)
    yield made
    made.workspace.close()
