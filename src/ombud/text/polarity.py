"""What a text denies, obliges, allows, limits or leaves open, by the words of `proof.toml`.

Texts are in small letters. Denials are known in the languages of `proof.toml`, all else in English
only."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Literal, NamedTuple

from ombud.text.clauses import WORDS, content_terms
from ombud.text.wording import term_pattern

Modality = Literal["oblige", "allow", "spare", "advise"]
"""Groups of words in `proof.toml`; spare: nobody has to."""
ModalKind = Literal["forbid", "spare", "oblige", "advise", "allow", "vague"]

_ENGLISH = WORDS["english"]
_QUOTED = re.compile(r'"[^"]{1,300}"')
_NEITHER = re.compile(r"\bneither\b(.*?)\bnor\b")
_CONTRACTION = re.compile(r"\w+n't\b")
_EXCEPTION = re.compile(r"\b(?:unless|except|without|only|if not|nor)\b")
_CAP = re.compile(
    r"\b(?:not|never|cannot)\b(?: \w+){0,2} (?:exceed(?:s|ed)?|higher than|more than|longer than)\b"
    r"|\bno (?:more|longer|higher) than"
)
_LIMIT = re.compile(
    r"\b(?:at most|up to|maximum|limit\w*|within|capped?|until|by|before|only|less|fewer|under"
    r"|below|highest|most|no (?:later|longer|higher)|not (?:later|longer))\b"
)
_PREDICATE = re.compile(r"\b(?:not|never|no|cannot|\w+n't)((?: \w+){1,5})")
"""A denial and what follows it."""
_DENIED_WORDS = 3
_FORBIDDING = re.compile(
    r"\b(?:(?:may|must|can|shall) not|cannot|not allowed|not permitted|prohibited|forbidden|never"
    r"|nobody|do not|is not|are not|no one|not to)\b"
)
_FORBIDDING_STRICTLY = re.compile(
    r"\b(?:(?:may|must|can|shall) not|cannot|not allowed|not permitted|prohibited|forbidden"
    r"|never)\b"
)
_PERMITTED = re.compile(r"(?:allow|permit|requir|oblig|entitl|need|have|expect|able)\w*$")
"""Beside a denial these are a modal verb: what is denied comes behind them."""
_CLAUSE = re.compile(r"(?: [\w'-]+){1,4}")
_DEADLINE = re.compile(
    r"\b(?:within|by|before|no later|at the latest|at least|deadline|at once|immediately)\b"
)
_NOT_ALLOWED = re.compile(
    r"\b(?:may|can|could) not\b|\bcannot\b"
    r"|\bnot (?:be )?(?:allowed|permitted|entitled|eligible|possible)\b"
)
_LINK = re.compile(r"[\s,]*(?:and|or)\b")
_MODAL = re.compile(
    r"(?P<forbid>\b(?:(?:must|may|can|shall) not\b|cannot\b"
    r"|(?:not|n't) (?:be )?(?:allowed|permitted)\b))"
    r"|(?P<spare>\bneeds? not\b|\bneedn't\b|\b(?:not|n't|never) (?:have|need) to\b"
    r"|\bnot (?:be )?(?:required|obliged)\b|\bno need\b|\boptional\b)"
    r"|(?P<oblige>\b(?:must|has to|have to|needs? to|shall|is required|are required|obliged"
    r"|requires? (?:that )?you"
    r"|compulsory|mandatory)\b)"
    r"|(?P<advise>\bshould\b(?! (?:\w+ )?have (?:been|begun|\w+ed)\b))"
    r"|(?P<allow>\b(?:may|can|might|could|allowed|permitted|entitled)\b(?! need\b))"
    r"|(?P<vague>\bmay need\b)"
)


class Modal(NamedTuple):
    """A word by which a text obliges, allows or forbids."""

    kind: ModalKind
    wording: str
    predicate: str = ""
    """The words behind it."""
    start: int = 0


def count_denials(text: str, language: str = "en") -> int:
    """How often `text` turns what it says round; 1 at most in other languages than English."""
    if language[:2] != "en":
        return int(bool(_denials(language[:2]).search(text)))
    return _count_english_denials(text)


@lru_cache(maxsize=4096)
def _count_english_denials(text: str) -> int:
    unquoted = _QUOTED.sub(" ", text)
    said = without_comparisons(unquoted)
    said = _NEITHER.sub(r"not\1", said)
    denials = 0
    for pattern in (_denials("en"), _CONTRACTION, _pattern("denying")):
        denials += len(pattern.findall(said))
    return denials


@lru_cache(maxsize=8192)
def without_comparisons(text: str) -> str:
    """`text` without "no later than" and the like: whether those agree is looked at beside the
    number."""
    return _pattern("comparing").sub(" ", text)


def denied_runs(text: str) -> list[frozenset[str]]:
    """Of each denial the terms of the first word behind it that has any."""
    runs = []
    for match in _PREDICATE.finditer(text):
        words = (word for word in match[1].split() if not _PERMITTED.match(word))
        terms_by_word = (content_terms(word, "en") for word in words)
        first = next((terms for terms in terms_by_word if terms), frozenset[str]())
        if first:
            runs.append(first)
    return runs


@lru_cache(maxsize=4096)
def denied_terms(text: str) -> frozenset[str]:
    """The terms that follow denials within three words."""
    terms: set[str] = set()
    for match in _PREDICATE.finditer(text):
        following = " ".join(match[1].split()[:_DENIED_WORDS])
        terms |= content_terms(following, "en")
    return frozenset(terms)


def doubtful_words(text: str) -> set[str]:
    """The first three letters of each word that may or may not deny, such as "only"."""
    return {word[:3] for word in _pattern("doubtful").findall(text)}


@lru_cache(maxsize=8192)
def turns(text: str) -> bool:
    """Whether a word turns it round in its own way, such as "refused" or "lapse"."""
    return bool(_turning().search(text))


def names_exception(text: str) -> bool:
    return bool(_EXCEPTION.search(text))


def forbids_exceeding(text: str) -> bool:
    """Whether `text` sets a cap by denying what goes beyond it: "must never exceed"."""
    return bool(_CAP.search(text))


def sets_limit(text: str) -> bool:
    return bool(_LIMIT.search(text))


def sets_deadline(text: str) -> bool:
    return bool(_DEADLINE.search(text))


@lru_cache(maxsize=8192)
def find_modals(text: str) -> tuple[Modal, ...]:
    modals: list[Modal] = []
    for match in _MODAL.finditer(text):
        kind: ModalKind = match.lastgroup  # type: ignore[assignment]
        predicate = _CLAUSE.match(text, match.end())
        modals.append(Modal(kind, match[0], predicate[0] if predicate else "", match.start()))
    return tuple(modals)


def expresses(modality: Modality, text: str) -> bool:
    """Whether any word of the group stands in `text`; "may not" does not allow."""
    if modality == "allow":
        text = _NOT_ALLOWED.sub(" ", text)
    return bool(_pattern(modality).search(text))


def forbids(text: str, *, strictly: bool = False) -> bool:
    """strictly: by a word that forbids, not only by a denial."""
    pattern = _FORBIDDING_STRICTLY if strictly else _FORBIDDING
    return bool(pattern.search(text))


def without_sparing(text: str) -> str:
    """`text` without "need not" and the like, which forbid nothing."""
    return _pattern("spare").sub(" ", text)


def begins_with_link(clause: str) -> bool:
    """Whether a clause goes on with what stands before it: "and asks for a form"."""
    return bool(_LINK.match(clause))


def bids(clause: str) -> bool:
    """Whether a clause tells to do something: "if it is late, please ask"."""
    return bool(_imperative().match(clause))


@lru_cache(maxsize=4096)
def opposites_of(text: str, *, sure: bool) -> tuple[tuple[str, str], ...]:
    """(word that it has, its opposite); fewer where it is not sure that it and what it is compared
    with speak of the same."""
    found: list[tuple[str, str]] = []
    for beginning, word, opposite in _opposites("opposites" if sure else "contraries"):
        if beginning in text and _term(word).search(text):
            found.append((word, opposite))
    return tuple(found)


@cache
def _opposites(name: str) -> tuple[tuple[str, str, str], ...]:
    """(beginning, word, its opposite), in both directions."""
    pairs: list[tuple[str, str, str]] = []
    for first, second in _ENGLISH[name]:
        pairs += [(_beginning(first), first, second), (_beginning(second), second, first)]
    return tuple(pairs)


@lru_cache(maxsize=65536)
def contains_term(term: str, text: str) -> bool:
    # Most texts have most terms nowhere, which a plain look tells sooner than a pattern.
    return _beginning(term) in text and bool(_term(term).search(text))


def contains_similar(term: str, text: str) -> bool:
    """The same for the term or any that is listed as like it."""
    return bool(_similar(term).search(text))


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return term_pattern(_ENGLISH[name])


@cache
def _denials(language: str) -> re.Pattern[str]:
    words: Sequence[str] = WORDS["denials"].get(language, WORDS["denials"]["en"])
    return term_pattern(words)


@cache
def _beginning(term: str) -> str:
    """What stands in every text that has the term."""
    return term.split(maxsplit=1)[0].rstrip("*")


@cache
def _term(term: str) -> re.Pattern[str]:
    return term_pattern([term])


@cache
def _similar(term: str) -> re.Pattern[str]:
    similar = [term]
    for group in _ENGLISH["alike"]:
        if group[0] == term:
            similar += group[1:]
    return term_pattern(similar)


@cache
def _turning() -> re.Pattern[str]:
    return term_pattern(WORDS["turning"]["en"])


@cache
def _imperative() -> re.Pattern[str]:
    return re.compile(
        r"(?:\s*(?:if|unless|when)\b[^,]*,\s*)?(?:[\s,]*(?:and|or|so|then|,)\s+)?"
        r"(?:please |always |first |then |at once |do not )?"
        rf"(?:{'|'.join(_ENGLISH['bidding'])})\b(?! (?:is|are|of|may)\b)"
    )
