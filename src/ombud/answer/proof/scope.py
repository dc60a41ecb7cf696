"""Whether a claim holds for no more than its passage: conditions kept, nobody added, nothing
widened. English only."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ombud.answer.proof.aligning import (
    AlignedSegment,
    Alignment,
    Segment,
    split_segments,
    whole_texts,
)
from ombud.text import Sentence, content_terms, read_figures
from ombud.text.scope.conditions import (
    Condition,
    Narrowing,
    find_conditions,
    find_narrowing,
)
from ombud.text.scope.parties import COMPANY, EMPLOYEE, leading_party, parties_in
from ombud.text.names.finding import grades_between
from ombud.text.statements.subjects import word_weight
from ombud.text.scope.synonyms import canonical_terms
from ombud.text.scope.quantifiers import (
    excepts,
    is_certain,
    is_hedged,
    licenses_wide,
    rules_out_exceptions,
    wide_words,
)

FRAGMENT = 3
"""Fewer words are a fragment, which says with the question what it says."""
KEPT = 0.34
"""Share of a condition's words from which it counts as kept."""


class Told(NamedTuple):
    """What the claim and its question say, where a condition may have been kept."""

    text: str
    terms: frozenset[str]
    numbers: frozenset[str]
    kinds: tuple[str, ...]


def read_told(texts: Sequence[str], language: str) -> Told:
    joined = "\n".join(texts).lower()
    figures = read_figures(joined, language)
    return Told(
        text=joined,
        terms=canonical_terms(content_terms(joined, language)),
        numbers=figures.numbers,
        kinds=tuple(quantity.kind for quantity in figures.quantities),
    )


def objections(
    claim: Sequence[Sentence], alignment: Alignment, question: str, language: str
) -> Iterator[str]:
    if language[:2] != "en":
        return
    told = read_told([*(sentence.text for sentence in claim), question], language)
    for sentence in claim:
        for segment in split_segments(sentence, language):
            closest = alignment.closest(segment)
            if closest:
                yield from _widened(segment, closest)
                yield from _strangers(segment, closest, alignment, question)
                yield from _dropped(segment, closest, told, question)


# Quantifiers --------------------------------------------------------------------------------------


def _widened(claim: Segment, closest: Sequence[AlignedSegment]) -> Iterator[str]:
    whole = [f"{one.segment.sentence.text} {_lead(one.segment)}".lower() for one in closest]
    wide = wide_words(claim.text)
    if wide and not any(map(licenses_wide, whole)):
        yield f"it says “{wide[0]}”, the cited text does not"
    said = [one.segment.sentence.text.lower() for one in closest]
    if is_certain(claim.text) and all(is_hedged(text) and not is_certain(text) for text in said):
        yield "the cited text says that only of the normal case"
    around = claim.sentence.text.lower()
    if rules_out_exceptions(claim.text) and not excepts(around) and all(map(excepts, said)):
        yield "the cited text names an exception"


def _lead(passage: Segment) -> str:
    """The line that introduces a list or a table."""
    lines = [line for line in passage.sentence.above.split("\n") if line.endswith(":")]
    return lines[-1] if lines else ""


# Parties ------------------------------------------------------------------------------------------


def _strangers(
    claim: Segment, closest: Sequence[AlignedSegment], alignment: Alignment, question: str
) -> Iterator[str]:
    around = parties_in(question.lower())
    for text in alignment.texts_around(closest):
        around |= parties_in(text)
    for party in sorted(parties_in(claim.text) - around - {EMPLOYEE, COMPANY}):
        yield f"it speaks of the {party}, the cited text about this does not"
    leading = leading_party(claim.text)
    if not leading or not closest[0].sure:
        return
    named = around if leading != EMPLOYEE else frozenset[str]()
    for one in closest:
        named |= parties_in(one.segment.sentence.text.lower())
    others = {leading_party(one.segment.text) for one in closest} - {""}
    if others and leading not in named:
        yield f"it says that of the {leading}, the cited text of the {min(others)}"


# Conditions ---------------------------------------------------------------------------------------


def _dropped(
    claim: Segment, closest: Sequence[AlignedSegment], told: Told, question: str
) -> Iterator[str]:
    if question and len(claim.terms) < FRAGMENT:
        return
    lost: list[list[str]] = []
    for one in closest:
        if not one.sure:
            return
        lost.append(list(_lost(claim, one.segment, told)))
    if lost and all(lost):
        yield f"the cited text says so only under a condition: {lost[0][0]}"


def _lost(claim: Segment, passage: Segment, told: Told) -> Iterator[str]:
    if passage.sentence.row and not _names_row(passage, told):
        yield f"“{passage.text.strip('| ').split('|')[0].strip()}”"
    for part in _restated_parts(claim, passage):
        conditions = find_conditions(part)
        kept = {condition.mark for condition in conditions if _is_kept(condition, told)}
        for condition in conditions:
            is_alternative = condition.mark in kept and not condition.numbers
            if not is_alternative and not _is_kept(condition, told):
                yield f"“{condition.text}”"
        for narrowing in find_narrowing(part):
            if _is_lost(narrowing, told):
                yield f"“{narrowing.word}”"


def _names_row(passage: Segment, told: Told) -> bool:
    """Whether the claim or its question say anything of what the row is about."""
    label = passage.text.strip("| ").split("|")[0]
    words = [word for word in label.split() if word_weight(word.strip("(),")) == 1]
    terms = canonical_terms(content_terms(" ".join(words), "en"))
    if terms & told.terms or grades_between(label.upper()) & told.terms:
        return True
    figures = read_figures(label)
    kinds = {quantity.kind for quantity in figures.quantities}
    if figures.numbers & told.numbers or kinds & set(told.kinds):
        return True
    return not terms and not figures.numbers


def _restated_parts(claim: Segment, passage: Segment) -> list[str]:
    """The statement, or of a row its first cell and those that the claim says again."""
    if not passage.sentence.row:
        return [passage.text]
    first, *cells = [cell.strip() for cell in passage.text.strip("| ").split("|")]
    parts = [first]
    for cell in cells:
        terms = canonical_terms(content_terms(cell, "en"))
        numbers = read_figures(cell).numbers
        shared = len(terms & claim.terms) + len(numbers & claim.numbers)
        if shared:
            parts.append(cell)
    return parts


def _is_lost(narrowing: Narrowing, told: Told) -> bool:
    if canonical_terms(content_terms(narrowing.word, "en")) & told.terms:
        return False
    if narrowing.word.replace("-", " ") in told.text:
        return False
    noun = canonical_terms(content_terms(narrowing.noun, "en"))
    is_person = parties_in(narrowing.noun) == {EMPLOYEE}
    return noun <= told.terms or is_person and EMPLOYEE in parties_in(told.text)


def _is_kept(condition: Condition, told: Told) -> bool:
    if condition.numbers:
        missing = condition.numbers - told.numbers
        return not missing or len(condition.kinds) <= sum(map(told.kinds.count, set(condition.kinds)))
    shared = condition.terms & told.terms
    return len(shared) >= KEPT * len(condition.terms)
