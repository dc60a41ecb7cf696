"""The lists that the small reader is taught with, found by the product's own search.

Of cases only those of dev, each with all that is found. Beside our own examples and everyday
matters no page stands on which a case of another split rests, of any set. Our own examples
(research/training/reader/examples.jsonl) hold no text of a handbook: their passages are laid out
again from ../shared as the chunker cuts them."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from asked import ASKED, HANDBOOKS, open_workspaces
from corpora import DATA
from record import say

from ombud.answer import AnswerSpan, candidate_spans, passage_of
from ombud.answer.quoting.spans import runs_of_chunks
from ombud.app import Workspace, library
from ombud.lab import read_cases, split_of
from ombud.lab.runs.freezing import question_of
from ombud.types import Case, Evidence, Hit, Passage, Person, Question
from research import ROOT
from research.training.calibrate import is_cited, labelled_cases, search_as_asked
from research.training.matters.texts import read_matters
from research.training.reader.examples import ReadingExample, squad_examples
from research.training.reader.lists import (
    ListedPassage,
    ReadingList,
    fold_cases,
    generic_lists,
    organisation_lists,
    read_organisations,
)

OWN = ROOT / "research/training/reader/examples.jsonl"
ORGANISATIONS = ROOT / "research/training/reader/organisations.jsonl"
GENERIC = (
    ("squadshifts_new_wiki", True),
    ("squadshifts_amazon_reviews", False),
    ("squadshifts_reddit", False),
    ("covidqa", True),
)
"""File of ../shared/data/reading, and whether others come from the same article."""
UNREAD_WEIGHT = 0.4
"""Of a passage that was found beside one of our own examples and read by nobody."""
PASSED_OVER = 0.7
"""Of a passage that was found for a case and is not cited: another place may say the same."""
MOST = 8
"""Passages of a list."""
OTHER_SETS = ("typos", "foreign", "logistics")
"""Asked sets whose cases are no lists."""
COUNTRIES = {**HANDBOOKS, "clef-us": "US", "sample": "GB"}
MATTERS_AT = {
    "sample": 3,
    "gsa-tts-us": 3,
    "turing-reg-uk": 2,
    "sourcegraph-global": 3,
    "clef-us": 1,
}
"""Organisation -> how often, beside the others, an everyday matter is asked there."""


class FoundPassage(NamedTuple):
    heading: str
    pieces: Sequence[str]
    spans: Sequence[AnswerSpan]

    @property
    def place(self) -> tuple[str, int, int]:
        chunk = self.spans[0].hit.chunk
        return chunk.uri, chunk.start, chunk.end


def taught_lists() -> list[ReadingList]:
    """All that teaches, of every kind."""
    HANDBOOKS["clef-us"] = "US"
    barred = barred_pages()
    say(f"{len(barred)} pages of other splits")
    cases, fold_of = case_lists()
    say(f"{len(cases)} lists of cases")
    workspaces = open_workspaces()
    own = list(own_lists(workspaces, barred, fold_of))
    say(f"{len(own)} of our own examples")
    unlabelled = list(matter_lists(workspaces, barred))
    say(f"{len(unlabelled)} of everyday matters, unlabelled")
    organisations: list[ReadingList] = []
    rng = random.Random(3)
    for organisation in read_organisations(ORGANISATIONS, held_out=False):
        organisations += organisation_lists(organisation, rng)
    say(f"{len(organisations)} of organisations")
    generic = general_lists()
    say(f"{len(generic)} generic")
    return [*cases, *own, *unlabelled, *organisations, *generic]


def held_out_lists() -> list[ReadingList]:
    """Of the organisations that teach nothing."""
    lists: list[ReadingList] = []
    for organisation in read_organisations(ORGANISATIONS, held_out=True):
        lists += organisation_lists(organisation)
    return lists


def barred_pages() -> set[str]:
    """uris of pages on which a case of a split other than dev rests."""
    barred: set[str] = set()
    others = [case for _, case in labelled_cases()]
    for name in OTHER_SETS:
        others += read_cases(ASKED / f"{name}.jsonl")
    for case in others:
        if split_of(case.id) != "dev":
            barred |= documents_of(case.evidence)
    for line in (ASKED / "turns.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if split_of(row["id"]) != "dev":
            for turn in row["turns"]:
                barred |= set(turn.get("pages", ()))
    return barred


def documents_of(evidence: Sequence[Passage]) -> set[str]:
    return {place.document for item in evidence for place in item.places}


def case_lists() -> tuple[list[ReadingList], Mapping[str, int]]:
    """A list of each case of dev, and the fold of each document that answers one."""
    cases: dict[str, tuple[Workspace, Case]] = {}
    for workspace, case in labelled_cases():
        if case.expect in ("answer", "deny") and split_of(case.id) == "dev":
            cases[case.id] = workspace, case
    folds = fold_cases(
        {name: sorted(documents_of(case.evidence)) for name, (_, case) in cases.items()}
    )
    lists: list[ReadingList] = []
    for name, (workspace, case) in cases.items():
        listed = list_of_case(workspace, case, folds.of_case[name])
        if listed.passages:
            lists.append(listed)
    return lists, folds.of_document


def list_of_case(workspace: Workspace, case: Case, fold: int) -> ReadingList:
    text, found = found_passages(workspace, question_of(case))
    is_answered = case.expect == "answer"
    passages: list[ListedPassage] = []
    for one in found:
        answering = [n for n, span in enumerate(one.spans) if is_cited(span, case)]
        weight = PASSED_OVER if is_answered and not answering else 1.0
        passages.append(ListedPassage(one.heading, one.pieces, answering, weight))
    return ReadingList(text, passages, "case", is_answered, fold)


def found_passages(workspace: Workspace, question: Question) -> tuple[str, list[FoundPassage]]:
    """All that is asked, as it is searched for, and what the search finds."""
    found = search_as_asked(workspace, question, "hybrid")
    spans = candidate_spans(found.evidence)
    passages: list[FoundPassage] = []
    for run in runs_of_chunks(spans):
        mine = [spans[place] for place in run]
        passage = passage_of(mine)
        passages.append(FoundPassage(passage.heading, passage.pieces, mine))
    return found.queries[0].passage, passages


def asked_at(organisation: str, question: str) -> Question:
    """As somebody who works there asks."""
    country = COUNTRIES[organisation]
    return Question(text=question, asker=Person(country=country) if country else Person())


def own_lists(
    workspaces: Mapping[str, Workspace], barred: set[str], fold_of: Mapping[str, int]
) -> Iterator[ReadingList]:
    """A list of each of our own examples: its passage, then those that the search finds."""
    passages = {name: passages_of(workspace) for name, workspace in workspaces.items()}
    for line in OWN.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        organisation = row["organisation"]
        place = (row["uri"], row["start"], row["end"])
        spans = passages[organisation].get(place)
        if spans is None:
            raise SystemExit(f"{row['uri']}: another text than was asked about; chunker or source?")
        listed = [laid_out(row, spans)]
        question = asked_at(organisation, row["question"])
        text, found = found_passages(workspaces[organisation], question)
        for one in found:
            if one.place != place and one.place[0] not in barred:
                listed.append(beside(row, one))
        fold = fold_of.get(row["uri"])
        yield ReadingList(text, listed[:MOST], "own", bool(row["answers"]), fold)


def passages_of(workspace: Workspace) -> dict[tuple[str, int, int], Sequence[AnswerSpan]]:
    """(uri, start, end) -> the spans of that passage."""
    of_chunk: dict[tuple[str, int, int], Sequence[AnswerSpan]] = {}
    for chunk in library.passages(workspace):
        spans = candidate_spans(Evidence(shared=(Hit(chunk=chunk, score=1.0),)))
        if spans:
            of_chunk[chunk.uri, chunk.start, chunk.end] = spans
    return of_chunk


def laid_out(row: Mapping[str, Any], spans: Sequence[AnswerSpan]) -> ListedPassage:
    """The passage that somebody has read for this question."""
    passage = passage_of(spans)
    answering = answering_of(row, spans)
    if len(answering) != len(row["answers"]):
        raise SystemExit(f"{row['uri']}: sentences were cut otherwise when this was asked.")
    return ListedPassage(passage.heading, passage.pieces, answering, stays=True)


def answering_of(row: Mapping[str, Any], spans: Sequence[AnswerSpan]) -> list[int]:
    wanted = {tuple(answer) for answer in row["answers"]}
    return [n for n, span in enumerate(spans) if (span.start, span.end) in wanted]


def beside(row: Mapping[str, Any], found: FoundPassage) -> ListedPassage:
    """One that was found; another cut of the same page may hold the answer, too."""
    is_same_page = found.place[0] == row["uri"]
    answering = answering_of(row, found.spans) if is_same_page else []
    weight = 1.0 if answering else UNREAD_WEIGHT
    return ListedPassage(found.heading, found.pieces, answering, weight)


def matter_lists(workspaces: Mapping[str, Workspace], barred: set[str]) -> Iterator[ReadingList]:
    """How people ask about everyday matters, each asked at one organisation; only another network
    says what answers."""
    rng = random.Random(11)
    names = list(MATTERS_AT)
    for matter in read_matters():
        for ask in matter.asks:
            (name,) = rng.choices(names, list(MATTERS_AT.values()))
            text, found = found_passages(workspaces[name], asked_at(name, ask))
            passages: list[ListedPassage] = []
            for one in found:
                if one.place[0] not in barred:
                    passages.append(ListedPassage(one.heading, one.pieces, (), weight=0.0))
            if passages:
                yield ReadingList(text, passages[:MOST], "unlabelled", is_answered=False)


def general_lists() -> list[ReadingList]:
    examples: list[ReadingExample] = []
    for number, (name, by_article) in enumerate(GENERIC):
        path = Path(DATA / "reading" / f"{name}.json")
        examples += squad_examples(path, name, by_article=by_article, seed=number)
    return generic_lists(examples)
