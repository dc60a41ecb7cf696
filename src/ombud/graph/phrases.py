"""Pieces of English clauses, without a tagger: where the subject ends, what the verb is, what
stands before it.

What is not recognised for certain is left out: a wrong triplet is worse than a missing one.
"""

import re
from typing import NamedTuple


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_FRONTED = re.compile(
    r"(?:if|when|where|while|whenever|before|after|unless|until|once|upon|in|on|at|for|to|by|with|without|within|under"
    r"|during|as|since|because|although|notwithstanding|except|except for|from|per|given|subject to|pursuant to"
    r"|depending on|due to|regardless of|in addition to|outside|inside|provided)\b",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"(?:also|however|additionally|therefore|thus|then|generally|normally|usually|please|and|but|so|or|otherwise"
    r"|in addition|in general|specifically|finally|instead|further|furthermore|moreover|note that|remember that"
    r"|likewise|typically|in short|in particular|accordingly|first|second|third|lastly)\b,?\s+",
    re.IGNORECASE,
)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|be|been|am|has|have|had|do|does|did|will|would|could|might|ought|means?|let|says?|said|makes?"
    r"|gets?|goes|there|\w+n['’]t|i|because|whether|how|why|what|if|not|please|here|want|wants"
    r"|know|think|thinks|ensure|ensures|must|may|shall|should|can|cannot|requires?|tends?|seems?|helps?|leads?|gives?|shows?|comes?|establish(?:es)?|provides?|states?"
    r"|ask|asks|keep|remember|sure|need|needs|use|see)\b",
    re.IGNORECASE,
)
_RELATIVE = re.compile(r"\s+(?:that|which|who|whose|whom|where)\s+", re.IGNORECASE)
_OBJECT_RELATIVE = re.compile(
    r"(?:the|a|an|any|each|every|all|such|your|you|we|they|it|he|she|i|this|these|our|their|no|people|staff"
    r"|employe\w+|managers|teammates|candidates|workers|individuals|members|applicants)\b|[A-Z]"
)
_LOOSE_END = re.compile(
    r"\s(?:that|which|who|whose|of|to|for|in|on|at|by|with|and|or|the|a|an|if|as)\Z", re.IGNORECASE
)
_AGAIN = re.compile(r"\b(?:is|are|was|were|we|you|they|he|she|i)\b", re.IGNORECASE)
"""A verb or subject after the relative clause's own."""
_PRONOUN = re.compile(
    r"(?:it|they|this|these|that|those|he|she|there|here|which|who|what|nothing|everything|something|anything|someone"
    r"|them|so|such|both|one|ones|neither|either|others|some|many|most|the above|the latter|the former|it's|if so"
    r"|if not|same|the same|all|each|more|i|him|her|us|me|anyone else|only you|a lot|lots"
    r"|(?:all |the )?(?:two|three|four|five|six|first|second|last|next|rest|result|example))\Z"
    r"|(?:the )?following\b|\w+['’]ll\b|(?:we|you|they|i|it|he|she)\b",
    re.IGNORECASE,
)
_SPEAKERS = {"you": "employee", "we": "organisation", "the company": "company"}
"""Handbooks speak to their readers."""
_JOINT = re.compile(r"(?:and|or|but|by|to|not)\b", re.IGNORECASE)
_ADVERB = re.compile(
    r"(?:also|always|only|never|normally|usually|generally|not|still|already|therefore|then|further|ever|again|first"
    r"|either|both|just|now|instead|simply|please|often|ideally|\w+ly)\Z",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r"(?:\s(?!family\b|supply\b|reply\b|assembly\b)(?:\w+ly|also|often|always|never|only))+\Z"
)
_NO_ADVERB = _set("apply reply supply comply rely imply multiply fly family")
_KEPT_ADVERBS = _set("not never only always")
_PARTICLES = _set(
    "up out off over back down away in on to for with from at by of into as about under within before "
    "after through against between until during without than per toward towards upon"
)
_CHAINED = frozenset({"need", "want", "wish", "have", "try", "plan", "ask", "continue", "agree"})
"""Verbs that another one completes: "may need to be removed"."""
_NOT_A_VERB = re.compile(
    r"(?:the|a|an|any|each|every|this|these|that|their|your|our|its|if|when|in|on|at|for|of|and|or|to|by|with|from)\Z",
    re.IGNORECASE,
)
_IRREGULAR = _set(
    "made given kept paid sent held met taken worn shown done set put cut left written chosen driven told "
    "found lost built bought brought sought spent sold read laid led drawn known seen split withdrawn "
    "undertaken heard let hit borne forgone understood overtaken foregone sworn withheld"
)
_WORD = re.compile(r"\S+")


class StatedTriplet(NamedTuple):
    """A triplet before anyone knows of which passage."""

    subject: str
    predicate: str
    object: str


class Verb(NamedTuple):
    text: str
    """With its particle: "carry over", "be made within"."""
    rest: str


def main_clause(sentence: str, has_verb: re.Pattern[str]) -> tuple[str, str]:
    """(main clause, what stands before it): "If X, Y must Z" is ("Y must Z", "If X").

    has_verb: matches the verb that the main clause must have, after a subject.
    """
    said = sentence
    while opening := _OPENING.match(said):
        said = said[opening.end() :]
    if not _FRONTED.match(said):
        return said, ""
    if re.match(r"for (?:example|instance)\b", said, re.IGNORECASE):
        return "", ""
    for comma in re.finditer(r",\s+(?:then\s+)?", said):
        rest = said[comma.end() :]
        verb = has_verb.search(rest)
        if verb and subject_of(rest[: verb.start()]):
            return rest, said[: comma.start()]
    return "", ""


def subject_of(text: str) -> str:
    """The noun phrase that `text`, everything before the verb, is; empty where it is more, less or
    a pronoun."""
    said = _TRAILING.sub("", " ".join(text.split()).strip(" ,\"'“”‘’"))
    if said.lower() in _SPEAKERS:
        return _SPEAKERS[said.lower()]
    if said.count("(") != said.count(")"):
        return ""
    head, relative, clause = _split_relative(said)
    plain = re.sub(r"\([^)]*\)", "", head)
    if not re.search(r"[^\W\d_]{2}", plain) or _PRONOUN.match(head) or _FINITE.search(plain):
        return ""
    if (
        len(head.split()) > 12
        or re.search(r"[,;:]", plain)
        or re.match(r"(?:and|or|but|by|to|not)\b", head, re.IGNORECASE)
    ):
        return ""
    if _FRONTED.match(head) or re.match(
        r"\w+ing\b(?!\s+(?:of|policy|agency|committee|plan|period))", head
    ):
        return ""
    if _LOOSE_END.search(head) or (relative and not _is_of_subject(head, clause)):
        return ""
    return said


def verb_of(text: str) -> Verb | None:
    """The verb after a modal, and what follows it: "not be made within | 30 days". None where there
    is none."""
    tokens = [(m.group(), m.end()) for m in _WORD.finditer(text)]
    taken, place = _adverbs(tokens, 0)
    if place >= len(tokens):
        return None
    word, end = tokens[place]
    if not re.fullmatch(r"[a-z][a-z'-]+", word.rstrip(",.;")) or _NOT_A_VERB.match(word):
        return None
    if word.rstrip(",.;") != word:
        return Verb(" ".join([*taken, word.rstrip(",.;")]), "")
    verb = [word]
    if word in _CHAINED and place + 2 < len(tokens) and tokens[place + 1][0] == "to":
        verb = [word, "to", tokens[place + 2][0]]
        place, end = place + 2, tokens[place + 2][1]
    if verb[-1] == "be":
        more, after = _adverbs(tokens, place + 1)
        if after < len(tokens) and _participle(tokens[after][0]):
            verb += [*more, tokens[after][0].rstrip(",.;")]
            place, end = after, tokens[after][1]
    place, end, verb = _joined(tokens, place, end, verb)
    following = tokens[place + 1][0] if place + 1 < len(tokens) else ""
    beyond = tokens[place + 2][0] if place + 2 < len(tokens) else ""
    if (
        following.lower() in _PARTICLES
        and beyond
        and verb[-1] != "be"
        and (following, beyond) != ("up", "to")
    ):
        verb.append(following)
        end = tokens[place + 1][1]
    return Verb(" ".join([*taken, *verb]), text[end:].strip())


def _joined(
    tokens: list[tuple[str, int]], place: int, end: int, verb: list[str]
) -> tuple[int, int, list[str]]:
    """Verbs that share an object: "use or continue to use", "prepare and publish"."""
    while place + 2 < len(tokens) and tokens[place + 1][0] in ("or", "and", "and/or"):
        next_verb = tokens[place + 2][0].rstrip(".,")
        if (
            not re.fullmatch(r"[a-z]+", next_verb)
            or _NOT_A_VERB.match(next_verb)
            or _ADVERB.match(next_verb)
        ):
            break
        verb = [*verb, tokens[place + 1][0], next_verb]
        place += 2
        if (
            place + 2 < len(tokens)
            and tokens[place + 1][0] == "to"
            and next_verb.startswith(("continue", "agree"))
        ):
            verb += ["to", tokens[place + 2][0]]
            place += 2
        end = tokens[place][1]
    return place, end, verb


def _adverbs(tokens: list[tuple[str, int]], place: int) -> tuple[list[str], int]:
    """Those that change the meaning, and the place after all of them."""
    kept = []
    while place < len(tokens):
        word = tokens[place][0].strip(",")
        if not _ADVERB.match(word) or word.lower() in _NO_ADVERB:
            break
        kept += [word] if word.lower() in _KEPT_ADVERBS else []
        place += 1
    return kept, place


def _participle(word: str) -> bool:
    plain = word.rstrip(",.;")
    return plain.endswith("ed") or plain in _IRREGULAR


def _is_of_subject(head: str, clause: str) -> bool:
    """Whether a relative clause goes on from its noun ("tools that rank people"), and has no
    subject of its own."""
    words = clause.split()
    if (
        _OBJECT_RELATIVE.match(clause)
        or not 2 <= len(words) <= 16
        or _AGAIN.search(" ".join(words[1:]))
    ):
        return False
    # The verb agrees with its noun; a plural there is another noun: "notices that employers must
    # give".
    return not (
        words[0].endswith("s") and words[0] not in ("is", "was", "has") and head.endswith("s")
    )


def _split_relative(said: str) -> tuple[str, str, str]:
    match = _RELATIVE.search(said)
    return (
        (said[: match.start()], match.group().strip(), said[match.end() :])
        if match
        else (said, "", "")
    )
