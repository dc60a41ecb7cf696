"""Pairs of question and answer that rules find in a passage: by its heading, its definitions, its
tables, its numbers.

A rule that is not sure of its grammar proposes nothing: a corpus has more passages than cases are
wanted."""

import re
from collections.abc import Iterator, Sequence
from random import Random

from ombud.lab.synthesis.facts import definition_questions, number_questions
from ombud.lab.synthesis.headings import heading_questions
from ombud.lab.synthesis.pairs import MOST, PassageSection, QuestionAnswer
from ombud.lab.synthesis.tables import table_questions
from ombud.lab.synthesis.vocabulary import CorpusVocabulary
from ombud.types import Chunk


def propose(
    chunk: Chunk, vocabulary: CorpusVocabulary, chance: Random, before: Chunk | None = None
) -> dict[str, list[QuestionAnswer]]:
    """Pairs by kind, at most `MOST` each; `before` is the passage in front of it in the same
    document."""
    sections = _sections(chunk, before)
    proposals: dict[str, Iterator[QuestionAnswer]] = {
        "heading": heading_questions(chunk, sections, vocabulary, chance),
        "definition": definition_questions(chunk, vocabulary, chance),
        "table": table_questions(chunk, sections, vocabulary, chance),
        "number": number_questions(chunk, sections, vocabulary, chance),
    }
    drawn = {}
    for kind, proposed in proposals.items():
        pairs = list(proposed)
        drawn[kind] = chance.sample(pairs, min(MOST, len(pairs)))
    return drawn


def _sections(chunk: Chunk, before: Chunk | None) -> list[PassageSection]:
    """One, or several where short neighbours were joined: then their headings stand in the text as
    lines."""
    if not chunk.trail:
        return []
    *parents, last = chunk.trail
    names = last.split(" / ")
    starts = _section_starts(chunk.text, names[1:])
    if starts is None:
        names = [last]
        starts = [0]
    ends = [chunk.text.rfind("\n", 0, start) + 1 for start in starts[1:]]
    spans = zip(starts, [*ends, len(chunk.text)], strict=True)
    open_before = _headings_before(before)
    sections = []
    for place, (name, (start, end)) in enumerate(zip(names, spans, strict=True)):
        opens = place > 0 or name not in open_before
        sections.append(PassageSection(name, tuple(parents), start, end, opens))
    return sections


def _section_starts(text: str, further: Sequence[str]) -> list[int] | None:
    """Where each section begins; None where a heading is no line of the text. further: headings
    after the first."""
    starts = [0]
    for name in further:
        line = re.compile(rf"^#*\s*{re.escape(name)}[ \t]*$", re.MULTILINE)
        heading = line.search(text, starts[-1])
        if not heading:
            return None
        starts.append(heading.end())
    return starts


def _headings_before(before: Chunk | None) -> set[str]:
    if not before or not before.trail:
        return set()
    last = before.trail[-1]
    return {last, *last.split(" / ")}
