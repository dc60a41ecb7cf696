"""Proof: what a claim says must stand in what it cites. Deterministic, so that it cannot be talked
round."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ombud.answer.proof import excesses, linking, names, polarity, scope, swaps
from ombud.answer.proof.aligning import Alignment
from ombud.answer.proof.figures import amounts, bindings, cells, periods
from ombud.answer.proof.figures.derived import Derivation
from ombud.answer.proof.names import vocabulary
from ombud.answer.proof.restating import is_restated, not_word_for_word
from ombud.text import (
    CitedPassage,
    Sentence,
    analyse,
    canonical_terms,
    content_terms,
    detect_language,
    numbers_in,
    passage_of,
    plain_sentence,
    read_figures,
    read_passage,
    read_sentence,
    split_sentences,
)
from ombud.types import Chunk

UNSUPPORTED = "most of its words are not in the cited text"
UNCITED = "it cites nothing"
ENDLESS = "it says the same words over and over"
REFUTING = ("` is not in the cited text", names.QUOTED, names.ADDRESS, UNCITED, ENDLESS)
"""How objections end that are facts and no reading: what a claim says does not stand in what it
cites. The others compare what both mean."""
SUPPORT = 0.34
"""Least share of a claim's content terms that must occur in the cited passages."""
SHORT = 4
"""Up to so many terms two have to be there: "parking was abolished" shares half of its own with any
rule on it."""
VERDICT = re.compile(
    r"^[\s*_]*(?:yes|no|not (?:yet|quite|exactly|really|necessarily|always|automatically|entirely)"
    r"|partly|it depends|probably not(?: in time)?)\b[*_]*\s*[,.:;!–—-]\s*[*_]*",
    re.IGNORECASE,
)
NUMBERED = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•])\s+(?=\S)")
LABELLED = re.compile(
    r"^\s*\*\*(?P<label>[^*\n]{2,60}?)(?:\*\*:|:\*\*)\s+"
    r"(?P<first>\S+)"
)
"""How models number what they say, and give each a title: "2. **Less Flexibility:** …"."""
REPEATED = 3
"""Times that a claim may say its terms on average."""


def check_quote(quote: str, text: str, start: int, end: int) -> bool:
    """Whether `quote` is what stands at start:end of the stored text, white space and typographic
    quotes aside."""
    if not quote.strip():
        return False
    stored = text[start:end]
    return _same(stored) == _same(quote)


class Examination(NamedTuple):
    """What was found in a claim beside what it cites."""

    objections: tuple[str, ...]
    """Said for a reader; empty = proven."""
    derived: bool
    """Some figure is the asker's own, or follows from it by arithmetic that is right."""
    restated: bool = False
    """It says hardly anything in words of its own; False where that was not asked for."""

    @property
    def refuted(self) -> bool:
        """Whether some objection is a fact, whatever anybody reads in the passages."""
        return any(objection.endswith(REFUTING) for objection in self.objections)


def check_claim(claim: str, cited: Iterable[Chunk], question: str = "") -> list[str]:
    """What in one claim the chunks that it cites do not bear out, said for a reader; empty =
    proven.

    Needs nothing but the claim, so that a draft can be checked while it is still being written.
    question: what the claim answers; it only tells which of several rows or sentences a short claim
    is about.
    """
    return list(examine_claim(claim, cited, question).objections)


def name_unknown(text: str, cited: Iterable[Chunk]) -> list[str]:
    """Figures, names and words of a text that states nothing, such as a question or a heading, that
    the chunks do not have."""
    chunks = list(cited)
    language = chunks[0].language if chunks else "en"
    passages = tuple(map(passage_of, chunks))
    evidence: list[Sentence] = []
    for passage in passages:
        evidence += read_passage(passage)
    sentences = _sentences(text, language)
    words = vocabulary(passages, language)
    return [
        *amounts.objections(sentences, evidence, language=language),
        *names.objections(plain_sentence(text), words, language),
        *_unsupported(sentences, words.terms, language),
        *_repetitions(sentences, language),
        *polarity.objections(sentences, evidence, language),
    ]


def examine_claim(
    claim: str,
    cited: Iterable[Chunk],
    question: str = "",
    *,
    organisation: str = "",
    compares_words: bool = False,
) -> Examination:
    """The same, and whether it applies a rule to the asker's own figures. organisation: its name,
    which its pages need not have. compares_words: also whether it says its passage again."""
    chunks = list(cited)
    language = chunks[0].language if chunks else "en"
    passages = map(passage_of, chunks)
    return examine(
        claim,
        passages,
        language,
        question=question,
        organisation=organisation,
        compares_words=compares_words,
    )


def disagreements(
    claim: str, cited: Iterable[str | CitedPassage], language: str = "en", *, question: str = ""
) -> list[str]:
    """What in `claim` the cited texts do not bear out, said for a reader; empty = supported."""
    return list(examine(claim, cited, language, question=question).objections)


def examine(
    claim: str,
    cited: Iterable[str | CitedPassage],
    language: str = "en",
    *,
    question: str = "",
    organisation: str = "",
    compares_words: bool = False,
) -> Examination:
    """A claim beside texts in a language."""
    passages = tuple(_passage(text, language) for text in cited)
    if not passages:
        return Examination((UNCITED,), derived=False)
    evidence: list[Sentence] = []
    for passage in passages:
        evidence += read_passage(passage)
    claim = _without_marks(claim)
    sentences = _sentences(_without_verdict(claim), language)
    sentences = not_word_for_word(sentences, evidence, language)
    words = vocabulary(passages, language)
    claim_language = _language_of_numbers(claim, language)
    asked = content_terms(question, language)
    alignment = Alignment(evidence, language)
    derivation = Derivation(sentences, question, alignment, language)
    figured = derivation.without_sums(language)
    found = [
        *amounts.objections(
            figured,
            evidence,
            asked,
            derivation=derivation,
            claim_language=claim_language,
            language=language,
        ),
        *names.objections(plain_sentence(claim), words, language, own=f"{question} {organisation}"),
        *_unsupported(sentences, words.terms, claim_language, asked),
        *_repetitions(sentences, language),
        *polarity.objections(sentences, evidence, language, alignment),
        *scope.objections(sentences, alignment, question, language),
        *excesses.objections(sentences, alignment, question, language),
        *swaps.objections(sentences, alignment, asked, language),
        *linking.objections(sentences, alignment, language),
        *periods.objections(figured, alignment, question, language),
        *cells.objections(figured, evidence, question, language),
        *bindings.objections(figured, evidence, alignment, asked, language),
    ]
    is_repeated = not sentences or (compares_words and is_restated(sentences, alignment, language))
    restated = compares_words and not found and is_repeated
    return Examination(tuple(dict.fromkeys(found)), derivation.found, restated)


def _without_marks(claim: str) -> str:
    """A claim without the number and with a title in small letters that it begins with because it
    stands in a list: neither is a figure or a name."""
    return LABELLED.sub(_untitled, NUMBERED.sub("", claim, count=1), count=1)


def _untitled(match: re.Match[str]) -> str:
    words = [*match["label"].split(" "), match["first"]]
    *title, first = [word.lower() if word.istitle() else word for word in words]
    return f"{' '.join(title)}: {first}"


def _without_verdict(claim: str) -> str:
    """A claim without the "Yes", "Not yet" or "Not quite" that it begins with because the question
    wants it: that denies nothing by itself."""
    statement = VERDICT.sub("", claim, count=1)
    return statement if statement.strip() else claim


def _passage(text: str | CitedPassage, language: str) -> CitedPassage:
    if isinstance(text, str):
        return CitedPassage(text, language=language)
    return text


def _sentences(claim: str, language: str) -> list[Sentence]:
    sentences: list[Sentence] = []
    for start, end in split_sentences(claim, language):
        sentence = read_sentence(claim[start:end], "", language)
        sentences.append(sentence)
    return sentences


def _language_of_numbers(claim: str, language: str) -> str:
    """How the claim's numbers are read: as the passages' are, unless what "1,250" is depends on the
    language and the claim is in another one."""
    if language == "en" or numbers_in(claim, language) == numbers_in(claim, "en"):
        return language
    return detect_language(claim, language)


def _same(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = re.sub(r"[“”„‟″]", '"', text)
        text = re.sub(r"[‘’‚‛′]", "'", text)
    return " ".join(text.split())


def _unsupported(
    sentences: Sequence[Sentence],
    held: frozenset[str],
    number_language: str,
    asked: frozenset[str] = frozenset(),
) -> Iterator[str]:
    """asked: terms of the question. Beside a figure they may be said again; alone they are nobody's
    rule."""
    counts = _counts(sentences, number_language)
    if counts:
        held |= asked
    wanted: set[str] = set()
    for sentence in sentences:
        wanted |= canonical_terms(sentence.terms)
    if not wanted:
        return
    shared = wanted & (held | canonical_terms(held))
    too_few = len(shared) / len(wanted) < SUPPORT
    is_short = 2 <= len(wanted) <= SHORT
    if is_short and len(shared) < 2:
        too_few = too_few or not counts
    if too_few:
        yield UNSUPPORTED


def _counts(sentences: Sequence[Sentence], language: str) -> bool:
    return any(read_figures(sentence.text, language).numbers for sentence in sentences)


def _repetitions(sentences: Sequence[Sentence], language: str) -> Iterator[str]:
    terms: list[str] = []
    for sentence in sentences:
        terms += analyse(sentence.text, language)
    if len(terms) > REPEATED * len(set(terms)):
        yield ENDLESS
