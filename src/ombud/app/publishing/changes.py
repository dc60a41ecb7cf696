"""Which answers change, and how: by rules, from both answers side by side."""

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
"""Kind of a change -> how it is said. elsewhere: neither answer cites a draft or what it replaces;
a question near a threshold falls to the other side because the index holds other words. No rule
but that of right cases counts these."""
RIGHT = parse_metrics("outcome_accuracy,citation_recall")
_MARKER = re.compile(r"[ \t]?\[\d+\]")
_ENUMERATION = re.compile(r"^[ \t>*_-]*\d+(?:\.\d+)*[.)]?(?=[ \t])", re.MULTILINE)
_CELLS = re.compile(r"[|\n]")
_FIGURE = re.compile(
    r"(?:[€£$]\s?|\b[A-Z]{3}\s)?(?P<number>\b\w*\d[\d.,:]*\b|\b[^\W\d]{3,}\b)"
    r"(?:\s?%|\s+[^\W\d]+)?"
)


class AnswerChange(NamedTuple):
    both: BothAnswers
    kinds: tuple[ChangeKind, ...]
    """All that apply, worst first."""
    figures_before: tuple[str, ...] = ()
    """Stated now and not with the drafts."""
    figures_after: tuple[str, ...] = ()

    @property
    def kind(self) -> ChangeKind:
        return self.kinds[0]


class FoundChanges(NamedTuple):
    answers: tuple[AnswerChange, ...]
    """Worst first."""
    revise: tuple[Case, ...]
    """Cases whose evidence goes with what is replaced."""


class _Renamed:
    """Documents by one name on both sides: a draft is what it replaces."""

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
        """Whether it cites a draft, or what one replaces."""
        cited = {citation.uri for citation in answer.citations}
        return not cited.isdisjoint(self.new | self._after.keys())

    def after(self, uri: str) -> str:
        """What stands in the place of a document."""
        return self._after.get(uri, uri)

    def is_replaced(self, uri: str) -> bool:
        return uri in self._after


def find_changes(
    asked: Sequence[BothAnswers],
    drafts: Sequence[PolicyDraft],
    text_of: Callable[[str], str],
) -> FoundChanges:
    """text_of: uri of a draft -> its text."""
    renamed = _Renamed(drafts)
    comparison = _Comparison(renamed, text_of)
    changes = list(map(comparison.change, asked))
    order = list(WORST_FIRST)
    changes.sort(key=lambda change: _place(change, order))
    return FoundChanges(
        answers=tuple(changes),
        revise=tuple(comparison.revise.values()),
    )


def _place(change: AnswerChange, order: list[ChangeKind]) -> tuple[object, ...]:
    """Where a figure took the place of another before one that only came or went."""
    is_exchanged = bool(change.figures_before and change.figures_after)
    asked = change.both.asked
    return (
        order.index(change.kind),
        not is_exchanged,
        asked.country,
        asked.question.text,
    )


class _Comparison:
    def __init__(
        self,
        renamed: _Renamed,
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
        kinds: list[ChangeKind] = list(_of_outcome(live, draft))
        if self._fell(both, live, draft):
            kinds.append("fell")
        if before.keys() != after.keys():
            kinds.append("figures")
        if self._cited(live) != self._cited(draft):
            kinds.append("document")
        if not kinds and _words(live) != _words(draft):
            kinds.append("wording")
        is_elsewhere = not self._renamed.concerns(live) and not self._renamed.concerns(draft)
        return AnswerChange(
            both=both,
            kinds=_in_order(kinds, is_elsewhere=is_elsewhere),
            figures_before=_lacking(before, after),
            figures_after=_lacking(after, before),
        )

    def _cited(self, answer: Answer) -> frozenset[str]:
        return frozenset(self._renamed.name(citation.uri) for citation in answer.citations)

    # Cases ----------------------------------------------------------------------------------------

    def _fell(self, both: BothAnswers, live: Answer, draft: Answer) -> bool:
        case = both.asked.case
        if case is None or not _is_right(case, live):
            return False
        return not _is_right(self._moved(case), draft)

    def _moved(self, case: Case) -> Case:
        """The case as it is judged with the drafts: evidence that stands in a draft, too, is looked
        for there; what is gone with the document that it stood in is asked for no more."""
        kept: list[Passage] = []
        for passage in case.evidence:
            if not self._renamed.is_replaced(passage.document):
                kept.append(passage)
                continue
            uri = self._renamed.after(passage.document)
            if normalise(passage.quote) in normalise(self._text_of(uri)):
                kept.append(passage.model_copy(update={"document": uri}))
            else:
                self.revise[case.id] = case
        return case.model_copy(update={"evidence": tuple(kept)})


def _in_order(kinds: list[ChangeKind], *, is_elsewhere: bool) -> tuple[ChangeKind, ...]:
    order = list(WORST_FIRST)
    kinds = sorted(kinds, key=order.index) or ["unchanged"]
    if not is_elsewhere or kinds[0] in ("wording", "unchanged"):
        return tuple(kinds)
    fell: list[ChangeKind] = [kind for kind in kinds if kind == "fell"]
    return (*fell, "elsewhere", *(kind for kind in kinds if kind != "fell"))


def _of_outcome(live: Answer, draft: Answer) -> Iterator[ChangeKind]:
    before = is_answered(live)
    after = is_answered(draft)
    if before and not after:
        yield "refused"
    if after and not before:
        yield "answered"


def is_answered(answer: Answer) -> bool:
    """Not where it is not sure, asks back or refuses."""
    return answer.outcome in ("full", "partial")


def _is_right(case: Case, answer: Answer) -> bool:
    """The outcome that the case expects, and at least one of the passages that it wants cited."""
    outcome, cited = score(Observation(case=case, answer=answer), RIGHT)
    return outcome.value == 1 and (cited.value is None or cited.value > 0)


# What an answer says ------------------------------------------------------------------------------


def said_by(answer: Answer) -> str:
    """The words of its claims, without markers; of the whole answer where it claims nothing."""
    parts = [claim.text for claim in answer.claims] or [answer.text]
    return _MARKER.sub("", "\n".join(parts))


def figures_in(answer: Answer) -> dict[str, str]:
    """Return what can be compared -> how it is written, of all numbers with what they count.
    Numbers of sections count nothing."""
    if not answer.claims:
        return {}
    figures: dict[str, str] = {}
    text = _ENUMERATION.sub("", said_by(answer))
    for start, end in split_sentences(text, "en"):
        for cell in _CELLS.split(text[start:end]):
            figures |= _figures_of(cell)
    return figures


def _figures_of(sentence: str) -> dict[str, str]:
    """Return each number with the word behind it, which says what is counted."""
    figures: dict[str, str] = {}
    for match in _FIGURE.finditer(sentence):
        for number in numbers_in(match["number"]):
            written = match[0].strip()
            figures[written.casefold().replace(match["number"].casefold(), number)] = written
    return figures


def _lacking(figures: Mapping[str, str], others: Mapping[str, str]) -> tuple[str, ...]:
    """How those are written that the others do not hold."""
    return tuple(written for key, written in figures.items() if key not in others)


def _words(answer: Answer) -> str:
    return normalise(said_by(answer))


def side_text(side: SideAnswer) -> str:
    """As it is shown."""
    return side.answer.text if side.answer else side.error
