"""An encoder of BERT's kind with three heads, in torch: whether a passage answers, and how much
each of its tokens belongs to what answers. MiniLM of six layers is taught, e5 of twelve teaches."""

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


class ReaderNetwork(nn.Module):
    """Names of its weights are those of BERT's own, so that the embedder's can be loaded and a
    delta told. Word vectors stay as they are."""

    def __init__(self, weights: Mapping[str, Any], layers: int) -> None:
        """layers: the first ones of these weights. Raises ValueError where a weight is missing."""
        super().__init__()
        self.embeddings = _Embeddings(len(weights["embeddings.word_embeddings.weight"]))
        self.encoder = nn.Module()
        self.encoder.layer = nn.ModuleList([_Layer() for _ in range(layers)])
        self.pool = nn.Linear(WIDTH, WIDTH)
        self.answer = nn.Linear(WIDTH, 1)
        self.tokens = nn.Linear(WIDTH, 1)
        for head in (self.answer, self.tokens):
            nn.init.normal_(head.weight, std=0.02)
            nn.init.zeros_(head.bias)
        nn.init.eye_(self.pool.weight)
        nn.init.zeros_(self.pool.bias)
        known = {name: torch.from_numpy(np.array(value)) for name, value in weights.items()}
        missing, _ = self.load_state_dict(known, strict=False)
        unknown = [name for name in missing if not name.startswith(("pool", "answer", "tokens"))]
        if unknown:
            raise ValueError(f"The weights lack {', '.join(unknown[:3])}.")
        self.embeddings.word_embeddings.weight.requires_grad_(False)

    @property
    def device(self) -> torch.device:
        return self.answer.weight.device

    def forward(self, ids: Tensor, mask: Tensor, kinds: Tensor) -> tuple[Tensor, Tensor]:
        """(batch,) logits that a passage answers; (batch, tokens) of each token.

        ids, kinds: (batch, tokens). mask: the same, true where a token is."""
        hidden = self.embeddings(ids, kinds)
        for layer in self.encoder.layer:
            hidden = layer(hidden, mask)
        with torch.autocast(self.device.type, enabled=False):
            hidden = hidden.float()
            whole = torch.tanh(self.pool(hidden[:, 0]))
            return self.answer(whole)[:, 0], self.tokens(hidden)[:, :, 0]


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
