"""Deviations from a pinned baseline: thresholds, and slow drift in simulated weeks."""

from datetime import UTC, datetime, timedelta

import numpy as np

from lab.recording import many, recorded
from ombud.lab import FallLimits, RecordedRun, find_deviations

PAIRS = 200
WEEKLY = 4
"""Cases lost in a week: .02 of them."""
START = datetime(2026, 1, 5, tzinfo=UTC)


def week(number: int, lost: int, random: np.random.Generator) -> RecordedRun:
    """Nineteen of twenty cases pass; one of ten changes from run to run as it likes. lost: cases
    that passed and do not any more."""
    chance = np.where(np.arange(PAIRS) % 10 == 0, 0.5, 1.0)
    chance[np.flatnonzero(chance == 1)[:lost]] = 0.0
    values = {"outcome_accuracy": list(map(float, random.random(PAIRS) < chance))}
    began = START + timedelta(weeks=number)
    return recorded(many(PAIRS), values, id=f"week{number}", started=began)


def test_wrong_figures_of_few_cases_are_reported_by_the_threshold_of_their_metric() -> None:
    """Four of fifteen that fall are p = .06 (one-sided): no test alone would report it."""
    before = [0.67, *[1.0] * 14]
    after = [*before[:11], 0.0625, 0.0625, 0.0625, 0.0625]
    runs = [recorded(many(15), {"number_agreement": line}) for line in (before, after)]
    assert find_deviations(runs, FallLimits()).passed
    (fall,) = find_deviations(runs, FallLimits({"number_agreement": 0.1})).falls
    assert "0.978 to 0.728" in fall.said
    assert "threshold is 0.1" in fall.said
    assert len(fall.worst) == 4
    assert find_deviations(runs, FallLimits({"number_agreement": 0.3})).passed
    assert find_deviations(runs, FallLimits(wrong_figures=4)).passed
    (wrong,) = find_deviations(runs, FallLimits(wrong_figures=3)).falls
    assert "4 answers state fewer of the right figures" in wrong.said


def test_a_drift_of_two_points_a_week_is_reported_within_five_weeks() -> None:
    reported: list[int] = []
    for seed in range(10):
        random = np.random.default_rng(seed)
        runs = [week(0, 0, random)]
        for number in range(1, 6):
            runs.append(week(number, WEEKLY * number, random))
            if not find_deviations(runs, FallLimits()).passed:
                reported.append(number)
                break
    assert len(reported) == 10


def test_fifty_quiet_weeks_have_at_most_one_false_alarm() -> None:
    random = np.random.default_rng(2026)
    runs = [week(number, 0, random) for number in range(51)]
    alarms = [
        number
        for number in range(1, 51)
        if not find_deviations(runs[: number + 1], FallLimits()).passed
    ]
    assert len(alarms) <= 1
