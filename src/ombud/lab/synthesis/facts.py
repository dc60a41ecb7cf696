"""Questions from single sentences: definitions and abbreviations, numbers."""

import re
from collections.abc import Iterator, Sequence
from random import Random

from ombud.lab.synthesis.headings import parent_of
from ombud.lab.synthesis.pairs import PassageSection, QuestionAnswer, Wordings, make_pair, safe
from ombud.lab.synthesis.phrasing import bare, data, is_subject, listed, plain, sentence_spans
from ombud.lab.synthesis.quantities import NumberQuestion, ask_for_number
from ombud.lab.synthesis.vocabulary import CorpusVocabulary
from ombud.types import Chunk

_FACTS = re.compile(
    r"^\||\([A-Z]{2,6}s?\)|\b(?:means|refers to|is an?|is defined as)\s|[$£€]\d|\d+ ?%|"
    r"\b\d+ (?:\w+ )?(?:minute|hour|day|week|month|year)s?\b",
    re.MULTILINE,
)
_MEANS = re.compile(
    r"^[\"“]?(?:the term\s+)?[\"“]?(?P<term>[\w][\w'’&/ -]{2,60}?)[\"”]?,?\s*(?:\([^()]*\))?\s+"
    r"(?:means|refers to|is defined as|are defined as|shall mean)\s+\w",
    re.IGNORECASE,
)
_IS_A = re.compile(
    r"^(?P<article>The |An? )?(?P<term>[\w'’&/ -]{2,50}?)(?: \([^()]*\))? is an? (?P<said>[\w-]+)\b"
    r".{25,}"
)
_COLON = re.compile(
    r"^(?P<term>[A-Z][\w'’&/ -]{2,40}?): (?:An? (?!\w+ (?:of|few)\b)|Any \w+ (?:that|who|which)|"
    r"Those who|Someone who|Anyone who|The (?:process|act|practice|ability|person|people|degree|"
    r"number|amount|period|team) )"
)
_SHORT_FOR = re.compile(r"\((?P<short>[A-Z][A-Z&]{1,5})s?\)")
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d|\bt(?:wo|hree|en|welve)\b")
LONGEST = 700
"""Characters of a definition."""


def has_facts(chunk: Chunk) -> bool:
    """A cheap guess whether more than its heading can be asked about."""
    return bool(chunk.header or _FACTS.search(chunk.text))


# Definitions --------------------------------------------------------------------------------------


def definition_questions(
    chunk: Chunk, vocabulary: CorpusVocabulary, chance: Random
) -> Iterator[QuestionAnswer]:
    for quote in _sentences(chunk):
        if len(quote) > LONGEST:
            continue
        sentence = plain(quote)
        definition = _defined(sentence, vocabulary)
        if definition:
            wordings = _wordings(*definition)
            yield make_pair(chunk, "definition", chance, wordings, quote=quote, answer=sentence)
        for short, spelt in _abbreviations(sentence):
            wordings = _wordings("short", short)
            yield make_pair(chunk, "definition", chance, wordings, quote=quote, answer=spelt)


def _sentences(chunk: Chunk) -> Iterator[str]:
    """As they stand in the passage, table rows left out."""
    for start, end in sentence_spans(chunk.text):
        if chunk.text[start] != "|":
            yield chunk.text[start:end]


def _wordings(shape: str, term: str) -> Wordings:
    templates = data()["definition"]
    return Wordings(templates[shape], templates["terse"][shape], {"term": term})


def _defined(sentence: str, vocabulary: CorpusVocabulary) -> tuple[str, str] | None:
    """(shape of the question, term); None where nothing is defined."""
    match = _match_definition(sentence)
    if not match:
        return None
    term = bare(match["term"])
    article = (match.groupdict().get("article") or "").lower()
    if not _is_term(term, article) or vocabulary.is_name(term):
        return None
    if match.re is not _IS_A:
        explained_by_itself = _repeats(sentence, match.end("term"), term)
        if match.re is _MEANS and explained_by_itself:
            return None
        return "plain", vocabulary.lowered(term)
    # "Your first day is a good time" defines nothing.
    if match["said"].lower() in listed("vacuous"):
        return None
    return "named", article + vocabulary.lowered(term)


def _match_definition(sentence: str) -> re.Match[str] | None:
    return _MEANS.match(sentence) or _COLON.match(sentence) or _IS_A.match(sentence)


def _repeats(sentence: str, place: int, term: str) -> bool:
    return term.lower() in sentence[place:].lower()


def _is_term(term: str, article: str) -> bool:
    words = term.lower().split()
    if not 0 < len(words) <= 5 or not is_subject(term):
        return False
    if words[0] in listed("verbs") - listed("nouns_too") | {"good", "great"}:
        return False
    if words[-1].endswith("ly") or not listed("no_term").isdisjoint(words):
        return False
    # Something that one does: "Working remotely means that …".
    return bool(article) or not words[0].endswith("ing")


def _abbreviations(sentence: str) -> Iterator[tuple[str, str]]:
    """(abbreviation, what it stands for) where the words before the bracket begin with its
    letters."""
    for match in _SHORT_FOR.finditer(sentence):
        before = sentence[: match.start()]
        start = _spelt_start(before, match["short"].replace("&", ""))
        if start is not None:
            yield match["short"], before[start:].strip()


def _spelt_start(before: str, letters: str) -> int | None:
    """Where the words begin that the letters stand for."""
    nearest = list(_WORD.finditer(before))[-2 * len(letters) :]
    # The O of "memorandum of understanding (MOU)" is its "of"; that of "Office of Acquisition (OA)"
    # is not.
    for skipped in (listed("linking"), frozenset[str]()):
        counted = []
        for word in nearest:
            if word.group().lower() not in skipped:
                counted.append(word)
        counted = counted[-len(letters) :]
        initials = "".join(word.group()[0] for word in counted)
        if initials.upper() == letters:
            return counted[0].start()
    return None


# Numbers ------------------------------------------------------------------------------------------


def number_questions(
    chunk: Chunk, sections: Sequence[PassageSection], vocabulary: CorpusVocabulary, chance: Random
) -> Iterator[QuestionAnswer]:
    for start, end in sentence_spans(chunk.text):
        quote = chunk.text[start:end]
        sentence = plain(quote)
        if quote.startswith("|") or not _NUMBER.search(sentence):
            continue
        asked = ask_for_number(sentence, vocabulary)
        if not asked:
            continue
        about = ""
        if asked.vague:
            about = _about(sections, start, vocabulary)
            if not about:
                continue
        wordings = _number_wordings(asked, about)
        yield make_pair(chunk, "number", chance, wordings, quote=quote, answer=sentence)


def _number_wordings(asked: NumberQuestion, about: str) -> Wordings:
    question, terse = asked.within(about)
    return Wordings([safe(question)] if question else [], [safe(terse)])


def _about(sections: Sequence[PassageSection], place: int, vocabulary: CorpusVocabulary) -> str:
    """What the section around a place is about."""
    for section in reversed(sections):
        if section.start <= place:
            return parent_of([*section.parents, section.heading], vocabulary)
    return ""
