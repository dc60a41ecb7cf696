"""What does ombud read without a model? Contradictions, double questions, follow-ups,
abbreviations.

Contradictions over the pairs of tests/data and over what searches for the dev cases bring together;
the rest on the dev cases of the sample and of the real handbooks, by how much more of the evidence
is found. Test and sealed splits are not touched. Writes docs/results/without-model.md. Run: python
benchmarks/quality/without_model.py, with the homes of the two workspaces where they are not sample
and .bench/handbooks."""

import hashlib
import sys
import tomllib
from collections.abc import Iterator, Sequence
from datetime import date
from math import sqrt
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from ombud.app import asking

sys.path.append(str(Path(__file__).parents[1] / "speed"))
from record import ROOT, commit, say

from ombud.app import Workspace
from ombud.lab import parse_metrics, read_cases, score, select_split
from ombud.retrieve import (
    aside_free,
    both_ways,
    carry_over,
    find_contradictions,
    find_passages,
    question_parts,
    read_glossary,
    standard_query,
)
from ombud.store import Store, find_document, list_abbreviations
from ombud.text.sentences import split_sentences
from ombud.types import Case, Chunk, Evidence, Hit, Observation, Query, Question

METRICS = ("quote_recall@5", "quote_recall@1000w", "page_recall@5", "mrr")
PAIRS = ROOT / "tests/data/contradictions.toml"
UNSEEN = ROOT / "tests/data/contradictions-unseen.toml"


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
        labelled(corpora[1].workspace.store),
        searched(corpora),
        follow_ups(corpora),
        doubles(corpora),
        abbreviated(corpora),
    ):
        lines += [*section, ""]
    target = ROOT / "docs/results/without-model.md"
    target.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    print(target.read_text(encoding="utf-8"))


# Contradictions -----------------------------------------------------------------------------------


def labelled(store: Store) -> Iterator[str]:
    yield "## Contradictions: labelled pairs"
    yield ""
    yield "| pairs | contradictions | reported | precision | recall |"
    yield "|---|---|---|---|---|"
    seen = tomllib.loads(PAIRS.read_text(encoding="utf-8"))["pair"]
    yield _shares("made with the rules", [(bool(pair["kind"]), _evidence(pair)) for pair in seen])
    unseen = tomllib.loads(UNSEEN.read_text(encoding="utf-8"))["pair"]
    for name, number in (("set 1, seen before the last rule", 1), ("**set 2, unseen**", 2)):
        some = [pair for pair in unseen if pair["set"] == number]
        yield _shares(name, [(pair["contradicts"], _real(store, pair)) for pair in some])


def _shares(name: str, pairs: Sequence[tuple[bool, Evidence]]) -> str:
    reported = [real for real, evidence in pairs if find_contradictions(evidence)]
    right, real = sum(reported), sum(real for real, _ in pairs)
    shares = f"{_share(right, len(reported))} | {_share(right, real)}"
    return f"| {name}: {len(pairs)} | {real} | {len(reported)} | {shares} |"


def _share(part: int, whole: int) -> str:
    """With Wilson's 95 % interval: Wilson, JASA 22, 1927."""
    share, z = part / whole, 1.96
    middle, spread = (
        share + z * z / (2 * whole),
        z * sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole)),
    )
    low, high = ((middle + sign * spread) / (1 + z * z / whole) for sign in (-1, 1))
    return f"{share:.2f} [{max(0, low):.2f}, {min(1, high):.2f}]"


def _real(store: Store, pair: dict[str, Any]) -> Evidence:
    """The first sentence is read from its page."""
    document = find_document(store, pair["uri"])
    said = (document.text[start:end].strip() for start, end in split_sentences(document.text))
    first = next(
        text for text in said if hashlib.sha256(text.encode()).hexdigest()[:16] == pair["sha256"]
    )
    told = {"first": {"title": pair["title"], "text": first}}
    return _evidence({**told, "second": {"title": pair["other_title"], "text": pair["other"]}})


def searched(corpora: Sequence[Corpus]) -> Iterator[str]:
    yield "## Contradictions: in searches"
    yield ""
    yield "| corpus | searches | with one | different ones |"
    yield "|---|---|---|---|"
    said: dict[tuple[str, str, str], None] = {}
    for corpus in corpora:
        found = [
            find_contradictions(corpus.found(case, [standard_query(_question(case), None)]))
            for case in corpus.cases
        ]
        ones = {(one.kind, one.first_says, one.second_says) for some in found for one in some}
        said |= dict.fromkeys(sorted(ones))
        yield f"| {corpus.name} | {len(found)} | {sum(map(bool, found))} | {len(ones)} |"
    yield ""
    for kind, first, second in said:
        yield f"* {kind}: “{first}” – “{second}”"


def _evidence(pair: dict[str, Any]) -> Evidence:
    chunks = []
    for side in ("first", "second"):
        told = pair[side]
        identity, days = (
            told.get("document", side),
            {"effective_from": "from", "effective_to": "until"},
        )
        chunks.append(
            Chunk(
                id=side,
                document_id=identity,
                uri=identity,
                start=0,
                end=len(told["text"]),
                countries=(told["country"],) if "country" in told else (),
                trail=tuple(told.get("trail", ())),
                **{
                    key: told[key]
                    for key in ("title", "text", "mandatory", "header")
                    if key in told
                },
                **{
                    field: date.fromisoformat(told[key])
                    for field, key in days.items()
                    if key in told
                },
            )
        )
    hits = [Hit(chunk=chunk, score=1) for chunk in chunks]
    return Evidence(
        local=tuple(hit for hit in hits if hit.chunk.countries),
        shared=tuple(h for h in hits if not h.chunk.countries),
    )


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
