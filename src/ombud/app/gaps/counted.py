"""The questions that a gap report may count, and the people behind them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ombud.store import StoredAnswer
from ombud.types import Answer, Chunk, Document, Question

OUTCOMES_OF_DENIALS = {"clarify": "unclear", "none": "outside"}
"""Action of a denied answer -> as counted; every other one is `not in the documents`."""
ANSWERED = ("full", "unclear")
"""Outcomes that leave no gap: answered whole, or asked back."""
NOBODY = "?"
SNIPPET = 240
"""Characters of a passage that are shown."""

Backers = dict[str, set[str]]
"""Name of something -> the people who asked for it."""


class CountedQuestion(NamedTuple):
    """One question that may be counted: not sensitive, not erased."""

    who: str
    """See `person_behind`."""
    question: Question
    answer: Answer

    @property
    def outcome(self) -> str:
        return outcome_of(self.answer)

    @property
    def first_document(self) -> str:
        """Id of the document that was cited first, or came closest; empty where none did."""
        if self.answer.citations:
            return self.answer.citations[0].document_id
        evidence = self.answer.trace.evidence
        return document_of(evidence[0]) if evidence else ""


class Sources(NamedTuple):
    """What topics are named from, and by which rules."""

    chunks: Mapping[str, Chunk]
    documents: Mapping[str, Document]
    group_size: int
    """Fewest people behind anything that is shown."""
    show_words: str


def counted_questions(rows: Iterable[StoredAnswer]) -> list[CountedQuestion]:
    questions: list[CountedQuestion] = []
    for row in rows:
        if row.question is None or row.answer is None or row.sensitive:
            continue
        questions.append(CountedQuestion(person_behind(row), row.question, row.answer))
    return questions


def person_behind(row: StoredAnswer) -> str:
    """The person where one is known, else the browser. All of whom nothing is known count as one:
    they may be, and a group must not be."""
    person = row.question.asker.id if row.question else ""
    return person or row.owner or NOBODY


def people_behind(questions: Iterable[CountedQuestion]) -> int:
    return len({question.who for question in questions})


def outcomes_of(questions: Iterable[CountedQuestion]) -> dict[str, int]:
    """Outcome -> how many of the questions have it."""
    return dict(Counter(question.outcome for question in questions))


def unanswered(questions: Sequence[CountedQuestion]) -> list[CountedQuestion]:
    return [question for question in questions if question.outcome not in ANSWERED]


def outcome_of(answer: Answer) -> str:
    """full, partial, unclear, `not in the documents` or outside."""
    if answer.outcome != "denied":
        return answer.outcome
    return OUTCOMES_OF_DENIALS.get(answer.action, "not in the documents")


def shared_by(backers: Mapping[str, set[str]], group_size: int) -> list[str]:
    """Names with enough people behind them, those of most people first."""
    names = [name for name, people in backers.items() if len(people) >= group_size]
    return sorted(names, key=lambda name: (-len(backers[name]), name))


def document_of(chunk_id: str) -> str:
    return chunk_id.partition("-")[0]


def heading_of(chunk: Chunk) -> str:
    """Title and innermost heading."""
    return " · ".join(dict.fromkeys((chunk.title, *chunk.trail[-1:])))


def snippet_of(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= SNIPPET:
        return line
    whole_words = line[:SNIPPET].rsplit(" ", 1)[0]
    return f"{whole_words} …"
