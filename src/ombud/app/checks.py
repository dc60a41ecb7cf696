"""What `ombud doctor` looks at: each check says what is, and what to do where it is not right."""

import asyncio
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import BaseModel

from ombud.app.flags import PROMPTS, check_flags
from ombud.app.workspace import Workspace
from ombud.errors import OmbudError
from ombud.models import Reply
from ombud.prompts import digests, load, problems
from ombud.settings import Experiment
from ombud.store import list_documents, list_sources, spent_on

ROOM = 1 << 30


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

    ask: one real call of every chat model; without it none is called.
    """
    yield Check("workspace", True, str(workspace.home))
    yield _space(workspace)
    for name, look in (
        ("store", _store),
        ("embedder", _embedder),
        ("index", _index),
        ("chat model", _chat),
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
    return Check("disk", free > ROOM, f"{free / 2**30:.1f} GiB free", "" if free > ROOM else "Free some space.")


def _store(workspace: Workspace) -> Check:
    count = len(list_documents(workspace.store))
    where = workspace.settings.store.url.split("@")[-1] or "SQLite in .ombud"
    return Check("store", True, f"{where}, {count} documents")


def _embedder(workspace: Workspace) -> Check:
    embedder = workspace.embedder
    if workspace.missing_model:
        return Check(
            "embedder", False, f"{workspace.missing_model} Search is by words only.", workspace.missing_model.hint
        )
    if embedder is None:
        return Check("embedder", True, "none: search is by words only", "Set models.embedder to find paraphrases too.")
    reads = ", ".join(sorted(embedder.languages)) if embedder.languages else "all languages"
    return Check("embedder", True, f"{embedder.fingerprint} ({embedder.dimension} dimensions, reads {reads})")


def _index(workspace: Workspace) -> Check:
    chunks = sum(workspace.engine.documents().values())  # reads rows, not only the count that stands beside them
    languages = ", ".join(sorted(workspace.engine.languages())) or "no language yet"
    hint = "" if chunks else "Run `ombud sync FOLDER`."
    return Check("index", bool(chunks), f"{chunks} passages ({languages})", hint)


def _chat(workspace: Workspace) -> Check:
    models = workspace.settings.models
    board = workspace.models
    named = board.models()
    if not named:
        return Check("chat model", True, "none: answers are quotes", "Set models.chat to have answers written.")
    priced = {name: board.priced(name) for name in named}  # opens each, which says what is wrong with name or key
    said = "; ".join(f"{name} ({_for(roles)})" for name, roles in named.items())
    unknown = ", ".join(name for name, known in priced.items() if not known)
    if models.daily_budget:
        spent = spent_on(workspace.store, workspace.today().isoformat())
        said += f"; {spent:.2f} of {models.daily_budget:.2f} US dollars spent today"
    return Check("chat model", True, said, f"No price is known for {unknown}." if unknown else "")


def _ask_models(workspace: Workspace) -> Iterator[Check]:
    """Each model once and by itself: that one stands in for another must not hide that the other is down."""
    board = workspace.models
    words = load("doctor", override=workspace.home / PROMPTS).fill()
    for name, roles in board.models().items():
        began = time.perf_counter()
        try:
            asked = board.alone(name).reply(
                "", words, Ready, temperature=0.0, seconds=workspace.settings.models.timeout_seconds
            )
            reply = asyncio.run(asked)
        except OmbudError as failed:
            yield Check(f"model {name}", False, f"{failed} It is for {_for(roles)}.", failed.hint)
        else:
            yield Check(f"model {name}", True, _answered(reply, time.perf_counter() - began, roles))


def _answered(reply: Reply[Ready], seconds: float, roles: Sequence[str]) -> str:
    price = "price not known" if reply.price is None else f"{reply.price:.6f} US dollars"
    tokens = f"{reply.tokens_in} + {reply.tokens_out} tokens"
    return f"answered in {seconds:.1f} s, {tokens}, {price}; for {_for(roles)}"


def _for(roles: Sequence[str]) -> str:
    return ", ".join(roles)


def _flags(workspace: Workspace) -> Check:
    settings = workspace.settings
    check_flags(settings, workspace.personas, workspace.prompts)
    changed = [f"country {name}" for name in settings.country] + [f"persona {name}" for name in settings.persona]
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
    names = [s.name for s in workspace.settings.source] + [r.name for r in list_sources(workspace.store)]
    hint = "" if names else "Add [[source]] to ombud.toml or run `ombud sync FOLDER`."
    return Check("sources", bool(names), ", ".join(names) or "none", hint)
