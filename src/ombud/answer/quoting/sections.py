"""Sections of the evidence: which one answers, and which stand beside it."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from ombud.answer.quoting.spans import AnswerSpan, section_of
from ombud.retrieve import COUNTERPART, in_place_of
from ombud.types import Chunk

SPEAKING = 3
"""Spans of a section that speak for it: ten that hardly answer are no more than one that does."""
MOST_FURTHER = 2
NEARLY_AS_GOOD = 0.4
"""Share of the leading section's likelihood from which a further one is shown."""
RULES = 0.25
"""Share from which a country's section takes the place of a global one, where the search found its
document about as well."""
RETRIEVED_AS_WELL = 0.9
"""Share of the score of the hit that leads, from which another document was found as well."""
RULES_IN_PLACE = 0.07
"""The same where the search found the passage or its page as the country's own on the matter, or
where the global rule is a floor: a floor is there for local rules to go beyond it."""


class RankedSection(NamedTuple):
    """The spans of the evidence that stand under one heading of a document."""

    spans: tuple[AnswerSpan, ...]
    """In reading order."""
    lead: AnswerSpan
    """The likeliest span, the first on a tie."""
    likelihood: float
    """How likely it holds the answer, 0 to the square root of SPEAKING."""

    @property
    def chunk(self) -> Chunk:
        return self.lead.hit.chunk


def rank_sections(spans: Sequence[AnswerSpan]) -> list[RankedSection]:
    """Return the sections that spans stand in, likeliest first: by the length of the vector of the
    likelihoods of their SPEAKING likeliest spans."""
    of_section: dict[tuple[str, tuple[str, ...], str], list[AnswerSpan]] = {}
    for span in spans:
        chunk = span.hit.chunk
        place = (chunk.document_id, chunk.trail, section_of(span))
        of_section.setdefault(place, []).append(span)
    sections: list[RankedSection] = []
    for members in of_section.values():
        in_order = tuple(sorted(members, key=lambda span: span.start))
        likeliest = sorted((span.score for span in members), reverse=True)[:SPEAKING]
        lead = max(in_order, key=lambda span: span.score)
        sections.append(RankedSection(in_order, lead, math.hypot(*likeliest)))
    return sorted(sections, key=lambda one: (-one.likelihood, one.chunk.uri, one.lead.start))


def choose_sections(ranked: Sequence[RankedSection]) -> list[RankedSection]:
    """Return the section that leads and at most MOST_FURTHER others that are nearly as good.

    Where a country has a rule of its own, it leads: a global rule on the same topic is shown below
    it if it is mandatory, for it holds besides, or if the country's rule may well be about
    something else; otherwise it is left out."""
    if not ranked:
        return []
    lead = local_rule(ranked) or ranked[0]
    near: list[RankedSection] = []
    floors: list[RankedSection] = []
    for section in ranked:
        is_beside = is_global_beside(section.chunk, lead.chunk)
        if section is lead:
            continue
        if is_beside:
            is_likelier = lead.likelihood < RULES * section.likelihood
            if section.chunk.mandatory or is_likelier:
                floors.append(section)
        elif is_near_best(section, ranked[0]):
            near.append(section)
    further: list[RankedSection] = []
    for section in (*floors[:1], *near):
        leads = [other.lead.text.strip() for other in (lead, *further)]
        if section.lead.text.strip() not in leads:
            further.append(section)
    return [lead, *further[:MOST_FURTHER]]


def is_near_best(section: RankedSection, best: RankedSection) -> bool:
    """Tell whether a section is nearly as good as the best. The bar is lower where the search
    ranked it higher."""
    ranked_higher = section.lead.hit.score > best.lead.hit.score
    share = RULES if ranked_higher else NEARLY_AS_GOOD
    return section.likelihood >= share * best.likelihood


def local_rule(ranked: Sequence[RankedSection]) -> RankedSection | None:
    """Return the likeliest section of a country that leads in place of a global one."""
    if ranked[0].chunk.countries:
        return None
    for section in ranked[1:]:
        if section.chunk.countries and rules_in_place(section, ranked):
            return section
    return None


def rules_in_place(section: RankedSection, ranked: Sequence[RankedSection]) -> bool:
    first = ranked[0]
    share = section.likelihood / max(first.likelihood, 1e-9)
    is_of_floor = first.chunk.mandatory and first.chunk.topic == section.chunk.topic
    found_by = section.lead.hit.found_by
    is_own_page = in_place_of(first.chunk.document_id) in found_by
    if COUNTERPART in found_by or is_own_page or is_of_floor:
        return share >= RULES_IN_PLACE
    document = section.chunk.document_id
    scores: list[float] = []
    for other in ranked:
        if other.chunk.document_id == document:
            scores += [span.hit.score for span in other.spans]
    return share >= RULES and max(scores) >= RETRIEVED_AS_WELL * first.lead.hit.score


def is_global_beside(chunk: Chunk, local: Chunk) -> bool:
    """Tell whether a chunk is of a global document on the topic of a country's rule."""
    is_same_topic = bool(local.topic) and chunk.topic == local.topic
    return is_same_topic and bool(local.countries) and not chunk.countries
