"""Teaches the fine-tuned classifier of triage: MiniLM on the messages in English.

Once for each of five folds, without the sources of the fold's messages, and once with all: that one
is written to src/ombud/answer/triage/delta.npz. What the others say of the messages they have not
seen goes to research/training/triage/held_out.npz; `make triage` chooses the thresholds by it.
About eight minutes on two cores that multiply matrices of half precision (AMX), five times as long
on others. Run: make fine-tuned-triage"""

from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from ombud.answer import CLASSES
from ombud.answer.triage import fine_tuned
from ombud.models.embed.delta import write_delta
from ombud.models.embed.minilm import installed_minilm
from ombud.models.embed.onnx_graph import read_safetensors
from ombud.text import message_language
from research.training.linear import grouped_folds
from research.training.triage.fine_tuning import (
    EncodedMessages,
    encode_messages,
    logits_of,
    teach,
)
from research.training.triage.held_out import SHIPPED, write_held_out
from research.training.triage.labelled import read_labelled_messages, sources_of, texts_of
from research.training.triage.network import TriageNetwork
from research.training.triage.training import with_router_questions

FOLDS = 5
RANK = 32
"""Of what is shipped: six layers are told in 2.6 MB so."""
Whole = npt.NDArray[np.int64]


def main() -> None:
    model = installed_minilm()
    if model is None:
        raise SystemExit("MiniLM is not installed; `ombud doctor` says how.")
    base = read_safetensors(model / "model.safetensors")
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    messages = with_router_questions(read_labelled_messages())
    texts = texts_of(messages)
    english = np.flatnonzero([message_language(text) == fine_tuned.LANGUAGE for text in texts])
    encoded = encode_messages(messages, tokenizer)
    logits = np.zeros((len(texts), sum(CLASSES.values())))
    for number, (_, held_out) in enumerate(grouped_folds(sources_of(messages), FOLDS)):
        apart = np.intersect1d(english, held_out)
        network = _taught(base, encoded, np.setdiff1d(english, held_out))
        logits[apart] = logits_of(network, encoded, apart)
        print(f"fold {number + 1} of {FOLDS}: {len(apart)} messages read")
    write_held_out(SHIPPED, texts, logits)
    network = _taught(base, encoded, english)
    learnt: dict[str, Any] = {}
    for name, weight in network.state_dict().items():
        learnt[name] = weight.numpy()
    digest = write_delta(base, learnt, fine_tuned.DELTA, RANK)
    print(f'DELTA_SHA256 = "{digest}", for src/ombud/answer/triage/fine_tuned.py')


def _taught(base: Any, encoded: EncodedMessages, places: Whole) -> TriageNetwork:
    network = TriageNetwork(base)
    teach(network, encoded, places)
    return network


if __name__ == "__main__":
    main()
