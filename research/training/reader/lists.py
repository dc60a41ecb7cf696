"""Lists that the reader is taught with: a question, the passages beside it, and which of their
pieces answer. It learns to tell the piece that answers from all others of its list."""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

from research.training.reader.examples import ReadingExample

Kind = Literal["generic", "own", "organisation", "case", "unlabelled"]
"""generic: of texts in the format of SQuAD. own: `examples.jsonl`. organisation:
`organisations.jsonl`. case: of the dev split. unlabelled: nobody has looked what answers."""
FOLDS = 4
CASES_TIMES = 2
"""How often a pass takes each case; they are few, and nearest to what is asked."""
MOST_GENERIC = 2500
"""Generic lists beside the others, so that what they taught stays."""
BARE_ITEMS = 0.5
"""Share of list items of organisations that are taught without their dash."""


class ListedPassage(NamedTuple):
    heading: str
    pieces: Sequence[str]
    """Sentences, list items and rows, in reading order."""
    answering: Sequence[int]
    """Places among the pieces."""
    weight: float = 1.0
    """How much it counts that nothing else answers: 1 where somebody has read it, less where it
    was only found, 0 where nobody has looked."""
    stays: bool = False
    """Kept where a list is too long, as are those that answer."""


class ReadingList(NamedTuple):
    question: str
    passages: Sequence[ListedPassage]
    kind: Kind
    is_answered: bool
    """By the documents; perhaps by a passage that was not found."""
    fold: int | None = None
    """Networks of this fold are not taught with it; None: of no fold."""


class Folds(NamedTuple):
    of_case: Mapping[str, int]
    of_document: Mapping[str, int]


class Lesson(NamedTuple):
    """Places of lists."""

    labelled: Sequence[int]
    """Those that are taken more than once a pass stand there more than once."""
    unlabelled: Sequence[int]
    held_out: Sequence[int]


def lesson_of(lists: Sequence[ReadingList], fold: int | None) -> Lesson:
    """What is taught without the lists of a fold, and its cases. None: nothing is held out."""
    of_kind: dict[Kind, list[int]] = defaultdict(list)
    held_out: list[int] = []
    for place, one in enumerate(lists):
        if fold is None or one.fold != fold:
            of_kind[one.kind].append(place)
        elif one.kind == "case":
            held_out.append(place)
    generic = of_kind["generic"]
    if len(generic) > MOST_GENERIC:
        generic = random.Random(2).sample(generic, MOST_GENERIC)
    labelled = [*of_kind["own"], *of_kind["organisation"], *of_kind["case"] * CASES_TIMES, *generic]
    return Lesson(labelled, of_kind["unlabelled"], held_out)


def fold_cases(documents: Mapping[str, Sequence[str]]) -> Folds:
    """Cases that share a document, be it by way of others, share a fold; folds are about equal.

    documents: id of a case -> those that answer it. A case without any has a fold by its id."""
    leader: dict[str, str] = {}

    def leader_of(document: str) -> str:
        while leader.setdefault(document, document) != document:
            document = leader[document]
        return document

    for needed in documents.values():
        for document in needed[1:]:
            leader[leader_of(document)] = leader_of(needed[0])
    counts = Counter(leader_of(needed[0]) for needed in documents.values() if needed)
    fold_of: dict[str, int] = {}
    load = [0] * FOLDS
    for first, count in counts.most_common():
        fold_of[first] = load.index(min(load))
        load[fold_of[first]] += count
    of_case: dict[str, int] = {}
    for case, needed in documents.items():
        by_id = int(sha256(case.encode()).hexdigest(), 16) % FOLDS
        of_case[case] = fold_of[leader_of(needed[0])] if needed else by_id
    return Folds(of_case, {document: fold_of[leader_of(document)] for document in list(leader)})


def generic_lists(examples: Iterable[ReadingExample]) -> list[ReadingList]:
    """A list of each question: its passage, the same without what answers, and another one."""
    of_question: dict[str, list[ReadingExample]] = defaultdict(list)
    for example in examples:
        of_question[example.group].append(example)
    lists: list[ReadingList] = []
    for rows in of_question.values():
        passages = [ListedPassage(row.heading, row.pieces, row.answering) for row in rows]
        lists.append(ReadingList(rows[0].question, passages, "generic", is_answered=True))
    return lists


def read_organisations(path: Path, *, held_out: bool) -> Iterator[Mapping[str, Any]]:
    """The lines of `organisations.jsonl` that teach, or those that are held out."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            organisation = json.loads(line)
            if organisation["held_out"] == held_out:
                yield organisation


def organisation_lists(
    organisation: Mapping[str, Any], rng: random.Random | None = None
) -> Iterator[ReadingList]:
    """A list of each ask: all passages, those that answer first, the others by chance.

    rng: for teaching; list items lose their dash here and there. Without it all is as written."""
    pages: list[tuple[str, list[str]]] = []
    for passage in organisation["passages"]:
        pieces: list[str] = []
        for piece in passage["pieces"]:
            is_bare = rng is not None and rng.random() < BARE_ITEMS
            pieces.append(piece.lstrip("- ") if is_bare else piece)
        pages.append((passage["heading"].replace(" > ", ": "), pieces))
    for ask in organisation["asks"]:
        answering: dict[int, list[int]] = defaultdict(list)
        for place, piece in ask["answers"]:
            answering[place].append(piece)
        order = list(range(len(pages)))
        if rng is not None:
            rng.shuffle(order)
            order.sort(key=lambda place: place not in answering)
        passages = [ListedPassage(*pages[place], answering.get(place, [])) for place in order]
        yield ReadingList(ask["question"], passages, "organisation", is_answered=bool(answering))
