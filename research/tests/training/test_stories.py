"""Teaching which matter a story is about."""

import numpy as np

from research.training.stories import judge_stories, story_messages, train_stories
from research.training.triage.data import LabelledMessage


def messages() -> list[LabelledMessage]:
    rows = []
    for number in range(20):
        source = f"s{number}"
        rows.append(LabelledMessage("a death", "sensitive", kind="bereavement", source=source))
        rows.append(LabelledMessage("a threat", "sensitive", kind="violence", source=source))
        rows.append(LabelledMessage("a form", "ordinary", source=source))
    return rows


def vectors(rows: list[LabelledMessage]) -> np.ndarray:
    places = {"a death": 0, "a threat": 1, "a form": 2}
    return np.eye(3)[[places[row.text] for row in rows]]


def test_matters_that_lie_apart_are_told_apart() -> None:
    rows = messages()
    scores = judge_stories(rows, vectors(rows))
    assert (scores.seen, scores.mistaken, scores.matter) == (1.0, 0.0, 1.0)
    assert (scores.stories, scores.others) == (40, 20)


def test_the_weights_name_the_matters_and_their_embedder() -> None:
    rows = messages()
    weights = train_stories(rows, vectors(rows), "letters-1")
    assert weights["matters"] == ["bereavement", "none", "violence"]
    assert weights["embedder"] == "letters-1"
    assert np.array(weights["coefficients"]).shape == (3, 3)


def test_what_is_out_of_scope_teaches_nothing() -> None:
    rows = [*messages(), LabelledMessage("a joke", "out_of_scope", kind="general")]
    assert story_messages(rows) == messages()


def test_what_the_embedder_does_not_read_teaches_nothing() -> None:
    rows = [*messages(), LabelledMessage("ein Scherz", "ordinary")]
    assert story_messages(rows) == messages()
