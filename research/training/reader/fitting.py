"""Teaching a network with lists: by their labels, and by what another network says of them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from research.training.reader.network import ReaderNetwork
from research.training.reader.rows import EncodedLists, ListReadings, Whole

TOKENS = 40_000
"""Of a step on an accelerator."""
TOKENS_CPU = 8_000
"""Of a step without one; more take its memory."""
MOST_ROWS = 6
"""Of a list in one step: those that answer, others by chance."""
LEAST_PART = 12
"""Rows for each part of a step that is read by itself."""
MOST_PARTS = 4
HEAD_RATE = 2e-4
"""Least rate of the heads, which begin from nothing."""
LEAST_SHARE = 0.02
"""Of the rate, at the end."""
BY_LABELS = 0.5
"""Share of the loss by labels where another network teaches, too."""
PIECES_WEIGHT = 2.0
"""Of the loss of pieces beside that of whole passages."""
GONE = -1e4
"""Logit of what is not there."""
TOLD = 50
"""Steps between two lines about the progress."""


class Course(NamedTuple):
    passes: float
    """Over the lists."""
    rate: float
    """Of learning, at its highest."""
    warm: float
    """Share of the course in which it rises; then it falls to the end."""
    seed: int


class RowLogits(NamedTuple):
    """Of r rows with p pieces in all."""

    answerable: Tensor
    """(r,)"""
    pieces: Tensor
    """(p,) mean logit of each piece's tokens."""
    is_read: Tensor
    """(p,) false where a piece was cut off."""


class RowLabels(NamedTuple):
    answers: Tensor
    """(r,) 1 where the passage answers, or how likely it does."""
    weights: Tensor
    """(r,)"""
    piece_answers: Tensor
    """(p,)"""
    piece_weights: Tensor
    """(p,) 0 where a piece was cut off."""
    shares: Tensor
    """(p,) how much each piece is the one that answers, among all of its list."""


class FitStep(NamedTuple):
    rows: Whole
    """(r,) list by list."""
    sizes: Sequence[int]
    """Pieces of each list, in these rows."""
    done: float
    """Share of the course, up to its middle."""


def device_of_choice() -> torch.device:
    """An accelerator where there is one, else the processor."""
    found = torch.accelerator.current_accelerator(check_available=True)
    return found or torch.device("cpu")


def tokens_of_step(device: torch.device) -> int:
    return TOKENS_CPU if device.type == "cpu" else TOKENS


def fit(
    network: ReaderNetwork,
    encoded: EncodedLists,
    lists: Sequence[int],
    *,
    course: Course,
    teacher: ListReadings | None = None,
    tokens: int = 0,
    on_step: Callable[[str], None] = print,
) -> None:
    """AdamW over these lists, places that stand there twice twice a pass. teacher: its readings of
    them. tokens: of a step; 0: as many as suit the device."""
    torch.manual_seed(course.seed)
    optimiser = _optimiser(network, course.rate)
    rates = [group["lr"] for group in optimiser.param_groups]
    learning = [weight for group in optimiser.param_groups for weight in group["params"]]
    network.train()
    most = tokens or tokens_of_step(network.device)
    for number, step in enumerate(_steps(encoded, lists, course, most)):
        rising = min(1.0, step.done / course.warm) if course.warm else 1.0
        for group, rate in zip(optimiser.param_groups, rates, strict=True):
            group["lr"] = rate * rising * max(LEAST_SHARE, 1 - step.done)
        read = read_rows(network, encoded, step.rows)
        loss = loss_of(read, labels_of(encoded, step.rows, read), step.sizes)
        if teacher is not None:
            soft = soft_labels(teacher, encoded, step, read)
            loss = BY_LABELS * loss + (1 - BY_LABELS) * loss_of(read, soft, step.sizes)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(learning, 1.0)
        optimiser.step()
        if number % TOLD == TOLD - 1:
            on_step(f"{step.done:.0%} of {course.passes} passes, loss {loss.item():.3f}")


def _optimiser(network: ReaderNetwork, rate: float) -> Any:
    body: list[Tensor] = []
    heads: list[Tensor] = []
    for name, weight in network.named_parameters():
        if weight.requires_grad:
            is_body = name.startswith(("embeddings", "encoder"))
            (body if is_body else heads).append(weight)
    groups = [{"params": body, "lr": rate}, {"params": heads, "lr": max(rate, HEAD_RATE)}]
    return torch.optim.AdamW(groups, weight_decay=0.01, betas=(0.9, 0.98), eps=1e-6)


def _steps(
    encoded: EncodedLists, lists: Sequence[int], course: Course, most: int
) -> Iterator[FitStep]:
    """Lists by chance until `most` tokens are together, again and again."""
    rng = np.random.default_rng(course.seed)
    passes = [rng.permutation(lists) for _ in range(int(np.ceil(course.passes)))]
    order = np.concatenate(passes)[: round(course.passes * len(lists))]
    lengths = encoded.tokens
    counts = encoded.piece_counts
    rows: list[Whole] = []
    tokens = 0
    begin = 0
    for number, place in enumerate(order):
        some = _some_rows(encoded, int(place), rng)
        rows.append(some)
        tokens += int(lengths[some].sum())
        if tokens >= most or number == len(order) - 1:
            sizes = [int(counts[of_list].sum()) for of_list in rows]
            yield FitStep(np.concatenate(rows), sizes, (begin + number + 1) / 2 / len(order))
            rows, tokens, begin = [], 0, number + 1


def _some_rows(encoded: EncodedLists, place: int, rng: np.random.Generator) -> Whole:
    rows = encoded.rows_of(place)
    if len(rows) <= MOST_ROWS:
        return rows
    stays = encoded.stays[rows]
    kept = rows[stays][:MOST_ROWS]
    others = rng.permutation(rows[~stays])[: MOST_ROWS - len(kept)]
    return np.concatenate([kept, others])


def read_rows(network: ReaderNetwork, encoded: EncodedLists, rows: Whole) -> RowLogits:
    """The logits of these rows in their order; rows of like length are read together, so that
    little is padded."""
    device = network.device
    first_pieces = np.concatenate([[0], np.cumsum(encoded.piece_counts[rows])])
    total = int(first_pieces[-1])
    sums = torch.zeros(total + 1, device=device)
    counts = torch.zeros(total + 1, device=device)
    wholes: list[Tensor] = []
    order = np.argsort(encoded.tokens[rows], kind="stable")
    parts = max(1, min(MOST_PARTS, len(rows) // LEAST_PART))
    for part in np.array_split(order, parts):
        ids, mask, kinds, pieces = _padded(encoded, rows[part], first_pieces[part], total)
        with torch.autocast(device.type, torch.bfloat16):
            whole, tokens = network(ids.to(device), mask.to(device), kinds.to(device))
        places = pieces.to(device).reshape(-1)
        sums = sums.index_add(0, places, tokens.reshape(-1))
        counts = counts.index_add(0, places, torch.ones_like(tokens).reshape(-1))
        wholes.append(whole)
    back = torch.from_numpy(np.argsort(order, kind="stable")).to(device)
    counts = counts[:total]
    return RowLogits(torch.cat(wholes)[back], sums[:total] / counts.clamp(min=1), counts > 0)


def _padded(
    encoded: EncodedLists, rows: Whole, first_pieces: Whole, no_piece: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """ids, mask, kinds, and the place of each token's piece, all (rows, tokens). first_pieces:
    place of the first piece of each row. no_piece: that of tokens which are of none."""
    shape = (len(rows), int(encoded.tokens[rows].max()))
    ids = np.zeros(shape, np.int64)
    mask = np.zeros(shape, np.bool_)
    kinds = np.zeros(shape, np.int64)
    pieces = np.full(shape, no_piece)
    for number, row in enumerate(rows):
        of_row = slice(encoded.first_tokens[row], encoded.first_tokens[row + 1])
        length = of_row.stop - of_row.start
        ids[number, :length] = encoded.ids[of_row]
        mask[number, :length] = True
        kinds[number, encoded.asked[row] : length] = 1
        places = encoded.pieces[of_row].astype(np.int64)
        pieces[number, :length] = np.where(places < 0, no_piece, places + first_pieces[number])
    return tuple(torch.from_numpy(table) for table in (ids, mask, kinds, pieces))


def labels_of(encoded: EncodedLists, rows: Whole, read: RowLogits) -> RowLabels:
    """As written; what was cut off is asked of no piece."""
    weights = encoded.weights[rows]
    piece_answers = _beside(encoded.piece_answers[encoded.pieces_of(rows)], read.pieces)
    of_pieces = _beside(np.repeat(weights, encoded.piece_counts[rows]), read.pieces)
    return RowLabels(
        answers=_beside(encoded.answers[rows], read.answerable),
        weights=_beside(weights, read.answerable),
        piece_answers=piece_answers,
        piece_weights=of_pieces * read.is_read,
        shares=piece_answers * read.is_read,
    )


def soft_labels(
    teacher: ListReadings, encoded: EncodedLists, step: FitStep, read: RowLogits
) -> RowLabels:
    """How likely the teacher takes each passage and piece to answer. What either has cut off counts
    for nothing."""
    wholes = _beside(teacher.answerable[step.rows], read.answerable)
    pieces = _beside(teacher.pieces[encoded.pieces_of(step.rows)], read.pieces)
    is_read = read.is_read & ~torch.isnan(pieces)
    pieces = pieces.masked_fill(~is_read, GONE)
    shares = functional.softmax(_by_list(pieces, step.sizes, GONE), dim=1)
    of_lists = [row[:size] for row, size in zip(shares, step.sizes, strict=True)]
    return RowLabels(
        answers=torch.sigmoid(wholes),
        weights=torch.ones_like(wholes),
        piece_answers=torch.sigmoid(pieces),
        piece_weights=is_read.float(),
        shares=torch.cat(of_lists) * is_read,
    )


def _beside(values: Any, other: Tensor) -> Tensor:
    """Values as a tensor where `other` lies."""
    return torch.from_numpy(np.ascontiguousarray(values)).to(other.device)


def loss_of(read: RowLogits, labels: RowLabels, sizes: Sequence[int]) -> Tensor:
    """Whether each passage answers, whether each piece does, and which piece of all of its list:
    the cross entropies of each, the first two weighted, the third a mean over lists in which some
    piece answers. sizes: pieces of each list."""
    entropy = functional.binary_cross_entropy_with_logits
    wholes = entropy(read.answerable, labels.answers, reduction="none") * labels.weights
    pieces = entropy(read.pieces, labels.piece_answers, reduction="none") * labels.piece_weights
    logits = read.pieces.masked_fill(~read.is_read, GONE)
    logs = functional.log_softmax(_by_list(logits, sizes, GONE), dim=1)
    shares = _by_list(labels.shares, sizes, 0.0)
    sums = shares.sum(dim=1)
    which = -(logs * shares).sum(dim=1) / sums.clamp(min=1e-9)
    return (
        wholes.sum() / labels.weights.sum().clamp(min=1)
        + PIECES_WEIGHT * pieces.sum() / labels.piece_weights.sum().clamp(min=1)
        + which.sum() / (sums > 0).sum().clamp(min=1)
    )


def _by_list(values: Tensor, sizes: Sequence[int], empty: float) -> Tensor:
    """(lists, most pieces) of (p,)."""
    parts = list(values.split(list(sizes)))
    return nn.utils.rnn.pad_sequence(parts, batch_first=True, padding_value=empty)
