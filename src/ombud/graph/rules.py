"""Triplets without a model: what policies write in fixed words. English; tables and abbreviations
in any language.

Definitions ("X means Y"), obligations, permissions and prohibitions ("X must Y", "it is unlawful
for X to Y"), amounts and durations ("X lasts 4 weeks"), what a rule applies to, requires or
includes, and references between clauses."""

import re
from collections.abc import Iterator

from ombud.graph.clauses import GraphClause, split_clauses
from ombud.graph.phrases import StatedTriplet, main_clause, subject_of, verb_of
from ombud.graph.references import find_references
from ombud.graph.tables import table_rows
from ombud.text import display_name, find_abbreviations
from ombud.types import Chunk

LONGEST_OBJECT, LONGEST_DEFINITION, LONGEST_CONDITION = 32, 50, 24
"""Words."""
SHORT_FOR = "is short for"

_MODAL = re.compile(
    r"\b(?:must|shall|may|can|cannot|should|(?:is|are)\s+(?:not\s+|only\s+|also\s+|always\s+)?(?:required|allowed|permitted"
    r"|obliged|prohibited|forbidden|expected|entitled|eligible|responsible)\s+(?:to|from|for)|(?:has|have)\s+to"
    r"|(?:do|does)\s+not\s+(?:have|need)\s+to|(?:will\s+)?needs?\s+to)\b(?:\s+not\b)?"
)
_TAKES_NOUN = re.compile(r"(?:entitled|eligible|responsible)\s+(?:to|for)\Z|prohibited\s+from\Z")
_NEXT_CLAUSE = re.compile(
    r"(?:,\s+(?:and|but|or|so)|;(?:\s+(?:and|but|or|however,))?|\band|\bbut)\s*(?=\S|$)"
)
_UNLAWFUL = re.compile(
    r"\bit (?:is|shall be) (?:unlawful|illegal|prohibited|forbidden|not (?:allowed|permitted)) for (.{3,80}?) to (.+)",
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
    r"\b(?:prohibits?|requires?|(?:do(?:es)? not )?appl(?:y|ies) to|includes?|excludes?|entitles?|governs?"
    r"|(?:is|are) (?:not )?(?:subject to|exempt from|covered by|excluded from|limited to|part of)|replaces?|supersedes?"
    r"|overrides?|consists? of)(?=\s)"
)
_AMOUNT = re.compile(
    r"(?:\b\d[\d,.]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|sixty|ninety))"
    r"(?:\s*\(\d+\))?(?:\s|-)?(?:\s*(?:business|working|calendar|paid|unpaid|consecutive|full|more|additional)\s+){0,2}"
    r"(?:days?|weeks?|months?|years?|hours?|minutes?|%|per ?cent|euros?|pounds?|dollars?|kroner|francs?|times)(?!\w)"
    r"|[€£$]\s?\d|\b(?:EUR|USD|GBP|CHF)\s?\d"
)
_AMOUNT_VERB = re.compile(
    r"\b(?:has|have|gets?|receives?|earns?|accrues?|costs?|lasts?|takes?|pays?|is|are|begins?|starts?|ends?|expires?"
    r"|amounts? to|equals?|exceeds?|answers?|decides?|remains?|confirms?|informs?|grants?|reimburses?)(?=\s)"
)
_NOT_AFTER_VERB = re.compile(
    r"(?:is|are|was|were|has|have|will|must|may|can|shall|should|of|and|or|not only|it|there|that|been)\b"
)
_FILLER = re.compile(
    r"(?:,?\s*\b(?:at a minimum|at least|either|also|always|do|ensure|the following|all of|one of|any of|both"
    r"|one or more of|each of|things|steps|actions)\b,?)+\s*\Z",
    re.IGNORECASE,
)
_LISTING = re.compile(
    r"\s+((?:must |shall |may |can |should )?(?:not )?(?:needs?|requires?|includes?|covers?|excludes?|receives?|gets?"
    r"|prohibits?|consists? of|comprises?|appl(?:y|ies) to|contains?|provides?|submit|make|state|specify|show))\Z"
)
_EMPTY = re.compile(
    r"(?:it|this|that|them|so|these|those|one|ones|be|do|so if|the same|the following|following|here|below|above)\Z"
    r"|.*\b(?:as follows|here|below|above|the following)\Z|(?:the )?following\b.*"
    r"|(?:it|them|him|her|been|so|one (?:by|of|with|from)|of|(?:all|any|some|one|each) of the following)\b.*",
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
_SINGULAR = {"are": "is", "have": "has", "do": "does"}
_SINGULAR |= {
    verb: f"{verb}s"
    for verb in ("receive", "get", "earn", "accrue", "pay", "take", "need", "require")
}
_NOT_LIMITED = re.compile(r",?\s*but (?:shall |is |are )?not (?:be )?limited to,?\s+")
_CUT = re.compile(r";\s|\s\((?:see|cf)\b|(?<!following)(?<!circumstances)(?<!conditions):\s")
_UNFINISHED = re.compile(
    r"\b(?:on|to|of|for|in|by|with|from|at|means?|includes?|if|unless|the|an?|that|and|or|when|where|as|their|your|following"
    r"(?: \w+)?)\Z"
)


def triplets_of(chunk: Chunk) -> Iterator[StatedTriplet]:
    """What a passage says, in the order it says it; each only once."""
    said: dict[StatedTriplet, None] = {}
    for found in _all(chunk):
        subject = chunk.title if _THIS_TEXT.match(found.subject) else found.subject
        if _is_whole(found) and not _POINTING.match(subject):
            said[
                StatedTriplet(display_name(subject), found.predicate, display_name(found.object))
            ] = None
    yield from (one for one in said if one.subject.casefold() != one.object.casefold())


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
        found = list(find(clause.text))
        if found:
            yield from found
            return
    if clause.lead:
        yield from _listed(clause)


def _definitions(text: str) -> Iterator[StatedTriplet]:
    if quoted := _QUOTED.match(text):
        term, other, verb, meaning = quoted.groups()
        if elsewhere := re.match(
            rf"\W?{re.escape(term)}\W? as defined (?:by|in) (.{{3,80}})", meaning, re.IGNORECASE
        ):
            verb, meaning = "is defined by", re.split(r"\swhere\s", elsewhere.group(1))[0]
        if other:
            yield StatedTriplet(other, SHORT_FOR, term)
        yield StatedTriplet(
            term, verb.replace("shall mean", "means"), _limited(meaning, LONGEST_DEFINITION)
        )
        return
    plain = _UNQUOTED.match(text)
    if plain and subject_of(plain.group(1)) and not _MODAL.search(plain.group(1)):
        yield StatedTriplet(
            subject_of(plain.group(1)), plain.group(2), _limited(plain.group(3), LONGEST_DEFINITION)
        )


def _unlawful(text: str) -> Iterator[StatedTriplet]:
    match = _UNLAWFUL.search(text)
    verb = verb_of(match.group(2)) if match else None
    if match and verb and subject_of(match.group(1)):
        yield StatedTriplet(
            subject_of(match.group(1)), f"must not {verb.text}", _limited(verb.rest, LONGEST_OBJECT)
        )


def _duties(text: str) -> Iterator[StatedTriplet]:
    main, condition = main_clause(text, _MODAL)
    if len(condition.split()) > LONGEST_CONDITION:
        return
    subject, pieces = "", list(_pieces(main))
    for before, modal, rest in pieces:
        subject = subject_of(before) if before.strip(" ,") else subject
        if not subject:
            continue
        found = _duty(modal, rest)
        if found:
            yield StatedTriplet(
                subject, _agreeing(subject, found[0]), _with_condition(found[1], condition)
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


def _pieces(main: str) -> Iterator[tuple[str, str, str]]:
    """(before the modal, modal, after it) of each clause that has one of its own; others stand
    inside an object."""
    modals = list(_MODAL.finditer(main))
    heads = [(0, 0, modal) for modal in modals[:1]]
    for modal in modals[1:]:
        for joint in reversed(list(_NEXT_CLAUSE.finditer(main, heads[-1][2].end(), modal.start()))):
            tail = main[joint.end() : modal.start()].strip()
            if not tail or subject_of(tail):
                heads.append((joint.start(), joint.end(), modal))
                break
    ends = [begin for begin, _, _ in heads[1:]] + [len(main)]
    for (_, begin, modal), end in zip(heads, ends[: len(heads)], strict=True):
        yield main[begin : modal.start()], " ".join(modal.group().split()), main[modal.end() : end]


def _duty(modal: str, rest: str) -> tuple[str, str] | None:
    if _TAKES_NOUN.search(modal):
        return modal, _limited(rest, LONGEST_OBJECT)
    verb = verb_of(rest)
    if verb is None:
        return None
    rest = _NOT_LIMITED.sub("", verb.rest)
    if rest and not re.match(r"(?:and|or|but)\b", rest):
        return f"{modal} {verb.text}", _limited(rest, LONGEST_OBJECT)
    *others, last = verb.text.split()
    return " ".join([modal, *others]), _limited(f"{last} {rest}", LONGEST_OBJECT)


def _statements(text: str) -> Iterator[StatedTriplet]:
    main, condition = main_clause(text, _STATED)
    stated = _STATED.search(main)
    if stated and (subject := subject_of(main[: stated.start()])) and len(subject.split()) <= 10:
        rest = main[stated.end() :].strip()
        if not _NOT_AFTER_VERB.match(rest) and not _MODAL.search(main):
            predicate = _agreeing(subject, stated.group())
            yield StatedTriplet(
                subject, predicate, _with_condition(_limited(rest, LONGEST_OBJECT), condition)
            )
            return
    yield from _amounts(text)


def _amounts(text: str) -> Iterator[StatedTriplet]:
    main, condition = main_clause(text, _AMOUNT_VERB)
    if _MODAL.search(main) or not main:
        return
    for verb in _AMOUNT_VERB.finditer(main):
        subject, rest = subject_of(main[: verb.start()]), main[verb.end() :].strip()
        if not subject or len(subject.split()) > 8 or not _agrees(subject, verb.group()):
            continue
        amount = _AMOUNT.search(rest)
        if not amount or _NOT_AFTER_VERB.match(rest) or len(rest[: amount.start()].split()) > 12:
            continue
        predicate = verb.group()
        if (
            predicate in ("is", "are")
            and (found := verb_of("be " + rest))
            and found.text != "be"
            and found.rest
        ):
            predicate, rest = predicate + found.text.removeprefix("be"), found.rest
        yield StatedTriplet(
            subject,
            _agreeing(subject, predicate),
            _with_condition(_limited(rest, LONGEST_OBJECT), condition),
        )
        return


def _listed(clause: GraphClause) -> Iterator[StatedTriplet]:
    """An item, said with the words that lead its list in: "an audit must: - calculate the rate"."""
    main, condition = main_clause(clause.lead, _MODAL)
    modal = _MODAL.search(main)
    item = _limited(clause.text.rstrip(",;. "), LONGEST_OBJECT)
    item = re.sub(r"[,;]\s*(?:and|or)\Z", "", item)
    if modal and _FILLER.sub("", main[modal.end() :]).strip(" ,") == "":
        verb = verb_of(item[:1].lower() + item[1:])
        subject = subject_of(main[: modal.start()])
        if verb and subject and verb.rest:
            predicate = f"{' '.join(modal.group().split())} {verb.text}"
            yield StatedTriplet(subject, predicate, _with_condition(verb.rest, condition))
        return
    lead = _FILLER.sub("", main or clause.lead).rstrip(" ,")
    listing = _LISTING.search(lead)
    if listing and (subject := subject_of(lead[: listing.start()])) and len(item.split()) <= 20:
        yield StatedTriplet(subject, listing.group(1), _with_condition(item, condition))


def _limited(text: str, words: int) -> str:
    """At most so many words, ending where a phrase ends; "…" where something was left out."""
    cut = _CUT.search(text)
    said = (text[: cut.start()] if cut and cut.start() > 3 else text).strip(" ,.;:")
    parts = said.split()
    if len(parts) <= words:
        return said + " …" * bool(_UNFINISHED.search(said))
    kept = " ".join(parts[:words])
    comma = kept.rfind(", ")
    return (kept[:comma] if comma > len(kept) // 2 else kept) + " …"


def _with_condition(text: str, condition: str) -> str:
    said = " ".join(condition.split())
    return f"{text} ({said[:1].lower()}{said[1:]})" if said else text


def _is_whole(said: StatedTriplet) -> bool:
    plain = said.object.partition(" (")[0].strip()
    return bool(
        said.subject
        and re.search(r"\w", plain)
        and not _EMPTY.match(plain)
        and len(said.predicate) <= 80
        and len(said.subject) <= 160
    )
