"""What does ombud read without a model? Double questions, follow-ups, abbreviations.

On the dev cases of the sample and of the real handbooks, by how much more of the evidence is found.
Test and sealed splits are not touched. Writes docs/results/without-model.md. Run: python
benchmarks/quality/without_model.py, with the homes of the two workspaces where they are not sample
and .bench/handbooks."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from ombud.app import asking

sys.path.append(str(Path(__file__).parents[1] / "speed"))
from record import ROOT, commit, say

from ombud.app import Workspace
from ombud.lab import parse_metrics, read_cases, score, select_split
from ombud.retrieve import (
    aside_free,
    both_ways,
    carry_over,
    find_passages,
    question_parts,
    read_glossary,
    standard_query,
)
from ombud.store import list_abbreviations
from ombud.types import Case, Evidence, Observation, Query, Question

METRICS = ("quote_recall@5", "quote_recall@1000w", "page_recall@5", "mrr")


class Corpus(NamedTuple):
    name: str
    workspace: Workspace
    cases: tuple[Case, ...]

    def found(self, case: Case, queries: Sequence[Query]) -> Evidence:
        question = _question(case)
        plan = asking.plan_of(self.workspace, case.person, {}).plan
        return find_passages(
            queries, plan, asking.filter_of(self.workspace, question, plan), self.workspace.index
        ).evidence


def main(homes: Sequence[str]) -> None:
    sample, handbooks = homes or (str(ROOT / "sample"), str(ROOT / ".bench/handbooks"))
    real = [
        case
        for path in sorted((ROOT / "tests/data").glob("handbooks-*.jsonl"))
        for case in read_cases(path)
    ]
    corpora = [
        Corpus(
            "sample",
            Workspace(Path(sample)),
            select_split(read_cases(ROOT / "sample/cases"), "dev"),
        ),
        Corpus("handbooks", Workspace(Path(handbooks)), select_split(real, "dev")),
    ]
    lines = [
        (Path(__file__).parent / "without_model_header.md")
        .read_text(encoding="utf-8")
        .format(commit=commit())
    ]
    for section in (
        follow_ups(corpora),
        doubles(corpora),
        abbreviated(corpora),
    ):
        lines += [*section, ""]
    target = ROOT / "docs/results/without-model.md"
    target.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    print(target.read_text(encoding="utf-8"))


# Questions ----------------------------------------------------------------------------------------


def follow_ups(corpora: Sequence[Corpus]) -> Iterator[str]:
    rows: dict[str, list[Observation]] = {}
    for corpus in corpora:
        for case in corpus.cases:
            if not case.history or not case.evidence:
                continue
            turns = [m.content for m in case.history if m.role == "user"]
            carried = carry_over(_question(case))
            answer = " ".join([m.content for m in case.history if m.role == "assistant"][-1:])
            told = {
                "the last turn": [case.question],
                "with the asker's turns": [*turns, case.question],
                "and `carry_over`": [*turns, case.question, carried],
                "and the whole last answer": [*turns, case.question, answer],
            }
            for name, texts in told.items():
                query = standard_query(
                    Question(text="\n".join(texts), asker=case.person),
                    corpus.workspace.index.glossary,
                )
                rows.setdefault(name, []).append(_seen(corpus, case, [query]))
            both = both_ways(_question(case), corpus.workspace.index.glossary)
            rows.setdefault("what ships: both the turn with these and alone", []).append(
                _seen(corpus, case, both)
            )
    yield "## Follow-ups"
    yield ""
    yield from _table(rows)


def doubles(corpora: Sequence[Corpus]) -> Iterator[str]:
    counted: dict[str, list[int]] = {}
    rows: dict[str, list[Observation]] = {}
    for corpus in corpora:
        for case in corpus.cases:
            split = question_parts(case.question)
            kind: str = (
                case.type
                if case.type in ("double", "simple", "complex", "distracting")
                else "others"
            )
            tally = counted.setdefault(kind, [0, 0, 0])
            asides = len(aside_free(case.question).split()) < len(case.question.split())
            for at, happened in enumerate((True, len(split) > 1, asides)):
                tally[at] += happened
            if len(split) > 1 and case.evidence:
                asked = [
                    standard_query(
                        Question(text=one, asker=case.person), corpus.workspace.index.glossary
                    )
                    for one in split
                ]
                whole = standard_query(_question(case), corpus.workspace.index.glossary)
                rows.setdefault("the question", []).append(_seen(corpus, case, [whole]))
                rows.setdefault("its parts", []).append(_seen(corpus, case, asked))
                rows.setdefault("the question and its parts", []).append(
                    _seen(corpus, case, [whole, *asked])
                )
    yield "## Double questions and asides"
    yield ""
    yield "| type | cases | split by `parts` | shortened by `aside_free` |"
    yield "|---|---|---|---|"
    for kind, tally in counted.items():
        yield f"| {kind} | {' | '.join(map(str, tally))} |"
    yield ""
    yield from _table(rows)


def abbreviated(corpora: Sequence[Corpus]) -> Iterator[str]:
    yield "## Abbreviations that documents explain"
    for corpus in corpora:
        explained = list_abbreviations(corpus.workspace.store)
        glossaries = {
            "no glossary": read_glossary(Path("none.csv")),
            "from documents": read_glossary(Path("none.csv"), explained),
            "own": corpus.workspace.index.glossary,
        }
        rows: dict[str, list[Observation]] = {}
        for case in corpus.cases:
            if not case.evidence or not glossaries["from documents"].expansions(
                case.question, case.person.country
            ):
                continue
            for name, glossary in glossaries.items():
                rows.setdefault(name, []).append(
                    _seen(corpus, case, [standard_query(_question(case), glossary)])
                )
        yield ""
        pairs = {(one.abbreviation, one.expansion) for one in explained}
        yield f"{corpus.name}: {len(pairs)} pairs."
        yield ""
        yield from _table(rows)


def _question(case: Case) -> Question:
    return Question(text=case.question, asker=case.person, history=case.history, as_of=case.as_of)


def _seen(corpus: Corpus, case: Case, queries: Sequence[Query]) -> Observation:
    return Observation(case=case, hits=corpus.found(case, queries).hits)


def _table(rows: dict[str, list[Observation]]) -> Iterator[str]:
    yield f"| searched with | n | {' | '.join(METRICS)} |"
    yield "|---" * (len(METRICS) + 2) + "|"
    for name, seen in rows.items():
        say(f"{name}: {len(seen)} cases")
        scores = [
            [s for one in seen for s in score(one, parse_metrics(metric))] for metric in METRICS
        ]
        figures = [f"{mean([s.value for s in some if s.value is not None]):.3f}" for some in scores]
        yield f"| {name} | {len(seen)} | {' | '.join(figures)} |"


if __name__ == "__main__":
    main(sys.argv[1:])
