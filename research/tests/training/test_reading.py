"""What the small reader is taught with."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from research import ROOT
from research.training.reader.examples import (
    ReadingExample,
    WordSearch,
    squad_examples,
    without_answers,
    words_of,
)
from research.training.reader.lists import (
    Kind,
    ListedPassage,
    ReadingList,
    fold_cases,
    generic_lists,
    lesson_of,
    organisation_lists,
    read_organisations,
)
from research.training.reader.pretrained import Pretrained
from research.training.reader.rows import encode_lists

TAUGHT = ROOT / "research/training/reader"
EXAMPLES = TAUGHT / "examples.jsonl"
ORGANISATIONS = TAUGHT / "organisations.jsonl"
LEFT = (
    "The form stands in the portal and is sent to the payroll team by the tenth of the month. "
    "Whoever sends it later is paid with the month after, and hears of it by mail from them first."
)
DAIRY = {
    "passages": [
        {"heading": "Pay > When", "pieces": ["Pay day is the 25th.", "- Bonuses: in May."]},
        {"heading": "Pay > Slips", "pieces": ["Slips are in the portal."]},
        {"heading": "Leave", "pieces": ["You have 25 days.", "They lapse in March."]},
    ],
    "asks": [
        {"question": "when do i lose my days", "style": "plain", "answers": [[2, 1]]},
        {"question": "who pays for parking", "style": "near", "answers": []},
    ],
}


def example(*pieces: str, answering: tuple[int, ...]) -> ReadingExample:
    return ReadingExample("when am I paid", "Pay", pieces, answering, "answered", "one")


def test_what_answers_is_cut_out_and_the_subject_stays() -> None:
    cut = without_answers(example("Pay day is the 25th.", LEFT, answering=(0,)))
    assert cut
    assert cut.pieces == [LEFT]
    assert cut.answering == ()
    assert cut.kind == "cut"


def test_where_little_would_be_left_nothing_is_cut() -> None:
    assert without_answers(example("Pay day is the 25th.", "Thanks.", answering=(0,))) is None


def test_a_question_is_taught_with_its_sentence_and_another_paragraph(tmp_path: Path) -> None:
    text = "Ada wrote the first program. She was born in London in 1815."
    other = "The first program for pupils began in Leeds. Nobody knows who wrote it."
    asked = {"question": "Who wrote the first program?", "id": "1"}
    answers = [{"text": "Ada", "answer_start": 0}] * 2
    paragraphs = [
        {"context": text, "qas": [{**asked, "answers": answers}]},
        {"context": other, "qas": []},
    ]
    path = tmp_path / "squad.json"
    path.write_text(json.dumps({"data": [{"paragraphs": paragraphs}]}), encoding="utf-8")
    (one,) = generic_lists(squad_examples(path, "ada", by_article=True, seed=1))
    assert one.question == "Who wrote the first program?"
    answered, other_passage = one.passages
    assert answered.pieces[answered.answering[0]].startswith("Ada wrote")
    assert not other_passage.answering
    assert "Leeds" in other_passage.pieces[0] or "Nobody" in other_passage.pieces[0]


def test_the_passage_with_the_rare_words_is_found_first() -> None:
    texts = ["the car park opens at six", "the bicycle shed is open", "the canteen is open"]
    search = WordSearch(list(map(words_of, texts)))
    assert search.best(words_of("when does the car park open"), 3)[0] == 0


def test_an_ask_of_an_organisation_is_listed_as_it_is_written() -> None:
    answered, near = organisation_lists(DAIRY)
    assert answered.is_answered
    assert [list(passage.answering) for passage in answered.passages] == [[], [], [1]]
    assert [passage.heading for passage in answered.passages] == [
        "Pay: When",
        "Pay: Slips",
        "Leave",
    ]
    assert not near.is_answered
    assert all(not passage.answering for passage in near.passages)


def test_for_teaching_what_answers_stands_first_and_some_items_lose_their_dash() -> None:
    rng = random.Random(0)
    items: set[str] = set()
    for _ in range(20):
        answered, _ = organisation_lists(DAIRY, rng)
        first = answered.passages[0]
        assert [first.pieces[place] for place in first.answering] == ["They lapse in March."]
        assert sorted(passage.heading for passage in answered.passages[1:]) == [
            "Pay: Slips",
            "Pay: When",
        ]
        items |= {passage.pieces[-1] for passage in answered.passages if "When" in passage.heading}
    assert items == {"- Bonuses: in May.", "Bonuses: in May."}


def test_cases_that_share_a_document_by_way_of_others_share_a_fold() -> None:
    needed: dict[str, list[str]] = {f"alone-{n}": [f"page-{n}"] for n in range(9)}
    needed |= {"one": ["a", "b"], "two": ["b", "c"], "three": ["c"], "nothing": []}
    folds = fold_cases(needed)
    assert folds.of_case["one"] == folds.of_case["two"] == folds.of_case["three"]
    assert folds.of_document["a"] == folds.of_document["c"] == folds.of_case["one"]
    assert folds.of_case["nothing"] in range(4)
    sizes = Counter(folds.of_case[name] for name in needed if name != "nothing")
    assert sorted(sizes.values()) == [3, 3, 3, 3]


def a_list(kind: Kind, fold: int | None = None) -> ReadingList:
    return ReadingList("q", [ListedPassage("", ["a"], [0])], kind, is_answered=True, fold=fold)


def test_a_fold_is_taught_without_its_cases_and_what_rests_on_their_pages() -> None:
    lists = [a_list("case", 0), a_list("case", 1), a_list("own", 0), a_list("own", 2)]
    lists += [a_list("organisation"), a_list("unlabelled"), a_list("generic")]
    without = lesson_of(lists, 0)
    assert sorted(without.labelled) == [1, 1, 3, 4, 6]
    assert without.unlabelled == [5]
    assert without.held_out == [0]
    everything = lesson_of(lists, None)
    assert sorted(everything.labelled) == [0, 0, 1, 1, 2, 3, 4, 6]
    assert everything.held_out == []


def test_rows_are_what_the_product_reads_with_the_networks_own_marks() -> None:
    one = ReadingList(
        "when am I paid",
        [
            ListedPassage("Pay", ["Pay day is the 25th.", "Not on Sundays."], [0], stays=True),
            ListedPassage("", ["Slips are in the portal."], [], weight=0.5),
        ],
        "own",
        is_answered=True,
    )
    encoded = encode_lists([one], Pretrained({}, words_tokenizer(), layers=1, begin=7, end=9))
    first = slice(encoded.first_tokens[0], encoded.first_tokens[1])
    asked = ["when", "am", "i", "paid"]
    read = [*asked, "pay", ":", "pay", "day", "is", "the", "25th", ".", "not", "on", "sundays", "."]
    ids = [word_id(word) for word in read]
    assert encoded.ids[first].tolist() == [7, *ids[:4], 9, *ids[4:], 9]
    assert encoded.pieces[first].tolist() == [-1] * 8 + [0] * 6 + [1] * 4 + [-1]
    assert encoded.asked.tolist() == [6, 6]
    assert encoded.answers.tolist() == [1, 0]
    assert encoded.piece_answers.tolist() == [1, 0, 0]
    assert encoded.weights.tolist() == [1, 0.5]
    assert encoded.stays.tolist() == [True, False]


TEXT = "when am i paid pay : day is the 25th . not on sundays slips are in portal"
WORDS = TEXT.split()


def word_id(word: str) -> int:
    return 20 + WORDS.index(word)


def words_tokenizer() -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({word: word_id(word) for word in WORDS}, "."))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer


def test_our_own_examples_are_of_every_style_and_hold_no_text_of_a_handbook() -> None:
    rows = [json.loads(line) for line in EXAMPLES.read_text(encoding="utf-8").splitlines()]
    styles = Counter(row["style"] for row in rows)
    assert len(rows) >= 5000
    assert set(styles) == {"plain", "terse", "typos", "own", "story", "follow", "near"}
    assert styles["near"] >= len(rows) / 3
    for row in rows:
        assert bool(row["answers"]) == (row["style"] != "near")
        assert all(row["start"] <= start < end for start, end in row["answers"])
        assert not {"text", "passage", "pieces"} & set(row)


@pytest.mark.parametrize(("held_out", "count"), [(False, 130), (True, 37)])
def test_each_organisation_has_its_pages_and_its_asks(held_out: bool, count: int) -> None:
    organisations = list(read_organisations(ORGANISATIONS, held_out=held_out))
    assert len(organisations) == count
    for organisation in organisations:
        passages = organisation["passages"]
        assert len(passages) == 10
        asks = organisation["asks"]
        assert Counter(bool(ask["answers"]) for ask in asks) == {True: 28, False: 12}
        for ask in asks:
            assert bool(ask["answers"]) == (ask["style"] != "near")
            assert len({tuple(answer) for answer in ask["answers"]}) == len(ask["answers"])
            for page, piece in ask["answers"]:
                assert passages[page]["pieces"][piece].strip()


def test_no_organisation_that_teaches_is_held_out_too() -> None:
    names = [
        organisation["organisation"]
        for held_out in (True, False)
        for organisation in read_organisations(ORGANISATIONS, held_out=held_out)
    ]
    assert len(set(names)) == len(names)
