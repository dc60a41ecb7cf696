"""A country's own passage answers in place of the global one on the same matter."""

from collections.abc import Mapping, Sequence, Set

import numpy as np
import numpy.typing as npt

from ombud.answer.quoting.meant_for import is_for_others
from ombud.answer.quoting.spans import AnswerSpan
from ombud.answer.quoting.underlining import text_with_head
from ombud.models import Embedder
from ombud.text import analyse
from ombud.types import Chunk, Counterpart, Evidence

UNLIKE = 0.4
"""Cosine of two sentences from which one begins to say what the other says."""
SAME_RULE = 1.1
"""Least sum of the cosines of two passages and of their most alike sentences where one speaks for
the other. Of the sample: days of leave in Germany 1.41 and in the United States, where they are
called PTO, 1.17."""
DECISIVE = 0.5
"""Weight, beside that of the question's rarest word, from which a word that only the global passage
has shows that it speaks of something else: "referral" in "referral bonus"."""
SPEAKS = 0.3
"""Share of the best global span's likelihood from which the country's document speaks for itself:
`choosing.RULES` then lets it, by its own best passage."""
OVERRIDDEN = 0.2
"""Share of its likelihood that is left to what a local passage speaks for."""

_Place = tuple[str, int]
"""Chunk id, and where the span begins."""


def favour_local(
    spans: Sequence[AnswerSpan],
    evidence: Evidence,
    weights: Mapping[str, float],
    named: Set[int],
    embedder: Embedder | None,
) -> list[AnswerSpan]:
    """Spans, likeliest first, with those of a country's passage as likely as the global ones that
    they stand for, the more alike the likelier.

    weights: index terms of the question as it was said, and their inverse document frequencies.
    named: `named_groups`; a passage for others speaks for nothing, and its document's other
    passages do."""
    likelier: dict[_Place, float] = {}
    if embedder is None:
        return list(spans)
    for pair in evidence.counterparts:
        if not _lacks_word(evidence, pair, weights):
            likelier |= _inherited(spans, pair, named, embedder)
    if not likelier:
        return list(spans)
    weighed = [span._replace(score=likelier.get(_place(span), span.score)) for span in spans]
    return sorted(weighed, key=lambda span: -span.score)


def _lacks_word(evidence: Evidence, pair: Counterpart, weights: Mapping[str, float]) -> bool:
    """Whether a word that the question turns on is in the global passage and not in what was found
    of the country's document."""
    chunks = {hit.chunk.id: hit.chunk for hit in evidence.hits}
    theirs = _terms(chunks[pair.shared])
    ours: set[str] = set()
    for chunk in chunks.values():
        if chunk.document_id == chunks[pair.local].document_id:
            ours |= _terms(chunk)
    decisive = DECISIVE * max(weights.values(), default=0.0)
    lacking = [weight for term, weight in weights.items() if term in theirs - ours]
    return max(lacking, default=-1.0) >= decisive


def _terms(chunk: Chunk) -> set[str]:
    return set(analyse(" ".join((chunk.title, *chunk.trail, chunk.text)), chunk.language))


def _inherited(
    spans: Sequence[AnswerSpan], pair: Counterpart, named: Set[int], embedder: Embedder
) -> Mapping[_Place, float]:
    """Likelihoods of both, where a local span says about what the best global one says: the most
    alike becomes as likely as that one."""
    theirs = _of_chunk(spans, pair.shared)
    ours = _for_everyone(spans, pair.local, named)
    if not theirs or not ours:
        return {}
    best = max(theirs, key=lambda span: span.score)
    if _speaks_for_itself(ours[0].hit.chunk.document_id, spans, best):
        return {}
    cosines = _cosines(best, ours, embedder)
    nearest = float(cosines.max())
    if nearest + pair.alike < SAME_RULE:
        return {}
    shares = np.clip((cosines - UNLIKE) / (nearest - UNLIKE), 0.0, 1.0)
    likelier: dict[_Place, float] = {}
    for span, share in zip(ours, shares.tolist(), strict=True):
        likelier[_place(span)] = max(span.score, share * best.score)
    for span in theirs:
        likelier[_place(span)] = OVERRIDDEN * span.score
    return likelier


def _of_chunk(spans: Sequence[AnswerSpan], chunk_id: str) -> list[AnswerSpan]:
    return [span for span in spans if span.hit.chunk.id == chunk_id]


def _for_everyone(spans: Sequence[AnswerSpan], chunk_id: str, named: Set[int]) -> list[AnswerSpan]:
    """The spans of a chunk; of its document's others where it is for other people."""
    own = _of_chunk(spans, chunk_id)
    if not any(is_for_others(span, named) for span in own):
        return own
    document = own[0].hit.chunk.document_id
    beside = [span for span in spans if span.hit.chunk.document_id == document]
    return [span for span in beside if not is_for_others(span, named)]


def _speaks_for_itself(document: str, spans: Sequence[AnswerSpan], best: AnswerSpan) -> bool:
    own = [span.score for span in spans if span.hit.chunk.document_id == document]
    return max(own) >= SPEAKS * best.score


def _cosines(
    best: AnswerSpan, ours: Sequence[AnswerSpan], embedder: Embedder
) -> npt.NDArray[np.float32]:
    readings = embedder.read([text_with_head(span) for span in (best, *ours)])
    vectors = np.stack([reading.windows[0] for reading in readings])
    cosines: npt.NDArray[np.float32] = vectors[1:] @ vectors[0]
    return cosines


def _place(span: AnswerSpan) -> _Place:
    return span.hit.chunk.id, span.start
