"""Proof: what a claim says must stand in what it cites. Deterministic, so that it cannot be talked round."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from ombud.answer import amounts, polarity
from ombud.answer.passages import Passage, Sentence, passage_of, plain, read, sentence, terms
from ombud.documents import sentences
from ombud.index import MONTHS, analyse, measures_named
from ombud.retrieve import named_countries
from ombud.types import Chunk

SUPPORT = 0.34
"""Least share of a claim's content terms that must occur in the cited passages."""
CURRENCIES = {"pound": "gbp", "euro": "eur", "dollar": "usd"}
_NAME = r"(?:[A-Z]{2,}|[A-Z]\d+|\w+[A-Z]\w*|[A-Z][^\W\d_]{2,})"
NAMES = re.compile(
    rf"(?<=[\w,;:)'\"] )[\"(]?{_NAME}\b(?: {_NAME}\b)*|\b(?:[A-Z]{{2,}}|[A-Z]\d+|\w+[A-Z]\w*)\b(?: {_NAME}\b)*"
)
"""Words in capitals or with a number, and capitals inside a sentence; several in a row are one name."""
_MONTH = "|".join([*(m.capitalize() for m in MONTHS), *(m[:3].capitalize() for m in MONTHS), "Sept"])
DATED = re.compile(
    rf"(?<=\d )(?:of )?(?:{_MONTH})\b\.?|(?<=\d[snrt][tdh] )(?:of )?(?:{_MONTH})\b|\b(?:{_MONTH})(?= \d)"
)
ALSO = {"UK": "GB", "USA": "US", "Britain": "GB", "America": "US"}
QUOTED = re.compile(r'"([^"]{2,300})"')
ADDRESS = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\b(?:https?://|www\.)[^\s)\]>\"]+|\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|example)\b[^\s)\]>\"]*"
)


def check_quote(quote: str, text: str, start: int, end: int) -> bool:
    """Whether `quote` is what stands at start:end of the stored text, white space and typographic quotes aside."""
    return bool(quote.strip()) and _same(text[start:end]) == _same(quote)


def check_claim(claim: str, cited: Iterable[Chunk], question: str = "") -> list[str]:
    """What in one claim the chunks that it cites do not bear out, said for a reader; empty = proven.

    Needs nothing but the claim, so that a draft can be checked while it is still being written. question: what the
    claim answers; it only tells which of several rows or sentences a short claim is about.
    """
    chunks = list(cited)
    return disagreements(claim, map(passage_of, chunks), chunks[0].language if chunks else "en", question=question)


def disagreements(claim: str, cited: Iterable[str | Passage], language: str = "en", *, question: str = "") -> list[str]:
    """What in `claim` the cited texts do not bear out, said for a reader; empty = supported."""
    passages = [Passage(p, "", language) if isinstance(p, str) else p for p in cited]
    if not passages:
        return ["it cites nothing"]
    known = [said for passage in passages for said in read(passage)]
    whole = "\n".join(f"{plain(p.above)}\n{plain(p.text)}" for p in passages)
    told = [sentence(claim[start:end], "", language) for start, end in sentences(claim, language)]
    said = [
        *amounts.objections(told, known, terms(question, language)),
        *_names_missing(plain(claim), whole, passages, language),
        *_words_missing(plain(claim), whole),
        *_unsupported(told, whole, language),
        *polarity.objections(told, known, language),
    ]
    return list(dict.fromkeys(said))


def _names_missing(claim: str, whole: str, passages: Sequence[Passage], language: str) -> Iterator[str]:
    """Words in capitals and names inside a sentence that the texts do not have."""
    named = measures_named(whole)
    claim = DATED.sub(" ", claim)  # looked at as dates
    known = _stems(whole) | {CURRENCIES[unit] for unit in named if unit in CURRENCIES}
    initials = _initials(whole)
    countries = {code for passage in passages for code in passage.countries}
    for match in NAMES.finditer(claim):
        if language == "de" and not match[0].isupper():  # every noun has a capital there
            continue
        together = "".join(w if w.isupper() else w[0] for w in re.findall(r"[^\W_]+", match[0])).casefold()
        if len(together) > 2 and together in known:
            continue
        missing = [name for name in re.findall(r"[^\W_]+", match[0]) if not _stems(name) <= known]
        for name in missing:
            if name.casefold() in initials or countries & {ALSO.get(name, name), *named_countries(f"in {name}")}:
                continue
            if countries & set(named_countries(f"the {name} office")):
                continue
            yield f"`{name.casefold()}` is not in the cited text"
        words = [_stem(name) for name in re.findall(r"[^\W_]+", match[0])]
        if not missing and len(words) > 1 and not _adjacent(words, whole):
            yield f"`{match[0]}` is not in the cited text"


def _adjacent(words: Sequence[str], whole: str) -> bool:
    """Whether each two of the words stand side by side somewhere."""
    run = [_stem(word) for word in re.findall(r"[^\W_]+", whole)]
    pairs = set(pairwise(run))
    return all(pair in pairs for pair in pairwise(words))


def _initials(whole: str) -> set[str]:
    """What "Performance Improvement Plan" may be shortened to."""
    run = [word[0].casefold() for word in re.findall(r"[^\W_]+", whole)]
    return {"".join(run[at : at + size]) for size in (3, 4, 5) for at in range(len(run) - size + 1)}


def _stems(text: str) -> set[str]:
    return {_stem(word) for word in re.findall(r"[^\W_]+", text)}


def _stem(word: str) -> str:
    return re.sub(r"(?<=\w{3})s$", "", word.casefold())


def _words_missing(claim: str, whole: str) -> Iterator[str]:
    """Quotations, mail and web addresses stand word for word or not at all."""
    low = whole.casefold()
    for quoted in QUOTED.findall(claim):
        if quoted.strip(" .,;:!?").casefold() not in low:
            yield "it quotes what the cited text does not say"
    for address in ADDRESS.findall(claim):
        if address.rstrip(".,;").casefold() not in low:
            yield f"`{address[:60]}` is not in the cited text"


def _same(text: str) -> str:
    text = re.sub(r"[‘’‚‛′]", "'", re.sub(r"[“”„‟″]", '"', unicodedata.normalize("NFKC", text)))
    return " ".join(text.split())


def _unsupported(told: Sequence[Sentence], whole: str, language: str) -> Iterator[str]:
    held = set(analyse(whole, language))
    wanted = frozenset[str]().union(*(s.terms for s in told))
    if wanted and len(wanted & held) / len(wanted) < SUPPORT:
        yield "most of its words are not in the cited text"
