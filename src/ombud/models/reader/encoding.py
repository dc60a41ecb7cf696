"""A question and a passage as the reader takes them: [CLS] question [SEP] heading pieces [SEP],
cut to what it was taught to read."""

from collections.abc import Sequence
from typing import Any, NamedTuple

MOST_QUESTION = 64
MOST_HEADING = 24
MOST = 288
"""Tokens of everything."""
CLS = 101
SEP = 102
NO_PIECE = -1


class EncodedPassage(NamedTuple):
    """The reader's input, with one entry per token."""

    ids: Sequence[int]
    kinds: Sequence[int]
    """0 up to the first [SEP], 1 behind it."""
    pieces: Sequence[int]
    """Place of the piece it is of; NO_PIECE for all else."""


def encode(tokenizer: Any, question: str, heading: str, pieces: Sequence[str]) -> EncodedPassage:
    """Encode a question and a passage. Pieces that do not fit are cut; of a long question the end
    is kept."""
    texts = [question, f"{heading}:" if heading else "", *pieces]
    encodings = tokenizer.encode_batch_fast(texts, add_special_tokens=False)
    question_ids, head, *of_pieces = [encoding.ids for encoding in encodings]
    first = [CLS, *question_ids[-MOST_QUESTION:], SEP]
    ids = [*first, *head[:MOST_HEADING]]
    places = [NO_PIECE] * len(ids)
    for place, tokens in enumerate(of_pieces):
        room = MOST - 1 - len(ids)
        ids += tokens[:room]
        places += [place] * min(room, len(tokens))
        if len(tokens) >= room:
            break
    ids.append(SEP)
    places.append(NO_PIECE)
    kinds = [0] * len(first) + [1] * (len(ids) - len(first))
    return EncodedPassage(ids, kinds, places)
