"""What a document hides is nowhere: not in the index, not in the store, not in an answer, not in
what is exported. PDF is left to `tests/documents/test_every_fault.py`."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from documents.test_every_fault import FAULTS, FILES, IMPOSSIBLE
from ingest.shelf import Shelf
from ombud.store import find_document
from web.running import running
from web.test_live import Employee
from web.test_own_conversations import BASE

FAULT_FILES = Path(__file__).parents[1] / "data" / "faults"
HIDDEN = {
    "docx-hidden/vanish.docx": ("two if they ask", "90,000"),
    "html-hidden/old.html": ("150 percent", "175 percent", "asked for later"),
    "pptx-hidden/canteen.pptx": ("4 euros", "closes in August"),
    "xlsx-hidden/kilometres.xlsx": ("Van (ended)", "Cents of 2023", "7700"),
}
"""File -> what it holds and hides."""
WRITTEN = {
    f"{fault}/{FILES[name][0]}": (fault, name)
    for fault, wanted in FAULTS.items()
    for name in FILES
    if wanted.secret and name != "pdf" and name not in IMPOSSIBLE.get(fault, {})
}
"""File -> the fault and the format that it is written in."""
SECRETS = {"insist", "Olsen"}.union(*HIDDEN.values())
"""Words that every file hides which holds them."""
QUESTIONS = (
    "How many months of pay are paid as severance?",
    "How many euros a day are paid?",
    "How many cents are paid per kilometre?",
    "How many percent is the bonus?",
    "When is the canteen closed, and what does lunch cost?",
)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    made = Shelf(tmp_path_factory.mktemp("hidden"), plan={"abstain": 0.01})
    for file, (fault, name) in WRITTEN.items():
        made.write(file, FILES[name][1](FAULTS[fault].elements))
    for file in HIDDEN:
        made.write(file, (FAULT_FILES / file).read_bytes())
    assert made.sync().ok
    yield made
    made.workspace.close()


def secrets_in(text: str) -> set[str]:
    """Find whole words only: the digits of a random id may hold a secret number by chance."""
    return {word for word in SECRETS if re.search(rf"(?<![\w.-]){re.escape(word)}(?![\w-])", text)}


def test_no_passage_and_no_stored_document_says_it(shelf: Shelf) -> None:
    assert shelf.documents() == {*WRITTEN, *HIDDEN}
    hidden = HIDDEN | {file: (FAULTS[fault].secret,) for file, (fault, _) in WRITTEN.items()}
    for file, secrets in hidden.items():
        document = find_document(shelf.workspace.store, f"docs/{file}")
        kept = [document, *(one for one in shelf.chunks() if one.document_id == document.id)]
        assert len(kept) > 1
        said = " ".join(one.model_dump_json() for one in kept)
        assert (file, [secret for secret in secrets if secret in said]) == (file, [])


def test_no_file_of_the_workspace_holds_it(shelf: Shelf) -> None:
    shelf.workspace.store.settle()
    files = [file for file in (shelf.home / ".ombud").rglob("*") if file.is_file()]
    texts = {file.name: file.read_text("utf-8", "replace") for file in files}
    holders = {Path(name).suffix for name, text in texts.items() if "One month of pay" in text}
    assert {".sqlite", ".lance"} <= holders
    assert {name: secrets_in(text) for name, text in texts.items() if secrets_in(text)} == {}


@pytest.fixture
def ann(shelf: Shelf) -> Iterator[Employee]:
    with running(shelf.workspace) as address:
        made = Employee(address)
        yield made
        made.client.close()


def test_no_answer_no_export_and_no_page_says_it(ann: Employee) -> None:
    talk = ann.begin()
    for question in QUESTIONS:
        answer = ann.ask(talk, question)
        assert answer.json()["citations"]
        assert secrets_in(answer.text) == set()
    for form in ("markdown", "text"):
        exported = ann.client.get(f"{BASE}/{talk}/transcript", params={"format": form})
        assert exported.status_code == 200
        assert secrets_in(exported.text) == set()
    for one in ann.client.get("/api/v1/documents").json()["documents"]:
        page = ann.client.get(f"/documents/{one['id']}")
        assert page.status_code == 200
        assert secrets_in(page.text) == set()
