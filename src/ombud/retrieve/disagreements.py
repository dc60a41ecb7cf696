"""Where two passages of the evidence give different figures for the same thing.

Shown, never blended: a person should see that a country's rule and the global one, or two pages of
equal standing, disagree. Precision comes before recall, for a false alarm costs the trust in all
others: two sentences are compared only when they share their subject, speak of the same people and
circumstances, and hold one figure each of the same kind and role. English only. About every second
contradiction is seen (docs/results/without-model.md)."""

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import combinations
from typing import NamedTuple

from ombud.text import FigureStatement, Quantity, find_statements, wider_than
from ombud.types import Chunk, Contradiction, Evidence

ALIKE = 0.72
"""Least likeness of two subjects, 0 to 1; the last false alarms among all passages of the handbooks
had .65 to .70."""
LEAST_SHARED = 1.0
"""Least weight of the terms that both sentences have: one term that is not generic."""
ENOUGH_SHARED = 2.0
"""From here on it is enough that their headings touch; below, half of a heading must be the
other's, too."""
HALF = 0.5
SAME_SUBJECT = 0.85
"""Share of either subject that the other one has from which on headings are not asked."""
SLACK = 0.1
"""Share by which lengths in different units may differ: a month is not quite four weeks."""
OF_LOCAL = 0.35
"""Least share of a local rule's subject that a floor under it has."""
FARTHEST = {"days": 12, "working days": 12, "minutes": 50}
"""Two lengths of one thing hardly differ more than so many times; one hour and two days may be a
deadline's."""
MOST = 5
"""Contradictions reported of one evidence, the surest first."""
KINDS = {
    "conflict": "give different figures for one thing.",
    "override": "differ; the rule of the country counts.",
    "below_floor": "differ; the first gives less than the second, which is mandatory, allows.",
}
CONTRADICTING = tuple(KINDS.values())
"""How a note that speaks of a contradiction ends."""
BENEFITS = frozenset(
    [
        *("allow", "benefit", "bereav", "bonus", "break", "contribut", "entitl", "holiday", "leav"),
        *("matern", "parent", "patern", "pay", "paid", "pension"),
    ]
)
"""Stems of what a floor is about where more is better; elsewhere, as with deadlines, "below" means
nothing."""


def contradiction_notes(evidence: Evidence) -> tuple[str, ...]:
    """A note for each contradiction, in the words of headings: what the passages themselves say
    stands in them."""
    titles = {hit.chunk.id: f"{hit.chunk.title} ({hit.chunk.uri})" for hit in evidence.hits}
    return tuple(
        f"{titles[c.first]} and {titles[c.second]} {KINDS[c.kind]}" for c in evidence.contradictions
    )


class _Pair(NamedTuple):
    alike: float
    first: FigureStatement
    second: FigureStatement


def find_contradictions(evidence: Evidence) -> tuple[Contradiction, ...]:
    """What disagrees in the evidence, the surest first, at most `MOST`; the local passage stands
    first.

    `override`: a country's rule differs from a global one that is not mandatory, and holds.
    `below_floor`: it gives less than a mandatory global rule. `conflict`: everything else."""
    said = [s for hit in (*evidence.local, *evidence.shared) for s in find_statements(hit.chunk)]
    found = sorted(_pairs(said), key=lambda pair: -pair.alike)
    reported: list[Contradiction] = []
    used: set[tuple[str, str]] = set()
    for _, first, second in found:
        ends = {(first.chunk.id, first.text), (second.chunk.id, second.text)}
        if used & ends or len(reported) == MOST:
            continue
        used |= ends
        reported.append(_report(first, second))
    return tuple(reported)


def _pairs(said: Sequence[FigureStatement]) -> Iterator[_Pair]:
    for first, second in combinations(said, 2):
        if not differ(first.quantity, second.quantity) or not _together(first.chunk, second.chunk):
            continue
        if not _same_case(first, second):
            continue
        alike = _likeness(first, second)
        if alike >= ALIKE:
            yield _Pair(alike, first, second)


def _together(first: Chunk, second: Chunk) -> bool:
    """Whether both may hold for one person on one day, and stand in different documents."""
    if first.document_id == second.document_id or first.uri == second.uri:
        return False
    if first.countries and second.countries and not set(first.countries) & set(second.countries):
        return False
    begins = [c.effective_from for c in (first, second) if c.effective_from]
    ends = [c.effective_to for c in (first, second) if c.effective_to]
    if begins and ends and max(begins) > min(ends):  # one is the other's successor
        return False
    return all(
        not (first.audience.get(key) and second.audience.get(key))
        or set(first.audience[key]) & set(second.audience[key])
        for key in ("grades", "contracts")
    )


def differ(first: Quantity, second: Quantity) -> bool:
    """Whether two figures of the same kind cannot both be right; False also where they cannot be
    compared."""
    a, b = _comparable(first, second)
    if a is None or b is None or "range" in (a.role, b.role):
        return False
    if not _same_rate(a, b) or (a.year and b.year and a.year != b.year):
        return False
    slack = SLACK if a.unit != b.unit else 1e-9
    if abs(a.value - b.value) <= slack * max(a.value, b.value):
        return False
    if a.role == b.role:
        return True
    low, high = sorted((a, b), key=lambda quantity: quantity.value)
    roles = (low.role, high.role)
    # "Up to 5" and "8", "8" and "at least 10", "up to 5" and "at least 10" exclude each other.
    return roles in (("most", "exact"), ("exact", "least"), ("most", "least"))


def _same_rate(first: Quantity, second: Quantity) -> bool:
    """Days a week are no days a year; an amount may leave out that it is a night's."""
    rates = {first.per, second.per} - {""}
    if len(rates) > 1:
        return False
    if first.kind in FARTHEST:
        near = max(first.value, second.value) <= FARTHEST[first.kind] * max(
            min(first.value, second.value), 1e-9
        )
        return near and (first.per == second.per or rates <= {"year"})
    return True


def _comparable(first: Quantity, second: Quantity) -> tuple[Quantity | None, Quantity | None]:
    """Both in one unit; 72 hours are three days, but eight hours may be a day of leave."""
    if first.kind == second.kind:
        return first, second
    for one, other in ((first, second), (second, first)):
        if (
            one.kind == "minutes"
            and other.kind == "days"
            and one.value % 1440 == 0
            and one.role in ("after", "within")
        ):
            days = one._replace(kind="days", value=one.value / 1440)
            return (days, second) if one is first else (first, days)
    return None, None


def _same_case(first: FigureStatement, second: FigureStatement) -> bool:
    """Whether the sentences speak of the same people and circumstances."""
    one, other = first.case, second.case
    local, floor = _local_first(first, second)
    alike = (
        _reaches(floor, local)
        if _is_floor(local, floor) and _is_benefit(local)
        else _as_special(first, second)
    )
    if not alike or one.negated != other.negated or not _same_actor(one.actor, other.actor):
        return False
    if any(other.phases.get(noun, phase) != phase for noun, phase in one.phases.items()):
        return False
    if any(
        here and there and not here & there
        for here, there in zip(one.sides, other.sides, strict=True)
    ):
        return False
    return _same_places(first, second)


def _reaches(floor: FigureStatement, local: FigureStatement) -> bool:
    """Whether a local rule gives less than a floor. Who and what is special is not exempt from it;
    to give more than it is what local rules are for."""
    less = local.quantity.value < floor.quantity.value
    return (
        less
        and not local.others
        and not floor.others
        and floor.case.marks <= local.case.marks_around
    )


def _as_special(first: FigureStatement, second: FigureStatement) -> bool:
    """Whether both hold under the same conditions and for the same special people."""
    one, other = first.case, second.case
    same = first.others == second.others and one.codes == other.codes
    return same and one.marks <= other.marks_around and other.marks <= one.marks_around


def _same_actor(first: str, second: str) -> bool:
    """What a manager does is done by nobody else; who may do something without being named is the
    employee."""
    return first == second or {first, second} <= {"", "employee"}


def _same_places(first: FigureStatement, second: FigureStatement) -> bool:
    """Countries that a sentence names are its own case, unless they are those that the other
    document is for."""
    for one, other in ((first, second), (second, first)):
        named = one.case.countries - set(one.chunk.countries)
        if named and not named & (other.case.countries | set(other.chunk.countries)):
            return False
    here, there = first.case.places, second.case.places
    return not (here and there and not here & there)


def _likeness(first: FigureStatement, second: FigureStatement) -> float:
    """Harmonic mean of the shares of each subject that the other one, with its headings, has too; 0
    to 1.

    Of a floor and a local rule it is the floor's share alone: the local rule may say more.
    """
    theirs_too = _widened(second.own)
    shared = sum(
        first.terms[term]
        for term in first.own
        if term in theirs_too or wider_than(term) in theirs_too
    )
    ours, theirs = _covered(first, second), _covered(second, first)
    if shared < LEAST_SHARED or not _headings_meet(first, second, shared, min(ours, theirs)):
        return 0.0
    local, floor = _local_first(first, second)
    if _is_floor(local, floor) and _is_benefit(local):
        whole, part = (theirs, ours) if floor is second else (ours, theirs)
        return whole if part >= OF_LOCAL else 0.0
    if _missing(first, second) and _missing(second, first):
        return 0.0
    return 2 * ours * theirs / (ours + theirs) if ours and theirs else 0.0


def _headings_meet(
    first: FigureStatement, second: FigureStatement, shared: float, least: float
) -> bool:
    """Whether titles and headings say that it is one topic; the less the sentences say themselves,
    the more of them.

    A title or heading counts by the share of its words that the other's headings or sentence have,
    too."""
    shares = []
    for one, other in ((first, second), (second, first)):
        known = _widened(other.heads | other.terms.keys())
        held = [head for head in one.heads if head in known or wider_than(head) in known]
        shares.append(len(held) / max(1, len(one.heads)))
    if shared < ENOUGH_SHARED:
        return max(shares) >= HALF
    return max(shares) > 0 or least >= SAME_SUBJECT


def _covered(one: FigureStatement, by: FigureStatement) -> float:
    known = _widened(by.terms.keys() | by.context)
    return _share(one.terms, {t for t in one.terms if t in known or wider_than(t) in known})


def _missing(one: FigureStatement, by: FigureStatement) -> bool:
    """Whether a sentence names something beside its figure that the other and its headings lack.
    Where both do, they
    speak of different things: medical leave and parental leave, a referral bonus and a signing
    bonus."""
    known = _widened(by.terms.keys() | by.context)
    return any(
        one.terms[term] >= 1 and term not in known and wider_than(term) not in known
        for term in one.own
    )


def _widened(terms: Set[str]) -> set[str]:
    return {*terms, *map(wider_than, terms)}


def _share(terms: Mapping[str, float], held: set[str]) -> float:
    whole = sum(terms.values())
    return sum(terms[term] for term in held) / whole if whole else 0.0


def _report(first: FigureStatement, second: FigureStatement) -> Contradiction:
    local, other = _local_first(first, second)
    about = [word for word, term in local.words if term in other.terms or term in other.context]
    return Contradiction(
        first=local.chunk.id,
        second=other.chunk.id,
        first_says=local.text,
        second_says=other.text,
        about=" ".join(dict.fromkeys(about)),
        kind=_kind(local, other),
    )


def _kind(local: FigureStatement, other: FigureStatement) -> str:
    if not local.chunk.countries or other.chunk.countries:
        return "conflict"
    if not other.chunk.mandatory:
        return "override"
    below = _is_benefit(local) and local.quantity.value < other.quantity.value
    return "below_floor" if below else "conflict"


def _local_first(
    first: FigureStatement, second: FigureStatement
) -> tuple[FigureStatement, FigureStatement]:
    swapped = second.chunk.countries and not first.chunk.countries
    return (second, first) if swapped else (first, second)


def _is_floor(local: FigureStatement, floor: FigureStatement) -> bool:
    return bool(local.chunk.countries and floor.chunk.mandatory and not floor.chunk.countries)


def _is_benefit(statement: FigureStatement) -> bool:
    return statement.quantity.role in ("exact", "least", "most") and bool(
        statement.terms.keys() & BENEFITS
    )
