"""Teaching MiniLM the messages of triage, all heads at once. Needs torch: `make
fine-tuned-triage`."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from ombud.answer import CLASSES, HEADS, TRIAGE_READING, Head
from ombud.models import linear
from research.training.linear import SEED
from research.training.triage.labelled import LabelledMessage
from research.training.triage.network import TriageNetwork
from research.training.triage.training import label_of, teaches

PASSES = 4
RATE = 6e-5
HEAD_RATE = 1e-3
"""Of the heads, which begin from nothing."""
WARM = 0.06
"""Share of the steps in which the rate rises; then it falls to the end."""
LEAST_SHARE = 0.01
BATCH = 32
NEAR = 512
"""Messages among which those of like length are read together, so that little is padded."""
MOST_TOKENS = 128
WEIGHTS: dict[Head, float] = {
    "sensitive": 1.0,
    "danger": 1.0,
    "scope": 0.7,
    "topic": 0.5,
}
"""Of the heads' losses: for a topic that is wrong another person is named, for danger that is
missed nobody."""
UNTAUGHT = -100
"""Label of a message that teaches a head nothing."""
TOLD = 100
"""Steps between two lines about the progress."""
Whole = npt.NDArray[np.int64]


class EncodedMessages(NamedTuple):
    ids: Sequence[Sequence[int]]
    """Tokens of each, with those at the beginning and the end."""
    labels: Whole
    """(messages, heads) class of each, UNTAUGHT where it teaches none."""


def encode_messages(messages: Sequence[LabelledMessage], tokenizer: Any) -> EncodedMessages:
    """tokenizer: MiniLM's, which cuts and pads nothing."""
    read = tokenizer.encode_batch_fast([TRIAGE_READING.part(message.text) for message in messages])
    labels = np.full((len(messages), len(HEADS)), UNTAUGHT)
    for row, message in enumerate(messages):
        for column, head in enumerate(HEADS):
            if teaches(message, head):
                labels[row, column] = label_of(message, head)
    return EncodedMessages([_cut(encoding.ids) for encoding in read], labels)


def _cut(ids: Sequence[int]) -> Sequence[int]:
    return ids if len(ids) <= MOST_TOKENS else [*ids[: MOST_TOKENS - 1], ids[-1]]


def teach(
    network: TriageNetwork,
    encoded: EncodedMessages,
    places: Whole,
    *,
    passes: int = PASSES,
    on_step: Callable[[str], None] = print,
) -> None:
    """AdamW over the messages at these places; the same ones teach the same."""
    torch.manual_seed(SEED)
    body = [weight for name, weight in _learning(network) if not name.startswith("heads")]
    heads = list(network.heads.parameters())
    groups = [{"params": body, "lr": RATE}, {"params": heads, "lr": HEAD_RATE}]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
    network.train()
    steps = list(_batches(encoded, places, passes))
    for number, batch in enumerate(steps):
        done = number / len(steps)
        for group, rate in zip(optimiser.param_groups, (RATE, HEAD_RATE), strict=True):
            group["lr"] = rate * min(1.0, done / WARM) * max(LEAST_SHARE, 1 - done)
        loss = loss_of(_read(network, encoded, batch), torch.from_numpy(encoded.labels[batch]))
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_([*body, *heads], 1.0)
        optimiser.step()
        if number % TOLD == TOLD - 1:
            on_step(f"{done:.0%} of {passes} passes, loss {loss.item():.3f}")


def _learning(network: TriageNetwork) -> Iterator[tuple[str, Tensor]]:
    for name, weight in network.named_parameters():
        if weight.requires_grad:
            yield name, weight


def _batches(encoded: EncodedMessages, places: Whole, passes: int) -> Iterator[Whole]:
    rng = np.random.default_rng(SEED)
    for _ in range(passes):
        shuffled = rng.permutation(places)
        for start in range(0, len(shuffled), NEAR):
            some = shuffled[start : start + NEAR]
            lengths = [len(encoded.ids[place]) for place in some]
            ordered = some[np.argsort(lengths, kind="stable")]
            batches = [ordered[k : k + BATCH] for k in range(0, len(ordered), BATCH)]
            for number in rng.permutation(len(batches)):
                yield batches[number]


def _read(network: TriageNetwork, encoded: EncodedMessages, places: Whole) -> Tensor:
    longest = max(len(encoded.ids[place]) for place in places)
    ids = torch.zeros((len(places), longest), dtype=torch.long)
    mask = torch.zeros((len(places), longest), dtype=torch.bool)
    for row, place in enumerate(places):
        tokens = encoded.ids[place]
        ids[row, : len(tokens)] = torch.tensor(tokens)
        mask[row, : len(tokens)] = True
    # Attention by the plain formula: the one that saves memory learns half as fast here.
    with torch.autocast(network.device.type, torch.bfloat16), sdpa_kernel(SDPBackend.MATH):
        logits: Tensor = network(ids.to(network.device), mask.to(network.device))
    return logits.cpu()


def loss_of(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross entropy of each head, weighted; a head that nothing here teaches adds nothing."""
    total = torch.zeros(())
    of_heads = logits.split(list(CLASSES.values()), dim=1)
    for column, head in enumerate(HEADS):
        of_head = labels[:, column]
        if (of_head == UNTAUGHT).all():
            continue
        entropy = functional.cross_entropy(of_heads[column], of_head, ignore_index=UNTAUGHT)
        total = total + WEIGHTS[head] * entropy
    return total


@torch.no_grad()
def logits_of(network: TriageNetwork, encoded: EncodedMessages, places: Whole) -> linear.Numbers:
    """(places, classes of all heads)"""
    network.eval()
    lengths = [len(encoded.ids[place]) for place in places]
    order = np.argsort(lengths, kind="stable")
    rows = np.zeros((len(places), sum(CLASSES.values())))
    for start in range(0, len(order), BATCH):
        some = order[start : start + BATCH]
        rows[some] = _read(network, encoded, places[some]).float().numpy()
    return rows
