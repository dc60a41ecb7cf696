"""A sentence with a number in it, turned into the question that the number answers.

`Employees may take up to 5 days of paid leave a year.` -> `Up to how many days of paid leave may
employees take a year?` The subject and its verb change places, the number goes to the front; any
other shape of sentence is left."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ombud.lab.synthesis.clauses import QuestionClause, split_clause
from ombud.lab.synthesis.phrasing import bare, content, keywords, listed, own, words_of
from ombud.lab.synthesis.vocabulary import CorpusVocabulary
from ombud.text import DIGITS, MONTHS, join_groups

_SMALL = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|"
    "fifty|sixty|ninety"
)
_NUMBER = rf"(?:{DIGITS}(?:\s?[-–]\s?{DIGITS})?|{_SMALL})(?:\s\(\d+\))?"
_UNIT = (
    "minute|hour|day|night|week|month|quarter|year|mile|page|person|people|member|interview|"
    "reference|question|step"
)
_ADJECTIVE = (
    "business|working|calendar|consecutive|paid|unpaid|full|additional|extra|work|week|holiday|"
    "sick|vacation"
)
_MONTH = "|".join(MONTHS)
_BEFORE_NUMBER = (
    r"(?P<prep>(?:\b(?:for |of |by )?(?:up to|at least|at most|no more than|more than|less than|"
    r"a maximum of|a minimum of|approximately|about|around|over|under|within|every|after|for|in|by|"
    r"on|at|to|from|until|before)\s+"
    r"(?:the (?:first|last|next) |a total of |up to |at least |approximately |about )?)?)"
)
_MONEY = (
    rf"(?P<money>(?:US|CA|AU)?[$£€]\s?{DIGITS}(?:\s?[kKmM]\b|\s(?:million|billion|thousand)\b)?"
    r"(?:\s?(?:USD|EUR|GBP|CAD|AUD)\b)?)"
)
_SHARE = rf"(?P<share>{DIGITS}\s?(?:%|percent\b|per cent\b))"
_DAY = (
    rf"(?P<day>(?:{_MONTH})\s\d{{1,2}}(?:st|nd|rd|th)?(?:,\s\d{{4}})?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{_MONTH})(?:\s\d{{4}})?)"
)
_COUNT = (
    rf"(?P<many>{_NUMBER})\s(?P<unit>(?:(?:{_ADJECTIVE})\s)*"
    rf"(?:{_UNIT}|[a-z]{{3,}}(?:ee|er|or|ent|ion|ight|ime)?s)(?:s|['’])?)"
)
_EXPRESSION = re.compile(
    rf"{_BEFORE_NUMBER}(?:{_MONEY}|{_SHARE}|{_DAY}|{_COUNT})(?![\w%$-])", re.IGNORECASE
)
_DIGITS = re.compile(r"\d+(?:[.,:/-]\d+)*")
_YEAR = re.compile(r"(?:19|20)\d\d")
_BEFORE_MAIN = re.compile(
    r"^(?P<clause>(?:If|When|Once|After|Before|Unless|During|Upon|In the event|For|While|As of|"
    r"Until|Prior to)\b[^,;:]{3,90}), (?P<main>(?:then )?.+)$"
)
_OUTSIDE = re.compile(
    r"[;:(){}\[\]|<>@#\"“”?!→=]|https?:|\bnot\b|n['’]t\b|\bnever\b|\be\.g\.|\bi\.e\."
)
_HOLDS = re.compile(
    r"\b(?:must|shall|should|will|can|may|is|are|has|have|required|covers?|allowed|up to|within|"
    r"at least)\b"
)
_MEASURED = re.compile(
    r"[$£€%]|percent|\b(?:minute|hour|day|night|week|month|quarter|year|mile|page)s?\b"
)
_LIST_BEHIND = re.compile(r",.*\s(?:and|or)\s\S+(?:\s\S+){0,3}$")
_CLAUSE_BEHIND = re.compile(r",\s(?:which|if|but|and|so)\b")
_CONTRAST_BEHIND = re.compile(r",\s(?:rather|not)\b")
_NO_QUANTITY_BEHIND = re.compile(r"(?:long|old|and|or|plus|ago|later|max)\b")
_TO_BE = frozenset({"is", "are", "was", "were"})
_JOINED = re.compile(r"(?:and|or)\b")
_VERB = re.compile(r"\b(?:is|are|must|will|should|can|may)\b")
_NOUN_OF_AMOUNT = re.compile(r"\b(?:an?|the|any)\s(?:\w+\s){0,2}\w+$")
FEWEST_WORDS = 6
MOST_WORDS = 34
"""Of a sentence that is turned around."""


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
        asked = set(content(self.question or self.terse))
        if not about or set(content(about)) <= asked:
            return self.question, self.terse
        added = [word for word in content(about) if word not in asked]
        terse = " ".join((self.terse, *added))
        if not self.question:
            return "", terse
        small = self.question[:1].lower() + self.question[1:]
        return f"When it comes to {about}, {small}", terse


class _Sentence(NamedTuple):
    main: str
    """Without its full stop; begins with a capital."""
    condition: str
    """The clause in front of the main one, such as `If you resign`; empty for most."""


def ask_for_number(sentence: str, vocabulary: CorpusVocabulary) -> NumberQuestion | None:
    """None when the sentence has no number, several, or says nothing outside its passage."""
    text = join_groups(re.sub(r"\s*\([^()]{0,60}\)", "", sentence))
    if not _is_plain_sentence(text):
        return None
    main, condition = _without_condition(text[:-1])
    if _DIGITS.search(condition):
        return None
    number = _only_number(main)
    if not number:
        return None
    turned = _turned(main, number, vocabulary)
    if not turned:
        return _in_keywords(main, number, vocabulary)
    if condition:
        turned += f" {condition[0].lower()}{condition[1:]}"
    question = " ".join(own(turned).split())
    words = words_of(question)
    meaning = _meaningful(content(question))
    if len(meaning) < 2 or len(words) > 28:
        return None
    if listed("blurred") & {word.lower() for word in words} - {"i"}:
        return None
    return NumberQuestion(
        question=f"{question[0].upper()}{question[1:]}?",
        terse=keywords(question),
        vague=len(meaning) < 5,
    )


def _is_plain_sentence(text: str) -> bool:
    if not FEWEST_WORDS <= len(text.split()) <= MOST_WORDS:
        return False
    if not text.endswith(".") or not re.match(r"[A-Z0-9]", text):
        return False
    return not _OUTSIDE.search(text)


def _without_condition(text: str) -> _Sentence:
    leading = _BEFORE_MAIN.match(text)
    if not leading:
        return _Sentence(text, "")
    main = leading["main"].removeprefix("then ")
    return _Sentence(main[0].upper() + main[1:], leading["clause"])


def _meaningful(words: Sequence[str]) -> list[str]:
    return [word for word in words if word not in listed("empty")]


def _in_keywords(
    text: str, number: re.Match[str], vocabulary: CorpusVocabulary
) -> NumberQuestion | None:
    """What is asked for, and the words in front of the number: no grammar is needed for a search
    box."""
    if not _is_short_rule(text, number):
        return None
    before = content(own(text[: number.start()]))
    if not 3 <= len(before) <= 6:
        return None
    behind = re.split(r"[,;]", text[number.end() :])[0]
    after = content(own(behind))[: 7 - len(before)]
    meaning = _meaningful([*before, *after])
    if len(meaning) < 4 or vocabulary.is_name(text) or _DIGITS.search(" ".join(meaning)):
        return None
    if words_of(text)[0].lower() in listed("blurred"):
        return None
    asked = keywords(_asking(number))
    terse = " ".join((asked, *before, *after))
    return NumberQuestion(question="", terse=terse, vague=len(meaning) < 6)


def _is_short_rule(text: str, number: re.Match[str]) -> bool:
    """Short sentences that say what holds: of long ones the words alone make no sense."""
    if len(text.split()) > 18 or "," in text[: number.start()]:
        return False
    return bool(_HOLDS.search(text)) and bool(_MEASURED.search(number.group()))


def _only_number(text: str) -> re.Match[str] | None:
    """The expression that holds the sentence's only number; two would make two answers."""
    expressions = []
    for match in _EXPRESSION.finditer(text):
        if _answers(match, text):
            expressions.append(match)
    if len(expressions) != 1:
        return None
    number = expressions[0]
    outside = text[: number.start()] + " " + text[number.end() :]
    return None if _DIGITS.search(outside) else number


def _answers(match: re.Match[str], text: str) -> bool:
    """Whether the expression is a quantity that somebody would ask for."""
    if match["many"]:
        return _is_count(match)
    if match["money"] or match["share"]:
        return _is_own_noun(text[: match.start()], text[match.end() :])
    return bool(match["prep"])


def _is_count(match: re.Match[str]) -> bool:
    many = match["many"].lower()
    if _YEAR.fullmatch(many) or match["unit"].lower() in listed("uncountable"):
        return False
    # "One step" counts nothing.
    return many not in {"one", "1"} or bool(match["prep"])


def _is_own_noun(before: str, after: str) -> bool:
    """In "a $500 stipend" the amount is no noun of its own."""
    follows = after.strip().split(" ", 1)[0].lower().strip(".,")
    if follows and follows not in listed("ends_noun") | listed("amount_ends"):
        return False
    words = before.split()
    return not words or words[-1].lower() not in {"a", "an", "the", "another", "and", "or"}


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
        plural = "people" if last == "person" else f"{last}s"
        unit = unit.removesuffix(last) + plural
    return f"{prep}how many {unit}"


def _turned(text: str, number: re.Match[str], vocabulary: CorpusVocabulary) -> str:
    """The sentence as a question without its mark; empty where it cannot be turned."""
    asking = _asking(number)
    behind = _kept_behind(text[number.end() :])
    if behind is None or asking.lower().startswith("of "):
        return ""
    return _reordered(text, number, behind, vocabulary)


def _reordered(text: str, number: re.Match[str], behind: str, vocabulary: CorpusVocabulary) -> str:
    asking = _asking(number)
    attached, rest = _of_phrase(behind)
    in_front = text[: number.start()].strip()
    if not in_front:
        # The number itself is the subject: only its words are replaced.
        return f"{asking} {behind}" if attached and _VERB.search(behind) else ""
    clause = _clause_before(in_front, number)
    subject = _inside(clause.subject, vocabulary) if clause else ""
    if not clause or not subject or (clause.helper in _TO_BE and _JOINED.match(rest)):
        return ""
    return f"{asking} {attached} {clause.helper} {subject} {clause.middle} {rest}"


def _clause_before(in_front: str, number: re.Match[str]) -> QuestionClause | None:
    clause = split_clause(in_front) if in_front[-1].isalnum() else None
    if not clause or _belongs_to_noun(number, clause):
        return None
    return clause


def _kept_behind(behind: str) -> str | None:
    """What goes with the number of the words behind it; None where they cannot be cut."""
    kept = re.split(r",\s|\s[-–—]\s", behind, maxsplit=1)[0].strip()
    # A comma may end the clause, or part a list that must not be cut.
    cut = behind.strip()[len(kept) :]
    if _CONTRAST_BEHIND.match(cut):
        return None
    if _LIST_BEHIND.match(cut) and not _CLAUSE_BEHIND.match(cut):
        return None
    if _NO_QUANTITY_BEHIND.match(kept) or kept.startswith((",", "-", "/", "–", "—", "+")):
        return None
    return kept if len(kept.split()) <= 16 else None


def _belongs_to_noun(number: re.Match[str], clause: QuestionClause) -> bool:
    """In "a reimbursement up to $250" the amount belongs to the noun."""
    if not number["money"] or not number["prep"]:
        return False
    return bool(_NOUN_OF_AMOUNT.search(clause.middle))


def _of_phrase(behind: str) -> tuple[str, str]:
    """`of paid leave per year` -> `of paid leave`, `per year`: the phrase goes to the front with
    its noun."""
    words = behind.split()
    if not words or words[0].lower() != "of":
        return "", behind
    end = 1
    while end < min(len(words), 8) and not _ends_phrase(words[end], end):
        end += 1
    return " ".join(words[:end]), " ".join(words[end:])


def _ends_phrase(word: str, place: int) -> bool:
    """place: of the word behind `of`."""
    if place > 2 and word.endswith("ing"):
        return True
    if place == 1 and word.lower() in {"a", "an", "each"}:
        return False
    return word.lower() in listed("ends_noun")


def _inside(subject: str, vocabulary: CorpusVocabulary) -> str:
    """The subject as it stands inside a sentence; empty when it names a person or nothing at
    all."""
    if vocabulary.is_name(subject) or not bare(subject):
        return ""
    first, *others = subject.split()
    return " ".join((vocabulary.lowered(first), *others))
