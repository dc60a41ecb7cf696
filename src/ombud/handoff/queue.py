"""Who waits at our own desk, for whom, and for how long it may take."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from statistics import median

from ombud.settings import AdvisorSettings
from ombud.types import Session

LEAST_WAITS = 5
"""Waits that must be known before one is foretold."""


def in_order(waiting: Sequence[Session]) -> list[Session]:
    """Longest waiting first."""
    latest = datetime.max.replace(tzinfo=UTC)
    return sorted(waiting, key=lambda session: (session.since or latest, session.id))


def positions(waiting: Sequence[Session], advisors: Sequence[AdvisorSettings]) -> dict[str, int]:
    """Conversation -> its place in the queue, from 1: among those before it that some advisor could
    take instead of it."""
    places: dict[str, int] = {}
    ahead: Counter[frozenset[str]] = Counter()
    for session in in_order(waiting):
        able = frozenset(advisor.id for advisor in advisors if suits(advisor, session))
        before = 0
        for others, count in ahead.items():
            if not able or not others or able & others:
                before += count
        places[session.id] = before + 1
        ahead[able] += 1
    return places


def suits(advisor: AdvisorSettings, session: Session) -> bool:
    """Whether this advisor takes such conversations: by name, else by country and topic."""
    if session.wanted:
        return session.wanted == advisor.id
    country = session.asker.country or ""
    if advisor.countries and country and country not in advisor.countries:
        return False
    return not (advisor.topics and session.topic and session.topic not in advisor.topics)


def expected_wait(position: int, waits: Sequence[float], present: int) -> float | None:
    """Seconds until it is one's turn: the median of the last waits, for each who is ahead of the
    advisors that are there. None where too few waits are known."""
    if len(waits) < LEAST_WAITS:
        return None
    rounds = -(-position // max(present, 1))
    return rounds * float(median(waits))
