"""The questions that a gap report may count, and the people behind them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ombud.store import StoredAnswer
from ombud.types import Answer, Chunk, Document, Question

OUTCOMES_OF_DENIALS = {"clarify": "unclear", "none": "outside"}
"""Action of a denied answer -> outcome in the report; any other is `not in the documents`."""
ANSWERED = ("full", "unclear")
"""Outcomes without a gap: full answers and clarifying questions."""
NOBODY = "?"
SNIPPET = 240
"""Characters of a passage in the report."""

Backers = dict[str, set[str]]
"""Name of something -> people who asked for it."""


class CountedQuestion(NamedTuple):
    """A question that may be counted: neither sensitive nor erased."""

    who: str
    """See `person_behind`."""
    question: Question
    answer: Answer

    @property
    def outcome(self) -> str:
        return outcome_of(self.answer)

    @property
    def first_document(self) -> str:
        """Return the id of the first cited or the closest document; empty if there is none."""
        if self.answer.citations:
            return self.answer.citations[0].document_id
        evidence = self.answer.trace.evidence
        return document_of(evidence[0]) if evidence else ""


class Sources(NamedTuple):
    """Chunks, titles and rules from which topics are named."""

    chunks: Mapping[str, Chunk]
    documents: Mapping[str, Document]
    group_size: int
    """Fewest people behind anything in the report."""
    show_words: str


def counted_questions(rows: Iterable[StoredAnswer]) -> list[CountedQuestion]:
    questions: list[CountedQuestion] = []
    for row in rows:
        if row.question is None or row.answer is None or row.sensitive:
            continue
        questions.append(CountedQuestion(person_behind(row), row.question, row.answer))
    return questions


def person_behind(row: StoredAnswer) -> str:
    """Return the person, else the browser. All anonymous askers count as one, because they may be,
    and a group must not be a single person."""
    person = row.question.asker.id if row.question else ""
    return person or row.owner or NOBODY


def people_behind(questions: Iterable[CountedQuestion]) -> int:
    return len({question.who for question in questions})


def outcomes_of(questions: Iterable[CountedQuestion]) -> dict[str, int]:
    """Count the questions by outcome."""
    return dict(Counter(question.outcome for question in questions))


def unanswered(questions: Sequence[CountedQuestion]) -> list[CountedQuestion]:
    return [question for question in questions if question.outcome not in ANSWERED]


def outcome_of(answer: Answer) -> str:
    """Return full, partial, unclear, `not in the documents` or outside."""
    if answer.outcome != "denied":
        return answer.outcome
    return OUTCOMES_OF_DENIALS.get(answer.action, "not in the documents")


def shared_by(backers: Mapping[str, set[str]], group_size: int) -> list[str]:
    """Return names with enough people behind them, most people first."""
    names = [name for name, people in backers.items() if len(people) >= group_size]
    return sorted(names, key=lambda name: (-len(backers[name]), name))


def document_of(chunk_id: str) -> str:
    return chunk_id.partition("-")[0]


def heading_of(chunk: Chunk) -> str:
    """Return the title and the innermost heading."""
    return " · ".join(dict.fromkeys((chunk.title, *chunk.trail[-1:])))


def snippet_of(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= SNIPPET:
        return line
    whole_words = line[:SNIPPET].rsplit(" ", 1)[0]
    return f"{whole_words} …"
