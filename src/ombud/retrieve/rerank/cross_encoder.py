"""A model that reads question and passage together scores each pair."""

import math
import time

from ombud.errors import MalformedOutput, ModelUnavailable
from ombud.models import Call, record
from ombud.retrieve.model import ModelUsage
from ombud.retrieve.rerank.task import RerankTask
from ombud.types import Chunk


async def by_cross_encoder(task: RerankTask) -> list[int]:
    reranker = task.index.cross_encoder
    if reranker is None:
        raise ModelUnavailable("There is no cross-encoder.", hint="Set models.reranker.")
    texts = [_text(hit.chunk) for hit in task.hits]
    began = time.monotonic()
    scores = await reranker.score(task.question, texts, task.index.seconds)
    seconds = round(time.monotonic() - began, 4)
    record(
        Call(
            "rerank",
            reranker.name,
            seconds,
            price=reranker.price,
            attempts=1,
        )
    )
    usage = ModelUsage(reranker.name, price=reranker.price)
    task.spent = task.spent.plus(usage)
    all_finite = all(map(math.isfinite, scores))
    if len(scores) != len(texts) or not all_finite:
        raise MalformedOutput(f"The reranker `{reranker.name}` did not score every passage.")
    return task.by_scores(scores)


def _text(chunk: Chunk) -> str:
    lines = (" > ".join(chunk.trail), chunk.header, chunk.text)
    return "\n".join(filter(None, lines))
