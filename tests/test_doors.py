"""Doors that open a part of their room later."""

import subprocess
import sys

import pytest

from ombud import app, graph
from ombud.registry import imported_later


@pytest.mark.parametrize("door", [app, graph])
def test_every_public_name_is_there(door: object) -> None:
    names = door.__all__  # type: ignore[attr-defined]
    assert len(set(names)) == len(names)
    assert all(getattr(door, name) is not None for name in names)


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'draw'"):
        imported_later("ombud.graph", {"drawing": ["draw_graph"]})("draw")
    with pytest.raises(ImportError):
        from ombud.app import no_such_part  # noqa: F401


def test_what_asks_imports_nothing_that_reads_documents_or_draws() -> None:
    rooms = "{'ombud.ingest', 'ombud.documents', 'ombud.sources', 'ombud.charts'}"
    code = f"import sys, ombud.app.asking; print({rooms} & set(sys.modules))"
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.strip() == "set()"
