"""The cheap half of the check of a claim: quoted words, figures and names against its passages.

It is deterministic, so that it cannot be talked round. What a claim means is left to a model
(`compose/entailing.py`)."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ombud.answer.proof.figures import check_figures, figures_of
from ombud.answer.proof.names import (
    EvidenceText,
    evidence_of,
    evidence_text,
    has_unknown_address,
    has_unknown_quotation,
    missing_names,
    vocabulary_of,
)
from ombud.text import (
    analyse,
    detect_language,
    numbers_in,
    plain_sentence,
    remembered,
    units_named,
    word_runs,
)
from ombud.types import Chunk

LIST_MARK = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•])\s+(?=\S)")
REPEATED = 3
"""Times that a claim may use each of its terms on average; a model that got stuck uses more."""
MOST_LISTED = 4
"""Figures or names in one problem."""
LONGEST_LISTED = 40
"""Characters of one of them."""
ELLIPSIS = re.compile(r"\.\.\.|…")
LONGEST_QUOTE = 1000


class ClaimProblem(NamedTuple):
    """Something in a claim that its passages do not support."""

    summary: str
    """For the trace: without words of the claim."""
    advice: str = ""
    """For the model that wrote the claim: what is wrong, and what to do."""


UNCITED = ClaimProblem(
    "it cites no passage", "It cites no passage. Name the label of the passage that says it."
)
REPEATING = ClaimProblem(
    "it repeats itself", "It says the same words over and over. Say it once, in one sentence."
)
QUOTATION = ClaimProblem(
    "it puts words between quotation marks that the passages do not have",
    "It puts words between quotation marks that are not in the passage. Copy them, or leave the "
    "marks out.",
)
ADDRESS = ClaimProblem(
    "it gives an address that is not in the passages",
    "It gives an address that is not in the passage. Leave it out.",
)


class ClaimCheck(NamedTuple):
    problems: tuple[ClaimProblem, ...]
    """Empty where quoted words, figures and names stand in the passages."""
    is_derived: bool = False
    """A figure of it follows from a sum that it writes out."""


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Return where the words of a quotation stand in a text: case, punctuation and Markdown aside,
    with gaps where the quotation has an ellipsis. None where they do not."""
    first: int | None = None
    end = 0
    for part in ELLIPSIS.split(quote[:LONGEST_QUOTE]):
        words = word_runs(part)
        if not words:
            continue
        pattern = r"[\W_]+".join(map(re.escape, words))
        match = re.compile(rf"(?<!\w){pattern}(?!\w)", re.IGNORECASE).search(text, end)
        if match is None:
            return None
        first = match.start() if first is None else first
        end = match.end()
    return None if first is None else (first, end)


def check_claim(claim: str, cited: Iterable[Chunk], question: str = "") -> list[str]:
    """Return what figures, names, quotations and addresses of a claim the passages that it cites do
    not have, as sentences; empty where they have all.

    question: figures and names of it may be repeated."""
    check = examine_claim(claim, list(cited), question)
    return [problem.summary for problem in check.problems]


def examine_claim(
    claim: str, chunks: Sequence[Chunk], question: str = "", *, organisation: str = ""
) -> ClaimCheck:
    """Check a claim beside the passages that it cites. organisation: its name, which its pages need
    not have."""
    if not chunks:
        return ClaimCheck((UNCITED,))
    language = chunks[0].language
    plain = plain_sentence(LIST_MARK.sub("", claim, count=1))
    passages = list(map(evidence_of, chunks))
    own_language = detect_language(plain, language)
    problems = name_problems(plain, passages, own_language, f"{question} {organisation}")
    supported = figures_of(question, language).union(*map(evidence_figures, passages))
    figures = check_figures(plain, supported, language)
    if figures.missing and own_language != language:
        # "1,250" is another number in German.
        figures = check_figures(plain, supported, own_language)
    if figures.missing:
        listed = _listed(figures.missing)
        problems.append(
            ClaimProblem(
                "a figure is not in the passages",
                f"The figure {listed} is not in the passage. Use a figure that is, or write out "
                "the sum that leads to it.",
            )
        )
    units = units_named(plain) - units_named(question).union(*map(evidence_units, passages))
    if units:
        listed = _listed(sorted(units))
        problems.append(
            ClaimProblem(
                "a unit or month is not in the passages",
                f"The unit or month {listed} is not in the passage. Use one that is.",
            )
        )
    if figures.wrong_sums:
        listed = _listed(figures.wrong_sums)
        problems.append(
            ClaimProblem("a sum is wrong", f"The sum {listed} is wrong. Work it out again.")
        )
    terms = analyse(plain, language)
    if len(terms) > REPEATED * len(set(terms)):
        problems.append(REPEATING)
    return ClaimCheck(tuple(problems), figures.is_derived)


def shares_words(text: str, chunks: Sequence[Chunk]) -> bool:
    """Tell whether more than two thirds of the terms of a text, numbers aside, are in the
    passages."""
    language = chunks[0].language if chunks else "en"
    terms = {term for term in analyse(text, language) if not numbers_in(term)}
    supported = frozenset[str]().union(*map(evidence_terms, map(evidence_of, chunks)))
    return 3 * len(terms & supported) > 2 * len(terms)


def is_near_verbatim(claim: str, quotes: Sequence[str], language: str) -> bool:
    """Tell whether a claim says what its quotations say, in their words: the two differ in nothing
    but words such as articles and "you", and in their order not at all."""
    free = FREE_WORDS.get(language, "").split()
    own_words = [word for word in _words(claim) if word not in free]
    quoted_words = [word for quote in quotes for word in _words(quote) if word not in free]
    return bool(own_words) and own_words == quoted_words


FREE_WORDS = {
    "en": "a an the you your employee employees yes and",
    "de": "der die das den dem ein eine einen du sie ihr ihre ihren ja und",
    "fr": "le la les un une des du vous votre vos oui et",
    "es": "el la los las un una usted tu su sus sí y",
}
"""Language -> words in which a claim may differ from its quotation without another meaning."""


def _words(text: str) -> list[str]:
    return [word.casefold() for word in word_runs(plain_sentence(text))]


def name_problems(
    claim: str, passages: Sequence[EvidenceText], language: str, own: str
) -> list[ClaimProblem]:
    """Find names, quotations and addresses that the passages do not have. language: of the
    claim."""
    vocabulary = vocabulary_of(passages)
    problems: list[ClaimProblem] = []
    missing = list(missing_names(claim, vocabulary, language, own))
    if missing:
        listed = _listed(missing)
        problems.append(
            ClaimProblem(
                "a name is not in the passages",
                f"The name {listed} is not in the passage. Use the passage's own words.",
            )
        )
    if has_unknown_quotation(claim, vocabulary):
        problems.append(QUOTATION)
    if has_unknown_address(claim, vocabulary):
        # Not repeated: it may carry what a document told the model to give away.
        problems.append(ADDRESS)
    return problems


@remembered(512)
def evidence_figures(evidence: EvidenceText) -> frozenset[str]:
    return figures_of(evidence_text(evidence), evidence.language)


@remembered(512)
def evidence_units(evidence: EvidenceText) -> frozenset[str]:
    return frozenset(units_named(evidence_text(evidence)))


@remembered(512)
def evidence_terms(evidence: EvidenceText) -> frozenset[str]:
    return frozenset(analyse(evidence_text(evidence), evidence.language))


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f"`{word[:LONGEST_LISTED]}`" for word in words[:MOST_LISTED])
