"""Pieces of English clauses, without a tagger: where the subject ends, what the verb is, what
stands before it.

What is not recognised for certain is left out: a wrong triplet is worse than a missing one.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_FRONTED = re.compile(
    r"(?:if|when|where|while|whenever|before|after|unless|until|once|upon|in|on|at|for|to|by|with"
    r"|without|within|under"
    r"|during|as|since|because|although|notwithstanding|except|except for|from|per|given"
    r"|subject to|pursuant to"
    r"|depending on|due to|regardless of|in addition to|outside|inside|provided)\b",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"(?:also|however|additionally|therefore|thus|then|generally|normally|usually|please|and|but"
    r"|so|or|otherwise"
    r"|in addition|in general|specifically|finally|instead|further|furthermore|moreover|note that"
    r"|remember that"
    r"|likewise|typically|in short|in particular|accordingly|first|second|third|lastly)\b,?\s+",
    re.IGNORECASE,
)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|be|been|am|has|have|had|do|does|did|will|would|could|might|ought|means?"
    r"|let|says?|said|makes?"
    r"|gets?|goes|there|\w+n['’]t|i|because|whether|how|why|what|if|not|please|here|want|wants"
    r"|know|think|thinks|ensure|ensures|must|may|shall|should|can|cannot|requires?|tends?|seems?"
    r"|helps?|leads?|gives?|shows?|comes?|establish(?:es)?|provides?|states?"
    r"|ask|asks|keep|remember|sure|need|needs|use|see)\b",
    re.IGNORECASE,
)
_RELATIVE = re.compile(r"\s+(?:that|which|who|whose|whom|where)\s+", re.IGNORECASE)
_OBJECT_RELATIVE = re.compile(
    r"(?:the|a|an|any|each|every|all|such|your|you|we|they|it|he|she|i|this|these|our|their|no"
    r"|people|staff"
    r"|employe\w+|managers|teammates|candidates|workers|individuals|members|applicants)\b|[A-Z]"
)
_LOOSE_END = re.compile(
    r"\s(?:that|which|who|whose|of|to|for|in|on|at|by|with|and|or|the|a|an|if|as)\Z", re.IGNORECASE
)
_AGAIN = re.compile(r"\b(?:is|are|was|were|we|you|they|he|she|i)\b", re.IGNORECASE)
"""A verb or subject after the relative clause's own."""
_PRONOUN = re.compile(
    r"(?:it|they|this|these|that|those|he|she|there|here|which|who|what|nothing|everything"
    r"|something|anything|someone"
    r"|them|so|such|both|one|ones|neither|either|others|some|many|most|the above|the latter"
    r"|the former|it's|if so"
    r"|if not|same|the same|all|each|more|i|him|her|us|me|anyone else|only you|a lot|lots"
    r"|(?:all |the )?(?:two|three|four|five|six|first|second|last|next|rest|result|example))\Z"
    r"|(?:the )?following\b|\w+['’]ll\b|(?:we|you|they|i|it|he|she)\b",
    re.IGNORECASE,
)
_SPEAKERS = {"you": "employee", "we": "organisation", "the company": "company"}
"""Handbooks speak to their readers."""
_JOINT = re.compile(r"(?:and|or|but|by|to|not)\b", re.IGNORECASE)
_ADVERB = re.compile(
    r"(?:also|always|only|never|normally|usually|generally|not|still|already|therefore|then"
    r"|further|ever|again|first"
    r"|either|both|just|now|instead|simply|please|often|ideally|\w+ly)\Z",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r"(?:\s(?!family\b|supply\b|reply\b|assembly\b)(?:\w+ly|also|often|always|never|only))+\Z"
)
_NO_ADVERB = _set("apply reply supply comply rely imply multiply fly family")
_KEPT_ADVERBS = _set("not never only always")
_PARTICLES = _set(
    "up out off over back down away in on to for with from at by of into as about under within "
    "before after through against between until during without than per toward towards upon"
)
_CHAINED = frozenset({"need", "want", "wish", "have", "try", "plan", "ask", "continue", "agree"})
"""Verbs that another one completes: "may need to be removed"."""
_NOT_A_VERB = re.compile(
    r"(?:the|a|an|any|each|every|this|these|that|their|your|our|its|if|when|in|on|at|for|of|and|or"
    r"|to|by|with|from)\Z",
    re.IGNORECASE,
)
_IRREGULAR = _set(
    "made given kept paid sent held met taken worn shown done set put cut left written chosen "
    "driven told found lost built bought brought sought spent sold read laid led drawn known seen "
    "split withdrawn undertaken heard let hit borne forgone understood overtaken foregone sworn "
    "withheld"
)
_WORD = re.compile(r"\S+")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_APART = re.compile(r"[,;:]")
_GERUND = re.compile(r"\w+ing\b(?!\s+(?:of|policy|agency|committee|plan|period))")
_NO_SUBJECT = (_PRONOUN, _JOINT, _FRONTED, _GERUND)
"""What no subject begins with."""
LONGEST_SUBJECT = 12
"""Words."""


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
    clause = _without_opening(sentence)
    if not _FRONTED.match(clause):
        return clause, ""
    if re.match(r"for (?:example|instance)\b", clause, re.IGNORECASE):
        return "", ""
    for comma in re.finditer(r",\s+(?:then\s+)?", clause):
        rest = clause[comma.end() :]
        verb = has_verb.search(rest)
        if verb and subject_of(rest[: verb.start()]):
            return rest, clause[: comma.start()]
    return "", ""


def _without_opening(sentence: str) -> str:
    opening = _OPENING.match(sentence)
    while opening:
        sentence = sentence[opening.end() :]
        opening = _OPENING.match(sentence)
    return sentence


def subject_of(text: str) -> str:
    """The noun phrase that `text`, everything before the verb, is; empty where it is more, less or
    a pronoun."""
    phrase = _TRAILING.sub("", " ".join(text.split()).strip(" ,\"'“”‘’"))
    if phrase.lower() in _SPEAKERS:
        return _SPEAKERS[phrase.lower()]
    if phrase.count("(") != phrase.count(")"):
        return ""
    head, relative, clause = _split_relative(phrase)
    if not _is_noun_phrase(head):
        return ""
    if relative and not _is_of_subject(head, clause):
        return ""
    return phrase


def _is_noun_phrase(head: str) -> bool:
    """Whether words may be a subject: not another clause, nor the beginning or end of one."""
    plain = re.sub(r"\([^)]*\)", "", head)
    if not _LETTERS.search(plain) or len(head.split()) > LONGEST_SUBJECT:
        return False
    if _FINITE.search(plain) or _APART.search(plain) or _LOOSE_END.search(head):
        return False
    return not any(pattern.match(head) for pattern in _NO_SUBJECT)


def verb_of(text: str) -> Verb | None:
    """The verb after a modal, and what follows it: "not be made within | 30 days". None where there
    is none."""
    tokens = [_Token(match.group(), match.end()) for match in _WORD.finditer(text)]
    adverbs, place = _adverbs(tokens, 0)
    if place >= len(tokens):
        return None
    word = tokens[place].text
    bare = word.rstrip(",.;")
    if not re.fullmatch(r"[a-z][a-z'-]+", bare) or _NOT_A_VERB.match(word):
        return None
    if bare != word:
        return Verb(" ".join([*adverbs, bare]), "")
    verb = _VerbWords([word], place)
    _take_chained(verb, tokens)
    _take_participle(verb, tokens)
    _take_joined(verb, tokens)
    _take_particle(verb, tokens)
    end = tokens[verb.place].end
    return Verb(" ".join([*adverbs, *verb.words]), text[end:].strip())


class _Token(NamedTuple):
    text: str
    end: int
    """In the text it is of."""


@dataclass
class _VerbWords:
    """A verb as far as it was read."""

    words: list[str]
    place: int
    """Of its last word among the tokens."""


def _take_chained(verb: _VerbWords, tokens: list[_Token]) -> None:
    """ "need" with "to be": another verb completes it."""
    following = _texts_after(verb, tokens, 2)
    if verb.words[-1] not in _CHAINED or len(following) < 2:
        return
    if following[0] == "to":
        verb.words += following
        verb.place += 2


def _take_participle(verb: _VerbWords, tokens: list[_Token]) -> None:
    """ "be" with "made", and adverbs between them."""
    if verb.words[-1] != "be":
        return
    adverbs, place = _adverbs(tokens, verb.place + 1)
    if place < len(tokens) and _is_participle(tokens[place].text):
        verb.words += [*adverbs, tokens[place].text.rstrip(",.;")]
        verb.place = place


def _take_joined(verb: _VerbWords, tokens: list[_Token]) -> None:
    """Verbs that share an object: "use or continue to use", "prepare and publish"."""
    while True:
        following = _texts_after(verb, tokens, 2)
        if len(following) < 2 or following[0] not in ("or", "and", "and/or"):
            return
        joint, word = following
        next_verb = word.rstrip(".,")
        if not _is_plain_verb(next_verb):
            return
        verb.words += [joint, next_verb]
        verb.place += 2
        completing = _texts_after(verb, tokens, 2)
        is_chained = next_verb.startswith(("continue", "agree"))
        if is_chained and len(completing) == 2 and completing[0] == "to":
            verb.words += completing
            verb.place += 2


def _is_plain_verb(word: str) -> bool:
    if not re.fullmatch(r"[a-z]+", word):
        return False
    return not _NOT_A_VERB.match(word) and not _ADVERB.match(word)


def _texts_after(verb: _VerbWords, tokens: list[_Token], count: int) -> list[str]:
    """The words after a verb, at most so many."""
    first = verb.place + 1
    following = tokens[first : first + count]
    return [token.text for token in following]


def _take_particle(verb: _VerbWords, tokens: list[_Token]) -> None:
    """ "carry" with "over"; not "up" of "up to 5 days"."""
    following = _texts_after(verb, tokens, 2)
    if len(following) < 2 or following == ["up", "to"] or verb.words[-1] == "be":
        return
    if following[0].lower() in _PARTICLES:
        verb.words.append(following[0])
        verb.place += 1


def _adverbs(tokens: list[_Token], place: int) -> tuple[list[str], int]:
    """Those that change the meaning, and the place after all of them."""
    kept: list[str] = []
    while place < len(tokens):
        word = tokens[place].text.strip(",")
        if not _ADVERB.match(word) or word.lower() in _NO_ADVERB:
            break
        if word.lower() in _KEPT_ADVERBS:
            kept.append(word)
        place += 1
    return kept, place


def _is_participle(word: str) -> bool:
    plain = word.rstrip(",.;")
    return plain.endswith("ed") or plain in _IRREGULAR


def _is_of_subject(head: str, clause: str) -> bool:
    """Whether a relative clause goes on from its noun ("tools that rank people"), and has no
    subject of its own."""
    words = clause.split()
    if _OBJECT_RELATIVE.match(clause) or not 2 <= len(words) <= 16:
        return False
    if _AGAIN.search(" ".join(words[1:])):
        return False
    # The verb agrees with its noun; a plural there is another noun: "notices that employers must
    # give".
    is_plural = words[0].endswith("s") and words[0] not in ("is", "was", "has")
    return not (is_plural and head.endswith("s"))


def _split_relative(phrase: str) -> tuple[str, str, str]:
    """(the noun, the relative pronoun, its clause); the last two empty where there is none."""
    match = _RELATIVE.search(phrase)
    if not match:
        return phrase, "", ""
    noun = phrase[: match.start()]
    clause = phrase[match.end() :]
    return noun, match.group().strip(), clause
