"""`ombud lab agree` and `align`, as scripts call them."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ombud.cli.verbs import app

RATINGS = """item,rater,criterion,value
a,ann,tact,1
a,bob,tact,2
b,ann,tact,4
b,bob,tact,4
c,ann,tact,5
c,bob,tact,
"""


def said(*words: str | Path, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["lab", *map(str, words)])
    assert result.exit_code == code, result.output
    return result.output


def told(*words: str | Path) -> dict[str, Any]:
    return dict(json.loads(said(*words, "--json")))


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    path = tmp_path / "ratings.csv"
    path.write_text(RATINGS, encoding="utf-8")
    return path


def test_agreement_as_json_and_for_people(ratings: Path) -> None:
    found = told("agree", ratings)
    (tact,) = found["criteria"]
    assert (found["missing"], tact["items"], tact["alone"], tact["raters"]) == (1, 2, 1, 2)
    assert tact["percentage"]["value"] == 0.5
    assert tact["concerns"] == [{"item": "a", "ratings": {"ann": 1.0, "bob": 2.0}}]
    assert "they differ on a: ann 1, bob 2" in said("agree", ratings)


def test_alignment_with_scores_and_more_scores_than_ratings(ratings: Path, tmp_path: Path) -> None:
    scores = tmp_path / "scores.jsonl"
    rows = [
        {"item": name, "value": value}
        for name, value in zip("abcdef", (1, 4, 5, 2, 3, 3), strict=True)
    ]
    scores.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (tact,) = told("align", "--labels", ratings, "--scores", scores)["criteria"]
    assert (tact["items"], tact["points"], tact["unscored"]) == (3, 5, 0)
    # Ranks 1, 2, 3.5, 3.5, 5 beside 1.5, 1.5, 3.5, 3.5, 5.
    assert tact["spearman"]["value"] == pytest.approx(9 / (9.5 * 9) ** 0.5)
    assert tact["classes"]["agreement"]["value"] == 0.8
    assert tact["people"]["pearson"]["value"] == pytest.approx(1.0)
    assert tact["powered"]["value"] == pytest.approx(2.83, abs=0.2)
    assert "people with each other" in said("align", "--labels", ratings, "--scores", scores)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("item,score\na,1\n", "no column `value`"),
        ("item,value\na,good\n", "line 2: `good` is no number"),
        ("item,value\na,nan\n", "line 2: `nan` is no number"),
        ("item,value\n,1\n", "line 2: no item is named"),
        ("item,value\n", "There are no ratings"),
    ],
)
def test_what_is_no_table_of_ratings_names_the_line(
    tmp_path: Path, text: str, sentence: str
) -> None:
    path = tmp_path / "wrong.csv"
    path.write_text(text, encoding="utf-8")
    assert sentence in said("agree", path, code=2)


def test_what_cannot_be_asked_is_said(ratings: Path) -> None:
    assert "Nobody rated `wit`" in said("agree", ratings, "--criterion", "wit", code=2)
    assert "Give --scores or --metric" in said("align", "--labels", ratings, code=2)
    wrong = said("align", "--labels", ratings, "--metric", "recall@8", code=2)
    assert "compares no texts" in wrong
    bare = said("align", "--labels", ratings, "--metric", "token_f1", code=2)
    assert "hold no answers" in bare
