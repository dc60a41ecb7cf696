"""The queue of our own desk: its order, and how long a turn may take."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from statistics import median

from ombud.settings import AdvisorSettings
from ombud.types import Session

LEAST_WAITS = 5
"""Recent waits needed for an estimate."""


def in_order(waiting: Sequence[Session]) -> list[Session]:
    """Sort conversations, longest waiting first."""
    latest = datetime.max.replace(tzinfo=UTC)
    return sorted(waiting, key=lambda session: (session.since or latest, session.id))


def positions(waiting: Sequence[Session], advisors: Sequence[AdvisorSettings]) -> dict[str, int]:
    """Return each conversation's place in the queue, from 1. It counts those ahead that compete for
    the same advisors."""
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
    """Tell whether an advisor takes this conversation: by name, else by country and topic."""
    if session.wanted:
        return session.wanted == advisor.id
    return covers(advisor, session)


def covers(advisor: AdvisorSettings, session: Session) -> bool:
    """Tell whether a conversation is of an advisor's countries and topics."""
    country = session.asker.country or ""
    if advisor.countries and country and country not in advisor.countries:
        return False
    return not (advisor.topics and session.topic and session.topic not in advisor.topics)


def expected_wait(position: int, waits: Sequence[float], present: int) -> float | None:
    """Estimate the seconds until one's turn from the median of recent waits and the advisors
    present; None if there are too few waits."""
    if len(waits) < LEAST_WAITS:
        return None
    rounds = -(-position // max(present, 1))
    return rounds * float(median(waits))
