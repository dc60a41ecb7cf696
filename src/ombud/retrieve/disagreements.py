"""Where two passages of the evidence give different figures for the same thing.

Shown, never blended: a person should see that a country's rule and the global one, or two pages of
equal standing, disagree. Precision comes before recall, for a false alarm costs the trust in all
others: two sentences are compared only when they share their subject, speak of the same people and
circumstances, and hold one figure each of the same kind and role. English only. About every second
contradiction is seen (docs/results/without-model.md)."""

from collections.abc import Callable, Collection, Iterator, Sequence, Set
from operator import itemgetter
from typing import Literal, NamedTuple, TypeVar

from ombud.text import FigureStatement, Quantity, find_statements, fold, wider_than
from ombud.types import Chunk, Contradiction, Evidence

T = TypeVar("T")
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
IN_DAYS = {"minutes": "days"}
"""Kinds of figures that may be compared with another kind's, and that kind: see `_whole_days`."""
EXCLUSIVE_ROLES = (("most", "exact"), ("exact", "least"), ("most", "least"))
"""Of the lesser and the greater figure, where these are roles of which only one can hold."""
MINUTES_OF_DAY = 1440
MOST = 5
"""Contradictions reported of one evidence, the surest first."""
KINDS = {
    "conflict": "give different figures for one thing.",
    "override": "differ; the rule of the country counts.",
    "below_floor": "differ; the first gives less than the second, which is mandatory, allows.",
    "later": "differ; the first is the later of the two.",
}
CONTRADICTING = tuple(KINDS.values())
"""How a note that speaks of a contradiction ends."""
BENEFITS = frozenset(
    {
        "allow",
        "benefit",
        "bereav",
        "bonus",
        "break",
        "contribut",
        "entitl",
        "holiday",
        "leav",
        "matern",
        "parent",
        "patern",
        "pay",
        "paid",
        "pension",
    }
)
"""Stems of what a floor is about where more is better; elsewhere, as with deadlines, "below" means
nothing."""


def contradiction_notes(evidence: Evidence) -> tuple[str, ...]:
    """A note for each contradiction, by the titles of its documents: what the passages themselves
    say stands in them."""
    titles = {hit.chunk.id: f"“{hit.chunk.title}”" for hit in evidence.hits}
    notes: list[str] = []
    for contradiction in evidence.contradictions:
        first = titles[contradiction.first]
        second = titles[contradiction.second]
        says = KINDS[contradiction.kind]
        notes.append(f"{first} and {second} {says}")
    return tuple(notes)


class _Pair(NamedTuple):
    alike: float
    first: FigureStatement
    second: FigureStatement


def find_contradictions(
    evidence: Evidence, packed: Callable[[str], bytes] | None = None
) -> tuple[Contradiction, ...]:
    """What disagrees in the evidence, the surest first, at most `MOST`; the local passage stands
    first.

    `override`: a country's rule differs from a global one that is not mandatory, and holds.
    `below_floor`: it gives less than a mandatory global rule. `later`: of two pages of one title
    and standing the one that came into force later holds, and stands first. `conflict`: everything
    else.

    packed: id of a passage -> its statements, by `pack_statements`; empty where they must be
    read."""
    statements: list[FigureStatement] = []
    for hit in (*evidence.local, *evidence.shared):
        known = packed(hit.chunk.id) if packed else b""
        statements += find_statements(hit.chunk, known)
    surest_first = sorted(_pairs(statements), key=lambda pair: -pair.alike)
    reported: list[Contradiction] = []
    used: set[tuple[str, str]] = set()
    for _, first, second in surest_first:
        ends = {_identity(first), _identity(second)}
        if used & ends or len(reported) == MOST:
            continue
        used |= ends
        reported.append(_report(first, second))
    return tuple(reported)


def _identity(statement: FigureStatement) -> tuple[str, str]:
    return statement.chunk.id, statement.text


def _pairs(statements: Sequence[FigureStatement]) -> Iterator[_Pair]:
    """What is cheap to tell is asked first: most figures differ in nothing that is told by others
    of the evidence, or have no word of their subject in common."""
    for first, second in _comparable(statements):
        if not differ(first.quantity, second.quantity):
            continue
        if not _may_both_hold(first.chunk, second.chunk):
            continue
        if not _may_share(first, second) or not _same_case(first, second):
            continue
        alike = _likeness(first, second)
        if alike >= ALIKE:
            yield _Pair(alike, first, second)


def _comparable(
    statements: Sequence[FigureStatement],
) -> Iterator[tuple[FigureStatement, FigureStatement]]:
    """Pairs from two documents whose figures are of one kind, or may be."""
    before: dict[str, list[tuple[int, FigureStatement]]] = {}
    pairs: list[tuple[int, int, FigureStatement, FigureStatement]] = []
    for place, second in enumerate(statements):
        kind = second.quantity.kind
        earlier = before.setdefault(IN_DAYS.get(kind, kind), [])
        for number, first in earlier:
            if first.chunk.document_id != second.chunk.document_id:
                pairs.append((number, place, first, second))
        earlier.append((place, second))
    pairs.sort(key=itemgetter(0, 1))
    for _, _, first, second in pairs:
        yield first, second


# Passages -----------------------------------------------------------------------------------------


def _may_both_hold(first: Chunk, second: Chunk) -> bool:
    """Whether both may hold for one person on one day, and stand in different documents."""
    if first.document_id == second.document_id or first.uri == second.uri:
        return False
    if _disjoint(first.countries, second.countries) or _is_successor(first, second):
        return False
    ours = first.audience
    theirs = second.audience
    if _disjoint(ours.get("grades", ()), theirs.get("grades", ())):
        return False
    return not _disjoint(ours.get("contracts", ()), theirs.get("contracts", ()))


def _disjoint(first: Collection[T], second: Collection[T]) -> bool:
    """Whether both name some and none in common; who names none speaks of all."""
    return bool(first and second) and set(first).isdisjoint(second)


def _is_successor(first: Chunk, second: Chunk) -> bool:
    """Whether one of them begins after the other has ended."""
    begins = list(filter(None, (first.effective_from, second.effective_from)))
    ends = list(filter(None, (first.effective_to, second.effective_to)))
    if not begins or not ends:
        return False
    return max(begins) > min(ends)


# Figures ------------------------------------------------------------------------------------------


def differ(first: Quantity, second: Quantity) -> bool:
    """Whether two figures of the same kind cannot both be right; False also where they cannot be
    compared."""
    pair = _in_one_unit(first, second)
    if pair is None:
        return False
    low, high = sorted(pair, key=lambda quantity: quantity.value)
    roles = (low.role, high.role)
    if "range" in roles or not _same_rate(low, high):
        return False
    if low.year and high.year and low.year != high.year:
        return False
    slack = SLACK if low.unit != high.unit else 1e-9
    if high.value - low.value <= slack * high.value:
        return False
    # "Up to 5" and "8", "8" and "at least 10", "up to 5" and "at least 10" exclude each other.
    return low.role == high.role or roles in EXCLUSIVE_ROLES


def _same_rate(first: Quantity, second: Quantity) -> bool:
    """Days a week are no days a year; an amount may leave out that it is a night's."""
    rates = {first.per, second.per} - {""}
    if len(rates) > 1:
        return False
    if first.kind not in FARTHEST:
        return True
    less, more = sorted((first.value, second.value))
    if more > FARTHEST[first.kind] * max(less, 1e-9):
        return False
    return first.per == second.per or rates <= {"year"}


def _in_one_unit(first: Quantity, second: Quantity) -> tuple[Quantity, Quantity] | None:
    """Both in one unit; 72 hours are three days, but eight hours may be a day of leave. None where
    they cannot be compared."""
    if first.kind == second.kind:
        return first, second
    if second.kind == "days":
        first = _whole_days(first)
    elif first.kind == "days":
        second = _whole_days(second)
    return (first, second) if first.kind == second.kind else None


def _whole_days(quantity: Quantity) -> Quantity:
    """A time limit of so many times 24 hours in days; anything else as it is."""
    is_limit = quantity.kind == "minutes" and quantity.role in ("after", "within")
    if not is_limit or quantity.value % MINUTES_OF_DAY:
        return quantity
    return quantity._replace(
        kind="days",
        value=quantity.value / MINUTES_OF_DAY,
    )


# Circumstances ------------------------------------------------------------------------------------


def _same_case(first: FigureStatement, second: FigureStatement) -> bool:
    """Whether the sentences speak of the same people and circumstances."""
    one = first.subject.case
    other = second.subject.case
    if one.negated != other.negated or not _same_actor(one.actor, other.actor):
        return False
    local, floor = _in_order(first, second)
    if _is_floor(local, floor) and _is_benefit(local):
        if not _reaches(floor, local):
            return False
    elif not _as_special(first, second):
        return False
    for noun, phase in one.phases.items():
        if other.phases.get(noun, phase) != phase:
            return False
    if any(map(_disjoint, one.sides, other.sides)):
        return False
    return _same_places(first, second)


def _reaches(floor: FigureStatement, local: FigureStatement) -> bool:
    """Whether a local rule gives less than a floor. Who and what is special is not exempt from it;
    to give more than it is what local rules are for."""
    if local.subject.others or floor.subject.others:
        return False
    if local.quantity.value >= floor.quantity.value:
        return False
    return floor.subject.case.marks <= local.subject.case.marks_around


def _as_special(first: FigureStatement, second: FigureStatement) -> bool:
    """Whether both hold under the same conditions and for the same special people."""
    one = first.subject.case
    other = second.subject.case
    if first.subject.others != second.subject.others or one.codes != other.codes:
        return False
    return one.marks <= other.marks_around and other.marks <= one.marks_around


def _same_actor(first: str, second: str) -> bool:
    """What a manager does is done by nobody else; who may do something without being named is the
    employee."""
    return first == second or {first, second} <= {"", "employee"}


def _same_places(first: FigureStatement, second: FigureStatement) -> bool:
    """Countries that a sentence names are its own case, unless they are those that the other
    document is for."""
    for one, other in ((first, second), (second, first)):
        named = one.subject.case.countries - set(one.chunk.countries)
        theirs = other.subject.case.countries | set(other.chunk.countries)
        if named and not named & theirs:
            return False
    return not _disjoint(first.subject.case.places, second.subject.case.places)


# Subjects -----------------------------------------------------------------------------------------


def _may_share(first: FigureStatement, second: FigureStatement) -> bool:
    """Whether the sentences have enough terms in common, if those are counted that name a
    country; what fails here has no likeness."""
    one = first.subject.specific
    in_both = _known_terms(one.keys(), second.subject.specific.keys())
    return sum(one[term] for term in in_both) >= LEAST_SHARED


def _likeness(first: FigureStatement, second: FigureStatement) -> float:
    """Harmonic mean of the shares of each subject that the other one, with its headings, has too; 0
    to 1.

    Of a floor and a local rule it is the floor's share alone: the local rule may say more.
    """
    in_both = _known_terms(first.subject.own, second.subject.own)
    shared = sum(first.subject.terms[term] for term in in_both)
    of_first = _covered(first, second)
    of_second = _covered(second, first)
    if shared < LEAST_SHARED:
        return 0.0
    if not _headings_meet(
        first,
        second,
        shared,
        min(of_first, of_second),
    ):
        return 0.0
    local, floor = _in_order(first, second)
    if _is_floor(local, floor) and _is_benefit(local):
        of_local = _covered(local, floor)
        return _covered(floor, local) if of_local >= OF_LOCAL else 0.0
    if _has_unknown(first, second) and _has_unknown(second, first):
        return 0.0
    return _harmonic_mean(of_first, of_second)


def _harmonic_mean(first: float, second: float) -> float:
    if not first or not second:
        return 0.0
    return 2 * first * second / (first + second)


def _headings_meet(
    first: FigureStatement, second: FigureStatement, shared: float, least: float
) -> bool:
    """Whether titles and headings say that it is one topic; the less the sentences say themselves,
    the more of them.

    A title or heading counts by the share of its words that the other's headings or sentence have,
    too."""
    best = max(_heading_share(first, second), _heading_share(second, first))
    if shared < ENOUGH_SHARED:
        return best >= HALF
    return best > 0 or least >= SAME_SUBJECT


def _heading_share(one: FigureStatement, by: FigureStatement) -> float:
    known = _known_terms(one.subject.heads, by.subject.heads | by.subject.terms.keys())
    return len(known) / max(1, len(one.subject.heads))


def _covered(one: FigureStatement, by: FigureStatement) -> float:
    """The share, by weight, of the subject of `one` that `by`, with its headings, has too."""
    whole = sum(one.subject.terms.values())
    if not whole:
        return 0.0
    around = by.subject.terms.keys() | by.subject.context
    known = _known_terms(one.subject.terms.keys(), around)
    return sum(one.subject.terms[term] for term in known) / whole


def _has_unknown(one: FigureStatement, by: FigureStatement) -> bool:
    """Whether a sentence names something beside its figure that the other and its headings lack.
    Where both do, they speak of different things: medical leave and parental leave, a referral
    bonus and a signing bonus."""
    around = by.subject.terms.keys() | by.subject.context
    unknown = one.subject.own - _known_terms(one.subject.own, around)
    return any(one.subject.terms[term] >= 1 for term in unknown)


def _known_terms(terms: Set[str], others: Set[str]) -> set[str]:
    """Those that stand among the others, as they are or as the wider term of either."""
    widened = {*others, *map(wider_than, others)}
    known: set[str] = set()
    for term in terms:
        if term in widened or wider_than(term) in widened:
            known.add(term)
    return known


# What is reported ---------------------------------------------------------------------------------


def _report(first: FigureStatement, second: FigureStatement) -> Contradiction:
    counting, other = _in_order(first, second)
    about: dict[str, None] = {}
    for word, term in counting.subject.words:
        if term in other.subject.terms or term in other.subject.context:
            about[word] = None
    return Contradiction(
        first=counting.chunk.id,
        second=other.chunk.id,
        first_says=counting.text,
        second_says=other.text,
        about=" ".join(about),
        first_figure=counting.figure,
        second_figure=other.figure,
        kind=_kind(counting, other),
    )


def _kind(
    first: FigureStatement, second: FigureStatement
) -> Literal["conflict", "override", "below_floor", "later"]:
    if _is_later(first.chunk, second.chunk):
        return "later"
    if not first.chunk.countries or second.chunk.countries:
        return "conflict"
    if not second.chunk.mandatory:
        return "override"
    if _is_benefit(first) and first.quantity.value < second.quantity.value:
        return "below_floor"
    return "conflict"


def _in_order(
    first: FigureStatement, second: FigureStatement
) -> tuple[FigureStatement, FigureStatement]:
    """The local one first; of two of one standing the later one."""
    if second.chunk.countries and not first.chunk.countries:
        return second, first
    if _is_later(second.chunk, first.chunk):
        return second, first
    return first, second


def _is_later(first: Chunk, second: Chunk) -> bool:
    """Whether the first is the later version of the second: one title, one standing."""
    if not first.effective_from or not second.effective_from:
        return False
    same_title = fold(first.title) == fold(second.title)
    same_standing = first.countries == second.countries and first.mandatory == second.mandatory
    return same_title and same_standing and first.effective_from > second.effective_from


def _is_floor(local: FigureStatement, floor: FigureStatement) -> bool:
    is_global = not floor.chunk.countries
    return is_global and floor.chunk.mandatory and bool(local.chunk.countries)


def _is_benefit(statement: FigureStatement) -> bool:
    if statement.quantity.role not in ("exact", "least", "most"):
        return False
    return not BENEFITS.isdisjoint(statement.subject.terms)
