"""Whether a claim holds for no more than its passage: nothing widened, nobody put in the place of
somebody else, no condition dropped. English only."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ombud.answer.proof.aligning import AlignedAssertion, Alignment, Assertion, split_assertions
from ombud.text import (
    COMPANY,
    EMPLOYEE,
    Narrowing,
    Sentence,
    SentenceFigures,
    StatedCondition,
    canonical_terms,
    content_terms,
    find_conditions,
    find_narrowing,
    grades_between,
    is_topic_word,
    leading_party,
    parties_in,
    polarity,
    quantifiers,
    read_figures,
    unit_kinds,
)

FRAGMENT = 3
"""Fewer words are a fragment, which says with the question what it says."""
KEPT = 0.15
"""Share of a condition's words from which it counts as kept."""
BEGINNING = frozenset({"after", "from", "over", "above", "beyond", "more"})
"""From where a rule holds: another figure that the passage gives does not stand for it."""
ENUMERATOR = re.compile(r"^\d+[.)]\s+")
ROW_SHARED = 2
"""Words of a row's other cells that tell the row as its first cell does."""
STEM = 5
"""Letters of an adjective that tell it in another form."""
RULE = 0.3
"""Share of a rule's words, those of its conditions apart, from which a claim says it again."""
RESTATED = 0.95
"""Share from which a claim says nothing else than its passage: then what it lacks was dropped."""
DEADLINES = frozenset({"by", "within", "before"})
"""Until when something is done: a claim that says other things of it may leave that out."""
ATTRIBUTES = frozenset({"much", "many", "proof", "notice", "refusal", "total"})
"""What a row of a table says rather than of whom."""
BOTH = re.compile(r"\b(?:either|both|each) (?:side|sides|party|parties)\b")
EXAMPLE = re.compile(r"\W*(?:for )?(?:example|instance)\b")
RESERVING = frozenset({"unless", "except", "until", "subject"})
TURNING = frozenset({"if", "when", "provided", "as", "where", "unless", "except"})
OPTION = re.compile(r"\bor (?:to )?[a-z]+ $")
CONTRAST = re.compile(r"(?:,|\band|\bbut) not\b")
PAUSE = re.compile(r"[,;:](?!\s?\d)")
WE = re.compile(r"\W*we\b")
PEOPLE = re.compile(r"\b(?:employees?|staff|workers?)\b")
VERB = re.compile(
    r"\b(?:you|it|they|is|are|has|have|may|must|can|will|gets?|needs?|does|do|receives?|pays?)\b"
)
ADDRESSED = re.compile(r"^\W*[\w-]+(?: [\w-]+)?: ")
GRADE = re.compile(r"\b[a-z]\d\b|\b[a-z](?= grades?\b)")


class Told(NamedTuple):
    """What the claim and its question say, where a condition may have been kept."""

    text: str
    """Small letters."""
    terms: frozenset[str]
    numbers: frozenset[str]
    quantities: tuple[tuple[str, str], ...]
    """(kind as `unit_kinds` gives it, number) of all quantities."""
    own_figures: frozenset[str]
    """Numbers of the question alone."""


def read_told(claim: Sequence[str], question: str, language: str) -> Told:
    terms: set[str] = set()
    numbers: set[str] = set()
    quantities: list[tuple[str, str]] = []
    for text in (*claim, question):
        figures = read_figures(text, language)
        terms |= canonical_terms(content_terms(text, language))
        numbers |= figures.numbers
        quantities += _numbered(figures)
    return Told(
        text="\n".join([*claim, question]).lower(),
        terms=frozenset(terms),
        numbers=frozenset(numbers),
        quantities=tuple(quantities),
        own_figures=read_figures(question, language).numbers,
    )


def _numbered(figures: SentenceFigures) -> Iterator[tuple[str, str]]:
    for quantity, kind in zip(figures.quantities, unit_kinds(figures.quantities), strict=True):
        written = figures.text[quantity.start : quantity.end]
        yield kind, min(read_figures(written).numbers, default="")


def objections(
    claim: Sequence[Sentence], alignment: Alignment, question: str, language: str
) -> Iterator[str]:
    if language[:2] != "en":
        return
    told = read_told([sentence.text for sentence in claim], question, language)
    for sentence in claim:
        for assertion in split_assertions(sentence, language):
            closest = alignment.closest(assertion)
            if closest:
                yield from _widened(assertion, closest)
                yield from _strangers(assertion, closest, alignment, question.lower())
                yield from _dropped(assertion, closest, told, question)
                yield from _turned_conditions(assertion, closest)


# Quantifiers --------------------------------------------------------------------------------------


def _wide(claim: Assertion) -> bool:
    return bool(quantifiers.wide_words(claim.text))


def _narrower(passage: Assertion) -> bool:
    text = f"{passage.whole_text} {passage.lead}"
    # "If you have deductions they" speaks of any deductions.
    return not quantifiers.licenses_wide(text) and not passage.whole_text.startswith("if ")


def _certain(claim: Assertion) -> bool:
    return quantifiers.is_certain(claim.text)


def _hedged(passage: Assertion) -> bool:
    text = passage.whole_text
    return quantifiers.is_hedged(text) and not quantifiers.is_certain(text)


def _without_exception(claim: Assertion) -> bool:
    return quantifiers.rules_out_exceptions(claim.text) and not quantifiers.excepts(
        claim.whole_text
    )


def _excepting(passage: Assertion) -> bool:
    return quantifiers.excepts(passage.whole_text)


def _exclusive(claim: Assertion) -> bool:
    return quantifiers.names_only(claim.text)


def _inclusive(passage: Assertion) -> bool:
    return not quantifiers.may_be_only(passage.whole_text)


class WideningRule(NamedTuple):
    """A claim that `says` it is objected to where each passage is of the other kind."""

    says: Callable[[Assertion], bool]
    each_passage: Callable[[Assertion], bool]
    message: str


WIDENING_RULES = (
    WideningRule(_wide, _narrower, "it speaks of all, the cited text does not"),
    WideningRule(_certain, _hedged, "the cited text says that only of the normal case"),
    WideningRule(_without_exception, _excepting, "the cited text names an exception"),
    WideningRule(_exclusive, _inclusive, "it says “only”, the cited text does not"),
)


def _widened(claim: Assertion, closest: Sequence[AlignedAssertion]) -> Iterator[str]:
    for rule in WIDENING_RULES:
        if rule.says(claim) and all(rule.each_passage(one.assertion) for one in closest):
            yield rule.message


# Parties ------------------------------------------------------------------------------------------


def _strangers(
    claim: Assertion, closest: Sequence[AlignedAssertion], alignment: Alignment, question: str
) -> Iterator[str]:
    around = parties_in(question)
    for text in alignment.texts_around(closest):
        around |= parties_in(text)
    for party in sorted(parties_in(claim.text) - around - {EMPLOYEE, COMPANY}):
        yield f"it speaks of the {party}, the cited text about this does not"
    if closest[0].sure:
        yield from _other_subject(claim, closest, around)
        yield from _other_grade(claim, closest, question)


def _other_subject(
    claim: Assertion, closest: Sequence[AlignedAssertion], around: frozenset[str]
) -> Iterator[str]:
    leading = leading_party(claim.text)
    others = _other_leaders(leading, closest)
    if not leading or not others:
        return
    # Where the passage speaks of "you", somebody else may be named beside its sentence.
    named = around if EMPLOYEE in others and leading != EMPLOYEE else frozenset[str]()
    for one in closest:
        named |= _named(claim, one.assertion)
    if leading not in named and parties_in(claim.sentence.text.lower()).isdisjoint(others):
        yield f"it says that of the {leading}, the cited text of the {min(others)}"


def _other_leaders(leading: str, closest: Sequence[AlignedAssertion]) -> set[str]:
    """With whom the passages' assertions begin; "we must respect the licences" binds whoever reads
    it."""
    others = {_leader(one.assertion.text) for one in closest} - {""}
    speaks_as_staff = any(WE.match(one.assertion.text) for one in closest)
    return others - {COMPANY} if leading == EMPLOYEE and speaks_as_staff else others


def _leader(text: str) -> str:
    """With whom it begins; what bids is said to whoever reads it."""
    return leading_party(text) or (EMPLOYEE if polarity.bids(text) else "")


def _named(claim: Assertion, passage: Assertion) -> frozenset[str]:
    """Whom the passage's sentence names; "you" is no employee in general where it speaks to
    somebody else or of somebody else."""
    named = parties_in(passage.whole_text)
    if BOTH.search(passage.whole_text):
        named |= {EMPLOYEE, COMPANY}
    if EMPLOYEE not in named or PEOPLE.search(passage.whole_text):
        return named
    speaks_of_all = bool(PEOPLE.search(claim.text))
    is_addressed = bool(ADDRESSED.match(passage.text)) and leading_party(passage.text) != ""
    if speaks_of_all and (is_addressed or leading_party(passage.text) != EMPLOYEE):
        return named - {EMPLOYEE}
    return named


def _other_grade(
    claim: Assertion, closest: Sequence[AlignedAssertion], question: str
) -> Iterator[str]:
    """M3 where the passage speaks of M2."""
    known = set(GRADE.findall(question))
    for one in closest:
        text = one.text_with_above
        known.update(GRADE.findall(text), grades_between(text.upper()))
    if not known:
        return
    letters = {grade[0] for grade in known}
    for grade in sorted(set(GRADE.findall(claim.text)) - known):
        if len(grade) > 1 or grade not in letters:
            yield f"`{grade}` is not in the cited text about this"


# Conditions ---------------------------------------------------------------------------------------


def _dropped(
    claim: Assertion, closest: Sequence[AlignedAssertion], told: Told, question: str
) -> Iterator[str]:
    if question and len(claim.terms) < FRAGMENT and not VERB.search(claim.text):
        return
    if claim.numbers & told.own_figures:  # the rule is applied, not told
        return
    if not all(one.sure for one in closest):
        return
    lost = [_first_lost(claim, one, told) for one in closest]
    if all(lost):
        yield f"the cited text says so only under a condition: “{lost[0]}”"


def _turned_conditions(claim: Assertion, closest: Sequence[AlignedAssertion]) -> Iterator[str]:
    """ "If" for "unless", or a denial inside of the condition gone."""
    for condition in find_conditions(claim.text):
        if condition.mark not in TURNING:
            continue
        if all(_is_turned(claim, condition, one.assertion) for one in closest):
            yield f"the cited text has “{condition.text}” the other way round"


def _is_turned(claim: Assertion, condition: StatedCondition, passage: Assertion) -> bool:
    """Whether the passage has the condition of the same rule, and one of both is denied."""
    same = [other for other in find_conditions(passage.text) if _alike(condition, other)]
    rule = claim.terms - condition.terms
    if not same or 2 * len(rule & passage.terms) < len(rule):
        return False
    if polarity.doubtful_words(passage.text) != polarity.doubtful_words(claim.text):
        return False
    parity = _parity(claim.text, condition)
    return all(_parity(passage.text, other) != parity for other in same)


def _alike(condition: StatedCondition, other: StatedCondition) -> bool:
    shared = len(condition.terms & other.terms)
    return other.mark in TURNING and 2 * shared > max(len(condition.terms), len(other.terms))


def _parity(text: str, condition: StatedCondition) -> int:
    """0 where the condition and the clause that it is of are denied equally often, by twos."""
    start = text.find(condition.text)
    before = list(filter(str.strip, PAUSE.split(text[: max(0, start)])))
    behind = list(filter(str.strip, PAUSE.split(text[start + len(condition.text) :])))
    # A condition at the beginning is of what follows it.
    clauses = [*behind[:1], *before] or [""]
    said = CONTRAST.sub(" ", f"{clauses[-1]} {condition.text}")
    return polarity.count_denials(said) % 2


def _first_lost(claim: Assertion, aligned: AlignedAssertion, told: Told) -> str:
    """The first condition that neither claim nor question name; empty where all are kept."""
    passage = aligned.assertion
    if EXAMPLE.match(passage.text):
        return ""
    if passage.sentence.row and not _names_row(claim, passage, told):
        return _cells(passage)[0]
    if not passage.sentence.row and not _restates_rule(claim, passage):
        return ""
    closely = aligned.share >= RESTATED
    for part in _restated_parts(claim, passage):
        for text in (
            *_lost_conditions(part, told, passage.numbers, closely=closely),
            *_lost_adjectives(part, told),
        ):
            return text
    return ""


def _restates_rule(claim: Assertion, passage: Assertion) -> bool:
    """Whether the claim says again what the passage says beside its conditions."""
    rule = set(passage.terms)
    for condition in find_conditions(passage.text):
        rule -= condition.terms
    shared = len(rule & claim.terms)
    return shared > 1 or shared >= RULE * len(rule)


def _lost_conditions(
    part: str, told: Told, stated: frozenset[str], *, closely: bool
) -> Iterator[str]:
    """stated: numbers of the whole assertion."""
    conditions = find_conditions(part, closely=closely)
    kept = {condition.mark for condition in conditions if _is_kept(condition, told, stated)}
    for condition in conditions:
        is_alternative = condition.mark in kept and not condition.numbers
        is_aside = condition.mark in DEADLINES and not part.startswith(condition.text)
        is_alternative = is_alternative or _is_of_option(condition, part, told)
        if not (is_alternative or is_aside or _is_kept(condition, told, stated)):
            yield condition.text


def _is_of_option(condition: StatedCondition, part: str, told: Told) -> bool:
    """Whether it tells when one of two things is done, and the claim has both: "to pass, or to
    extend if …" for "to pass or to extend"."""
    before = part[: max(0, part.find(condition.text))]
    return bool(OPTION.search(before)) and " or " in told.text


def _lost_adjectives(part: str, told: Told) -> Iterator[str]:
    for narrowing in find_narrowing(part):
        if _is_lost(narrowing, told):
            yield narrowing.word


def _cells(passage: Assertion) -> list[str]:
    return [cell.strip() for cell in passage.text.strip("| ").split("|")]


def _names_row(claim: Assertion, passage: Assertion, told: Told) -> bool:
    """Whether the claim or its question say anything of what the row is about."""
    label, *others = _cells(passage)
    label = ENUMERATOR.sub("", label)
    said = canonical_terms(content_terms(" ".join(others), "en")) & claim.terms
    if len(said) >= ROW_SHARED:
        return True
    names = _distinct_terms(label) | grades_between(label.upper())
    figures = read_figures(label)
    if not names and not figures.numbers:
        return True
    if names & told.terms or figures.numbers & told.numbers:
        return True
    kinds = set(unit_kinds(figures.quantities))
    return any(kind in kinds and number not in passage.numbers for kind, number in told.quantities)


def _distinct_terms(label: str) -> frozenset[str]:
    words: list[str] = []
    for word in label.split():
        bare = word.strip("(),")
        if is_topic_word(bare) and bare not in ATTRIBUTES:
            words.append(bare)
    return canonical_terms(content_terms(" ".join(words), "en"))


def _restated_parts(claim: Assertion, passage: Assertion) -> list[str]:
    """The assertion, or of a row its first cell and those that the claim says again."""
    if not passage.sentence.row:
        return [passage.text]
    first, *cells = _cells(passage)
    parts = [first]
    for cell in cells:
        terms = canonical_terms(content_terms(cell, "en"))
        if terms & claim.terms or read_figures(cell).numbers & claim.numbers:
            parts.append(cell)
    return parts


def _is_kept(condition: StatedCondition, told: Told, stated: frozenset[str]) -> bool:
    if condition.mark in RESERVING and re.search(rf"\b{condition.mark}\b", told.text):
        # "Unless the circumstances call for something else" for another "unless".
        return True
    if condition.numbers:
        # The asker's own figure of the kind stands for the rule's.
        others = stated - condition.numbers if condition.mark in BEGINNING else frozenset[str]()
        own = 0
        for kind, number in told.quantities:
            own += kind in condition.kinds and number not in others
        return condition.numbers <= told.numbers or len(condition.kinds) <= own
    shared = condition.terms & told.terms
    return len(shared) >= KEPT * len(condition.terms)


def _is_lost(narrowing: Narrowing, told: Told) -> bool:
    if canonical_terms(content_terms(narrowing.word, "en")) & told.terms:
        return False
    if narrowing.word.replace("-", " ") in told.text or narrowing.word[:STEM] in told.text:
        return False
    noun = canonical_terms(content_terms(narrowing.noun, "en"))
    if noun <= told.terms:
        return True
    return parties_in(narrowing.noun) == {EMPLOYEE} and EMPLOYEE in parties_in(told.text)
