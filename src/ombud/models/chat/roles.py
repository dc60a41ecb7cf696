"""Which models a role has, opened once each however many roles name them."""

import asyncio
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import wait
from functools import cache
from itertools import zip_longest
from typing import get_args

from ombud.models.chat.budget import Budget
from ombud.models.chat.chat import Chat
from ombud.models.chat.connecting import connect
from ombud.models.chat.model_client import CallPolicy, ModelClient
from ombud.models.chat.resilience import Timing
from ombud.settings import ModelRole, ModelSettings

ROLES: tuple[ModelRole, ...] = get_args(ModelRole)
NONE = "none"
ALONE: frozenset[ModelRole] = frozenset({"judge"})
"""Roles in which no other model stands in: verdicts of two models are not one measure."""
CLOSING = 5.0
"""Seconds that connections have to close."""


class ModelRoles:
    """The chat models of the settings, each opened on first use. Roles share clients, and so their
    circuit breakers and queues.

    budget: counts what is spent; required if the settings have one."""

    def __init__(
        self,
        settings: ModelSettings,
        budget: Budget | None = None,
        timing: Timing = Timing(),  # noqa: B008
    ) -> None:
        self._settings = settings
        self._policy = CallPolicy(
            retries=settings.retries,
            concurrency=settings.concurrency,
            timing=timing,
            budget=budget if settings.has_budget else None,
        )
        self._clients: dict[str, ModelClient] = {}
        self._opened: list[ModelClient] = []
        self._lock = threading.Lock()

    def chat(self, role: ModelRole, first: str = "") -> Chat | None:
        """Return the models of a role, with `first` before them; None if there are none or `first`
        is `none`. Raises SetupError for a model that cannot be used."""
        names = names_for(self._settings, role, first)
        if not names:
            return None
        return self._chat(list(map(self._client, names)), role)

    def roles(self) -> dict[ModelRole, tuple[str, ...]]:
        """Return the models of each role in the order they are asked; empty for an unused role."""
        return {role: names_for(self._settings, role) for role in ROLES}

    def models(self) -> dict[str, tuple[ModelRole, ...]]:
        """Name -> the roles that may ask it, first choices before those that stand in."""
        by_role = self.roles()
        by_model: dict[str, tuple[ModelRole, ...]] = {}
        for name in _in_turn(by_role.values()):
            by_model[name] = tuple(role for role, names in by_role.items() if name in names)
        return by_model

    def alone(self, name: str) -> Chat:
        """Return one model without fallbacks, so that its own state shows."""
        policy = self._policy._replace(retries=0)
        return self._chat([self._open(name, policy)], "")

    def rates(self, name: str) -> tuple[float, float] | None:
        """Return US dollars for a million tokens in and out, if the price list has the model.
        Raises SetupError for a model that cannot be used."""
        return self._client(name).rates

    def route(self, name: str) -> str:
        """Return where the requests of a model go. Raises SetupError for a model that cannot be
        used."""
        return self._client(name).route

    def errors(self) -> dict[str, int]:
        """Return how many requests to each model that is open had no reply."""
        with self._lock:
            return {name: client.errors for name, client in self._clients.items()}

    def close(self) -> None:
        """Let go of all connections."""
        closing = []
        for client in self._opened:
            closing.append(asyncio.run_coroutine_threadsafe(client.close(), _loop()))
        wait(closing, CLOSING)

    def _client(self, name: str) -> ModelClient:
        with self._lock:
            if name not in self._clients:
                self._clients[name] = self._open(name, self._policy)
            return self._clients[name]

    def _open(self, name: str, policy: CallPolicy) -> ModelClient:
        settings = self._settings
        longest = max(settings.timeout_seconds, settings.search_seconds)
        model = connect(name, settings.base_url, longest)
        client = ModelClient(name, model, policy, settings.prices.get(name))
        self._opened.append(client)
        return client

    def _chat(self, clients: Sequence[ModelClient], role: str) -> Chat:
        return Chat(
            clients[0].name,
            clients=clients,
            role=role,
            timing=self._policy.timing,
            loop=_loop(),
        )


def _in_turn(lists: Iterable[Sequence[str]]) -> list[str]:
    """Interleave the lists without repetition."""
    names: dict[str, None] = {}
    for row in zip_longest(*lists):
        for name in row:
            if name is not None:
                names[name] = None
    return list(names)


def open_chat(settings: ModelSettings, role: ModelRole = "compose") -> Chat | None:
    """Open the models of one role without sharing them; None if there are none. Raises SetupError
    for a model that cannot be used."""
    return ModelRoles(settings).chat(role)


def names_for(settings: ModelSettings, role: ModelRole, first: str = "") -> tuple[str, ...]:
    """Return the models that a role asks, in this order: `first`, its own or else `chat`, then the
    fallbacks. One of ALONE has only the first."""
    own = _named(settings, role)
    if first == NONE or not (first or own):
        return ()
    names = tuple(dict.fromkeys(name for name in (first, *own, *settings.fallbacks) if name))
    return names[:1] if role in ALONE else names


def _named(settings: ModelSettings, role: ModelRole) -> list[str]:
    """Return the models that the settings name for a role, else those of `chat`; who composes
    claims verifies them, too, unless another model is named for it."""
    own = [name for name in settings.roles.get(role, ()) if name]
    if not own and role == "verify":
        return _named(settings, "compose")
    if not own:
        own = [settings.chat]
    return [] if own[:1] in ([""], [NONE]) else own


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """Return the event loop of the process: open connections belong to one loop, and callers may
    have others."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="models", daemon=True).start()
    return loop
