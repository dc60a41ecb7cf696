"""Finds which answers change and how, by rules that compare both answers."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from ombud.app.publishing.answering import BothAnswers, SideAnswer
from ombud.app.publishing.drafts import PolicyDraft
from ombud.lab import normalise, parse_metrics, score
from ombud.text import numbers_in, split_sentences
from ombud.types import Answer, Case, Observation, Passage

ChangeKind = Literal[
    "failed",
    "refused",
    "fell",
    "figures",
    "answered",
    "document",
    "elsewhere",
    "wording",
    "unchanged",
]
WORST_FIRST: Mapping[ChangeKind, str] = {
    "failed": "could not be asked",
    "refused": "newly refused",
    "fell": "a case that was right",
    "figures": "changed figure",
    "answered": "newly answered",
    "document": "another document cited",
    "elsewhere": "changed elsewhere",
    "wording": "wording only",
    "unchanged": "unchanged",
}
"""Kind of a change -> its wording. elsewhere: neither answer cites a draft or what it replaces; a
question near a threshold changed because the index contains other words. Only the rule about right
cases counts these."""
RIGHT = parse_metrics("outcome_accuracy,citation_recall")
_MARKER = re.compile(r"[ \t]?\[\d+\]")
_ENUMERATION = re.compile(r"^[ \t>*_-]*\d+(?:\.\d+)*[.)]?(?=[ \t])", re.MULTILINE)
_FIGURE = re.compile(
    r"(?:[€£$]\s?|\b[A-Z]{3}\s)?(?P<number>\b\w*\d[\d.,:]*\b|\b[^\W\d]{3,}\b)"
    r"(?:\s?%|\s+[^\W\d]+)?"
)


class AnswerChange(NamedTuple):
    """An answer that changes."""

    both: BothAnswers
    kinds: tuple[ChangeKind, ...]
    """All kinds that apply, worst first."""
    figures_before: tuple[str, ...] = ()
    """Figures that only the present answer states."""
    figures_after: tuple[str, ...] = ()

    @property
    def kind(self) -> ChangeKind:
        return self.kinds[0]


class FoundChanges(NamedTuple):
    """All changed answers."""

    answers: tuple[AnswerChange, ...]
    """Worst first."""
    revise: tuple[Case, ...]
    """Cases whose evidence is in replaced documents."""


class ReplacedNames:
    """Maps documents to one name on both sides: a draft counts as what it replaces."""

    def __init__(self, drafts: Sequence[PolicyDraft]) -> None:
        self.new = {draft.uri for draft in drafts}
        self._names: dict[str, str] = {}
        self._after: dict[str, str] = {}
        for draft in drafts:
            if draft.replaces:
                self._names[draft.uri] = draft.replaces.uri
                self._after[draft.replaces.uri] = draft.uri

    def name(self, uri: str) -> str:
        return self._names.get(uri, uri)

    def concerns(self, answer: Answer) -> bool:
        """Tell whether an answer cites a draft or what it replaces."""
        cited = {citation.uri for citation in answer.citations}
        return not cited.isdisjoint(self.new | self._after.keys())

    def after(self, uri: str) -> str:
        """Return the document that takes another's place."""
        return self._after.get(uri, uri)

    def is_replaced(self, uri: str) -> bool:
        return uri in self._after


def find_changes(
    pairs: Sequence[BothAnswers],
    drafts: Sequence[PolicyDraft],
    text_of: Callable[[str], str],
) -> FoundChanges:
    """Find the answers that change. text_of: uri of a draft -> its text."""
    renamed = ReplacedNames(drafts)
    comparison = AnswerComparison(renamed, text_of)
    changes = list(map(comparison.change, pairs))
    order = list(WORST_FIRST)
    changes.sort(key=lambda change: sort_key(change, order))
    return FoundChanges(
        answers=tuple(changes),
        revise=tuple(comparison.revise.values()),
    )


def sort_key(change: AnswerChange, order: list[ChangeKind]) -> tuple[object, ...]:
    """Sort replaced figures before those that only appear or disappear."""
    is_exchanged = bool(change.figures_before and change.figures_after)
    question = change.both.asked
    return (
        order.index(change.kind),
        not is_exchanged,
        question.country,
        question.question.text,
    )


class AnswerComparison:
    """Compares the two answers to each question."""

    def __init__(
        self,
        renamed: ReplacedNames,
        text_of: Callable[[str], str],
    ) -> None:
        self._renamed = renamed
        self._text_of = text_of
        self.revise: dict[str, Case] = {}

    def change(self, both: BothAnswers) -> AnswerChange:
        live = both.live.answer
        draft = both.draft.answer
        if live is None or draft is None:
            return AnswerChange(both, ("failed",))
        before = figures_in(live)
        after = figures_in(draft)
        kinds: list[ChangeKind] = list(outcome_changes(live, draft))
        if self._has_fallen(both, live, draft):
            kinds.append("fell")
        if before.keys() != after.keys():
            kinds.append("figures")
        if self._cited(live) != self._cited(draft):
            kinds.append("document")
        if not kinds and answer_words(live) != answer_words(draft):
            kinds.append("wording")
        is_elsewhere = not self._renamed.concerns(live) and not self._renamed.concerns(draft)
        return AnswerChange(
            both=both,
            kinds=worst_first(kinds, is_elsewhere=is_elsewhere),
            figures_before=missing_figures(before, after),
            figures_after=missing_figures(after, before),
        )

    def _cited(self, answer: Answer) -> frozenset[str]:
        return frozenset(self._renamed.name(citation.uri) for citation in answer.citations)

    # Cases ----------------------------------------------------------------------------------------

    def _has_fallen(self, both: BothAnswers, live: Answer, draft: Answer) -> bool:
        case = both.asked.case
        if case is None or not is_right(case, live):
            return False
        return not is_right(self._adapt_case(case), draft)

    def _adapt_case(self, case: Case) -> Case:
        """Adapt a case to the drafts: evidence that a draft contains too is expected there, and
        evidence of replaced documents is dropped."""
        evidence: list[Passage] = []
        for passage in case.evidence:
            if not self._renamed.is_replaced(passage.document):
                evidence.append(passage)
                continue
            uri = self._renamed.after(passage.document)
            if normalise(passage.quote) in normalise(self._text_of(uri)):
                evidence.append(passage.model_copy(update={"document": uri}))
            else:
                self.revise[case.id] = case
        return case.model_copy(update={"evidence": tuple(evidence)})


def worst_first(kinds: list[ChangeKind], *, is_elsewhere: bool) -> tuple[ChangeKind, ...]:
    order = list(WORST_FIRST)
    kinds = sorted(kinds, key=order.index) or ["unchanged"]
    if not is_elsewhere or kinds[0] in ("wording", "unchanged"):
        return tuple(kinds)
    fell: list[ChangeKind] = [kind for kind in kinds if kind == "fell"]
    return (*fell, "elsewhere", *(kind for kind in kinds if kind != "fell"))


def outcome_changes(live: Answer, draft: Answer) -> Iterator[ChangeKind]:
    before = is_answered(live)
    after = is_answered(draft)
    if before and not after:
        yield "refused"
    if after and not before:
        yield "answered"


def is_answered(answer: Answer) -> bool:
    """Tell whether it answers; not if it is unsure, asks back or refuses."""
    return answer.outcome in ("full", "partial")


def is_right(case: Case, answer: Answer) -> bool:
    """Tell whether the answer has the expected outcome and cites at least one expected passage."""
    outcome, cited = score(Observation(case=case, answer=answer), RIGHT)
    return outcome.value == 1 and (cited.value is None or cited.value > 0)


# What an answer says ------------------------------------------------------------------------------


def claim_text(answer: Answer) -> str:
    """Return the text of its claims without markers, or of the whole answer if it has none."""
    parts = [claim.text for claim in answer.claims] or [answer.text]
    return _MARKER.sub("", "\n".join(parts))


def figures_in(answer: Answer) -> dict[str, str]:
    """Return normalised quantity -> its wording, for all numbers with what they count, without
    section numbers."""
    if not answer.claims:
        return {}
    figures: dict[str, str] = {}
    text = _ENUMERATION.sub("", claim_text(answer))
    for start, end in split_sentences(text, "en"):
        for cell in text[start:end].replace("|", "\n").split("\n"):
            figures |= figures_of(cell)
    return figures


def figures_of(sentence: str) -> dict[str, str]:
    """Return each number with the following word, which tells what is counted."""
    figures: dict[str, str] = {}
    for match in _FIGURE.finditer(sentence):
        for number in numbers_in(match["number"]):
            written = match[0].strip()
            figures[written.casefold().replace(match["number"].casefold(), number)] = written
    return figures


def missing_figures(figures: Mapping[str, str], others: Mapping[str, str]) -> tuple[str, ...]:
    """Return the wording of figures that the others lack."""
    return tuple(written for key, written in figures.items() if key not in others)


def answer_words(answer: Answer) -> str:
    return normalise(claim_text(answer))


def side_text(side: SideAnswer) -> str:
    """Return the answer as it is shown."""
    return side.answer.text if side.answer else side.error
