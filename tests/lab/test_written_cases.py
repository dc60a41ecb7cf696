"""The cases that people wrote: every quote stands in its document, on its page, and answers are
said in other words."""

from collections import Counter
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import pytest

from ombud.documents import parse
from ombud.lab import normalise, read_cases
from ombud.lab.cases.quotes import holds
from ombud.types import Document

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared/data"
FILES = {
    **dict.fromkeys(sorted((ROOT / "tests/data").glob("handbooks-*.jsonl")), SHARED / "handbooks"),
    ROOT / "tests/data/apart-handbooks.jsonl": SHARED / "handbooks",
    ROOT / "tests/data/ll144.jsonl": SHARED,
    **dict.fromkeys(sorted((ROOT / "sample/cases").glob("*.jsonl")), ROOT / "sample"),
    ROOT / "sample/redteam/cases.jsonl": ROOT / "sample/redteam",
}
"""Cases -> the folder that their documents' uris begin in."""
each = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


@lru_cache(maxsize=256)
def document(path: Path) -> Document:
    blank = Document(
        id=sha256(str(path).encode()).hexdigest()[:16],
        source="s",
        uri=path.name,
        title="",
        language="",
    )
    return parse(path.read_bytes(), blank)


@each
def test_every_quote_stands_in_its_document_on_its_page(file: Path) -> None:
    if not FILES[file].is_dir():
        pytest.skip(f"no documents in {FILES[file]}")
    for case in read_cases(file):
        for item in case.evidence:
            read = document(FILES[file] / item.document)
            pages = [block.text for block in read.blocks if item.page in (None, block.page)]
            assert holds(["\n\n".join(pages)], item.quote), (case.id, item)


@each
def test_quotes_are_short_and_answers_in_other_words(file: Path) -> None:
    longest = 40 if file.parent.name == "data" else 100  # the sample's include whole rules
    for case in read_cases(file):
        assert all(0 < len(item.quote.split()) <= longest for item in case.evidence), case.id
        if case.expect == "answer":
            assert case.evidence, case.id
            assert case.references, case.id
        for said in case.references:
            assert not any(
                normalise(item.quote) in normalise(said.text) for item in case.evidence
            ), case.id


@each
def test_what_is_to_be_denied_has_no_evidence(file: Path) -> None:
    kinds = {"unanswerable": "deny", "off_topic": "deny", "incoherent": "deny", "vague": "clarify"}
    for case in read_cases(file):
        if case.type in kinds:
            assert case.expect == kinds[case.type], case.id
            assert not case.evidence, case.id


def test_the_law_is_asked_about_in_every_way() -> None:
    cases = read_cases(ROOT / "tests/data/ll144.jsonl")
    types = Counter(case.type for case in cases)
    assert len(cases) >= 36
    assert [case.id for case in cases] == [
        f"ll144-{number:03d}" for number in range(1, len(cases) + 1)
    ]
    asked = {
        "simple",
        "complex",
        "comparative",
        "rule_conclusion",
        "situational",
        "vague",
        "unanswerable",
        "off_topic",
    }
    assert set(types) >= asked
    assert types["unanswerable"] >= 3
    assert types["off_topic"] >= 2
    assert 3 * sum(bool({"typo", "jargon"} & set(case.tags)) for case in cases) >= len(cases) - 2
    assert all(item.page for case in cases for item in case.evidence)
