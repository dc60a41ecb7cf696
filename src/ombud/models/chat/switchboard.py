"""Which models a role has, opened once each however many roles name them."""

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import wait
from functools import cache
from typing import get_args

from ombud.models.chat.budget import Budget
from ombud.models.chat.cache import Cache
from ombud.models.chat.chat import Chat
from ombud.models.chat.connecting import connect
from ombud.models.chat.model_client import Conduct, ModelClient
from ombud.models.chat.resilience import Timing
from ombud.settings import ModelRole, ModelSettings

ROLES: tuple[ModelRole, ...] = get_args(ModelRole)
NONE = "none"
CLOSING = 5.0
"""Seconds that connections have to close."""


class ModelRoles:
    """The chat models of the settings. Roles share lines, and with them what is known of a model:
    that it is down, how many calls are under way. A model is opened when a role first needs it.

    purse: counts what is spent; needed where the settings have a daily budget.
    """

    def __init__(
        self,
        settings: ModelSettings,
        purse: Budget | None = None,
        timing: Timing = Timing(),  # noqa: B008
    ) -> None:
        self._settings = settings
        self._conduct = Conduct(
            settings.retries,
            settings.concurrency,
            settings.breaker_failures,
            settings.breaker_seconds,
            timing,
            purse if settings.daily_budget else None,
            Cache(timing) if settings.cache else None,
        )
        self._lines: dict[str, ModelClient] = {}
        self._opened: list[ModelClient] = []
        self._lock = threading.Lock()

    def chat(self, role: ModelRole, first: str = "") -> Chat | None:
        """The models of a role, another one before them if given; None where there is none, or
        `first` is `none`.

        Raises SetupError for one that cannot be used.
        """
        names = names_for(self._settings, role, first)
        return self._over([self._line(name) for name in names], role) if names else None

    def roles(self) -> dict[ModelRole, tuple[str, ...]]:
        """Role -> the models it asks, in this order; none where it is done without."""
        return {role: names_for(self._settings, role) for role in ROLES}

    def models(self) -> dict[str, tuple[ModelRole, ...]]:
        """Name -> the roles that may ask it, first choices before those that stand in."""
        listed = self.roles()
        longest = max(map(len, listed.values()), default=0)
        names = dict.fromkeys(
            named[n] for n in range(longest) for named in listed.values() if n < len(named)
        )
        return {
            name: tuple(role for role, named in listed.items() if name in named) for name in names
        }

    def alone(self, name: str) -> Chat:
        """One model by itself, never from memory, so that its own state shows."""
        conduct = self._conduct._replace(retries=0, cache=None)
        return self._over([self._open(name, conduct)], "")

    def rates(self, name: str) -> tuple[float, float] | None:
        """US dollars for a million tokens in and out, where the price list knows the model. Raises
        SetupError for one that cannot be used."""
        return self._line(name).rates

    def close(self) -> None:
        """Let go of all connections."""
        closing = [asyncio.run_coroutine_threadsafe(line.close(), _loop()) for line in self._opened]
        wait(closing, CLOSING)

    def _line(self, name: str) -> ModelClient:
        with self._lock:
            if name not in self._lines:
                self._lines[name] = self._open(name, self._conduct)
            return self._lines[name]

    def _open(self, name: str, conduct: Conduct) -> ModelClient:
        settings = self._settings
        longest = max(settings.timeout_seconds, settings.search_seconds)
        line = ModelClient(name, connect(name, settings.base_url, longest), conduct)
        self._opened.append(line)
        return line

    def _over(self, lines: Sequence[ModelClient], role: str) -> Chat:
        return Chat(
            lines[0].name, lines=lines, role=role, timing=self._conduct.timing, loop=_loop()
        )


def open_chat(settings: ModelSettings, role: ModelRole = "compose") -> Chat | None:
    """The models of one role, by themselves; None when there is none. Raises SetupError for one
    that cannot be used."""
    return ModelRoles(settings).chat(role)


def names_for(settings: ModelSettings, role: ModelRole, first: str = "") -> tuple[str, ...]:
    """The models that a role asks, in this order: `first`, its own or else `chat`, then the
    fallbacks."""
    own = [name for name in settings.roles.get(role, ()) if name] or [settings.chat]
    own = [] if own[0] in ("", NONE) else own
    if first == NONE or not (first or own):
        return ()
    return tuple(dict.fromkeys(filter(None, (first, *own, *settings.fallbacks))))


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """One for the process, for open connections belong to one event loop, and whoever asks may have
    another."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="models", daemon=True).start()
    return loop
