"""A sentence with a number in it, turned into the question that the number answers.

`Employees may take up to 5 days of paid leave a year.` -> `Up to how many days of paid leave may
employees take a year?` The subject and its verb change places, the number goes to the front; any
other shape of sentence is left."""

import re
from functools import cache
from typing import NamedTuple

from ombud.lab.synthesis.phrasing import (
    CorpusVocabulary,
    bare,
    content,
    keywords,
    listed,
    own,
    words_of,
)
from ombud.text import DIGITS, MONTHS, join_groups

_SMALL = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|ninety"
_NUMBER = rf"(?:{DIGITS}(?:\s?[-–]\s?{DIGITS})?|{_SMALL})(?:\s\(\d+\))?"
_UNIT = "minute|hour|day|night|week|month|quarter|year|mile|page|person|people|member|interview|reference|question|step"
_ADJECTIVE = "business|working|calendar|consecutive|paid|unpaid|full|additional|extra|work|week|holiday|sick|vacation"
_MONTH = "|".join(MONTHS)
_EXPRESSION = re.compile(
    rf"(?P<prep>(?:\b(?:for |of |by )?(?:up to|at least|at most|no more than|more than|less than|a maximum of|"
    rf"a minimum of|approximately|about|around|over|under|within|every|after|for|in|by|on|at|to|from|until|before)\s+"
    rf"(?:the (?:first|last|next) |a total of |up to |at least |approximately |about )?)?)"
    rf"(?:(?P<money>(?:US|CA|AU)?[$£€]\s?{DIGITS}(?:\s?[kKmM]\b|\s(?:million|billion|thousand)\b)?"
    rf"(?:\s?(?:USD|EUR|GBP|CAD|AUD)\b)?)"
    rf"|(?P<share>{DIGITS}\s?(?:%|percent\b|per cent\b))"
    rf"|(?P<day>(?:{_MONTH})\s\d{{1,2}}(?:st|nd|rd|th)?(?:,\s\d{{4}})?|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{_MONTH})"
    rf"(?:\s\d{{4}})?)"
    rf"|(?P<many>{_NUMBER})\s(?P<unit>(?:(?:{_ADJECTIVE})\s)*(?:{_UNIT}|[a-z]{{3,}}(?:ee|er|or|ent|ion|ight|ime)?s)(?:s|['’])?))"
    r"(?![\w%$-])",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+(?:[.,:/-]\d+)*")
_AUXILIARY = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "must",
        "should",
        "shall",
        "can",
        "may",
        "might",
        "will",
        "would",
        "could",
        "has",
        "have",
    ]
)
_PLACES = frozenset(
    ["to", "for", "with", "at", "in", "on", "by", "from", "of", "per", "about", "within", "into"]
)
_BEFORE_MAIN = re.compile(
    r"^(?P<clause>(?:If|When|Once|After|Before|Unless|During|Upon|In the event|For|While|As of|Until|Prior to)\b"
    r"[^,;:]{3,90}), (?P<main>(?:then )?.+)$"
)
_OUTSIDE = re.compile(
    r"[;:(){}\[\]|<>@#\"“”?!→=]|https?:|\bnot\b|n['’]t\b|\bnever\b|\be\.g\.|\bi\.e\."
)
_OBJECTS = frozenset(
    [
        "a",
        "an",
        "the",
        "your",
        "our",
        "all",
        "any",
        "to",
        "up",
        "for",
        "at",
        "in",
        "no",
        "out",
        "only",
        "it",
    ]
)


@cache
def _verbs() -> dict[str, str]:
    """Base form -> form of the third person, of verbs that are hardly nouns or are common in front
    of numbers."""
    known = (listed("verbs") - listed("nouns_too")) | listed("more_verbs")
    return {verb: _third(verb) for verb in known}


def _third(verb: str) -> str:
    if verb == "have":
        return "has"
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if re.search(r"(?:s|sh|ch|x|z|o)$", verb) else f"{verb}s"


@cache
def _bases() -> dict[str, str]:
    return {form: base for base, form in _verbs().items()}


class NumberQuestion(NamedTuple):
    """A question for a number."""

    question: str
    """In full; empty when the sentence was not of a shape that can be turned around."""
    terse: str
    """For a search box."""
    vague: bool
    """It says too little without what the passage is about."""

    def within(self, about: str) -> tuple[str, str]:
        """(question, terse), told what the passage is about."""
        told = set(content(self.question or self.terse))
        if not about or set(content(about)) <= told:
            return self.question, self.terse
        terse = " ".join((self.terse, *(word for word in content(about) if word not in told)))
        small = self.question[:1].lower() + self.question[1:]
        return self.question and f"When it comes to {about}, {small}", terse


class _Clause(NamedTuple):
    subject: str
    helper: str
    middle: str


def ask_for_number(sentence: str, vocabulary: CorpusVocabulary) -> NumberQuestion | None:
    """None when the sentence has no number, several, or says nothing outside its passage."""
    text = join_groups(re.sub(r"\s*\([^()]{0,60}\)", "", sentence))
    words = text.split()
    if (
        not 6 <= len(words) <= 34
        or not text.endswith(".")
        or not re.match(r"[A-Z0-9]", text)
        or _OUTSIDE.search(text)
    ):
        return None
    text, clause = text[:-1], ""
    leading = _BEFORE_MAIN.match(text)
    if leading:
        text, clause = leading["main"].removeprefix("then "), leading["clause"]
        text = text[0].upper() + text[1:]
    number = _only_number(text) if not _DIGITS.search(clause) else None
    if not number:
        return None
    turned = _turned(text, number, vocabulary)
    if not turned:
        return _in_keywords(text, number, vocabulary)
    question = " ".join(
        own(turned + (f" {clause[0].lower()}{clause[1:]}" if clause else "")).split()
    )
    meaning = [word for word in content(question) if word not in _EMPTY]
    if (
        len(meaning) < 2
        or len(words_of(question)) > 28
        or listed("blurred") & {word.lower() for word in words_of(question)} - {"i"}
    ):
        return None
    return NumberQuestion(
        f"{question[0].upper()}{question[1:]}?", keywords(question), len(meaning) < 5
    )


def _in_keywords(
    text: str, number: re.Match[str], vocabulary: CorpusVocabulary
) -> NumberQuestion | None:
    """What is asked for, and the words in front of the number: no grammar is needed for a search
    box."""
    before = content(own(text[: number.start()]))
    after = content(own(re.split(r"[,;]", text[number.end() :])[0]))[: 7 - len(before)]
    meaning = [word for word in (*before, *after) if word not in _EMPTY]
    # Short sentences that say what holds: of long ones the words alone make no sense.
    if (
        len(text.split()) > 18
        or "," in text[: number.start()]
        or not 3 <= len(before) <= 6
        or not _HOLDS.search(text)
        or not _MEASURED.search(number.group())
    ):
        return None
    if len(meaning) < 4 or vocabulary.is_name(text) or _DIGITS.search(" ".join(meaning)):
        return None
    if words_of(text)[0].lower() in listed("blurred"):
        return None
    asking = keywords(_asking(number))
    return NumberQuestion("", " ".join((asking, *before, *after)), len(meaning) < 6)


_HOLDS = re.compile(
    r"\b(?:must|shall|should|will|can|may|is|are|has|have|required|covers?|allowed|up to|within|at least)\b"
)
_MEASURED = re.compile(
    r"[$£€%]|percent|\b(?:minute|hour|day|night|week|month|quarter|year|mile|page)s?\b"
)
_EMPTY = frozenset(
    [
        "many",
        "much",
        "days",
        "date",
        "percentage",
        "least",
        "most",
        "more",
        "approximately",
        "around",
        "additional",
        "first",
    ]
)


def _only_number(text: str) -> re.Match[str] | None:
    """The expression that holds the sentence's only number; two would make two answers."""
    found = [match for match in _EXPRESSION.finditer(text) if _answers(match, text)]
    if len(found) != 1:
        return None
    outside = text[: found[0].start()] + " " + text[found[0].end() :]
    return None if _DIGITS.search(outside) else found[0]


def _answers(match: re.Match[str], text: str) -> bool:
    after, before = text[match.end() :].strip(), text[: match.start()].split()
    if match["many"]:
        if re.fullmatch(r"(?:19|20)\d\d", match["many"]) or match["unit"].lower() in {
            "times",
            "ways",
            "things",
            "others",
        }:
            return False
        # "One step" counts nothing.
        return match["many"].lower() not in {"one", "1"} or bool(match["prep"])
    if match["money"] or match["share"]:
        # In "a $500 stipend" the amount is no noun of its own.
        follows = after.split(" ", 1)[0].lower().strip(".,")
        attribute = follows and follows not in listed("ends_noun") | {
            "of",
            "annually",
            "monthly",
            "yearly",
            "towards",
            "toward",
        }
        return not attribute and (
            not before or before[-1].lower() not in {"a", "an", "the", "another", "and", "or"}
        )
    return bool(match["prep"])


def _asking(match: re.Match[str]) -> str:
    prep = re.sub(r"\s+", " ", match["prep"] or "")
    if match["money"]:
        return f"{prep}how much"
    if match["share"]:
        return f"{prep}what percentage"
    if match["day"]:
        return f"{prep}what date"
    unit = match["unit"].rstrip("'’")
    last = unit.rsplit(maxsplit=1)[-1]
    if not last.endswith("s") and last != "people":
        unit = unit[: -len(last)] + ("people" if last == "person" else f"{last}s")
    return f"{prep}how many {unit}"


def _turned(text: str, number: re.Match[str], vocabulary: CorpusVocabulary) -> str:
    asking, behind = _asking(number), text[number.end() :]
    if asking.lower().startswith("of "):
        return ""
    behind = re.split(r",\s|\s[-–—]\s", behind, maxsplit=1)[0].strip()
    # A comma may end the clause, or part a list that must not be cut.
    cut = text[number.end() :].strip()[len(behind) :]
    is_list = re.match(r",.*\s(?:and|or)\s\S+(?:\s\S+){0,3}$", cut)
    if (is_list and not re.match(r",\s(?:which|if|but|and|so)\b", cut)) or re.match(
        r",\s(?:rather|not)\b", cut
    ):
        return ""
    if re.match(r"(?:long|old|and|or|plus|ago|later|max)\b", behind):
        return ""
    if len(behind.split()) > 16 or behind.startswith((",", "-", "/", "–", "—", "+")):
        return ""
    attached, rest = _of_phrase(behind)
    in_front = text[: number.start()].strip()
    if in_front and not in_front[-1].isalnum():
        return ""
    if not in_front:
        # The number itself is the subject: only its words are replaced.
        whole = f"{asking} {behind}"
        return (
            whole
            if re.search(r"\b(?:is|are|must|will|should|can|may)\b", behind) and attached
            else ""
        )
    clause = _split(in_front)
    if not clause:
        return ""
    subject = _inside(clause.subject, vocabulary)
    if not subject:
        return ""
    # In "a reimbursement up to $250" the amount belongs to the noun.
    if (
        number["money"]
        and number["prep"]
        and re.search(r"\b(?:an?|the|any)\s(?:\w+\s){0,2}\w+$", clause.middle)
    ):
        return ""
    if clause.helper in {"is", "are", "was", "were"} and re.match(r"(?:and|or)\b", rest):
        return ""
    return f"{asking} {attached} {clause.helper} {subject} {clause.middle} {rest}"


def _of_phrase(behind: str) -> tuple[str, str]:
    """`of paid leave per year` -> `of paid leave`, `per year`: the phrase goes to the front with
    its noun."""
    words = behind.split()
    if not words or words[0].lower() != "of":
        return "", behind
    end = 1
    while (
        end < min(len(words), 8)
        and not (end > 2 and words[end].endswith("ing"))
        and words[end].lower()
        not in listed("ends_noun") - ({"a", "an", "each"} if end == 1 else set())
    ):
        end += 1
    return " ".join(words[:end]), " ".join(words[end:])


def _split(in_front: str) -> _Clause | None:
    """Subject, helping verb and the rest of what stands before the number."""
    words = re.sub(r"^(?:Please|Always|Also|You should always)\s", "", in_front).split()
    if (
        len(words) > 1
        and words[0].lower() in listed("verbs")
        and words[1].lower() in _OBJECTS
        and "," not in in_front
    ):
        return _whole(["I"], "do", ["have", "to", words[0].lower(), *words[1:]])
    if "," in in_front or any(
        word.lower() in {"who", "which", "where", "if", "when", "because", "than"} for word in words
    ):
        return None
    for at in range(1, min(len(words), 10)):
        word, subject, middle = words[at].lower(), words[:at], words[at + 1 :]
        if word in _AUXILIARY and not (word in {"has", "have"} and not _participle(middle)):
            return _whole(subject, word, middle)
        if word in _bases() and not _plural(subject):
            return _whole(subject, "does", [_bases()[word], *middle])
        if word in _verbs() and _plural(subject):
            return _whole(subject, "do", [word, *middle])
    return None


def _participle(middle: list[str]) -> bool:
    return bool(middle) and bool(re.search(r"(?:ed|en|been|had|made|given)$", middle[0].lower()))


def _plural(subject: list[str]) -> bool:
    last = subject[-1].lower()
    return bool(re.search(r"[^s']s$", last)) or last in {"you", "we", "people", "staff"}


def _whole(subject: list[str], helper: str, middle: list[str]) -> _Clause | None:
    later = {word.lower() for word in middle}
    if later & (_AUXILIARY - {"have"}) or any(
        word.lower() in listed("blurred") - {"i"} for word in subject
    ):
        return None
    # A second verb in front, or a subject that begins in the middle, means that the cut is in the
    # wrong place.
    if len(subject) > 8 or subject[0].lower() in _PLACES | {
        "to",
        "please",
        "and",
        "but",
        "so",
        "once",
        "currently",
    }:
        return None
    # "opens and remains": one of them would keep its s.
    if any(word.lower() in _bases() for word in subject) or re.search(
        r"\b(?:and|or) \w+s$", " ".join(middle[:3])
    ):
        return None
    if (
        any(word.lower() in listed("finite") | {"to", "always", "never"} for word in subject)
        or len(middle) > 12
    ):
        return None
    if middle and not middle[-1][-1].isalnum():
        return None
    if middle and middle[-1].lower() in listed("dangling"):
        return None
    return _Clause(" ".join(subject), helper, " ".join(middle))


def _inside(subject: str, vocabulary: CorpusVocabulary) -> str:
    """The subject as it stands inside a sentence; empty when it names a person or nothing at
    all."""
    if vocabulary.is_name(subject) or not bare(subject):
        return ""
    first, *others = subject.split()
    return " ".join((vocabulary.lowered(first), *others))
