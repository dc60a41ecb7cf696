"""Pairs of question and answer that rules find in a passage: by its heading, its definitions, its
tables, its numbers.

A rule that is not sure of its grammar proposes nothing: a corpus has more passages than cases are
wanted."""

import re
from random import Random

from ombud.lab.synthesis.facts import cells_of, definitions, numbers_of
from ombud.lab.synthesis.headings import heading_questions
from ombud.lab.synthesis.pairs import MOST, PassageSection, QuestionAnswer
from ombud.lab.synthesis.vocabulary import CorpusVocabulary
from ombud.types import Chunk


def propose(
    chunk: Chunk, vocabulary: CorpusVocabulary, chance: Random, before: Chunk | None = None
) -> dict[str, list[QuestionAnswer]]:
    """Pairs by kind, at most `MOST` each; `before` is the passage in front of it in the same
    document."""
    sections = _sections(chunk, before)
    found: dict[str, list[QuestionAnswer]] = {}
    for kind, pairs in (
        ("heading", heading_questions(chunk, sections, vocabulary, chance)),
        ("definition", definitions(chunk, vocabulary, chance)),
        ("table", cells_of(chunk, sections, vocabulary, chance)),
        ("number", numbers_of(chunk, sections, vocabulary, chance)),
    ):
        kept = list(pairs)
        found[kind] = chance.sample(kept, min(MOST, len(kept)))
    return found


def _sections(chunk: Chunk, before: Chunk | None) -> list[PassageSection]:
    """One, or several where short neighbours were joined: then their headings stand in the text as
    lines."""
    if not chunk.trail:
        return []
    *parents, last = chunk.trail
    names, starts, at = last.split(" / "), [0], 0
    for name in names[1:]:
        line = re.compile(rf"^#*\s*{re.escape(name)}[ \t]*$", re.MULTILINE).search(chunk.text, at)
        if not line:
            names, starts = [last], [0]
            break
        at = line.end()
        starts.append(at)
    ends = [*(chunk.text.rfind("\n", 0, start) + 1 for start in starts[1:]), len(chunk.text)]
    known = (
        set(before.trail[-1].split(" / ")) | {before.trail[-1]}
        if before and before.trail
        else set()
    )
    return [
        PassageSection(name, tuple(parents), start, end, at > 0 or name not in known)
        for at, (name, start, end) in enumerate(zip(names, starts, ends, strict=True))
    ]
