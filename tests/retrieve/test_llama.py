"""All that retrieval asks of a chat model, asked of a real llama.cpp server.

The tiny model's words are of no use. What counts: a result of the right form or the fall-back, said
in the trace; that evidence is found all the same; that tokens and seconds are counted; and that
nothing is raised."""

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from answer.asking import FILES, GB, LEAVE, company
from ingest.shelf import Shelf
from ombud.app import asking
from ombud.errors import ModelError
from ombud.models import ModelRoles, recorded
from ombud.models.chat import roles
from ombud.models.chat.model_client import CallPolicy
from ombud.retrieve import Routed, classify_by_model
from ombud.retrieve.rerank import reranking
from ombud.settings import ModelSettings
from ombud.store import graph_stats, read_extracted
from ombud.types import Evidence, Message, Trace

NAME = "openai:smollm2"
FEW = {name: FILES[name] for name in ("leave-gb.md", "leave-fr.md", "leave-floor.md", "dignity.md")}
HISTORY = (
    Message(role="user", content="How many days of annual leave do employees have?"),
    Message(role="assistant", content="Employees have 26 days of annual leave a year."),
)


@pytest.fixture(scope="module", autouse=True)
def _asked_again_at_once() -> Iterator[None]:
    """After a call that failed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(roles, "CallPolicy", partial(CallPolicy, breaker_seconds=0.001))
        yield


def settings(url: str, **more: Any) -> dict[str, Any]:
    """Time enough for a machine that is busy."""
    patient = {"search_seconds": 60, "timeout_seconds": 60}
    return {"embedder": "none", "chat": NAME, "base_url": url} | patient | more


@pytest.fixture(scope="module")
def shelf(llama: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    made = company(tmp_path_factory.mktemp("company"), files=FEW, models=settings(llama))
    yield made
    made.workspace.close()


def look(
    shelf: Shelf, question: str = LEAVE, history: tuple[Message, ...] = (), **plan: Any
) -> tuple[Evidence, Trace]:
    found, trace = asyncio.run(
        asking.search(shelf.workspace, question, GB, history=history, plan={"k": 3, **plan})
    )
    assert (
        any("26 days" in hit.chunk.text for hit in found.hits)
        or trace.queries[0].strategy != "standard"
    )
    assert found.hits
    return found, trace


def counted(trace: Trace, step: str) -> bool:
    late = any("ModelUnavailable" in said or " within " in said for said in trace.degraded)
    return trace.seconds[step] > 0 and (late or (trace.tokens_in > 0 and trace.tokens_out > 0))


@pytest.mark.parametrize(
    ("strategy", "question", "history"),
    [
        ("keywords", LEAVE, ()),
        ("hyde", LEAVE, ()),
        ("stepback", LEAVE, ()),
        ("reformulate", LEAVE, ()),
        ("multi", LEAVE, ()),
        ("rewrite", "And how many of them for managers?", HISTORY),
        ("understand", "And how many of them for managers?", HISTORY),
    ],
)
def test_each_strategy_gives_its_queries_or_says_that_it_fell_back(
    shelf: Shelf, strategy: str, question: str, history: tuple[Message, ...]
) -> None:
    _, trace = look(shelf, question, history, strategies=[strategy])
    fell_back = any(said.startswith(f"strategy: {strategy} ") for said in trace.degraded)
    strategies = {query.strategy for query in trace.queries} - {"own words"}
    assert strategies == {"standard" if fell_back else strategy}
    assert all((query.text or query.passage).strip() for query in trace.queries)
    assert counted(trace, "strategy")


@pytest.mark.parametrize("reranker", ["listwise", "pointwise"])
def test_each_reranker_gives_an_order_or_keeps_the_one_it_got(
    shelf: Shelf, reranker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reranking, "RERANK_POOL", 3)
    options: dict[str, Any] = {"strategies": ["standard"]}
    before, _ = look(shelf, **options)
    after, trace = look(shelf, reranker=reranker, **options)
    ids = [hit.chunk.id for hit in after.hits]
    assert sorted(ids) == sorted(hit.chunk.id for hit in before.hits)
    kept = any(said.startswith(f"rerank: {reranker} ") for said in trace.degraded)
    assert not kept or ids == [hit.chunk.id for hit in before.hits]
    assert counted(trace, "rerank")


def test_a_prompt_that_is_too_long_is_refused_once_and_closes_nothing(shelf: Shelf) -> None:
    pasted = "3 1 4 1 5 9 " * 1200
    with recorded() as calls:
        _, trace = look(shelf, f"{LEAVE} {pasted}", strategies=["rewrite"])
    assert trace.degraded[0].startswith("strategy: rewrite failed (")
    (call,) = calls
    assert (call.attempts, "too long for it" in call.failed) == (1, True)
    with recorded() as calls:
        look(shelf, strategies=["keywords"])
    assert [call.attempts for call in calls] == [1]


def test_a_deadline_is_kept_and_the_next_question_is_heard(
    llama: str, shelf: Shelf, tmp_path: Path
) -> None:
    hasty = company(tmp_path, files=FEW, models=settings(llama, search_seconds=0.05))
    _, trace = look(hasty, strategies=["hyde"])
    assert "no answer within" in trace.degraded[0]
    assert trace.price is None
    hasty.workspace.close()
    _, trace = look(shelf, strategies=["keywords"])
    assert counted(trace, "strategy")


def test_triplets_are_read_or_named_as_missing(llama: str, tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, index={"graph": "model"}, models=settings(llama))
    shelf.write("leave.md", "# Leave\n\nEmployees may carry over up to 5 days of annual leave.\n")
    report = shelf.sync()
    assert report.added == 1
    stats, kept = (
        graph_stats(shelf.workspace.store),
        read_extracted(shelf.workspace.store, shelf.document("leave.md").id),
    )
    assert [failed.uri for failed in report.failed] == (
        ["docs/leave.md"] if stats["incomplete"] else []
    )
    assert all("passages are not in the graph" in failed.reason for failed in report.failed)
    assert len(kept.chunks) == len(shelf.chunks()) - bool(report.failed)
    assert shelf.found("annual leave") == {"leave.md"}
    shelf.workspace.close()


def test_a_model_counts_the_passages_or_says_why_not(llama: str) -> None:
    board = ModelRoles(ModelSettings.model_validate(settings(llama)))
    chat = board.chat("strategy")
    assert chat
    try:
        found: Routed | str = asyncio.run(classify_by_model(LEAVE, 3, chat, seconds=60))
    except ModelError as failed:
        found = str(failed)
    board.close()
    if isinstance(found, Routed):
        assert found.label in range(3)
        assert sum(found.probabilities) == found.probabilities[found.label] == 1
    else:
        assert NAME in found
