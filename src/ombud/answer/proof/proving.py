"""Whether a claim of a draft may be shown: what it cites exists, says so, and is still stored as it
was."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from ombud.answer.proof.checking import (
    ClaimProblem,
    examine_claim,
    find_quote,
    is_near_verbatim,
    shares_words,
)
from ombud.answer.proof.citing import Stored, cite
from ombud.answer.proof.drafts import LONGEST_CLAIM, DraftClaim
from ombud.text import analyse, evidence_spans, numbers_in
from ombud.types import Chunk, Citation, Hit

TOO_MUCH = ClaimProblem("it is more than an answer may say")
GONE = ClaimProblem("what it cites is no longer stored as it was")
NO_PASSAGE = ClaimProblem(
    "it cites a passage that does not exist",
    "It names a label that no passage has. Name the passage that says it.",
)
INVENTED_QUOTE = ClaimProblem(
    "the words it quotes are not in the passage",
    "The words in `quotes` are not in the passage. Copy them from it, word for word.",
)
OTHER_WORDS = ClaimProblem(
    "most of its words are not in the passages",
    "Most of its words are not in the passage. Say it in the passage's words.",
)
REJECTED = ClaimProblem(
    "whoever compared it with the passages did not find that they say so",
    "The passage does not say this. Say what it says, with its conditions and its people.",
)
State = Literal["supported", "open", "failed"]


class Proof(NamedTuple):
    state: State
    """open: quotes, figures and names are right, and a model is to tell whether the passage says
    the same."""
    citations: tuple[Citation, ...] = ()
    is_derived: bool = False
    """It applies a rule to the asker's own figures, and the arithmetic is right."""
    problems: tuple[ClaimProblem, ...] = ()
    """Of a failed claim."""

    @property
    def summary(self) -> str:
        """Return what is wrong, for the trace."""
        return "; ".join(problem.summary for problem in self.problems)

    @property
    def advice(self) -> str:
        """Return what is wrong, for the model that wrote the claim."""
        return " ".join(problem.advice for problem in self.problems)


class Prover:
    """Proves the claims of one answer and caches each proof, because streamed claims come again
    with the draft.

    labels: label -> passage. members: chunk id of a passage -> the chunks that it consists of.
    question: what the claims answer. organisation: its name. asks: a model will judge open claims;
    without one they count as supported."""

    def __init__(
        self,
        labels: Mapping[str, Hit],
        stored: Stored,
        question: str = "",
        *,
        organisation: str = "",
        asks: bool = False,
        members: Mapping[str, Sequence[Chunk]] = {},
    ) -> None:
        self.labels = labels
        self._stored = stored
        self._question = question
        self._organisation = organisation
        self._asks = asks
        self._members = members
        self._proofs: dict[tuple[str, ...], Proof] = {}

    def read(self) -> None:
        """Read what the check needs of the passages alone; worth doing while the model writes."""
        for hit in self.labels.values():
            examine_claim("", [hit.chunk], self._question)
            self._stored(hit.chunk.document_id, hit.chunk.version)

    def prove(self, claim: DraftClaim) -> Proof:
        key = _key(claim)
        if key not in self._proofs:
            self._proofs[key] = self._prove(claim)
        return self._proofs[key]

    def settle(self, claim: DraftClaim, *, is_supported: bool, problem: str = "") -> None:
        """Note the verdict of a model on an open claim, and what it says is wrong with it."""
        proof = self.prove(claim)
        settled = proof._replace(state="supported")
        if not is_supported:
            rejected = REJECTED
            if problem:
                rejected = REJECTED._replace(advice=f"{REJECTED.advice} Not said: {problem}")
            settled = Proof("failed", problems=(rejected,))
        self._proofs[_key(claim)] = settled

    def settle_by_words(self, claim: DraftClaim) -> None:
        """Decide about an open claim that no model gave a verdict on."""
        proof = self.prove(claim)
        if proof.state == "open":
            self._proofs[_key(claim)] = self._by_words(claim, proof)

    def has_words_of(self, text: str, label: str = "") -> bool:
        """Tell whether figures, names and most terms of a text are in a passage, or in all of them
        together."""
        chunks = self._chunks([label] if label else list(self.labels))
        return not examine_claim(text, chunks).problems and shares_words(text, chunks)

    def texts(self, labels: Sequence[str]) -> dict[str, str]:
        """Return label -> passage under its headings, without what speaks to a machine; labels that
        do not exist are left out."""
        texts: dict[str, str] = {}
        for label in labels:
            if label in self.labels:
                chunk = self.labels[label].chunk
                lines = [" > ".join(chunk.trail), chunk.header]
                for start, end in evidence_spans(chunk.text, chunk.language):
                    lines.append(chunk.text[start:end])
                texts[label] = "\n".join(filter(None, lines))
        return texts

    def find_citation(self, label: str, quote: str) -> Citation | None:
        """Return a citation of the sentence that holds a quotation; None where no passage of that
        label does."""
        hit = self.labels.get(label)
        place = find_quote(quote, hit.chunk.text) if hit else None
        if hit is None or place is None:
            return None
        start, end = whole_sentences(hit.chunk, place)
        return self._cite(hit, start, end)

    def _prove(self, claim: DraftClaim) -> Proof:
        if len(claim.text) > LONGEST_CLAIM:
            return Proof("failed", problems=(TOO_MUCH,))
        labels = dict.fromkeys(claim.passages)
        cited = list(filter(None, map(self.labels.get, labels)))
        quotes = list(filter(str.strip, claim.quotes))
        places = [find_quote_in(quote, cited) for quote in quotes]
        chunks = [hit.chunk for hit in cited]
        check = examine_claim(claim.text, chunks, self._question, organisation=self._organisation)
        problems = check.problems
        if len(cited) < len(labels):
            problems = (*problems, NO_PASSAGE)
        if None in places:
            problems = (*problems, INVENTED_QUOTE)
        citations = self._citations(claim, cited, list(filter(None, places)))
        if problems or not citations:
            return Proof("failed", problems=problems or (GONE,))
        proof = Proof("open", tuple(citations), check.is_derived)
        # A part of a sentence may be its condition or its example: only a whole one needs no model.
        sentences = list(dict.fromkeys(citation.quote for citation in citations[: len(places)]))
        if is_near_verbatim(claim.text, sentences, cited[0].chunk.language):
            return proof._replace(state="supported")
        return proof if self._asks else self._by_words(claim, proof)

    def _by_words(self, claim: DraftClaim, proof: Proof) -> Proof:
        if shares_words(claim.text, self._chunks(claim.passages)):
            return proof._replace(state="supported")
        return Proof("failed", problems=(OTHER_WORDS,))

    def _chunks(self, labels: Sequence[str]) -> list[Chunk]:
        return [self.labels[label].chunk for label in labels if label in self.labels]

    def _citations(
        self, claim: DraftClaim, cited: Sequence[Hit], places: Sequence["_Place"]
    ) -> list[Citation]:
        """Return the sentences that the claim quotes; of a passage that it quotes nothing of, the
        nearest one."""
        citations: list[Citation | None] = []
        quoted = {place.hit.chunk.id for place in places}
        for place in places:
            start, end = whole_sentences(place.hit.chunk, (place.start, place.end))
            citations.append(self._cite(place.hit, start, end))
        for hit in cited:
            if hit.chunk.id not in quoted:
                start, end = nearest_sentence(claim.text, hit.chunk)
                citations.append(self._cite(hit, start, end))
        return [citation for citation in citations if citation]

    def _cite(self, hit: Hit, start: int, end: int) -> Citation | None:
        """Return a citation of the chunk in which the cited words begin."""
        begin = hit.chunk.start + start
        citation = cite(hit, begin, hit.chunk.start + end, self._stored)
        for chunk in self._members.get(hit.chunk.id, ()):
            if citation and chunk.start <= begin < chunk.end:
                return citation.model_copy(update={"chunk_id": chunk.id})
        return citation


class _Place(NamedTuple):
    """The place of a quotation."""

    hit: Hit
    start: int
    """Offset in the chunk's text."""
    end: int


def find_quote_in(quote: str, hits: Sequence[Hit]) -> _Place | None:
    for hit in hits:
        place = find_quote(quote, hit.chunk.text)
        if place and is_evidence(hit.chunk, *place):
            return _Place(hit, *place)
    return None


def is_evidence(chunk: Chunk, start: int, end: int) -> bool:
    """Tell whether some sentence at a place may support a claim."""
    spans = evidence_spans(chunk.text, chunk.language)
    return any(first < end and start < last for first, last in spans)


def whole_sentences(chunk: Chunk, place: tuple[int, int]) -> tuple[int, int]:
    """Return the place of the sentences that a quotation touches."""
    start, end = place
    for first, last in evidence_spans(chunk.text, chunk.language):
        if first < place[1] and place[0] < last:
            start = min(start, first)
            end = max(end, last)
    return start, end


def nearest_sentence(claim: str, chunk: Chunk) -> tuple[int, int]:
    """Return the place of the sentence that shares most terms and figures with a claim; of the
    whole text where none shares any."""
    terms = set(analyse(claim, chunk.language))
    figures = numbers_in(claim, chunk.language)
    best = (0, len(chunk.text))
    most = 0.0
    for start, end in evidence_spans(chunk.text, chunk.language):
        sentence = chunk.text[start:end]
        shared = len(terms.intersection(analyse(sentence, chunk.language))) / max(1, len(terms))
        if figures:
            shared += len(figures & numbers_in(sentence, chunk.language)) / len(figures)
        if shared > most:
            best = (start, end)
            most = shared
    return best


def _key(claim: DraftClaim) -> tuple[str, ...]:
    return (claim.text, "", *claim.passages, "", *claim.quotes)
