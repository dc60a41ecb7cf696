"""Proof: what a claim says must stand in what it cites. Deterministic, so that it cannot be talked
round."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from ombud.answer.proof import amounts, names, polarity
from ombud.answer.proof.names import vocabulary
from ombud.text import (
    CitedPassage,
    Sentence,
    analyse,
    content_terms,
    detect_language,
    numbers_in,
    passage_of,
    plain_sentence,
    read_passage,
    read_sentence,
    split_sentences,
)
from ombud.types import Chunk

SUPPORT = 0.34
"""Least share of a claim's content terms that must occur in the cited passages."""
SHORT = 4
"""Up to so many terms two have to be there: "parking was abolished" shares half of its own with any
rule on it."""
REPEATED = 3
"""Times that a claim may say its terms on average."""


def check_quote(quote: str, text: str, start: int, end: int) -> bool:
    """Whether `quote` is what stands at start:end of the stored text, white space and typographic
    quotes aside."""
    return bool(quote.strip()) and _same(text[start:end]) == _same(quote)


def check_claim(claim: str, cited: Iterable[Chunk], question: str = "") -> list[str]:
    """What in one claim the chunks that it cites do not bear out, said for a reader; empty =
    proven.

    Needs nothing but the claim, so that a draft can be checked while it is still being written.
    question: what the claim answers; it only tells which of several rows or sentences a short claim
    is about."""
    chunks = list(cited)
    return disagreements(
        claim, map(passage_of, chunks), chunks[0].language if chunks else "en", question=question
    )


def disagreements(
    claim: str, cited: Iterable[str | CitedPassage], language: str = "en", *, question: str = ""
) -> list[str]:
    """What in `claim` the cited texts do not bear out, said for a reader; empty = supported."""
    passages = tuple(CitedPassage(p, "", language) if isinstance(p, str) else p for p in cited)
    if not passages:
        return ["it cites nothing"]
    known = [said for passage in passages for said in read_passage(passage)]
    words = vocabulary(passages, language)
    told = [
        read_sentence(claim[start:end], "", language)
        for start, end in split_sentences(claim, language)
    ]
    said = [
        *amounts.objections(
            told,
            known,
            content_terms(question, language),
            claim_language=_language_of_numbers(claim, language),
            language=language,
        ),
        *names.objections(plain_sentence(claim), words, language),
        *_unsupported(told, words.terms, language),
        *polarity.objections(told, known, language),
    ]
    return list(dict.fromkeys(said))


def _language_of_numbers(claim: str, language: str) -> str:
    """How the claim's numbers are read: as the passages' are, unless what "1,250" is depends on the
    language and the claim is in another one."""
    if numbers_in(claim, language) == numbers_in(claim, "en"):
        return language
    return detect_language(claim, language)


def _same(text: str) -> str:
    text = re.sub(r"[‘’‚‛′]", "'", re.sub(r"[“”„‟″]", '"', unicodedata.normalize("NFKC", text)))
    return " ".join(text.split())


def _unsupported(told: Sequence[Sentence], held: frozenset[str], language: str) -> Iterator[str]:
    wanted = frozenset[str]().union(*(s.terms for s in told))
    counted = any(amounts.read(s.text).bare for s in told)
    enough = counted or len(wanted & held) > 1 or len(wanted) < 2 or len(wanted) > SHORT
    if wanted and (len(wanted & held) / len(wanted) < SUPPORT or not enough):
        yield "most of its words are not in the cited text"
    spoken = [term for s in told for term in analyse(s.text, language)]
    if len(spoken) > REPEATED * len(set(spoken)):
        yield "it says the same words over and over"
