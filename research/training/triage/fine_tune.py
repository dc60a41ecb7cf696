"""Teaches MiniLM the messages of triage and the turns of conversations, all heads at once.

Messages in English, turns in every language. Writes src/ombud/answer/triage/delta.npz; some 25
minutes on one core. Run: make fine-tuned-triage, then make triage."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from ombud.answer.triage.classifier import (
    CLASSES,
    DELTA,
    HEADS,
    TURN_CLASSES,
    is_read_by_encoder,
    turn_text,
)
from ombud.answer.triage.phrases import read_message
from ombud.models.embed.minilm import installed_minilm
from ombud.models.embed.onnx_graph import read_safetensors
from research.training.deltas import write_delta
from research.training.triage.data import (
    LabelledMessage,
    LabelledTurn,
    is_held_out,
    label_of,
    read_messages,
    read_turns,
    teaches,
)
from research.training.triage.network import TriageNetwork

SEED = 7
PASSES = 3
RATE = 7e-5
HEAD_RATE = 1e-3
"""Of the heads, which begin from nothing."""
WARM = 0.06
"""Share of the steps in which the rate rises; then it falls to the end."""
BATCH = 32
NEAR = 512
"""Texts among which those of like length are read together, so that little is padded."""
MOST_TOKENS = 128
RANK = 32
"""Of what is shipped: six layers are told in 2.6 MB so."""
LOSS_WEIGHTS = {"sensitive": 1.0, "danger": 1.0, "topic": 0.5, "scope": 0.7, "person": 1.0}
UNTAUGHT = -100
"""Label of a text that teaches a head nothing."""
MADE_TURNS = 0.25
"""Questions put behind one of another conversation, as a share of the written turns."""
PROGRESS = 50
"""Steps between two lines."""
Whole = npt.NDArray[np.int64]


def main() -> None:
    model = installed_minilm()
    if model is None:
        raise SystemExit("MiniLM is not installed; `ombud doctor` says how.")
    base = read_safetensors(model / "model.safetensors")
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    messages = [m for m in read_messages() if not is_held_out(m.source)]
    messages = [message for message in messages if is_read_by_encoder(message.text)]
    turns = [turn for turn in read_turns() if not is_held_out(turn.source)]
    turns += made_turns(turns)
    texts = [read_message(message.text) for message in messages]
    texts += [turn_text(turn.earlier, turn.turn) for turn in turns]
    labels = np.vstack([_labels_of_messages(messages), _labels_of_turns(turns)])
    print(f"{len(messages)} messages, {len(turns)} turns", flush=True)
    network = TriageNetwork(base)
    teach(network, encode(texts, tokenizer), labels)
    weights = {name: weight.numpy() for name, weight in network.state_dict().items()}
    digest = write_delta(base, weights, DELTA, RANK)
    print(f'DELTA_SHA256 = "{digest}", for src/ombud/answer/triage/classifier.py')


def made_turns(turns: Sequence[LabelledTurn]) -> list[LabelledTurn]:
    """Return first questions put behind those of other conversations: all open a subject."""
    chance = Random(SEED)
    firsts = list(dict.fromkeys(turn.earlier[0] for turn in turns))
    made: list[LabelledTurn] = []
    for _ in range(int(MADE_TURNS * len(turns))):
        before, asked = chance.sample(firsts, 2)
        made.append(LabelledTurn((before,), asked, follows=False, source="made"))
    return made


def encode(texts: Sequence[str], tokenizer: Any) -> list[Sequence[int]]:
    """Return tokens of each text, cut to MOST_TOKENS."""
    encoded: list[Sequence[int]] = []
    for encoding in tokenizer.encode_batch_fast(list(texts)):
        ids = encoding.ids
        encoded.append(ids if len(ids) <= MOST_TOKENS else [*ids[: MOST_TOKENS - 1], ids[-1]])
    return encoded


def teach(network: TriageNetwork, ids: Sequence[Sequence[int]], labels: Whole) -> None:
    """Fit all heads with AdamW; labels: (texts, heads and follow-ups), UNTAUGHT where none."""
    torch.manual_seed(SEED)
    body = [w for name, w in _learning(network) if not name.startswith("heads")]
    heads = list(network.heads.parameters())
    groups = [{"params": body, "lr": RATE}, {"params": heads, "lr": HEAD_RATE}]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01)
    network.train()
    steps = list(_batches(ids))
    for number, places in enumerate(steps):
        done = number / len(steps)
        for group, rate in zip(optimiser.param_groups, (RATE, HEAD_RATE), strict=True):
            group["lr"] = rate * min(1.0, done / WARM + 0.01) * max(0.01, 1 - done)
        loss = _loss(network(*_padded(ids, places)), torch.from_numpy(labels[places]))
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_([*body, *heads], 1.0)
        optimiser.step()
        if number % PROGRESS == PROGRESS - 1:
            print(f"{done:.0%} of {len(steps)} steps, loss {loss.item():.3f}", flush=True)


def _labels_of_messages(messages: Sequence[LabelledMessage]) -> Whole:
    labels = np.full((len(messages), len(HEADS) + 1), UNTAUGHT)
    for row, message in enumerate(messages):
        for column, head in enumerate(HEADS):
            if teaches(message, head):
                labels[row, column] = label_of(message, head)
    return labels


def _labels_of_turns(turns: Sequence[LabelledTurn]) -> Whole:
    labels = np.full((len(turns), len(HEADS) + 1), UNTAUGHT)
    labels[:, -1] = [int(turn.follows) for turn in turns]
    return labels


def _learning(network: TriageNetwork) -> Iterator[tuple[str, Tensor]]:
    for name, weight in network.named_parameters():
        if weight.requires_grad:
            yield name, weight


def _batches(ids: Sequence[Sequence[int]]) -> Iterator[Whole]:
    rng = np.random.default_rng(SEED)
    for _ in range(PASSES):
        shuffled = rng.permutation(len(ids))
        for start in range(0, len(shuffled), NEAR):
            some = shuffled[start : start + NEAR]
            ordered = some[np.argsort([len(ids[place]) for place in some], kind="stable")]
            batches = [ordered[k : k + BATCH] for k in range(0, len(ordered), BATCH)]
            for number in rng.permutation(len(batches)):
                yield batches[number]


def _padded(ids: Sequence[Sequence[int]], places: Whole) -> tuple[Tensor, Tensor]:
    longest = max(len(ids[place]) for place in places)
    padded = torch.zeros((len(places), longest), dtype=torch.long)
    mask = torch.zeros((len(places), longest), dtype=torch.bool)
    for row, place in enumerate(places):
        padded[row, : len(ids[place])] = torch.tensor(ids[place])
        mask[row, : len(ids[place])] = True
    return padded, mask


def _loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the weighted cross entropy; a head that nothing here teaches adds nothing."""
    total = torch.zeros(())
    weights = [*(LOSS_WEIGHTS[head] for head in HEADS), 1.0]
    of_heads = logits.split([*CLASSES.values(), TURN_CLASSES], dim=1)
    for column, weight in enumerate(weights):
        of_head = labels[:, column]
        if not (of_head == UNTAUGHT).all():
            entropy = functional.cross_entropy(of_heads[column], of_head, ignore_index=UNTAUGHT)
            total = total + weight * entropy
    return total


if __name__ == "__main__":
    main()
