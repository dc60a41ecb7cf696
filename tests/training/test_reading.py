"""What the small reader is taught with."""

import json
from collections import Counter
from pathlib import Path

from ombud.training.reader import ReadingExample, squad_examples, without_answers
from ombud.training.reader.examples import WordSearch, words_of

EXAMPLES = Path(__file__).parents[2] / "src/ombud/training/reader/examples.jsonl"
LEFT = (
    "The form stands in the portal and is sent to the payroll team by the tenth of the month. "
    "Whoever sends it later is paid with the month after, and hears of it by mail from them first."
)


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
    by_kind = {row.kind: row for row in squad_examples(path, "ada", by_article=True, seed=1)}
    assert by_kind["answered"].pieces[by_kind["answered"].answering[0]].startswith("Ada wrote")
    assert by_kind["other"].answering == ()
    assert "Leeds" in by_kind["other"].pieces[0] or "Nobody" in by_kind["other"].pieces[0]


def test_the_passage_with_the_rare_words_is_found_first() -> None:
    texts = ["the car park opens at six", "the bicycle shed is open", "the canteen is open"]
    search = WordSearch(list(map(words_of, texts)))
    assert search.best(words_of("when does the car park open"), 3)[0] == 0


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
