"""The checks of `ombud doctor`: each reports the state, and how to repair it."""

import asyncio
import os
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from pydantic import BaseModel

from ombud.answer import remote_names
from ombud.app.flags import PROMPTS, check_flags
from ombud.app.sources import open_configured
from ombud.app.workspace import Workspace
from ombud.errors import OmbudError
from ombud.handoff import open_tickets
from ombud.index import blocking
from ombud.masking import mask_secrets
from ombud.models import ChatReply, Reranker, open_reranker, route_of_part
from ombud.private_files import command_to_close, is_open_to_others
from ombud.prompts import digests, load, problems
from ombud.settings import Experiment, check_plans
from ombud.store import list_documents, list_sources, spent_on

ROOM = 1 << 30
BY_CHAT = {"listwise", "pointwise"}
"""Rerankers that call a chat model."""
BY_PAIRS = "cross-encoder"
"""The reranker that uses models.reranker."""
SAMPLE = ("How much leave?", ("Employees have leave.", "Hotels are booked."))
"""A question, and texts to score against it."""


class Check(NamedTuple):
    """The result of one check."""

    name: str
    ok: bool
    said: str
    hint: str = ""


class Ready(BaseModel):
    """A model's reply to the question whether it works."""

    ready: bool


def check_all(workspace: Workspace, ask: bool = False) -> Iterator[Check]:
    """Yield each check when it is done; nothing is changed. ask: call every chat model, and a
    reranker that is a service, once."""
    yield Check("workspace", True, str(workspace.home))
    yield check_space(workspace)
    looks: dict[str, Callable[[Workspace], Check]] = {
        "store": check_store,
        "permissions": check_permissions,
        "embedder": check_embedder,
        "index": check_index,
        "chat model": check_chat,
        "reranker": partial(check_reranker, ask=ask),
        "privacy": check_privacy,
        "request routes": check_traffic,
        "flags": check_flag_layers,
        "prompts": check_prompts,
        "sources": check_sources,
        "tickets": check_tickets,
    }
    for name, look in looks.items():
        try:
            yield look(workspace)
        except OmbudError as failed:
            yield Check(name, False, f"{failed} {failed.detail}".strip(), failed.hint)
    if ask:
        yield from call_models(workspace)


def check_space(workspace: Workspace) -> Check:
    folder = workspace.data if workspace.data.exists() else workspace.home
    if not os.access(folder, os.W_OK):
        return Check("disk", False, f"{folder} cannot be written.", "Check its permissions.")
    free = shutil.disk_usage(folder).free
    enough = free > ROOM
    hint = "" if enough else "Free some space."
    return Check("disk", enough, f"{free / 2**30:.1f} GiB free", hint)


def check_store(workspace: Workspace) -> Check:
    count = len(list_documents(workspace.store))
    address = mask_secrets(workspace.settings.store.url).rpartition("@")[2]
    place = address or "SQLite in .ombud"
    return Check("store", True, f"{place}, {count} documents")


def check_permissions(workspace: Workspace) -> Check:
    looked_at = [workspace.data, *workspace.store.files]
    readable = [path for path in looked_at if is_open_to_others(path)]
    if not readable:
        return Check("permissions", True, "only the owner may read what is stored")
    commands = "; ".join(map(command_to_close, readable))
    hint = f"Run as its owner: {commands}. A file system without permissions cannot protect it."
    return Check("permissions", False, f"Others may read {readable[0]}.", hint)


def check_embedder(workspace: Workspace) -> Check:
    embedder = workspace.embedder
    missing = workspace.missing_model
    if missing:
        return Check("embedder", False, f"{missing} Search is by words only.", missing.hint)
    if embedder is None:
        hint = "Set models.embedder to find paraphrases too."
        return Check("embedder", True, "none: search is by words only", hint)
    languages = "all languages"
    if embedder.languages:
        languages = ", ".join(sorted(embedder.languages))
    facts = f"{embedder.dimension} dimensions, reads {languages}"
    return Check("embedder", True, f"{embedder.fingerprint} ({facts})")


def check_index(workspace: Workspace) -> Check:
    # Read rows, because the stored count may be right when they are damaged.
    chunks = sum(blocking(workspace.engine.documents()).values())
    languages = ", ".join(sorted(workspace.engine.languages())) or "no language yet"
    hint = "" if chunks else "Run `ombud sync FOLDER`."
    return Check("index", bool(chunks), f"{chunks} passages ({languages})", hint)


def check_chat(workspace: Workspace) -> Check:
    roles_of = workspace.models.models()
    if not roles_of:
        hint = "Set models.chat to have answers written."
        return Check("chat model", True, "none: answers are quotes", hint)
    parts: list[str] = []
    unpriced: list[str] = []
    for name, roles in roles_of.items():
        # Opening a model reports a wrong name or key.
        rate = workspace.models.rates(name)
        parts.append(model_line(name, roles, rate))
        if rate is None:
            unpriced.append(name)
    without_model: list[str] = []
    for role, names in workspace.models.roles().items():
        if not names:
            without_model.append(role)
    if without_model:
        parts.append(f"no model for {joined_names(without_model)}")
    parts += spent_today(workspace)
    hint = f"No price is known for {joined_names(unpriced)}: set models.prices." if unpriced else ""
    return Check("chat model", True, "; ".join(parts), hint)


def spent_today(workspace: Workspace) -> list[str]:
    """Describe today's costs; empty without a daily budget."""
    budget = workspace.settings.models.daily_budget
    if not budget:
        return []
    spent = spent_on(workspace.store, workspace.today().isoformat())
    return [f"{spent:.2f} of {budget:.2f} US dollars spent today"]


def model_line(name: str, roles: Sequence[str], rate: tuple[float, float] | None) -> str:
    facts = joined_names(roles)
    if rate:
        facts += f"; {rate[0]:g} + {rate[1]:g} US dollars a million tokens in and out"
    return f"{name} ({facts})"


def call_models(workspace: Workspace) -> Iterator[Check]:
    """Call each model once by itself, so that a fallback cannot hide a failure."""
    models = workspace.models.models()
    replies: dict[str, ChatReply[Ready]] = {}
    for name, roles in models.items():
        began = time.perf_counter()
        try:
            replies[name] = call_model(workspace, name)
        except OmbudError as failed:
            yield Check(
                f"model {name}", False, f"{failed} It is for {joined_names(roles)}.", failed.hint
            )
        else:
            seconds = time.perf_counter() - began
            yield Check(f"model {name}", True, reply_summary(replies[name], seconds, roles))
    if not models:
        return
    for role, names in workspace.models.roles().items():
        yield check_role(role, names, replies)


def call_model(workspace: Workspace, name: str) -> ChatReply[Ready]:
    prompt = load("doctor", override=workspace.home / PROMPTS).fill()
    client = workspace.models.alone(name)
    call = client.reply(
        "",
        prompt,
        Ready,
        temperature=0.0,
        seconds=workspace.settings.models.timeout_seconds,
    )
    return asyncio.run(call)


def check_role(role: str, names: Sequence[str], replies: Mapping[str, ChatReply[Ready]]) -> Check:
    """Report which model answers in a role now, after each was called."""
    if not names:
        return Check(f"role {role}", True, "no model")
    answering = [name for name in names if name in replies]
    if not answering:
        hint = "What is wrong stands above."
        return Check(f"role {role}", False, f"nobody answers: {joined_names(names)}", hint)
    first = answering[0]
    instead = "" if first == names[0] else f" instead of {names[0]}"
    price = price_text(replies[first].price)
    return Check(f"role {role}", True, f"{first}{instead}; the test call: {price}")


def reply_summary(reply: ChatReply[Ready], seconds: float, roles: Sequence[str]) -> str:
    tokens = f"{reply.tokens_in} + {reply.tokens_out} tokens"
    price = price_text(reply.price)
    return f"answered in {seconds:.1f} s, {tokens}, {price}; for {joined_names(roles)}"


def price_text(price: float | None) -> str:
    return "price not known" if price is None else f"{price:.6f} US dollars"


def joined_names(names: Sequence[str]) -> str:
    return ", ".join(names)


def check_reranker(workspace: Workspace, ask: bool) -> Check:
    """Check that the plans' reranker exists. A local one scores a pair; a paid service is called
    only with `ask`."""
    used: set[str] = set()
    check_plans(workspace.settings, lambda plan: used.add(plan.reranker))
    by_chat = sorted(used & BY_CHAT)
    if by_chat and not workspace.models.roles()["rerank"]:
        names = " and ".join(by_chat)
        hint = "Set models.chat or models.roles."
        return Check("reranker", False, f"The plan's {names} has no chat model.", hint)
    reranker = open_reranker(workspace.settings.models)
    if reranker is None:
        return no_reranker_check(used)
    hint = "" if BY_PAIRS in used else 'No plan uses it: set plan.reranker = "cross-encoder".'
    if reranker.price is None and not ask:
        address = workspace.settings.models.reranker_url or "the provider's own address"
        state = f"{reranker.name} at {address}, not called"
        return Check("reranker", True, state, hint or "--ask calls it.")
    return Check("reranker", True, score_sample(workspace, reranker), hint)


def no_reranker_check(used: Collection[str]) -> Check:
    if BY_PAIRS in used:
        state = "none, but a plan has reranker = cross-encoder"
        return Check("reranker", False, state, "Set models.reranker.")
    return Check("reranker", True, joined_names(sorted(used)))


def score_sample(workspace: Workspace, reranker: Reranker) -> str:
    began = time.perf_counter()
    asyncio.run(reranker.score(*SAMPLE, workspace.settings.models.step_seconds))
    seconds = time.perf_counter() - began
    price = "" if reranker.price == 0 else f", {price_text(reranker.price)}"
    return f"{reranker.name} scored {len(SAMPLE[1])} texts in {seconds:.1f} s{price}"


def check_privacy(workspace: Workspace) -> Check:
    """Report which models on other machines see sensitive messages."""
    parts = workspace.answering
    names = ", ".join(remote_names(parts.knowledge, parts.chat, parts.verifier))
    policy = workspace.settings.models.sensitive
    if not names:
        state = "all models are on this machine"
    elif policy == "never":
        state = f"sensitive messages are kept from {names}"
    elif policy == "redacted":
        state = f"{names}: sensitive messages without names and numbers of people"
    else:
        state = f"{names}: also sensitive messages"
    hint = 'models.sensitive = "never" keeps them here.' if names and policy == "allowed" else ""
    return Check("privacy", True, state, hint)


def check_traffic(workspace: Workspace) -> Check:
    """Report whether the requests of each model go directly or through a proxy."""
    routes = {name: workspace.models.route(name) for name in workspace.models.models()}
    if workspace.embedder:
        routes[workspace.embedder.fingerprint] = route_of_part(workspace.embedder)
    reranker = open_reranker(workspace.settings.models)
    if reranker:
        routes[reranker.name] = route_of_part(reranker)
    lines = [f"{name} {route}" for name, route in routes.items()]
    return Check("request routes", True, "; ".join(lines) or "no model is asked")


def check_flag_layers(workspace: Workspace) -> Check:
    settings = workspace.settings
    check_flags(settings, workspace.personas, workspace.prompts)
    changed = [f"country {name}" for name in settings.country]
    changed += [f"persona {name}" for name in settings.persona]
    tried = []
    for name, experiment in settings.experiment.items():
        tried.append(f"{name} ({share_text(experiment)})")
    parts: list[str] = []
    if changed:
        parts.append(f"the plan changes for {joined_names(changed)}")
    if tried:
        parts.append(f"experiments: {joined_names(tried)}")
    return Check("flags", True, "; ".join(parts) or "one plan for everyone")


def share_text(experiment: Experiment) -> str:
    if experiment.off:
        return "off"
    countries = f" in {joined_names(experiment.countries)}" if experiment.countries else ""
    return f"{experiment.share * 100:g} % of people{countries}"


def check_prompts(workspace: Workspace) -> Check:
    folder = workspace.home / PROMPTS
    wrong = problems(folder)
    if wrong:
        hint = "What is shipped is used in its place."
        return Check("prompts", False, " ".join(wrong), hint)
    shipped = digests()
    own = []
    for name, digest in digests(folder).items():
        if shipped.get(name) != digest:
            own.append(name)
    return Check("prompts", True, f"your own {joined_names(own)}" if own else "as shipped")


def check_tickets(workspace: Workspace) -> Check:
    settings = workspace.settings
    desk = open_tickets(settings.tickets, settings.server.public_url)
    if desk is None:
        return Check("tickets", True, "none")

    async def describe() -> str:
        try:
            return await desk.system.check()
        finally:
            await desk.close()

    described = asyncio.run(describe())
    hint = "" if settings.server.public_url else "Set server.public_url: tickets link to sources."
    return Check("tickets", True, described, hint)


def check_sources(workspace: Workspace) -> Check:
    names: list[str] = []
    for configured in workspace.settings.source:
        # Google names a wrong key only when it is used.
        check = getattr(open_configured(configured, workspace.home), "check", None)
        names.append(check() if check else configured.name)
    names += [recorded.name for recorded in list_sources(workspace.store)]
    hint = "" if names else "Add [[source]] to ombud.toml or run `ombud sync FOLDER`."
    return Check("sources", bool(names), joined_names(names) or "none", hint)
