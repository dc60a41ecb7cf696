"""MiniLM with the heads of triage, in torch. Needs torch."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from ombud.answer import CLASSES, HEAD_SHARPNESS
from research.training.encoder import WIDTH, Encoder

LAYERS = 6


class TriageNetwork(Encoder):
    def __init__(self, weights: Mapping[str, Any]) -> None:
        """Raises ValueError where a weight is missing."""
        super().__init__(len(weights["embeddings.word_embeddings.weight"]), LAYERS)
        self.heads = nn.Linear(WIDTH, sum(CLASSES.values()))
        nn.init.normal_(self.heads.weight, std=0.02)
        nn.init.zeros_(self.heads.bias)
        self.load(weights)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """(batch, classes of all heads) logits; as the graph does it: mean over the tokens, length
        1, `HEAD_SHARPNESS` times a product.

        ids: (batch, tokens). mask: the same, true where a token is."""
        hidden = self.hidden(ids, mask, torch.zeros_like(ids))
        with torch.autocast(self.device.type, enabled=False):
            total = (hidden.float() * mask[:, :, None]).sum(dim=1)
            vectors = functional.normalize(total, dim=1)
            return functional.linear(HEAD_SHARPNESS * vectors, self.heads.weight, self.heads.bias)
