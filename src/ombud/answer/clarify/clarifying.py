"""What a message that is too vague may have wanted to know, as questions that people ask."""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ombud.index import Filter
from ombud.retrieve import SearchParts, SearchResult, find_passages, standard_query
from ombud.text import term_pattern
from ombud.types import Hit, Plan, Question

MOST_TRIED = 8
"""Questions that are searched for."""
LEAST_TERMS = 2
"""Content words below which a message without history may be too vague to answer."""
ASKS = re.compile(
    r"\b(?:who|whom|whose|when|where|why|how (?:much|many|long|often|far|do|does|can|should)|can i"
    r"|may i|do i|am i|what (?:is|are|does|do|happens|if|time))\b",
    re.IGNORECASE,
)
"""What makes one content word a question: "when do I get paid", "what is BEM"."""
PASSAGES = 3
"""Passages of each that are looked at."""


def clarifying_questions(
    question: Question, found: SearchResult, where: Filter, parts: SearchParts, most: int
) -> tuple[str, ...]:
    """At most `most` questions, the one that the documents answer likeliest first. They come from
    a list of what people ask about such a word; where it has none, from the headings of what was
    found."""
    ranked: list[tuple[float, str]] = []
    for text in _listed(question.text)[:MOST_TRIED]:
        ranked.append((_likelihood(text, question, found.plan, where, parts), text))
    ranked.sort(key=lambda row: -row[0])
    likely = [text for score, text in ranked if score >= _least(parts)]
    if len(likely) >= 2:
        return tuple(likely[:most])
    return tuple([*likely, *_of_headings(found.evidence.hits)][:most])


def is_vague(question: Question, terms: int, confidence: float, least: float) -> bool:
    """Whether a message names a subject and nothing that could be asked of it, such as "leave?".

    terms: content words that it has, abbreviations spelt out. Only the first message of a
    conversation is, and only one whose subject the documents speak of: listed here, or found with
    a confidence of `least`."""
    if question.history or terms >= LEAST_TERMS:
        return False
    if ASKS.search(question.text) and terms:
        return False
    return not terms or bool(_listed(question.text)) or confidence >= least


def _likelihood(
    text: str, question: Question, plan: Plan, where: Filter, parts: SearchParts
) -> float:
    """How near the nearest passage is: a cosine, or where there are no vectors a BM25 score."""
    asked = question.model_copy(update={"text": text, "history": ()})
    narrow = plan.model_copy(update={"k": PASSAGES})
    found = find_passages([standard_query(asked, parts.glossary)], narrow, where, parts)
    return found.best.get("dense", found.best.get("sparse", 0.0))


def _least(parts: SearchParts) -> float:
    """Nearness from which a question counts as one that the documents speak of (cosines of the
    subjects that the sample's handbook has begin there); words alone say too little."""
    return 0.45 if parts.embedder else 0.0


def _listed(text: str) -> Sequence[str]:
    """Questions of the entries that have a word of the message."""
    message = text.lower()
    questions: dict[str, None] = {}
    for pattern, listed in _subjects():
        if pattern.search(message):
            questions.update(dict.fromkeys(listed))
    return list(questions)


def _of_headings(hits: Sequence[Hit]) -> list[str]:
    """One question for each place that was found, best first."""
    template = str(_content()["other"])
    questions: dict[str, None] = {}
    for hit in hits:
        chunk = hit.chunk
        heading = _subject_of(chunk.trail[-1] if chunk.trail else chunk.title)
        title = _subject_of(chunk.title)
        subject = f"“{heading}”" if heading == title else f"“{heading}” ({title})"
        questions[template.format(subject=subject)] = None
    return list(questions)


def _subject_of(heading: str) -> str:
    """A heading without its number and marks."""
    return re.sub(r"^[\d.\s)]+", "", heading.strip("*_# ")).strip()


@cache
def _subjects() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    subjects: list[tuple[re.Pattern[str], tuple[str, ...]]] = []
    for row in _content()["subject"]:
        subjects.append((term_pattern(row["words"]), tuple(row["questions"])))
    return tuple(subjects)


@cache
def _content() -> dict[str, Any]:
    path = Path(__file__).with_suffix(".toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))
