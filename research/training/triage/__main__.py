"""Teaches the linear heads of triage and calibrates its thresholds: `python -m
research.training.triage`.

Thresholds come from messages that did not teach the encoder, each judged by heads that did not learn
from it: one source in ten, and the sets under `calibration/`, written blind. Run `fine_tune` first."""

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ombud.answer.triage.classifier import (
    HEADS,
    TRIAGE_READING,
    UNREACHED,
    WEIGHTS,
    Head,
    Scores,
    Thresholds,
    TriageClassifier,
    open_encoder,
)
from ombud.models import linear
from ombud.text import message_language
from research.training.linear import Recipe, TrainingTexts, fit_linear
from research.training.triage.data import (
    FOLDER,
    WRITTEN,
    LabelledMessage,
    is_held_out,
    label_of,
    read_messages,
    teaches,
)

PARTS = {"words": 1.0, "letters": 1.0}
RECIPES: Mapping[Head, Recipe] = {
    "sensitive": Recipe(PARTS, strictness=8.0, least=4),
    "danger": Recipe(PARTS, strictness=8.0, least=5),
    "topic": Recipe(PARTS, strictness=4.0, least=12),
    "scope": Recipe(PARTS, strictness=4.0, least=12),
    "person": Recipe(PARTS, strictness=8.0, least=3),
}
"""Chosen on the calibration sets: with less regularisation and rare terms the sensitive head finds
.92 in place of .77 of what is not English, at .01 of the ordinary handed over."""
HANDED_OVER = 0.01
"""Share of the ordinary messages that may be handed to a person."""
OFFERED = 0.1
"""Share of the ordinary messages whose answers may offer one as well."""
ALARMED = 0.0
"""Share of the ordinary messages that may be shown an emergency number."""
HELPLINES_SHOWN = 0.02
"""Share of the ordinary messages that may be shown helplines."""
ASKED = 0.03
"""Share of the look-alikes that may be taken for requests for a person."""
MISTAKEN = 0.005
"""The same of all other ordinary messages."""
REFUSED = 0.0
"""Share of the messages on policies that may be called out of scope, where no document is near."""
NEAR = 0.2
"""Of the threshold of `sensitive`: as likely must a message with a term of sensitive.toml be. Finds
as many of these as .05, and takes fewer ordinary messages for one (13 in place of 16 of 1,015)."""
FOLDS = 4
CALIBRATION = FOLDER / "calibration"
CACHE = Path("~/.cache/ombud-research").expanduser()


def main() -> None:
    messages = read_messages()
    taught = [message for message in messages if not is_held_out(message.source)]
    alike = [m for m in messages if is_held_out(m.source) and m.source.startswith("train")]
    judged = [*alike, *read_calibration()]
    scores = _cross_fitted(taught, judged)
    english = [place for place, m in enumerate(judged) if message_language(m.text) == "en"]
    others = [place for place in range(len(judged)) if place not in set(english)]
    thresholds = {}
    for kind, places in (("with_encoder", english), ("linear_only", others)):
        of_kind = [judged[place] for place in places]
        thresholds[kind] = _calibrate([scores[place] for place in places], of_kind)
    _write(WEIGHTS, _heads([*taught, *judged]), thresholds)
    print(json.dumps({kind: row._asdict() for kind, row in thresholds.items()}, indent=2))


def _cross_fitted(taught: list[LabelledMessage], judged: list[LabelledMessage]) -> list[Scores]:
    """Return scores of the judged messages by heads that learned from the others among them."""
    encoder = open_encoder(CACHE)
    scores: list[Scores] = [Scores()] * len(judged)
    with TemporaryDirectory() as folder:
        for fold in range(FOLDS):
            rest = [m for place, m in enumerate(judged) if place % FOLDS != fold]
            path = Path(folder) / f"{fold}.json"
            _write(
                path,
                _heads([*taught, *rest]),
                {"with_encoder": UNREACHED, "linear_only": UNREACHED},
            )
            classifier = TriageClassifier(lambda: encoder, path)
            for place in range(fold, len(judged), FOLDS):
                scores[place] = classifier.scores(judged[place].text)
    return scores


def _heads(messages: list[LabelledMessage]) -> dict[Head, linear.LinearWeights]:
    return {head: _fit(messages, head) for head in HEADS}


def _write(
    path: Path,
    heads: Mapping[Head, linear.LinearWeights],
    thresholds: Mapping[str, Thresholds],
) -> None:
    record: dict[str, Any] = {
        "heads": {head: linear.as_record(weights) for head, weights in heads.items()}
    }
    for kind, row in thresholds.items():
        record[kind] = {name: round(value, 5) for name, value in row._asdict().items()}
    path.write_text(linear.to_json(record), encoding="utf-8")


def read_calibration() -> list[LabelledMessage]:
    """Return the messages that were written blind to calibrate thresholds."""
    messages: list[LabelledMessage] = []
    for path in sorted(CALIBRATION.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if "asks_person" in row:
                label = "person" if row["asks_person"] else "ordinary"
            else:
                label = "sensitive" if path.stem == "sensitive" else "ordinary"
            text = row.get("text") or row["question"]
            danger = bool(row.get("danger"))
            message = LabelledMessage(text, label, row.get("kind", ""), danger, path.stem, WRITTEN)
            messages.append(message)
    return messages


def _fit(messages: list[LabelledMessage], head: Head) -> linear.LinearWeights:
    learned = [message for message in messages if teaches(message, head)]
    texts = TrainingTexts(
        texts=[message.text for message in learned],
        labels=[label_of(message, head) for message in learned],
        groups=[message.source for message in learned],
        importance=[message.importance for message in learned],
    )
    return fit_linear(texts, RECIPES[head], TRIAGE_READING)._replace(variant=head)


def _calibrate(scores: list[Scores], messages: list[LabelledMessage]) -> Thresholds:
    ordinary = np.array([message.label == "ordinary" for message in messages])
    alike = ordinary & np.array(["persons" in message.source for message in messages])
    inside = np.array([message.label != "out_of_scope" for message in messages])
    sensitive = _least(_column(scores, "sensitive")[ordinary], HANDED_OVER)
    person = _column(scores, "person")
    return Thresholds(
        sensitive=sensitive,
        offered=_least(_column(scores, "sensitive")[ordinary], OFFERED),
        danger=_least(_column(scores, "danger")[ordinary], ALARMED),
        term=NEAR * sensitive,
        distress=_least(_column(scores, "distress")[ordinary], HELPLINES_SHOWN),
        person=max(_least(person[alike], ASKED), _least(person[ordinary & ~alike], MISTAKEN)),
        outside=_least(_column(scores, "outside")[inside], REFUSED),
        injection=_least(_column(scores, "injection")[inside], REFUSED),
    )


def _column(scores: list[Scores], name: str) -> linear.Numbers:
    return np.array([getattr(row, name) for row in scores])


def _least(values: linear.Numbers, share: float) -> float:
    """Return the least threshold that at most `share` of the values reach."""
    descending = np.sort(values)[::-1]
    allowed = int(share * len(descending))
    return float(descending[allowed]) + 1e-4


if __name__ == "__main__":
    main()
