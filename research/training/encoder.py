"""An encoder of BERT's kind in torch, of which the embedder's weights are: what is taught further
here begins with them. Needs torch."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

HEADS = 12
WIDTH = 384
INNER = 1536
DROPPED = 0.05
"""Share of hidden numbers that are left out while it learns."""


class Encoder(nn.Module):
    """Names of its weights are those of BERT's own, so that the embedder's can be loaded and a
    delta told. Word vectors stay as they are. Whoever extends it adds heads, and calls `load`."""

    def __init__(self, words: int, layers: int) -> None:
        super().__init__()
        self.embeddings = _Embeddings(words)
        self.encoder = nn.Module()
        self.encoder.layer = nn.ModuleList([_Layer() for _ in range(layers)])

    def load(self, weights: Mapping[str, Any]) -> None:
        """Weights of more layers than it has are left out. Raises ValueError where one of the
        encoder's is missing."""
        known = {name: torch.from_numpy(np.array(value)) for name, value in weights.items()}
        missing, _ = self.load_state_dict(known, strict=False)
        unknown = [name for name in missing if name.startswith(("embeddings", "encoder"))]
        if unknown:
            raise ValueError(f"The weights lack {', '.join(unknown[:3])}.")
        self.embeddings.word_embeddings.weight.requires_grad_(False)

    @property
    def device(self) -> torch.device:
        return self.embeddings.word_embeddings.weight.device

    def hidden(self, ids: Tensor, mask: Tensor, kinds: Tensor) -> Tensor:
        """(batch, tokens, WIDTH) of the last layer.

        ids, kinds: (batch, tokens). mask: the same, true where a token is."""
        hidden = self.embeddings(ids, kinds)
        for layer in self.encoder.layer:
            hidden = layer(hidden, mask)
        return hidden


class _Embeddings(nn.Module):
    def __init__(self, words: int) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(words, WIDTH)
        self.position_embeddings = nn.Embedding(512, WIDTH)
        self.token_type_embeddings = nn.Embedding(2, WIDTH)
        self.LayerNorm = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, ids: Tensor, kinds: Tensor) -> Tensor:
        places = torch.arange(ids.shape[1], device=ids.device)
        total = self.word_embeddings(ids) + self.position_embeddings(places)
        normed = self.LayerNorm(total + self.token_type_embeddings(kinds))
        return functional.dropout(normed, DROPPED, self.training)


class _Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.Module()
        self.attention.self = nn.Module()
        for name in ("query", "key", "value"):
            setattr(self.attention.self, name, nn.Linear(WIDTH, WIDTH))
        self.attention.output = _Residual(WIDTH)
        self.intermediate = nn.Module()
        self.intermediate.dense = nn.Linear(WIDTH, INNER)
        self.output = _Residual(INNER)

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        batch, tokens, _ = hidden.shape
        parts: list[Tensor] = []
        for name in ("query", "key", "value"):
            part = getattr(self.attention.self, name)(hidden)
            parts.append(part.view(batch, tokens, HEADS, WIDTH // HEADS).transpose(1, 2))
        mixed = functional.scaled_dot_product_attention(*parts, attn_mask=mask[:, None, None, :])
        mixed = mixed.transpose(1, 2).reshape(batch, tokens, WIDTH)
        hidden = self.attention.output(mixed, hidden)
        wide = functional.gelu(self.intermediate.dense(hidden))
        return self.output(wide, hidden)


class _Residual(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width, WIDTH)
        self.LayerNorm = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, value: Tensor, before: Tensor) -> Tensor:
        value = functional.dropout(self.dense(value), DROPPED, self.training)
        return self.LayerNorm(value + before)
