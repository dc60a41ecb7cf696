"""Whether a claim of a draft may be shown: what it cites exists, says so, and is still stored as it
was."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ombud.answer.compose.drafts import LONGEST_CLAIM, DraftClaim
from ombud.answer.proof.citing import Stored, cite
from ombud.answer.proof.verifying import examine_claim, name_unknown
from ombud.answer.quoting.spans import coverage
from ombud.text import analyse, evidence_spans, numbers_in, remembered
from ombud.types import Chunk, Citation, Hit

LABEL = re.compile(r"[A-Z]\d{1,3}")
TABLE_RULE = re.compile(r"\|[\s|:-]+\|")
ANYTHING = "It may take 5 days."
"""A claim for which hardly anything but the passages has to be read."""
TOO_MUCH = "it is more than an answer may say"
GONE = "what it cites is no longer stored as it was"
OTHERWISE = "it says in other words what the cited text may not say"
NOT_BORNE_OUT = "whoever read the cited text beside it did not find it borne out"


class Proof(NamedTuple):
    why_not: str
    """What is wrong with the claim, said for a reader; empty where it is proven."""
    citations: tuple[Citation, ...] = ()
    """Also of a claim that is open."""
    derived: bool = False
    """It applies a rule to the asker's own figures, and the arithmetic is right."""
    open: bool = False
    """The rules can neither confirm nor refute it, and nobody has been asked yet."""
    unobjected: bool = False
    """Of an open one: nothing speaks against it but that it is said in other words."""


class Prover:
    """Proves the claims of one answer, each once: those of a stream come again with the whole
    draft.

    labels: label -> passage. question: what the claims answer. organisation: its name.
    """

    def __init__(
        self,
        labels: Mapping[str, Hit],
        stored: Stored,
        question: str = "",
        *,
        organisation: str = "",
        asks: bool = False,
    ) -> None:
        self._labels = labels
        self._stored = stored
        self._question = question
        self._organisation = organisation
        self._asks = asks
        self._proofs: dict[tuple[str, ...], Proof] = {}

    def read(self) -> None:
        """All that the proof of claims reads in the passages alone; worth doing while the model
        still writes."""
        for hit in self._labels.values():
            examine_claim(ANYTHING, [hit.chunk], self._question)
            _quotable(hit.chunk.text, hit.chunk.language)
            self._stored(hit.chunk.document_id, hit.chunk.version)

    def prove(self, claim: DraftClaim) -> Proof:
        key = _key(claim)
        if key not in self._proofs:
            self._proofs[key] = self._prove(claim)
        return self._proofs[key]

    def settle(self, claim: DraftClaim, *, borne_out: bool) -> None:
        """What was found of an open claim by whoever was asked; from now on that is its proof."""
        proof = self.prove(claim)
        why_not = NOT_BORNE_OUT if proof.unobjected else proof.why_not
        why_not = "" if borne_out else why_not
        self._proofs[_key(claim)] = proof._replace(why_not=why_not, open=False)

    def borne_out(self, text: str, label: str = "") -> bool:
        """Whether the passage, or all of them together, say what `text` does."""
        hits = [self._labels[label]] if label else self._labels.values()
        passages = [hit.chunk for hit in hits]
        return not name_unknown(text, passages)

    def quoted(self, claim: DraftClaim) -> tuple[str, Proof] | None:
        """What its passage says in place of a claim that fell, word for word, a row under the head
        of its table; None where it cites nothing that is stored, or what speaks to the
        assistant."""
        for hit in self._cited(claim)[:1]:
            citation = self._citation(claim.text, hit, with_heads=False)
            if citation is None:
                return None
            if not examine_claim(citation.quote, [hit.chunk]).objections:
                return _with_table_head(citation.quote, hit.chunk), Proof("", (citation,))
        return None

    def cited_texts(self, claim: DraftClaim) -> dict[str, str]:
        """Label -> passage, under its headings, of those that a claim cites."""
        texts: dict[str, str] = {}
        for label in claim.passages:
            if label in self._labels:
                chunk = self._labels[label].chunk
                above = (" > ".join(chunk.trail), chunk.header, chunk.text)
                texts[label] = "\n".join(filter(None, above))
        return texts

    def nearest(self, claim: DraftClaim) -> dict[str, str]:
        """Label -> the sentence that bears the claim out best, of each passage that it cites; of
        all passages the best one where it cites none that exists."""
        cited = {label: self._labels[label] for label in claim.passages if label in self._labels}
        sentences: dict[str, str] = {}
        supports: dict[str, float] = {}
        for label, hit in (cited or self._labels).items():
            wanted = _ClaimWords(claim.text, hit.chunk.language)
            best = _best_sentence(hit.chunk, wanted)
            if best:
                # Of a claim in another language nothing tells which sentence it means.
                whole = hit.chunk.text
                text = whole[best.start : best.end] if best.support else whole
                sentences[label] = text.strip()
                supports[label] = best.support
        if cited or not sentences:
            return sentences
        label = max(supports, key=lambda name: supports[name])
        return {label: sentences[label]}

    def _prove(self, claim: DraftClaim) -> Proof:
        if len(claim.text) > LONGEST_CLAIM:
            return Proof(TOO_MUCH)
        cited = self._cited(claim)
        passages = [hit.chunk for hit in cited]
        examination = examine_claim(
            claim.text,
            passages,
            self._question,
            organisation=self._organisation,
            compares_words=self._asks,
        )
        unknown = list(self._unknown_labels(claim))
        problems = "; ".join([*unknown, *examination.objections])
        if unknown or examination.refuted:
            return Proof(problems)
        citations = tuple(self._citations(claim.text, cited))
        if not citations:
            return Proof(GONE)
        if self._asks and not problems and not examination.restated:
            return Proof(OTHERWISE, citations, examination.derived, open=True, unobjected=True)
        return Proof(problems, citations, examination.derived, open=bool(problems))

    def _cited(self, claim: DraftClaim) -> list[Hit]:
        """Its passages, each once."""
        labels = dict.fromkeys(claim.passages)
        return [self._labels[label] for label in labels if label in self._labels]

    def _unknown_labels(self, claim: DraftClaim) -> Iterator[str]:
        for label in claim.passages:
            if label in self._labels:
                continue
            if LABEL.fullmatch(label):
                yield f"there is no passage {label}"
            else:
                yield "there is no passage of that label"

    def _citations(self, claim: str, cited: Sequence[Hit]) -> list[Citation]:
        citations = [self._citation(claim, hit) for hit in cited]
        return [citation for citation in citations if citation]

    def _citation(self, claim: str, hit: Hit, *, with_heads: bool = True) -> Citation | None:
        """The sentence of the passage that bears the claim out best, by its terms and its numbers,
        word for word."""
        chunk = hit.chunk
        words = _ClaimWords(claim, chunk.language)
        best = _best_sentence(chunk, words, with_heads=with_heads)
        if best is None:
            return None
        return cite(hit, chunk.start + best.start, chunk.start + best.end, self._stored)


def _with_table_head(quote: str, chunk: Chunk) -> str:
    quote = quote.strip()
    if not quote.startswith("|"):
        return f"“{quote}”"
    lines = [*chunk.header.splitlines(), *chunk.text.splitlines()]
    lines = [line.strip() for line in lines]
    row = lines.index(quote) if quote in lines else 0
    for rule in range(row - 1, 0, -1):
        if TABLE_RULE.fullmatch(lines[rule]):
            return "\n".join([lines[rule - 1], lines[rule], quote])
    return quote


def _key(claim: DraftClaim) -> tuple[str, ...]:
    return (claim.text, *claim.passages)


class _Quotable(NamedTuple):
    """A sentence of a passage: where it stands in that, and what tells how much of a claim it
    has."""

    start: int
    end: int
    terms: frozenset[str]
    numbers: frozenset[str]


@remembered(512)
def _quotable(text: str, language: str) -> tuple[_Quotable, ...]:
    quotable: list[_Quotable] = []
    for start, end in evidence_spans(text, language):
        sentence = text[start:end]
        if sentence.strip():
            terms = frozenset(analyse(sentence, language))
            quotable.append(_Quotable(start, end, terms, frozenset(numbers_in(sentence, language))))
    return tuple(quotable)


class _Supported(NamedTuple):
    """A sentence of a passage: where it stands in that, and how much of a claim it has."""

    start: int
    end: int
    support: float


def _best_sentence(
    chunk: Chunk, wanted: "_ClaimWords", *, with_heads: bool = True
) -> _Supported | None:
    """with_heads: of tables, too."""
    best: _Supported | None = None
    for sentence in _quotable(chunk.text, chunk.language):
        if not with_heads and TABLE_RULE.match(chunk.text[sentence.end :].lstrip()):
            continue
        support = wanted.support(sentence)
        if best is None or support > best.support:
            best = _Supported(sentence.start, sentence.end, support)
    return best


class _ClaimWords:
    """Terms and numbers of a claim, looked for in sentences of the language."""

    def __init__(self, claim: str, language: str) -> None:
        terms = analyse(claim, language)
        self._weights = dict.fromkeys(terms, 1.0)
        self._numbers = numbers_in(claim, language)

    def support(self, sentence: _Quotable) -> float:
        """Shares of both that it has, added up."""
        support = coverage(self._weights, sentence.terms)
        if self._numbers:
            shared = self._numbers & sentence.numbers
            support += len(shared) / len(self._numbers)
        return support
