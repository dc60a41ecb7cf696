"""Teaching MiniLM the messages of triage. Only `make fine-tuned-triage` has torch: elsewhere these are
skipped."""

import math

import numpy as np
import pytest

from ombud.answer import CLASSES
from research.tests.training.test_reading import words_tokenizer
from research.tests.training.test_teaching import weights_of
from research.training.triage.labelled import LabelledMessage

torch = pytest.importorskip("torch", reason="torch is there for `make fine-tuned-triage` alone")
fine_tuning = pytest.importorskip("research.training.triage.fine_tuning")
networks = pytest.importorskip("research.training.triage.network")
MESSAGES = [
    LabelledMessage("pay day is when", "ordinary"),
    LabelledMessage("the portal is down", "sensitive", kind="violence", danger=True),
]


def test_a_message_that_is_not_sensitive_teaches_no_topic() -> None:
    encoded = fine_tuning.encode_messages(MESSAGES, words_tokenizer())
    topic = list(CLASSES).index("topic")
    assert encoded.labels[0].tolist() == [0, 0, fine_tuning.UNTAUGHT, 0]
    assert encoded.labels[1, topic] == 5, "health-safety"
    assert encoded.labels[1].tolist() == [1, 1, 5, 0]


def test_the_loss_is_that_of_even_odds_where_nothing_is_known() -> None:
    """Logits of 0: ln 2 for either of two classes, ln 4 of scope, ln 6 of topic."""
    labels = torch.tensor([[1, 0, fine_tuning.UNTAUGHT, 0], [1, 1, 5, 0]])
    loss = fine_tuning.loss_of(torch.zeros(2, sum(CLASSES.values())), labels)
    of_heads = 2 * math.log(2) + 0.5 * math.log(6) + 0.7 * math.log(4)
    assert float(loss) == pytest.approx(of_heads)


def test_what_was_taught_is_told_apart_the_same_way_again() -> None:
    """Word vectors stay, and messages of other lengths beside one change nothing."""
    weights = weights_of(layers=networks.LAYERS)
    network = networks.TriageNetwork(weights)
    encoded = fine_tuning.encode_messages(MESSAGES, words_tokenizer())
    places = np.arange(2)
    fine_tuning.teach(network, encoded, places, passes=12, on_step=lambda _: None)
    found = fine_tuning.logits_of(network, encoded, places)
    assert found[0, 0] > found[0, 1]
    assert found[1, 1] > found[1, 0]
    alone = fine_tuning.logits_of(network, encoded, places[1:])
    assert alone[0] == pytest.approx(found[1], abs=0.2)
    words = network.embeddings.word_embeddings.weight.detach().numpy()
    np.testing.assert_array_equal(words, weights["embeddings.word_embeddings.weight"])
