"""An encoder with three heads, in torch: whether a passage answers, and how much each of its tokens
belongs to what answers. MiniLM of six layers is taught, e5 of twelve teaches."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from research.training.encoder import WIDTH, Encoder


class ReaderNetwork(Encoder):
    def __init__(self, weights: Mapping[str, Any], layers: int) -> None:
        """layers: the first ones of these weights. Raises ValueError where a weight is missing."""
        super().__init__(len(weights["embeddings.word_embeddings.weight"]), layers)
        self.pool = nn.Linear(WIDTH, WIDTH)
        self.answer = nn.Linear(WIDTH, 1)
        self.tokens = nn.Linear(WIDTH, 1)
        for head in (self.answer, self.tokens):
            nn.init.normal_(head.weight, std=0.02)
            nn.init.zeros_(head.bias)
        nn.init.eye_(self.pool.weight)
        nn.init.zeros_(self.pool.bias)
        self.load(weights)

    def forward(self, ids: Tensor, mask: Tensor, kinds: Tensor) -> tuple[Tensor, Tensor]:
        """(batch,) logits that a passage answers; (batch, tokens) of each token.

        ids, kinds: (batch, tokens). mask: the same, true where a token is."""
        hidden = self.hidden(ids, mask, kinds)
        with torch.autocast(self.device.type, enabled=False):
            hidden = hidden.float()
            whole = torch.tanh(self.pool(hidden[:, 0]))
            return self.answer(whole)[:, 0], self.tokens(hidden)[:, :, 0]
