"""What changed from one version of a document to another: block by block, and inside a block that
was rewritten word by word.

Nothing here makes HTML; the template escapes every run."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from ombud.types import Document

_WORD = re.compile(r"\s+|[^\s\w]|\w+")
LONGEST = 4_000
"""Words of two blocks together that are compared word by word; longer ones are shown whole."""
ALIKE = 0.4
"""Share of their words that two blocks have in common where one is the other rewritten."""

Kind = Literal["same", "added", "removed", "rewritten"]


class ChangedRun(NamedTuple):
    text: str
    kind: Literal["same", "added", "removed"]


class ChangedBlock(NamedTuple):
    kind: Kind
    runs: tuple[ChangedRun, ...]
    skipped: int = 0
    """Of unchanged blocks left out here; then there are no runs."""


def changes(old: Document, new: Document) -> list[ChangedBlock]:
    """Return the changed blocks in order, each with the unchanged ones before and after it."""
    before, after = _blocks(old), _blocks(new)
    changed: list[ChangedBlock] = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for what, first, last, start, end in matcher.get_opcodes():
        if what == "equal":
            changed += [
                ChangedBlock("same", (ChangedRun(text, "same"),)) for text in after[start:end]
            ]
        else:
            changed += _replaced(before[first:last], after[start:end])
    return list(_around(changed))


def _blocks(document: Document) -> list[str]:
    if document.blocks:
        return [block.text for block in document.blocks if block.text.strip()]
    return [part for part in document.text.split("\n\n") if part.strip()]


def _replaced(before: Sequence[str], after: Sequence[str]) -> Iterator[ChangedBlock]:
    """Pair similar blocks in order; the others were removed or added."""
    left = list(before)
    for text in after:
        partner = next((old for old in left if _alike(old, text)), None)
        if partner is None:
            yield ChangedBlock("added", (ChangedRun(text, "added"),))
            continue
        place = left.index(partner)
        for gone in left[:place]:
            yield ChangedBlock("removed", (ChangedRun(gone, "removed"),))
        left = left[place + 1 :]
        yield ChangedBlock("rewritten", tuple(_words(partner, text)))
    for gone in left:
        yield ChangedBlock("removed", (ChangedRun(gone, "removed"),))


def _alike(old: str, new: str) -> bool:
    first, second = set(old.split()), set(new.split())
    return len(first & second) >= ALIKE * max(1, len(first | second))


def _words(old: str, new: str) -> Iterator[ChangedRun]:
    before, after = _WORD.findall(old), _WORD.findall(new)
    if len(before) + len(after) > LONGEST:
        yield ChangedRun(old, "removed")
        yield ChangedRun(new, "added")
        return
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for what, first, last, start, end in matcher.get_opcodes():
        if what == "equal":
            yield ChangedRun("".join(after[start:end]), "same")
            continue
        if last > first:
            yield ChangedRun("".join(before[first:last]), "removed")
        if end > start:
            yield ChangedRun("".join(after[start:end]), "added")


def _around(blocks: Sequence[ChangedBlock]) -> Iterator[ChangedBlock]:
    changed = [place for place, block in enumerate(blocks) if block.kind != "same"]
    near = {place + step for place in changed for step in (-1, 0, 1)}
    skipped = 0
    for place, block in enumerate(blocks):
        if place not in near:
            skipped += 1
            continue
        if skipped:
            yield ChangedBlock("same", (), skipped)
            skipped = 0
        yield block
    if skipped:
        yield ChangedBlock("same", (), skipped)
