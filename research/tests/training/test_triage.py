"""Teaching triage: the shipped messages, folds, thresholds, and how the weights are judged."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from typer.testing import CliRunner

from answer.asking import FILES, GB, ask, company
from ombud.answer import HEADS, open_fine_tuned
from ombud.answer.triage.features import TRIAGE_READING
from ombud.answer.triage.fine_tuned import judges
from ombud.answer.triage.weights import (
    SHIPPED,
    WITH_VECTORS,
    load_triage_weights,
    triage_scores,
    triage_weights_text,
)
from ombud.errors import BadRequest
from ombud.models import Embedder, open_embedder
from ombud.models.linear import design
from ombud.settings import ModelSettings
from research import ROOT
from research.training.linear import NO_EMBEDDER, TrainingEmbedder
from research.training.triage.__main__ import app
from research.training.triage.held_out import HeldOutLogits
from research.training.triage.judging import judge_triage, wilson_rate
from research.training.triage.labelled import messages_digest, read_labelled_messages
from research.training.triage.training import (
    FALSE_ALARMS_TOGETHER,
    SecondOpinion,
    choose_thresholds,
    cross_validate,
    fit,
    train,
    with_router_questions,
)

APART = ROOT / "tests" / "data" / "triage-apart.jsonl"


REPORT = ROOT / "docs/results/triage.md"


MESSAGES, HELD = read_labelled_messages(), read_labelled_messages(APART)


TAUGHT = with_router_questions(MESSAGES)


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    found = open_embedder(ModelSettings(), tmp_path_factory.mktemp("models"))
    assert found
    return found


@pytest.fixture(scope="module")
def opinion(tmp_path_factory: pytest.TempPathFactory) -> SecondOpinion:
    fine_tuned = open_fine_tuned(tmp_path_factory.mktemp("fine-tuned"))
    assert fine_tuned
    return SecondOpinion(HeldOutLogits(), fine_tuned)


def plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()


def test_the_shipped_set_is_as_large_as_it_should_be() -> None:
    labels = Counter(m.label for m in MESSAGES)
    hard = sum(m.hard for m in MESSAGES if m.label == "ordinary")
    assert labels["sensitive"] + hard >= 400
    assert labels["out_of_scope"] >= 200
    assert labels["ordinary"] - hard >= 200
    assert {m.kind for m in MESSAGES if m.label == "out_of_scope"} == {
        "general",
        "task",
        "other_company",
        "injection",
        "gibberish",
    }
    assert len({m.text for m in MESSAGES}) == len(MESSAGES)
    for source in {m.source for m in MESSAGES}:
        assert len({m.label for m in MESSAGES if m.source == source}) == 1


def test_no_held_out_message_is_a_training_message() -> None:
    words = [set(plain(m.text).split()) for m in HELD if plain(m.text)]
    for message in MESSAGES:
        mine = set(plain(message.text).split())
        assert not any(mine and len(mine & other) / len(mine | other) >= 0.6 for other in words)


@pytest.mark.parametrize("path", [SHIPPED, WITH_VECTORS])
def test_the_shipped_weights_say_what_they_were_taught(path: Path, minilm: Embedder) -> None:
    trained = load_triage_weights(path)
    assert trained.embedder == (minilm.fingerprint if path == WITH_VECTORS else "")
    assert {w.provenance["digest"] for w in trained.heads.values()} == {messages_digest(TAUGHT)}
    assert path.stat().st_size < 2_500_000


def test_every_message_has_a_second_opinion_that_had_not_seen_it(opinion: SecondOpinion) -> None:
    texts = [message.text for message in TAUGHT]
    has_one = opinion.held_out.of(texts).any(axis=1)
    assert has_one.tolist() == [judges(text) for text in texts]
    assert load_triage_weights(WITH_VECTORS).fine_tuned == opinion.fine_tuned.fingerprint
    with pytest.raises(BadRequest, match="No classifier that had not seen it"):
        opinion.held_out.of(["A message that nobody wrote."])


@pytest.mark.slow
def test_thresholds_are_chosen_on_what_was_held_out(
    minilm: Embedder, opinion: SecondOpinion
) -> None:
    tools = TrainingEmbedder(minilm.embed, minilm.fingerprint)
    folds = cross_validate(TAUGHT, tools)
    shipped = load_triage_weights(WITH_VECTORS)
    assert choose_thresholds(TAUGHT, folds) == pytest.approx(shipped.thresholds, abs=2e-3)
    judged = [place for place, message in enumerate(TAUGHT) if judges(message.text)]
    joined = {head: rows[judged] for head, rows in opinion.join(TAUGHT, folds).items()}
    messages = [TAUGHT[place] for place in judged]
    chosen = choose_thresholds(messages, joined, FALSE_ALARMS_TOGETHER)
    assert chosen == pytest.approx(shipped.joined, abs=2e-3)


def test_a_message_is_weighed_by_all_features_that_were_taught() -> None:
    texts = [*[message.text for message in HELD[:50]], "", "?", "xqzv"]
    trained = load_triage_weights(SHIPPED)
    found = triage_scores(texts, trained, None)
    for head, weights in trained.heads.items():
        features = design(texts, weights, TRIAGE_READING)
        table = csr_array((features.values, features.columns, features.starts), features.shape)
        scores = table @ weights.coefficients + weights.intercept
        powers = np.exp(weights.sharpness * scores)
        taught = powers / powers.sum(axis=1, keepdims=True)
        assert np.abs(found[head] - taught).max() < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("path", [SHIPPED, WITH_VECTORS])
def test_training_again_gives_the_shipped_weights(path: Path, minilm: Embedder) -> None:
    tools = NO_EMBEDDER
    if path == WITH_VECTORS:
        tools = TrainingEmbedder(minilm.embed, minilm.fingerprint).remembering()
    shipped, texts = load_triage_weights(path), [m.text for m in HELD][::4]
    found = triage_scores(texts, shipped, tools.embed)
    for head in HEADS:
        again = shipped._replace(heads={**shipped.heads, head: fit(TAUGHT, head, tools)})
        assert np.abs(triage_scores(texts, again, tools.embed)[head] - found[head]).max() < 0.02


@pytest.mark.parametrize(("variant", "path"), [("with vectors", WITH_VECTORS), ("words", SHIPPED)])
def test_the_report_has_the_held_out_figures_of_the_shipped_weights(
    variant: str, path: Path, minilm: Embedder, opinion: SecondOpinion
) -> None:
    report = REPORT.read_text(encoding="utf-8")
    section = report.split(f"### {variant}\n")[1].split("\nArea under")[0]
    (judged,) = judge_triage(
        variant,
        load_triage_weights(path),
        {"triage-apart": HELD},
        TrainingEmbedder(minilm.embed),
        opinion if path == WITH_VECTORS else None,
    )
    for one in judged.scores().rates:
        row = next(
            (line for line in section.splitlines() if line.startswith(f"| {one.name} |")), ""
        )
        said = f"{one.value:.3f}".lstrip("0") if one.value < 1 else "1.000"
        assert f"{said} [" in row.split("|")[4], f"{one.name}: {said}; run `make triage`"
    for name, rows in {"cross-validated": TAUGHT, "triage-apart": HELD}.items():
        assert re.search(rf"\| {name} \| {len(rows)} \|.*`{messages_digest(rows)}`", report)


def lines(path: Path, *rows: object) -> Path:
    path.write_text(
        "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows),
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize(
    "row",
    [
        "no json",
        "[]",
        '{"text": "a"}',
        '{"text": "", "label": "ordinary"}',
        '{"text": "a", "label": "odd"}',
    ],
)
def test_a_line_that_is_no_labelled_message_is_named(row: str, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=r"m\.jsonl, line 2"):
        read_labelled_messages(
            lines(tmp_path / "m.jsonl", {"text": "Fine?", "label": "ordinary"}, row)
        )


SMALL = [m for n, m in enumerate(MESSAGES) if n % 10 == 0]


@pytest.mark.slow
def test_a_verb_trains_and_a_setting_takes_the_weights(tmp_path: Path) -> None:
    rows = [
        {
            "text": m.text,
            "label": m.label,
            "kind": m.kind,
            "danger": m.danger,
            "hard": m.hard,
            "source": m.source,
        }
        for m in SMALL
    ]
    file, out = lines(tmp_path / "own.jsonl", *rows), tmp_path / "own.json"
    done = CliRunner().invoke(
        app,
        [
            str(file),
            "--no-vectors",
            "--out",
            str(out),
            "--held-out",
            str(APART),
            "--json",
            "--home",
            str(tmp_path),
        ],
    )
    assert done.exit_code == 0, done.output
    results = json.loads(done.stdout)["results"]
    assert [r["set"] for r in results] == ["cross-validated", "triage-apart"]
    assert results[1]["rates"]["sensitive found"]["of"] == 80
    assert triage_weights_text(train(with_router_questions(SMALL))) == out.read_text(
        encoding="utf-8"
    )
    shelf = company(
        tmp_path, files={"travel.md": FILES["travel.md"]}, answer={"triage": "own.json"}
    )
    assert ask(shelf.workspace, "I want to kill myself", GB).action == "handoff"
    shelf.workspace.close()


def test_thresholds_keep_their_shares() -> None:
    """Nine hundred ordinary messages whose probabilities are 0.000 to 0.999: at most 3.5 % reach the
    threshold of a person, 5 % that of being outside."""
    messages = [m for m in MESSAGES if m.label == "ordinary"][:300] * 3
    messages = messages[:900] + [m for m in MESSAGES if m.danger][:20]
    said = np.append(np.arange(900) / 900, np.full(20, 0.99))
    found: Any = {
        "sensitive": np.stack([1 - said, said], axis=1),
        "danger": np.stack([1 - said, said], axis=1),
        "scope": np.stack([1 - said, said / 2, said / 4, said / 4], axis=1),
    }
    at = choose_thresholds(messages, found)
    assert np.mean(said[:900] >= at.sensitive) <= 0.035 < np.mean(said[:900] >= at.sensitive - 0.01)
    assert np.mean(said[:900] >= at.outside) <= 0.05
    assert at.term < at.sensitive <= at.certain


def test_training_needs_every_class() -> None:
    with pytest.raises(BadRequest, match="Not each of"):
        train([m for m in SMALL if m.label != "out_of_scope"])


def test_the_interval_is_wilsons() -> None:
    """Ten of ten: 1/(1 + z²/n) = .722 (Wilson 1927; Newcombe 1998, table I)."""
    found = wilson_rate("x", [True] * 10)
    assert (found.value, round(found.low, 3), round(found.high, 3)) == (1.0, 0.722, 1.0)


def test_vectors_of_a_remote_embedder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "ombud.toml").write_text('[models]\nembedder = "openai:emb"\n', encoding="utf-8")
    done = CliRunner().invoke(app, ["--home", str(tmp_path), "--out", str(tmp_path / "own.json")])
    assert done.exit_code == 2
    assert "also sensitive ones, to openai:emb" in done.output
