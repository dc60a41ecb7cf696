"""What a claim denies, obliges or allows, beside the clauses of its passages that speak of the
same."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from ombud.text import WORDS, Clause, Sentence, content_terms, term_pattern

ENGLISH = WORDS["english"]
ANSWER = re.compile(r"^\s*(?:yes|no)\b\s*(?:[,.:;–-]|$)", re.IGNORECASE)
"""What a claim begins with because the question wants it; it denies nothing by itself."""
CLOSE = 0.85
"""A clause whose overlap is this share of the best one's may be meant as well."""
AROUND = 0.3
"""What a term shared by the sentences around two clauses counts beside one that they share
themselves."""
EXACT = 1.0
"""What a clause of the passage gains that says nothing else than the claim's."""
LEAST = 0.3
"""Share of a clause's terms below which nothing in the passages counts as speaking of the same."""
NO_CELL = re.compile(r"\|\s*no\b")
QUOTED = re.compile(r'"[^"]{1,300}"')
EXCEPTS = re.compile(r"\b(?:unless|except|without|only|if not|nor)\b")
EXCEEDS = re.compile(
    r"\b(?:not|never|cannot)\b(?: \w+){0,2} (?:exceed(?:s|ed)?|higher than|more than|longer than)\b"
    r"|\bno (?:more|longer|higher) than"
)
PREDICATE = re.compile(r"\b(?:not|never|no|cannot|\w+n't)((?: \w+){1,5})")
"""A denial and what follows it."""
LIMIT = re.compile(
    r"\b(?:at most|up to|maximum|limit\w*|within|capped?|until|by|before|only|less|fewer|under|below|highest|most)\b"
)
DENIES, DENIED = (
    "it denies something, the cited text does not",
    "the cited text denies something, it does not",
)


class Near(NamedTuple):
    """A clause of a passage that speaks of what a claim's clause does."""

    clause: Clause
    sentence: Sentence
    score: float
    sure: bool


def objections(
    claim: Sequence[Sentence], passages: Sequence[Sentence], language: str
) -> Iterator[str]:
    """What the claim denies, obliges or allows and its passages do not, or the other way round."""
    for sentence in claim:
        for clause in sentence.clauses:
            said = ANSWER.sub("", clause.text)
            near = _near(clause, sentence, passages)
            if near:
                yield from _denied(said, clause, sentence, near, passages, language)
            elif denies(said, language) and not any(
                denies(s.text.lower(), language) for s in passages
            ):
                yield DENIES
            if near and language[:2] == "en":
                yield from _modal(said, near, passages)
                yield from _unlimited(said, near)
                yield from _opposite(
                    said, near, [s for s in passages if len(s.terms & sentence.terms) > 1]
                )


def _near(clause: Clause, sentence: Sentence, passages: Sequence[Sentence]) -> list[Near]:
    """The clauses that share most terms with it; fewer where the sentences around them share
    more."""
    found = []
    for said in passages:
        shared_by_sentences = len(sentence.terms & said.terms)
        if not shared_by_sentences:
            continue
        around = AROUND * shared_by_sentences + 0.2 * len(clause.terms & said.terms_above)
        for other in said.clauses:
            shared = len(clause.terms & other.terms)
            if shared:
                whole = EXACT * shared / len(other.terms)
                found.append(
                    Near(other, said, shared + whole + around, _sure(shared, clause, other))
                )
    best = max((near.score for near in found), default=0.0)
    if best < LEAST * len(clause.terms):
        return []
    close = [near for near in found if near.score >= CLOSE * best]
    return [near for near in close if near.sure] or close


def _sure(shared: int, clause: Clause, other: Clause) -> bool:
    """Whether the two say so much of the same that one may not deny what the other says."""
    if shared < 2 and len(clause.terms) > 1:
        return False
    return shared >= 0.5 * len(clause.terms) or shared >= 0.8 * len(other.terms)


# Denials ------------------------------------------------------------------------------------------


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return term_pattern(ENGLISH[name])


@cache
def _denials(language: str) -> re.Pattern[str]:
    return term_pattern(WORDS["denials"].get(language[:2], WORDS["denials"]["en"]))


@lru_cache(maxsize=4096)
def denies(text: str, language: str = "en") -> int:
    """How often a lower-case text turns what it says round; 1 at most in other languages than
    English."""
    if language[:2] != "en":
        return int(bool(_denials(language).search(text)))
    text = _pattern("comparing").sub(" ", QUOTED.sub(" ", text))
    text = re.sub(r"\bneither\b(.*?)\bnor\b", r"not\1", text)
    negated = len(_denials("en").findall(text)) + len(re.findall(r"\w+n't\b", text))
    return negated + len(_pattern("denying").findall(text))


def _denied(
    said: str,
    clause: Clause,
    sentence: Sentence,
    near: Sequence[Near],
    passages: Sequence[Sentence],
    language: str,
) -> Iterator[str]:
    ours, theirs = denies(said, language), [denies(n.clause.text, language) for n in near]
    if any(
        (ours - n_) % 2 == 0 or (ours and n_ and "," in n.clause.text)
        for n, n_ in zip(near, theirs, strict=True)
    ):
        return  # several denials in a list are one each
    if language[:2] == "en" and (
        any(_doubtful(said, sentence, n) for n in near) or _agree_whole(said, sentence, near)
    ):
        return
    if not any(n.sure for n in near):
        others = [n.sentence for n in near]
        if any((ours - denies(c.text)) % 2 == 0 for s in others for c in s.clauses):
            return
    if ours and _denied_elsewhere(said, passages):
        return
    yield DENIES if ours > max(theirs) else DENIED


def _denied_elsewhere(said: str, passages: Sequence[Sentence]) -> bool:
    """Whether what the claim denies is denied by a clause: "does not answer" by "no answer is no
    agreement"."""
    runs = (
        next(filter(None, (content_terms(w, "en") for w in m[1].split())), frozenset())
        for m in PREDICATE.finditer(said)
    )
    denied = [run for run in runs if run]
    clauses = [c for s in passages for c in s.clauses]
    return bool(denied) and all(any(run & _after_denial(c.text) for c in clauses) for run in denied)


@lru_cache(maxsize=4096)
def _after_denial(text: str) -> frozenset[str]:
    """The terms that follow denials within a few words."""
    return frozenset(
        t
        for match in PREDICATE.finditer(text)
        for t in content_terms(" ".join(match[1].split()[:3]), "en")
    )


def _unlimited(said: str, near: Sequence[Near]) -> Iterator[str]:
    """ "Can be higher" where the passage says "never exceeds": a limit is no denial, but it may not
    get lost."""
    limits = all(EXCEEDS.search(n.clause.text) for n in near if n.sure) and any(
        n.sure for n in near
    )
    if limits and not EXCEEDS.search(said) and not LIMIT.search(said):
        yield "the cited text sets a limit, it does not"


def _agree_whole(said: str, sentence: Sentence, near: Sequence[Near]) -> bool:
    """ "Not without" and "not unless" deny twice, in one clause or in two: then the whole sentences
    count."""
    ours = denies(ANSWER.sub("", sentence.text.lower()))
    return any(
        (EXCEPTS.search(said) or EXCEPTS.search(n.clause.text) or (ours and not denies(said)))
        and (ours - denies(n.sentence.text.lower())) % 2 == 0
        for n in near
    )


def _doubtful(said: str, sentence: Sentence, near: Near) -> bool:
    """Whether one side has a word that may deny and the other has not."""
    if near.sentence.row and (NO_CELL.search(near.clause.text) or denies(near.clause.text)):
        return True
    ours, theirs, our_whole, their_whole = (
        {word[:3] for word in _pattern("doubtful").findall(text)}
        for text in (said, near.clause.text, sentence.text.lower(), near.sentence.text.lower())
    )
    return bool(ours - their_whole or theirs - our_whole)


# May, must, need not ------------------------------------------------------------------------------

FORBIDS = re.compile(
    r"\b(?:(?:may|must|can|shall) not|cannot|not allowed|not permitted|prohibited|forbidden|never|nobody|do not|is not"
    r"|are not|no one|not to)\b"
)
DUTY = re.compile(
    r"\b(?:within|by|before|no later|at the latest|at least|deadline|at once|immediately)\b"
)
NOT_ALLOWED = re.compile(
    r"\b(?:may|can|could) not\b|\bcannot\b|\bnot (?:be )?(?:allowed|permitted|entitled|eligible|possible)\b"
)
GOES_ON = re.compile(r"[\s,]*(?:and|or)\b")
_MODAL = re.compile(
    r"(?P<forbid>\b(?:(?:must|may|can|shall) not\b|cannot\b|(?:not|n't) (?:be )?(?:allowed|permitted)\b))"
    r"|(?P<spare>\bneeds? not\b|\bneedn't\b|\b(?:not|n't) (?:have|need) to\b|\bnot (?:be )?(?:required|obliged)\b"
    r"|\bno need\b|\boptional\b)"
    r"|(?P<oblige>\b(?:must|has to|have to|needs? to|shall|is required|are required|obliged|compulsory|mandatory)\b)"
    r"|(?P<advise>\bshould\b)"
    r"|(?P<allow>\b(?:may|can|might|could|allowed|permitted|entitled)\b(?! need\b))"
    r"|(?P<vague>\bmay need\b)"
)


def _modal(said: str, near: Sequence[Near], passages: Sequence[Sentence]) -> Iterator[str]:
    best = max(n.score for n in near)
    near = [n for n in near if n.score >= 0.9 * best]
    here = "\n".join(map(_opening, near))
    whole = "\n".join(n.sentence.text.lower() for n in near)
    spared = whole if any(n.sure for n in near) else "\n".join(s.text.lower() for s in passages)
    obliges, spares = _pattern("oblige").search(here), _pattern("spare").search(here)
    allows, may = (_pattern("allow").search(NOT_ALLOWED.sub(" ", text)) for text in (here, whole))
    bidding = obliges or any(IMPERATIVE.match(_opening(n)) for n in near)
    for match in _MODAL.finditer(said):
        kind = match.lastgroup
        if kind == "oblige" and allows and not bidding and not _pattern("oblige").search(whole):
            yield f"it says “{match[0]}”, the cited text leaves it open"
        elif kind in ("allow", "vague") and (
            (bidding and not allows) or (not may and _duty(said, near))
        ):
            yield f"it says “{match[0]}”, the cited text obliges"
        elif (
            kind == "spare"
            and not spares
            and (FORBIDS.search(here) or not _pattern("spare").search(spared))
        ):
            yield f"it says “{match[0]}”, the cited text does not leave it open"
        elif kind == "forbid" and spares and not FORBIDS.search(_pattern("spare").sub(" ", here)):
            yield f"it says “{match[0]}”, the cited text leaves it open"
        elif kind == "advise" and obliges and not _pattern("advise").search(here):
            yield f"it says “{match[0]}”, the cited text obliges"


def _opening(near: Near) -> str:
    return near.sentence.text.lower() if GOES_ON.match(near.clause.text) else near.clause.text


def _duty(said: str, near: Sequence[Near]) -> bool:
    """Whether something has to be done by a time although no word says so: "updates are applied
    within 24 hours"."""
    return (
        any(DUTY.search(n.clause.text) and not n.sentence.row for n in near) and "never" not in said
    )


IMPERATIVE = re.compile(
    r"(?:\s*(?:if|unless|when)\b[^,]*,\s*)?(?:[\s,]*(?:and|or|so|then|,)\s+)?"
    r"(?:please |always |first |then |at once |do not )?"
    rf"(?:{'|'.join(ENGLISH['bidding'])})\b(?! (?:is|are|of|may)\b)"
)


# Opposites ----------------------------------------------------------------------------------------


@cache
def _word(word: str) -> re.Pattern[str]:
    return term_pattern([word])


@cache
def _alike(word: str) -> re.Pattern[str]:
    return term_pattern(
        [word, *(w for group in ENGLISH["alike"] if group[0] == word for w in group[1:])]
    )


def _opposite(said: str, near: Sequence[Near], about: Sequence[Sentence]) -> Iterator[str]:
    sure = any(n.sure for n in near)
    whole = "\n".join(f"{s.text}\n{s.above}".lower() for s in (*about, *(n.sentence for n in near)))
    here = _pattern("comparing").sub(" ", "\n".join(n.clause.text for n in near))
    if _word("no earlier than").search(said) and not re.search(r"\bearl(?:y|ier|iest)\b", whole):
        yield "it says “no earlier than”, the cited text does not"
    said = _pattern("comparing").sub(" ", said)
    for pair in ENGLISH["opposites"] if sure else ENGLISH["contraries"]:
        for one, other in (pair, pair[::-1]):
            if (
                _word(one).search(said)
                and _word(other).search(here)
                and not _alike(one).search(whole)
            ):
                yield f"it says “{one}”, the cited text “{other}”"
