"""MiniLM with the heads of triage and of follow-ups, in torch. Needs torch."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from ombud.answer.triage.classifier import CLASSES, LOGIT_SCALE, TURN_CLASSES
from research.training.encoder import WIDTH, Encoder

LAYERS = 6


class TriageNetwork(Encoder):
    def __init__(self, weights: Mapping[str, Any]) -> None:
        """Raises ValueError where a weight is missing."""
        super().__init__(len(weights["embeddings.word_embeddings.weight"]), LAYERS)
        self.heads = nn.Linear(WIDTH, sum(CLASSES.values()) + TURN_CLASSES)
        nn.init.normal_(self.heads.weight, std=0.02)
        nn.init.zeros_(self.heads.bias)
        self.load(weights)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return logits of all heads, shape (batch, classes): mean over the tokens, length 1,
        `LOGIT_SCALE` times a product, as the graph does it.

        ids: (batch, tokens). mask: the same, true where a token is."""
        hidden = self.hidden(ids, mask, torch.zeros_like(ids))
        total = (hidden * mask[:, :, None]).sum(dim=1)
        vectors = functional.normalize(total, dim=1)
        return functional.linear(LOGIT_SCALE * vectors, self.heads.weight, self.heads.bias)
