"""Triplets without a model: what policies write in fixed words. English; tables and abbreviations
in any language.

Definitions ("X means Y"), obligations, permissions and prohibitions ("X must Y", "it is unlawful
for X to Y"), amounts and durations ("X lasts 4 weeks"), what a rule applies to, requires or
includes, and references between clauses."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ombud.graph.clauses import GraphClause, split_clauses
from ombud.graph.phrases import StatedTriplet, main_clause, subject_of, verb_of
from ombud.graph.references import find_references
from ombud.graph.tables import table_rows
from ombud.text import display_name, find_abbreviations
from ombud.types import Chunk

LONGEST_OBJECT = 32
LONGEST_DEFINITION = 50
LONGEST_CONDITION = 24
"""Words."""
SHORT_FOR = "is short for"

_MODAL = re.compile(
    r"\b(?:must|shall|may|can|cannot|should|(?:is|are)\s+(?:not\s+|only\s+|also\s+"
    r"|always\s+)?(?:required|allowed|permitted"
    r"|obliged|prohibited|forbidden|expected|entitled|eligible|responsible)\s+(?:to|from|for)"
    r"|(?:has|have)\s+to"
    r"|(?:do|does)\s+not\s+(?:have|need)\s+to|(?:will\s+)?needs?\s+to)\b(?:\s+not\b)?"
)
_TAKES_NOUN = re.compile(r"(?:entitled|eligible|responsible)\s+(?:to|for)\Z|prohibited\s+from\Z")
_NEXT_CLAUSE = re.compile(
    r"(?:,\s+(?:and|but|or|so)|;(?:\s+(?:and|but|or|however,))?|\band|\bbut)\s*(?=\S|$)"
)
_UNLAWFUL = re.compile(
    r"\bit (?:is|shall be) (?:unlawful|illegal|prohibited|forbidden|not (?:allowed"
    r"|permitted)) for (.{3,80}?) to (.+)",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"(?:.{0,60}?,\s+)?(?:the\s+(?:terms?|phrases?|words?)\s+)?[“\"]([^”\"]{2,110})[”\"]"
    r"(?:,?\s+(?:or|and)\s+[“\"]([^”\"]{2,40})[”\"])?\s+"
    r"(means?|refers? to|is defined as|shall mean|does not include|includes?)\s+(.+)",
    re.IGNORECASE,
)
_UNQUOTED = re.compile(r"(.{2,70}?)\s+(means|refers to|is defined as|stands for)\s+(?!that\b)(.+)")
_STATED = re.compile(
    r"\b(?:prohibits?|requires?|(?:do(?:es)? not )?appl(?:y|ies) to|includes?|excludes?|entitles?"
    r"|governs?"
    r"|(?:is|are) (?:not )?(?:subject to|exempt from|covered by|excluded from|limited to|part of)"
    r"|replaces?|supersedes?"
    r"|overrides?|consists? of)(?=\s)"
)
_AMOUNT = re.compile(
    r"(?:\b\d[\d,.]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty"
    r"|thirty|sixty|ninety))"
    r"(?:\s*\(\d+\))?(?:\s|-)?(?:\s*(?:business|working|calendar|paid|unpaid|consecutive|full|more"
    r"|additional)\s+){0,2}"
    r"(?:days?|weeks?|months?|years?|hours?|minutes?|%|per ?cent|euros?|pounds?|dollars?|kroner"
    r"|francs?|times)(?!\w)"
    r"|[€£$]\s?\d|\b(?:EUR|USD|GBP|CHF)\s?\d"
)
_AMOUNT_VERB = re.compile(
    r"\b(?:has|have|gets?|receives?|earns?|accrues?|costs?|lasts?|takes?|pays?|is|are|begins?"
    r"|starts?|ends?|expires?"
    r"|amounts? to|equals?|exceeds?|answers?|decides?|remains?|confirms?|informs?|grants?"
    r"|reimburses?)(?=\s)"
)
_NOT_AFTER_VERB = re.compile(
    r"(?:is|are|was|were|has|have|will|must|may|can|shall|should|of|and|or|not only|it|there|that"
    r"|been)\b"
)
_FILLER = re.compile(
    r"(?:,?\s*\b(?:at a minimum|at least|either|also|always|do|ensure|the following|all of|one of"
    r"|any of|both"
    r"|one or more of|each of|things|steps|actions)\b,?)+\s*\Z",
    re.IGNORECASE,
)
_LISTING = re.compile(
    r"\s+((?:must |shall |may |can |should )?(?:not )?(?:needs?|requires?|includes?|covers?"
    r"|excludes?|receives?|gets?"
    r"|prohibits?|consists? of|comprises?|appl(?:y|ies) to|contains?|provides?|submit|make|state"
    r"|specify|show))\Z"
)
_EMPTY = re.compile(
    r"(?:it|this|that|them|so|these|those|one|ones|be|do|so if|the same|the following|following"
    r"|here|below|above)\Z"
    r"|.*\b(?:as follows|here|below|above|the following)\Z|(?:the )?following\b.*"
    r"|(?:it|them|him|her|been|so|one (?:by|of|with|from)|of|(?:all|any|some|one"
    r"|each) of the following)\b.*",
    re.IGNORECASE,
)
_THIS_TEXT = re.compile(
    r"this (?:policy|procedure|handbook|guide|document|agreement|code|standard)\Z", re.IGNORECASE
)
_POINTING = re.compile(r"(?:this|that|these|those) \w+\Z", re.IGNORECASE)
"""Says nothing to who does not see the sentence before."""
_PLURAL = re.compile(
    r"(?:s|staff|people|everyone|employee|organisation|\band\b.*)\Z", re.IGNORECASE
)
_SINGULAR = {
    "are": "is",
    "have": "has",
    "do": "does",
    "receive": "receives",
    "get": "gets",
    "earn": "earns",
    "accrue": "accrues",
    "pay": "pays",
    "take": "takes",
    "need": "needs",
    "require": "requires",
}
_NOT_LIMITED = re.compile(r",?\s*but (?:shall |is |are )?not (?:be )?limited to,?\s+")
_CUT = re.compile(r";\s|\s\((?:see|cf)\b|(?<!following)(?<!circumstances)(?<!conditions):\s")
_UNFINISHED = re.compile(
    r"\b(?:on|to|of|for|in|by|with|from|at|means?|includes?|if|unless|the|an?|that|and|or|when"
    r"|where|as|their|your|following"
    r"(?: \w+)?)\Z"
)


def triplets_of(chunk: Chunk) -> Iterator[StatedTriplet]:
    """What a passage says, in the order it says it; each only once."""
    stated: dict[StatedTriplet, None] = {}
    for triplet in _all(chunk):
        subject = chunk.title if _THIS_TEXT.match(triplet.subject) else triplet.subject
        if not _is_whole(triplet) or _POINTING.match(subject):
            continue
        named = StatedTriplet(
            subject=display_name(subject),
            predicate=triplet.predicate,
            object=display_name(triplet.object),
        )
        stated[named] = None
    for triplet in stated:
        if triplet.subject.casefold() != triplet.object.casefold():
            yield triplet


def _all(chunk: Chunk) -> Iterator[StatedTriplet]:
    for short, long in find_abbreviations(chunk.text, chunk.language):
        yield StatedTriplet(short, SHORT_FOR, long)
    yield from table_rows(chunk)
    yield from find_references(chunk)
    if chunk.language[:2] == "en":
        for clause in split_clauses(chunk.text, chunk.language):
            yield from _of_clause(clause)


def _of_clause(clause: GraphClause) -> Iterator[StatedTriplet]:
    for find in (_definitions, _unlawful, _duties, _statements):
        triplets = list(find(clause.text))
        if triplets:
            yield from triplets
            return
    if clause.lead:
        yield from _listed(clause)


# Definitions and prohibitions ---------------------------------------------------------------------


def _definitions(text: str) -> Iterator[StatedTriplet]:
    quoted = _QUOTED.match(text)
    if quoted:
        yield from _quoted_definition(quoted)
        return
    plain = _UNQUOTED.match(text)
    if not plain:
        return
    term, verb, meaning = plain.groups()
    subject = subject_of(term)
    if subject and not _MODAL.search(term):
        yield StatedTriplet(subject, verb, _limited(meaning, LONGEST_DEFINITION))


def _quoted_definition(quoted: re.Match[str]) -> Iterator[StatedTriplet]:
    term, other, verb, meaning = quoted.groups()
    elsewhere = re.match(
        rf"\W?{re.escape(term)}\W? as defined (?:by|in) (.{{3,80}})", meaning, re.IGNORECASE
    )
    if elsewhere:
        verb = "is defined by"
        meaning = re.split(r"\swhere\s", elsewhere.group(1))[0]
    if other:
        yield StatedTriplet(other, SHORT_FOR, term)
    verb = verb.replace("shall mean", "means")
    yield StatedTriplet(term, verb, _limited(meaning, LONGEST_DEFINITION))


def _unlawful(text: str) -> Iterator[StatedTriplet]:
    match = _UNLAWFUL.search(text)
    if not match:
        return
    subject = subject_of(match.group(1))
    verb = verb_of(match.group(2))
    if subject and verb:
        yield StatedTriplet(subject, f"must not {verb.text}", _limited(verb.rest, LONGEST_OBJECT))


# Obligations and permissions ----------------------------------------------------------------------


class _Duty(NamedTuple):
    predicate: str
    object: str


def _duties(text: str) -> Iterator[StatedTriplet]:
    main, condition = main_clause(text, _MODAL)
    if len(condition.split()) > LONGEST_CONDITION:
        return
    subject = ""
    for before, modal, rest in list(_pieces(main)):
        if before.strip(" ,"):
            subject = subject_of(before)
        if not subject:
            continue
        duty = _duty(modal, rest)
        if duty:
            yield StatedTriplet(
                subject=subject,
                predicate=_agreeing(subject, duty.predicate),
                object=_with_condition(duty.object, condition),
            )


def _agrees(subject: str, verb: str) -> bool:
    """Whether it is a verb: in "Desired start date" the subject would be no plural."""
    return verb.endswith("s") or verb in ("are", "have") or bool(_PLURAL.search(subject))


def _agreeing(subject: str, predicate: str) -> str:
    """Readers are addressed in the plural: "you are", "employee is"."""
    if subject not in ("employee", "organisation"):
        return predicate
    first, _, rest = predicate.partition(" ")
    return f"{_SINGULAR.get(first, first)} {rest}".strip()


class _Head(NamedTuple):
    """Where a clause with a modal of its own begins."""

    end_before: int
    """Where the clause before it ends."""
    start: int
    modal: re.Match[str]


def _pieces(main: str) -> Iterator[tuple[str, str, str]]:
    """(before the modal, modal, after it) of each clause that has one of its own; others stand
    inside an object."""
    heads: list[_Head] = []
    for modal in _MODAL.finditer(main):
        if not heads:
            heads.append(_Head(0, 0, modal))
            continue
        joint = _joint(main, heads[-1].modal.end(), modal.start())
        if joint:
            heads.append(_Head(joint.start(), joint.end(), modal))
    ends = [head.end_before for head in heads[1:]] + [len(main)]
    for head, end in zip(heads, ends[: len(heads)], strict=True):
        modal = head.modal
        yield (
            main[head.start : modal.start()],
            " ".join(modal.group().split()),
            main[modal.end() : end],
        )


def _joint(main: str, start: int, end: int) -> re.Match[str] | None:
    """The last place between two modals after which nothing but a subject stands."""
    for joint in reversed(list(_NEXT_CLAUSE.finditer(main, start, end))):
        tail = main[joint.end() : end].strip()
        if not tail or subject_of(tail):
            return joint
    return None


def _duty(modal: str, rest: str) -> _Duty | None:
    if _TAKES_NOUN.search(modal):
        return _Duty(modal, _limited(rest, LONGEST_OBJECT))
    verb = verb_of(rest)
    if verb is None:
        return None
    rest = _NOT_LIMITED.sub("", verb.rest)
    if rest and not re.match(r"(?:and|or|but)\b", rest):
        return _Duty(f"{modal} {verb.text}", _limited(rest, LONGEST_OBJECT))
    *others, last = verb.text.split()
    predicate = " ".join([modal, *others])
    return _Duty(predicate, _limited(f"{last} {rest}", LONGEST_OBJECT))


# Statements and amounts ---------------------------------------------------------------------------


def _statements(text: str) -> Iterator[StatedTriplet]:
    stated = _stated(text)
    if stated:
        yield stated
    else:
        yield from _amounts(text)


def _stated(text: str) -> StatedTriplet | None:
    """Of verbs that policies state things with: applies to, requires, includes."""
    main, condition = main_clause(text, _STATED)
    verb = _STATED.search(main)
    if not verb or _MODAL.search(main):
        return None
    subject = subject_of(main[: verb.start()])
    rest = main[verb.end() :].strip()
    if not subject or len(subject.split()) > 10 or _NOT_AFTER_VERB.match(rest):
        return None
    return StatedTriplet(
        subject=subject,
        predicate=_agreeing(subject, verb.group()),
        object=_with_condition(_limited(rest, LONGEST_OBJECT), condition),
    )


def _amounts(text: str) -> Iterator[StatedTriplet]:
    main, condition = main_clause(text, _AMOUNT_VERB)
    if not main or _MODAL.search(main):
        return
    for verb in _AMOUNT_VERB.finditer(main):
        subject = subject_of(main[: verb.start()])
        rest = main[verb.end() :].strip()
        if not _may_have_amount(subject, verb.group()) or not _begins_with_amount(rest):
            continue
        predicate, rest = _with_participle(verb.group(), rest)
        yield StatedTriplet(
            subject=subject,
            predicate=_agreeing(subject, predicate),
            object=_with_condition(_limited(rest, LONGEST_OBJECT), condition),
        )
        return


def _may_have_amount(subject: str, verb: str) -> bool:
    return bool(subject) and len(subject.split()) <= 8 and _agrees(subject, verb)


def _begins_with_amount(rest: str) -> bool:
    amount = _AMOUNT.search(rest)
    if not amount or _NOT_AFTER_VERB.match(rest):
        return False
    return len(rest[: amount.start()].split()) <= 12


def _with_participle(verb: str, rest: str) -> tuple[str, str]:
    """("is", "paid within 30 days") as ("is paid within", "30 days")."""
    if verb not in ("is", "are"):
        return verb, rest
    passive = verb_of("be " + rest)
    if not passive or passive.text == "be" or not passive.rest:
        return verb, rest
    return verb + passive.text.removeprefix("be"), passive.rest


# Lists --------------------------------------------------------------------------------------------


def _listed(clause: GraphClause) -> Iterator[StatedTriplet]:
    """An item, said with the words that lead its list in: "an audit must: - calculate the rate"."""
    main, condition = main_clause(clause.lead, _MODAL)
    modal = _MODAL.search(main)
    item = _limited(clause.text.rstrip(",;. "), LONGEST_OBJECT)
    item = re.sub(r"[,;]\s*(?:and|or)\Z", "", item)
    if modal and not _without_filler(main[modal.end() :]).strip(" ,"):
        listed = _listed_duty(main, modal, item)
    else:
        listed = _listed_statement(main or clause.lead, item)
    if listed:
        yield listed._replace(object=_with_condition(listed.object, condition))


def _listed_duty(main: str, modal: re.Match[str], item: str) -> StatedTriplet | None:
    subject = subject_of(main[: modal.start()])
    verb = verb_of(item[:1].lower() + item[1:])
    if not subject or not verb or not verb.rest:
        return None
    words = " ".join(modal.group().split())
    return StatedTriplet(subject, f"{words} {verb.text}", verb.rest)


def _listed_statement(lead: str, item: str) -> StatedTriplet | None:
    lead = _without_filler(lead).rstrip(" ,")
    listing = _LISTING.search(lead)
    if not listing or len(item.split()) > 20:
        return None
    subject = subject_of(lead[: listing.start()])
    if not subject:
        return None
    return StatedTriplet(subject, listing.group(1), item)


def _without_filler(text: str) -> str:
    """Without "at least one of the following" and the like at the end."""
    return _FILLER.sub("", text)


# Objects ------------------------------------------------------------------------------------------


def _limited(text: str, words: int) -> str:
    """At most so many words, ending where a phrase ends; "…" where something was left out."""
    cut = _CUT.search(text)
    if cut and cut.start() > 3:
        text = text[: cut.start()]
    phrase = text.strip(" ,.;:")
    parts = phrase.split()
    if len(parts) <= words:
        return f"{phrase} …" if _UNFINISHED.search(phrase) else phrase
    kept = " ".join(parts[:words])
    comma = kept.rfind(", ")
    if comma > len(kept) // 2:
        kept = kept[:comma]
    return f"{kept} …"


def _with_condition(text: str, condition: str) -> str:
    words = " ".join(condition.split())
    return f"{text} ({words[:1].lower()}{words[1:]})" if words else text


def _is_whole(triplet: StatedTriplet) -> bool:
    """Whether it has a subject, and an object that says something, of bearable length."""
    thing = triplet.object.partition(" (")[0].strip()
    if not triplet.subject or not re.search(r"\w", thing) or _EMPTY.match(thing):
        return False
    return len(triplet.predicate) <= 80 and len(triplet.subject) <= 160
