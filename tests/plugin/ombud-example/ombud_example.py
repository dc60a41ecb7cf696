"""Plugins of four kinds: a source, a parser, a strategy and a metric.

The guide "Write a plugin" shows each of them; a test compares the two.
"""

import re
from pathlib import Path

from pydantic import Field

from ombud.documents.blocks import ParsedFile
from ombud.lab import Instruments, Measure, Metric
from ombud.lab.metrics.metric import Undefined, Value
from ombud.settings import PluginSource
from ombud.sources import Ref
from ombud.sources.matching import matching_of
from ombud.types import Block, Observation, Plan, Query, Question

SYNONYMS = {"vacation": "annual leave", "sneakers": "dress code"}


class Notes(PluginSource):
    """The keys that a `[[source]]` of this type takes, and how it opens."""

    notes: dict[str, str] = Field(description="Text of each note by its file name.")

    def open(self, home: Path) -> "NotesSource":
        return NotesSource(self)


class NotesSource:
    def __init__(self, settings: Notes) -> None:
        self.name = settings.name
        self.notes = settings.notes
        self.matching = matching_of(settings)

    def list(self) -> list[Ref]:
        return [self._ref(name) for name in self.notes if self.matching.wanted(name)]

    def read(self, ref: Ref) -> bytes:
        return self.notes[ref.place].encode()

    def _ref(self, name: str) -> Ref:
        facts = self.matching.facts_of(name)
        return Ref(uri=f"{self.name}/{name}", place=name, size=0, facts=facts)


def read_memo(data: bytes, pages: int) -> ParsedFile:
    """A memo: its first line is the subject, every other line a paragraph."""
    subject, *lines = data.decode().splitlines()
    blocks = [Block(kind="heading", text=subject, level=1)]
    for line in lines:
        blocks.append(Block(kind="text", text=line))
    return ParsedFile(blocks, title=subject)


async def by_synonyms(question: Question, plan: Plan, parts: object) -> list[Query]:
    """The question in the words of the house; nothing where it uses them already."""
    text = question.text.lower()
    for word, term in SYNONYMS.items():
        text = text.replace(word, term)
    if text == question.text.lower():
        return []
    return [Query(strategy="synonyms", text=text, passage=text)]


def count_sentences(observation: Observation, metric: Metric, instruments: Instruments) -> Value:
    """Sentences of the answer."""
    if observation.answer is None:
        return Undefined("no answer was asked for")
    return float(len(re.findall(r"[.!?][*_]*(?:\s|$)", observation.answer.text)))


SENTENCES = Measure(count_sentences, "sentences of the answer", better="neither", unit="sentences")
