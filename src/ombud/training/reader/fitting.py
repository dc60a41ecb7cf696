"""One pass over examples that teaches the network, and what it then does on others."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ombud.models import EncodedPassage, encode
from ombud.training.reader.examples import ReadingExample
from ombud.training.reader.network import ReaderNetwork

TOKENS = 6000
"""Of a batch."""
SORTED = 4096
"""Examples that are put in order of length together, so that little is padded."""
HEAD_RATE = 2e-4
BARE = 0.3
"""Share of questions that are taught without their question mark."""


class Encoded(NamedTuple):
    passage: EncodedPassage
    answering: frozenset[int]
    is_answered: bool
    kind: str


class Batch(NamedTuple):
    ids: Tensor
    mask: Tensor
    kinds: Tensor
    pieces: Tensor
    """Place of each token's piece, -1 where it is of none."""
    answers: Tensor
    answering: Tensor
    """(batch, pieces): 1 where a piece answers."""
    known: Tensor
    """(batch, pieces): 1 where there is one."""


class ReadingScores(NamedTuple):
    first: float
    """Share of the answered in which a piece that answers comes first."""
    auc: float
    """The chance that a passage that answers stands before one that does not."""
    auc_near: float
    """The same beside passages in which the subject is there and the detail is missing."""


def encoded(
    examples: Sequence[ReadingExample], tokenizer: Any, rng: random.Random | None = None
) -> list[Encoded]:
    """rng: for teaching; question marks go here and there. Answers that were cut off are left
    out."""
    rows: list[Encoded] = []
    for example in examples:
        question = example.question
        if rng and rng.random() < BARE:
            question = question.rstrip("? .")
        passage = encode(tokenizer, question, example.heading, example.pieces)
        kept = frozenset(example.answering) & frozenset(passage.pieces)
        is_answered = bool(example.answering)
        if is_answered == bool(kept) and max(passage.pieces, default=-1) >= 0:
            rows.append(Encoded(passage, kept, is_answered, example.kind))
    return rows


def fit(
    network: ReaderNetwork,
    rows: Sequence[Encoded],
    *,
    rate: float,
    warm: float,
    seed: int,
    epochs: int = 1,
    on_step: Callable[[str], None] = print,
    keep: Path | None = None,
) -> None:
    """AdamW over the rows. rate: of learning, for the body; heads learn with HEAD_RATE at least.
    warm: share of the steps in which it rises. keep: a file for the weights every 500 steps."""
    rng = random.Random(seed)  # noqa: S311
    torch.manual_seed(seed)
    body: list[Tensor] = []
    heads: list[Tensor] = []
    for name, weight in network.named_parameters():
        if weight.requires_grad:
            is_body = name.startswith(("embeddings", "encoder"))
            (body if is_body else heads).append(weight)
    groups = [{"params": body, "lr": rate}, {"params": heads, "lr": max(rate, HEAD_RATE)}]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01, betas=(0.9, 0.98), eps=1e-6)
    batches: list[list[int]] = []
    for _ in range(epochs):
        batches += _batches(rows, TOKENS, rng)
    rising = max(1, int(warm * len(batches)))

    def share(step: int) -> float:
        return min(1.0, (step + 1) / rising) * max(0.02, (len(batches) - step) / len(batches))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, share)
    network.train()
    began = time.monotonic()
    for step, places in enumerate(batches):
        batch = _collated([rows[place] for place in places])
        with torch.autocast("cpu", torch.bfloat16):
            whole, tokens = network(batch.ids, batch.mask, batch.kinds)
        loss = _loss(whole.float(), tokens.float(), batch)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_([*body, *heads], 1.0)
        optimiser.step()
        schedule.step()
        if step % 50 == 49:
            left = (time.monotonic() - began) / (step + 1) * (len(batches) - step - 1)
            on_step(f"step {step + 1} of {len(batches)}, loss {loss.item():.3f}, {left:.0f} s left")
        if keep and step % 500 == 499:
            torch.save(network.state_dict(), keep)


@torch.no_grad()
def scored(network: ReaderNetwork, rows: Sequence[Encoded]) -> ReadingScores:
    network.eval()
    answerable: list[float] = []
    answered: list[bool] = []
    kinds: list[str] = []
    firsts: list[bool] = []
    for places in _batches(rows, 2 * TOKENS, None):
        some = [rows[place] for place in places]
        batch = _collated(some)
        with torch.autocast("cpu", torch.bfloat16):
            whole, tokens = network(batch.ids, batch.mask, batch.kinds)
        pieces = _piece_logits(tokens.float(), batch).masked_fill(batch.known == 0, -1e4)
        best = pieces.argmax(dim=1).tolist()
        answerable += whole.float().tolist()
        for row, place in zip(some, best, strict=True):
            answered.append(row.is_answered)
            kinds.append(row.kind)
            if row.is_answered:
                firsts.append(place in row.answering)
    values = np.array(answerable)
    truth = np.array(answered)
    near = truth | np.isin(kinds, ["near", "cut"])
    return ReadingScores(
        first=float(np.mean(firsts)),
        auc=_auc(values, truth),
        auc_near=_auc(values[near], truth[near]),
    )


def _batches(rows: Sequence[Encoded], most: int, rng: random.Random | None) -> list[list[int]]:
    order = list(range(len(rows)))
    if rng:
        rng.shuffle(order)
    batches: list[list[int]] = []
    for start in range(0, len(order), SORTED):
        some = sorted(order[start : start + SORTED], key=lambda n: len(rows[n].passage.ids))
        of_part = list(_cut(some, rows, most))
        if rng:
            rng.shuffle(of_part)
        batches += of_part
    return batches


def _cut(order: Sequence[int], rows: Sequence[Encoded], most: int) -> Iterator[list[int]]:
    """Runs of rows, sorted by length, that hold `most` tokens when padded."""
    run: list[int] = []
    for place in order:
        if run and (len(run) + 1) * len(rows[place].passage.ids) > most:
            yield run
            run = []
        run.append(place)
    if run:
        yield run


def _collated(rows: Sequence[Encoded]) -> Batch:
    longest = max(len(row.passage.ids) for row in rows)
    pieces = 1 + max(max(row.passage.pieces) for row in rows)
    batch = Batch(
        ids=torch.zeros(len(rows), longest, dtype=torch.long),
        mask=torch.zeros(len(rows), longest, dtype=torch.bool),
        kinds=torch.zeros(len(rows), longest, dtype=torch.long),
        pieces=torch.full((len(rows), longest), -1),
        answers=torch.tensor([float(row.is_answered) for row in rows]),
        answering=torch.zeros(len(rows), pieces),
        known=torch.zeros(len(rows), pieces),
    )
    for number, row in enumerate(rows):
        length = len(row.passage.ids)
        batch.ids[number, :length] = torch.tensor(row.passage.ids)
        batch.mask[number, :length] = True
        batch.kinds[number, :length] = torch.tensor(row.passage.kinds)
        batch.pieces[number, :length] = torch.tensor(row.passage.pieces)
        batch.known[number, : 1 + max(row.passage.pieces)] = 1
        for place in row.answering:
            batch.answering[number, place] = 1
    return batch


def _piece_logits(tokens: Tensor, batch: Batch) -> Tensor:
    """(batch, pieces): mean logit of the tokens of each piece."""
    pieces = torch.arange(batch.known.shape[1])
    of_piece = (batch.pieces[:, :, None] == pieces).float()
    counts = of_piece.sum(dim=1).clamp(min=1)
    return torch.einsum("bt,btp->bp", tokens, of_piece) / counts


def _loss(whole: Tensor, tokens: Tensor, batch: Batch) -> Tensor:
    """Whether the passage answers, whether each piece does, and which of them does where one
    does."""
    loss = functional.binary_cross_entropy_with_logits(whole, batch.answers)
    pieces = _piece_logits(tokens, batch)
    of_pieces = functional.binary_cross_entropy_with_logits(
        pieces, batch.answering, reduction="none"
    )
    loss = loss + 2 * (of_pieces * batch.known).sum() / batch.known.sum()
    answered = batch.answers > 0
    if answered.any():
        shares = functional.log_softmax(pieces.masked_fill(batch.known == 0, -1e4), dim=1)
        of_answers = (shares * batch.answering)[answered].sum(dim=1)
        loss = loss - (of_answers / batch.answering[answered].sum(dim=1)).mean()
    return loss


def _auc(values: Any, truth: Any) -> float:
    """Area under the curve, ties counted half: the rank-sum statistic of Mann and Whitney."""
    from scipy.stats import rankdata

    positives = int(truth.sum())
    negatives = len(truth) - positives
    if not positives or not negatives:
        return float("nan")
    ranks = rankdata(values)
    return float((ranks[truth].sum() - positives * (positives + 1) / 2) / (positives * negatives))
