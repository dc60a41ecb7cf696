"""What each mechanism of answers without a model is worth: switched off alone and in groups, with what
depends on it fitted anew.

Asked are the test split of the labelled cases and the questions that were read fresh, which no
weights were fitted on. Counted is whether the section that leads holds what a person cited. Where
a mechanism changes what is searched or measured, the weights of spans are fitted again on dev.
Prints the table of docs/results/parts.md. Run: make ablation"""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from typing import Any, NamedTuple
from unittest.mock import patch

from asked import HANDBOOKS, open_workspaces
from record import commit, say

from ombud.answer import (
    ConfidenceWeights,
    answering_spans,
    choose_sections,
    rank_sections,
)
from ombud.answer.quoting import groups, sections
from ombud.app import Workspace
from ombud.lab import split_of
from ombud.lab.statistics import compare
from ombud.retrieve import searching
from ombud.retrieve.strategies import own_words
from ombud.retrieve.strategies.glossary import Glossary
from ombud.types import Case, Passage, Person, Plan, Question
from research import ROOT
from research.training.calibrate import SearchedCase, is_cited, labelled_cases, search_for
from research.training.spans import QuestionSpans, train_spans

FRESH = ROOT / "tests/data/asked/verdicts/fresh.jsonl"
SETS = ("test", "fresh")


class Patch(NamedTuple):
    """A function that stands in the place of another one while a mechanism is off."""

    module: Any
    name: str
    instead: Callable[..., Any]


class Mechanism(NamedTuple):
    name: str
    patches: Sequence[Patch] = ()
    plan: Mapping[str, Any] = {}
    without: Sequence[str] = ()
    """Features of spans that are not measured."""
    searches: bool = False
    """What is found depends on it."""

    def joined(self, other: "Mechanism", name: str) -> "Mechanism":
        return Mechanism(
            name=name,
            patches=[*self.patches, *other.patches],
            plan={**self.plan, **other.plan},
            without=[*self.without, *other.without],
            searches=self.searches or other.searches,
        )


def nothing(*_: Any, **__: Any) -> tuple[str, ...]:
    return ()


async def as_found(evidence: Any, *_: Any) -> Any:
    return evidence


async def without_rows(_: str, hits: Any, *__: Any) -> Any:
    return hits


OFF = Mechanism("nothing")
RANKING = (
    Mechanism(
        "sections for a group of people (`groups.toml`)",
        [Patch(groups, "_groups_in", lambda _: set())],
    ),
    Mechanism(
        "a country's section leads (`sections.py`)",
        [Patch(sections, "local_rule", lambda _: None)],
    ),
)
FEATURES = (
    Mechanism("features of numbers", without=("asked_number", "number")),
    Mechanism("features of length", without=("length", "short", "long")),
    Mechanism("score of the hit", without=("hit_score",)),
)
SEARCH = (
    Mechanism("late interaction", plan={"late": 0.0}, searches=True),
    Mechanism("thesaurus", [Patch(own_words, "policy_words", nothing)], searches=True),
    Mechanism(
        "glossary and thesaurus",
        [Patch(Glossary, "expansions", nothing), Patch(own_words, "policy_words", nothing)],
        searches=True,
    ),
    Mechanism(
        "the country's own passage (`scopes.py`)",
        [Patch(searching, "with_counterparts", as_found)],
        searches=True,
    ),
    Mechanism(
        "rows named by their key (`table_rows.py`)",
        [Patch(searching, "with_named_rows", without_rows)],
        searches=True,
    ),
)


def with_group(mechanisms: Sequence[Mechanism]) -> list[Mechanism]:
    """Each of one kind, and all together."""
    together = mechanisms[0]
    for mechanism in mechanisms[1:]:
        together = together.joined(mechanism, f"all {len(mechanisms)} of these")
    return [*mechanisms, together]


KINDS = {
    "ranking": with_group(RANKING),
    "features": with_group(FEATURES),
    "search": SEARCH,
}


class Asked(NamedTuple):
    searched: SearchedCase
    set: str
    """dev | test | fresh."""
    document: str
    """Questions about one document are not independent."""


def main() -> None:
    parser = argparse.ArgumentParser(description="What each mechanism is worth.")
    parser.add_argument("kinds", nargs="*", help="ranking, features, search; none = all")
    kinds = parser.parse_args().kinds or list(KINDS)
    asked = list(ask_all(OFF))
    weights = fit(asked, OFF)
    before = rights(asked, weights, OFF)
    say(f"leading section right {share(before)}")
    rows: list[str] = []
    for mechanism in chain.from_iterable(KINDS[kind] for kind in kinds):
        without = list(ask_all(mechanism)) if mechanism.searches else asked
        refits = mechanism.searches or mechanism.without
        fitted = fit(without, mechanism) if refits else weights
        after = rights(without, fitted, mechanism)
        rows.append(row(mechanism, before, after, asked))
        say(rows[-1])
    print(f"Measured at {commit()}: leading section right {share(before)}.\n")
    print("| mechanism | with it | without | gain | n | interval |\n|---|---|---|---|---|---|")
    print("\n".join(rows))


def ask_all(mechanism: Mechanism) -> Iterator[Asked]:
    say(f"searching without {mechanism.name}")
    with switched_off(mechanism):
        for workspace, case in (*labelled_cases(), *fresh_cases()):
            part = "fresh" if case.id.startswith("fresh") else split_of(case.id)
            if case.expect == "answer" and case.evidence and part != "sealed":
                searched = search_for(workspace, case, "hybrid")
                yield Asked(searched, part, case.evidence[0].document)


def fresh_cases() -> Iterator[tuple[Workspace, Case]]:
    """Single questions that a reader marked with what answers them."""
    with patch.dict(HANDBOOKS, {"clef-us": "US"}):
        workspaces = open_workspaces()
    for line in FRESH.read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        corpus = told["corpus"]
        is_single = told.get("kind", "single") == "single"
        if not is_single or not told["gold"] or corpus not in workspaces:
            continue
        source = "handbook" if corpus == "sample" else corpus
        evidence: list[Passage] = []
        for place in told["gold"]:
            document = f"{source}/{place['document']}"
            evidence.append(Passage(document=document, quote=place["quote"]))
        case = Case(
            id=told["id"],
            question=told["question"],
            person=Person(**told["person"]),
            evidence=tuple(evidence),
        )
        yield workspaces[corpus], case


@contextmanager
def switched_off(mechanism: Mechanism) -> Iterator[None]:
    with ExitStack() as stack:
        for one in mechanism.patches:
            stack.enter_context(patch.object(one.module, one.name, one.instead))
        if mechanism.plan:
            run = searching.search

            async def planned(question: Question, plan: Plan, *rest: Any) -> Any:
                return await run(question, plan.model_copy(update=dict(mechanism.plan)), *rest)

            stack.enter_context(patch("research.training.calibrate.search", planned))
        yield


def fit(asked: Sequence[Asked], mechanism: Mechanism) -> ConfidenceWeights:
    spans: list[QuestionSpans] = []
    for one in asked:
        if one.set == "dev":
            own = one.searched.spans
            spans.append(QuestionSpans(features_of(one.searched, mechanism), own.underlined))
    return train_spans(spans, "hybrid")


def features_of(searched: SearchedCase, mechanism: Mechanism) -> list[dict[str, float]]:
    """Those that are not measured are the same for all spans."""
    left_out = dict.fromkeys(mechanism.without, 0.0)
    return [{**features, **left_out} for features in searched.spans.features]


def rights(
    asked: Sequence[Asked], weights: ConfidenceWeights, mechanism: Mechanism
) -> list[float | None]:
    """Whether the section that leads is right, of each question that was not fitted on."""
    values: list[float | None] = []
    with switched_off(mechanism):
        for one in asked:
            if one.set in SETS:
                values.append(float(is_right(one.searched, weights, mechanism)))
    return values


def is_right(searched: SearchedCase, weights: ConfidenceWeights, mechanism: Mechanism) -> bool:
    features = features_of(searched, mechanism)
    spans = answering_spans(searched.question, searched.candidates, features, weights)
    leading = choose_sections(rank_sections(spans))[:1]
    return any(is_cited(span, searched.case) for section in leading for span in section.spans)


def share(values: Sequence[float | None]) -> str:
    measured = [value for value in values if value is not None]
    return f"{sum(measured) / len(measured):.3f} (n {len(measured)})"


def row(
    mechanism: Mechanism,
    before: Sequence[float | None],
    after: Sequence[float | None],
    asked: Sequence[Asked],
) -> str:
    documents = [one.document for one in asked if one.set in SETS]
    told = compare(after, before, documents)
    low, high = told.low or 0.0, told.high or 0.0
    first = share(before).partition(" ")[0]
    second = share(after).partition(" ")[0]
    gain = f"{told.difference or 0.0:+.3f} | {told.pairs} | {low:+.3f} to {high:+.3f}"
    return f"| {mechanism.name} | {first} | {second} | {gain} |"


if __name__ == "__main__":
    main()
