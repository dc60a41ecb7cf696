"""Citations: the sentence that bears a claim out, where it stands, on which page, of which
version."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answer.asking import (
    GB,
    LEAVE,
    PDF_PAGES,
    Script,
    ask,
    claim,
    company,
    draft,
    label,
    with_model,
)
from ombud.answer.proof.citing import cite, page_at
from ombud.app import Workspace, library
from ombud.types import Block, Chunk, Document, Hit

TEXTS = (
    st.text(st.sampled_from("abc é🎉.|-#[]()<\"'’ \n"), min_size=1, max_size=60)
    .map(str.strip)
    .filter(bool)
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    shelf = company(tmp_path_factory.mktemp("home"), plan={"abstain": 0.0})
    yield shelf.workspace
    shelf.workspace.close()


def document(texts: list[str]) -> Document:
    blocks = tuple(
        Block(kind="text", text=text, page=page) for page, text in enumerate(texts, start=1)
    )
    made = Document(id="d" * 16, source="s", uri="a.pdf", title="A", language="en", digest="v1")
    return made.model_copy(update={"text": "\n\n".join(texts), "blocks": blocks})


@given(st.lists(TEXTS, min_size=1, max_size=6), st.data())
def test_a_citation_is_what_stands_at_its_offsets(texts: list[str], data: st.DataObject) -> None:
    made = document(texts)
    start = data.draw(st.integers(0, len(made.text) - 1))
    end = data.draw(st.integers(start + 1, len(made.text)))
    chunk = Chunk(
        id="c",
        document_id=made.id,
        title="A",
        uri="a.pdf",
        text=made.text,
        start=0,
        end=len(made.text),
    )
    hit = Hit(chunk=chunk.model_copy(update={"digest": "v1"}), score=1.0)
    citation = cite(hit, start, end, lambda *_: made)
    if not made.text[start:end].strip():
        assert citation is None
        return
    assert citation is not None
    assert made.text[citation.start : citation.end] == citation.quote == made.text[start:end]
    assert (citation.digest, citation.document_id) == ("v1", made.id)


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_the_page_is_that_of_the_block(texts: list[str]) -> None:
    made = document(texts)
    at = 0
    for page, text in enumerate(texts, start=1):
        assert {page_at(made, offset) for offset in range(at, at + len(text))} == {page}
        at += len(text) + 2


def test_a_text_that_was_changed_is_not_cited() -> None:
    made = document(["You have 26 days."])
    other = document(["You have 27 days."])
    chunk = Chunk(
        id="c",
        document_id=made.id,
        title="A",
        uri="a.pdf",
        text=made.text,
        start=0,
        end=len(made.text),
    )
    assert cite(Hit(chunk=chunk, score=1.0), 0, len(made.text), lambda *_: other) is None
    assert cite(Hit(chunk=chunk, score=1.0), 0, len(made.text), lambda *_: None) is None


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        (
            "You have twenty-six days of leave a year.",
            "Employees in Great Britain have 26 days of annual leave a year.",
        ),
        ("Days that are unused expire on 31 March.", "Unused days expire on 31 March."),
    ],
)
def test_the_sentence_that_bears_the_claim_out_is_quoted(
    home: Workspace, said: str, quote: str
) -> None:
    script = Script(lambda prompt: draft(claim(said, label(prompt, "26 days"))))
    answer = ask(with_model(home, script.chat), LEAVE)
    assert [c.text for c in answer.claims] == [said]
    (citation,) = answer.citations
    assert citation.quote == quote
    stored = library.document(home, citation.document_id, GB, citation.digest)
    assert stored.text[citation.start : citation.end] == quote


def test_a_page_of_a_pdf_is_told(home: Workspace) -> None:
    said = "Fuel cards are limited to 300 pounds in a calendar month."
    script = Script(lambda prompt: draft(claim(said, label(prompt, "Fuel cards"))))
    answer = ask(with_model(home, script.chat), "What is the limit of a fuel card in a month?")
    assert [c.text for c in answer.claims] == [said]
    (citation,) = answer.citations
    assert (citation.page, citation.quote) == (2, PDF_PAGES[1])
