"""Pauses and breakers, by a clock of our own."""

import pytest

from models.timing import Clock
from ombud.models.chat.resilience import CircuitBreaker, backoff_seconds


@pytest.mark.parametrize(("attempt", "most"), [(1, 0.5), (2, 1.0), (3, 2.0), (5, 8.0), (9, 8.0)])
def test_a_pause_is_anything_up_to_a_bound_that_doubles(attempt: int, most: float) -> None:
    assert backoff_seconds(attempt, None, Clock(0.0).timing) == 0
    assert backoff_seconds(attempt, None, Clock(0.5).timing) == most / 2
    assert backoff_seconds(attempt, None, Clock(1.0).timing) == most


def test_what_the_server_asks_for_is_kept_to_and_spread() -> None:
    assert backoff_seconds(1, 12, Clock(0.0).timing) == 12
    assert backoff_seconds(1, 12, Clock(1.0).timing) == 15


def test_after_failures_in_a_row_it_rests() -> None:
    clock = Clock()
    breaker = CircuitBreaker(3, 30, clock.timing)
    for _ in range(2):
        breaker.failed(0.1)
    assert breaker.ready
    breaker.succeeded()
    for _ in range(3):
        assert breaker.admit()
        breaker.failed(0.1)
        breaker.leave()
    assert not breaker.admit()
    assert breaker.left == 30
    clock.now += 29
    assert not breaker.admit()


def opened(clock: Clock) -> CircuitBreaker:
    breaker = CircuitBreaker(1, 30, clock.timing)
    breaker.failed(0.1)
    clock.now += 30
    return breaker


def test_one_call_tries_it_and_closes_it() -> None:
    breaker = opened(Clock())
    assert breaker.admit()
    assert not breaker.admit()
    breaker.succeeded()
    breaker.leave()
    assert breaker.admit()
    assert breaker.admit()


def test_one_that_fails_again_rests_again() -> None:
    clock = Clock()
    breaker = opened(clock)
    assert breaker.admit()
    breaker.failed(0.1)
    breaker.leave()
    assert breaker.left == 30
    clock.now += 30
    assert breaker.admit()


def test_a_trial_that_is_called_off_leaves_it_to_the_next() -> None:
    breaker = opened(Clock())
    assert breaker.admit()
    breaker.leave()
    assert breaker.admit()


def test_one_failure_that_took_long_is_enough() -> None:
    breaker = CircuitBreaker(3, 30, Clock().timing)
    breaker.failed(5)
    assert not breaker.ready


def test_a_server_that_asks_for_more_rest_gets_it() -> None:
    breaker = CircuitBreaker(1, 30, Clock().timing)
    breaker.failed(0.1, after=90)
    assert breaker.left == 90
