"""Files that readers of documents are known to read wrongly, synced as one folder.

`tests/data/faults/README.md` says of each kind what is at stake."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from ingest.shelf import Shelf
from ombud.app import library
from ombud.ingest import SyncReport
from ombud.types import Document, Person

CASES = Path(__file__).parents[1] / "data" / "faults"
Case = dict[str, Any]
TO_DO: frozenset[str] = frozenset(())
"""Files that are not right yet."""


class Synced:
    """What is known of each file after a sync of all."""

    def __init__(self, shelf: Shelf, report: SyncReport) -> None:
        self._shelf = shelf
        reader = Person(country="PT")
        self._readable = {one.uri for one in library.documents(shelf.workspace, reader)}
        self._report: list[dict[str, Any]] = []
        for name in ("failed", "lost", "left_out"):
            self._report += [one.model_dump() for one in getattr(report, name)]

    def documents(self, file: str) -> list[Document]:
        """The document of a file and those that were in it, such as attachments."""
        names = [name for name in self._shelf.documents() if name.startswith(file)]
        return [self._shelf.document(name) for name in sorted(names)]

    def is_readable(self, document: Document) -> bool:
        return document.uri in self._readable

    def report(self, file: str) -> str:
        lines = [json.dumps(line) for line in self._report if file in json.dumps(line)]
        return "\n".join([*lines, *(one.loss.model_dump_json() for one in self.documents(file))])


@pytest.fixture(scope="session")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Synced:
    shelf = Shelf(tmp_path_factory.mktemp("faults"))
    for case in all_cases():
        shelf.write(case["file"], (CASES / case["file"]).read_bytes())
    return Synced(shelf, shelf.sync())


def all_cases() -> list[Case]:
    lines = (CASES / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return list(map(json.loads, lines))


def marked(case: Case) -> Any:
    marks = []
    program = case.get("needs")
    if program and not shutil.which(program):
        marks.append(pytest.mark.skip(reason=f"{program} is not installed"))
    elif case["file"] in TO_DO:
        marks.append(pytest.mark.xfail(strict=True))
    return pytest.param(case, marks=marks, id=case["file"])


@pytest.mark.parametrize("case", list(map(marked, all_cases())))
def test_a_file_that_is_known_to_be_read_wrongly(case: Case, synced: Synced) -> None:
    documents = synced.documents(case["file"])
    report = synced.report(case["file"])
    texts = [f"{document.title}\n\n{document.text}" for document in documents]
    text = re.sub(r"[^\S\n]+", " ", "\n\n".join(texts))
    if case.get("or_refused") and not documents:
        assert report
        return
    if "readable" in case:
        assert any(map(synced.is_readable, documents)) == case["readable"]
    assert [pattern for pattern in case["must"] if not re.search(pattern, text)] == []
    assert [pattern for pattern in case["must_not"] if re.search(pattern, text)] == []
    wanted = case.get("report_must", [])
    assert [pattern for pattern in wanted if not re.search(pattern, report)] == []
