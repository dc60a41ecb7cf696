"""Doors that open a part of their room later."""

import ast
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from ombud import app, graph, handoff
from ombud.registry import imported_later


@pytest.mark.parametrize("door", [app, graph, handoff])
def test_every_name_that_is_imported_later_is_there(door: ModuleType) -> None:
    tree = ast.parse(Path(door.__file__ or "").read_text())
    (promised,) = (node for node in tree.body if isinstance(node, ast.If))
    names = [
        alias.name
        for node in promised.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert names
    for name in names:
        __import__(door.__name__, fromlist=[name])
        assert getattr(door, name) is not None


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'extract'"):
        imported_later("ombud.graph", {"extraction": ["GraphExtractor"]})("extract")
    with pytest.raises(ImportError):
        from ombud.app import no_such_part  # noqa: F401


def test_what_asks_imports_nothing_that_reads_documents_or_draws() -> None:
    rooms = "{'ombud.ingest', 'ombud.documents', 'ombud.sources', 'matplotlib'}"
    code = f"import sys, ombud.app.asking; print({rooms} & set(sys.modules))"
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.strip() == "set()"
