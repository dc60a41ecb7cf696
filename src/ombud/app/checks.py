"""What `ombud doctor` looks at: each check says what is, and what to do where it is not right."""

import asyncio
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from pydantic import BaseModel

from ombud.app.flags import PROMPTS, check_flags
from ombud.app.workspace import Workspace
from ombud.errors import OmbudError
from ombud.index import blocking
from ombud.models import ChatReply, open_reranker
from ombud.prompts import digests, load, problems
from ombud.settings import Experiment, check_plans
from ombud.store import list_documents, list_sources, spent_on

ROOM = 1 << 30
BY_CHAT, BY_PAIRS = {"listwise", "pointwise"}, "cross-encoder"
"""Rerankers of the plan that ask a chat model, and the one that asks what models.reranker names."""
SAMPLE = ("How much leave?", ("Employees have leave.", "Hotels are booked."))
"""A question, and texts to be scored against it."""


class Check(NamedTuple):
    name: str
    ok: bool
    said: str
    hint: str = ""


class Ready(BaseModel):
    """What a model says when it is asked whether it works."""

    ready: bool


def check_all(workspace: Workspace, ask: bool = False) -> Iterator[Check]:
    """Check after check, as they are done; nothing is changed.

    ask: one real call of every chat model, and of a reranker that is no folder; without it none is
    called."""
    yield Check("workspace", True, str(workspace.home))
    yield _space(workspace)
    for name, look in (
        ("store", _store),
        ("embedder", _embedder),
        ("index", _index),
        ("chat model", _chat),
        ("reranker", partial(_reranker, ask=ask)),
        ("flags", _flags),
        ("prompts", _prompts),
        ("sources", _sources),
    ):
        try:
            yield look(workspace)
        except OmbudError as failed:
            yield Check(name, False, str(failed), failed.hint)
    if ask:
        yield from _ask_models(workspace)


def _space(workspace: Workspace) -> Check:
    folder = workspace.data if workspace.data.exists() else workspace.home
    if not os.access(folder, os.W_OK):
        return Check("disk", False, f"{folder} cannot be written.", "Check its permissions.")
    free = shutil.disk_usage(folder).free
    return Check(
        "disk",
        free > ROOM,
        f"{free / 2**30:.1f} GiB free",
        "" if free > ROOM else "Free some space.",
    )


def _store(workspace: Workspace) -> Check:
    count = len(list_documents(workspace.store))
    where = workspace.settings.store.url.split("@")[-1] or "SQLite in .ombud"
    return Check("store", True, f"{where}, {count} documents")


def _embedder(workspace: Workspace) -> Check:
    embedder = workspace.embedder
    if workspace.missing_model:
        return Check(
            "embedder",
            False,
            f"{workspace.missing_model} Search is by words only.",
            workspace.missing_model.hint,
        )
    if embedder is None:
        return Check(
            "embedder",
            True,
            "none: search is by words only",
            "Set models.embedder to find paraphrases too.",
        )
    reads = ", ".join(sorted(embedder.languages)) if embedder.languages else "all languages"
    return Check(
        "embedder", True, f"{embedder.fingerprint} ({embedder.dimension} dimensions, reads {reads})"
    )


def _index(workspace: Workspace) -> Check:
    chunks = sum(
        blocking(workspace.engine.documents()).values()
    )  # reads rows, not only the count that stands beside them
    languages = ", ".join(sorted(workspace.engine.languages())) or "no language yet"
    hint = "" if chunks else "Run `ombud sync FOLDER`."
    return Check("index", bool(chunks), f"{chunks} passages ({languages})", hint)


def _chat(workspace: Workspace) -> Check:
    models = workspace.settings.models
    board = workspace.models
    named = board.models()
    if not named:
        return Check(
            "chat model",
            True,
            "none: answers are quotes",
            "Set models.chat to have answers written.",
        )
    rates = {
        name: board.rates(name) for name in named
    }  # opens each, which says what is wrong with name or key
    said = "; ".join(
        f"{name} ({_for(roles)}{_rated(rates[name])})" for name, roles in named.items()
    )
    if idle := [role for role, names in board.roles().items() if not names]:
        said += f"; no model for {_for(idle)}"
    unknown = ", ".join(name for name, rate in rates.items() if rate is None)
    if models.daily_budget:
        spent = spent_on(workspace.store, workspace.today().isoformat())
        said += f"; {spent:.2f} of {models.daily_budget:.2f} US dollars spent today"
    return Check("chat model", True, said, f"No price is known for {unknown}." if unknown else "")


def _rated(rate: tuple[float, float] | None) -> str:
    return f"; {rate[0]:g} + {rate[1]:g} US dollars a million tokens in and out" if rate else ""


def _ask_models(workspace: Workspace) -> Iterator[Check]:
    """Each model once and by itself: that one stands in for another must not hide that the other is
    down."""
    board = workspace.models
    words = load("doctor", override=workspace.home / PROMPTS).fill()
    replies: dict[str, ChatReply[Ready]] = {}
    for name, roles in board.models().items():
        began = time.perf_counter()
        try:
            asked = board.alone(name).reply(
                "", words, Ready, temperature=0.0, seconds=workspace.settings.models.timeout_seconds
            )
            replies[name] = asyncio.run(asked)
        except OmbudError as failed:
            yield Check(f"model {name}", False, f"{failed} It is for {_for(roles)}.", failed.hint)
        else:
            yield Check(
                f"model {name}", True, _answered(replies[name], time.perf_counter() - began, roles)
            )
    if board.models():
        yield from (_role(role, names, replies) for role, names in board.roles().items())


def _role(role: str, names: Sequence[str], replies: Mapping[str, ChatReply[Ready]]) -> Check:
    """Who answers in a role now, after each of its models has been asked."""
    if not names:
        return Check(f"role {role}", True, "no model")
    up = next((name for name in names if name in replies), "")
    if not up:
        return Check(
            f"role {role}",
            False,
            f"nobody answers: {', '.join(names)}",
            "What is wrong stands above.",
        )
    instead = f" instead of {names[0]}" if up != names[0] else ""
    return Check(
        f"role {role}", True, f"{up}{instead}; the test call: {_priced(replies[up].price)}"
    )


def _answered(reply: ChatReply[Ready], seconds: float, roles: Sequence[str]) -> str:
    tokens = f"{reply.tokens_in} + {reply.tokens_out} tokens"
    return f"answered in {seconds:.1f} s, {tokens}, {_priced(reply.price)}; for {_for(roles)}"


def _priced(price: float | None) -> str:
    return "price not known" if price is None else f"{price:.6f} US dollars"


def _for(roles: Sequence[str]) -> str:
    return ", ".join(roles)


def _reranker(workspace: Workspace, ask: bool) -> Check:
    """Whether what plans rerank with is there. One in a folder scores a pair; an endpoint is called
    where `ask`."""
    models, used = workspace.settings.models, set[str]()
    check_plans(workspace.settings, lambda plan: used.add(plan.reranker))
    if used & BY_CHAT and not workspace.models.roles()["rerank"]:
        named = " and ".join(sorted(used & BY_CHAT))
        return Check(
            "reranker",
            False,
            f"The plan's {named} has no chat model.",
            "Set models.chat or models.roles.",
        )
    reranker = open_reranker(models)
    if reranker is None:
        missing = BY_PAIRS in used
        said = (
            "none, but a plan has reranker = cross-encoder" if missing else ", ".join(sorted(used))
        )
        return Check("reranker", not missing, said, "Set models.reranker." if missing else "")
    unused = "" if BY_PAIRS in used else 'No plan uses it: set plan.reranker = "cross-encoder".'
    if reranker.price is None and not ask:  # what costs something is called when it is asked for
        where = models.reranker_url or "the provider's own address"
        return Check(
            "reranker", True, f"{reranker.name} at {where}, not called", unused or "--ask calls it."
        )
    began = time.perf_counter()
    asyncio.run(reranker.score(*SAMPLE, models.search_seconds))
    price = "" if reranker.price == 0 else f", {_priced(reranker.price)}"
    took = time.perf_counter() - began
    return Check(
        "reranker",
        True,
        f"{reranker.name} scored {len(SAMPLE[1])} texts in {took:.1f} s{price}",
        unused,
    )


def _flags(workspace: Workspace) -> Check:
    settings = workspace.settings
    check_flags(settings, workspace.personas, workspace.prompts)
    changed = [f"country {name}" for name in settings.country] + [
        f"persona {name}" for name in settings.persona
    ]
    tried = [f"{name} ({_share(experiment)})" for name, experiment in settings.experiment.items()]
    said = [f"the plan changes for {', '.join(changed)}"] if changed else []
    said += [f"experiments: {', '.join(tried)}"] if tried else []
    return Check("flags", True, "; ".join(said) or "one plan for everyone")


def _share(experiment: Experiment) -> str:
    where = f" in {', '.join(experiment.countries)}" if experiment.countries else ""
    return "off" if experiment.off else f"{experiment.share * 100:g} % of people{where}"


def _prompts(workspace: Workspace) -> Check:
    folder, shipped = workspace.home / PROMPTS, digests()
    if wrong := problems(folder):
        return Check("prompts", False, " ".join(wrong), "What is shipped is used in its place.")
    own = [name for name, digest in digests(folder).items() if shipped.get(name) != digest]
    return Check("prompts", True, f"your own {', '.join(own)}" if own else "as shipped")


def _sources(workspace: Workspace) -> Check:
    names = [s.name for s in workspace.settings.source] + [
        r.name for r in list_sources(workspace.store)
    ]
    hint = "" if names else "Add [[source]] to ombud.toml or run `ombud sync FOLDER`."
    return Check("sources", bool(names), ", ".join(names) or "none", hint)
