"""How many random schedules a test tries: a few in `make test`, all of them in `make test-all`."""

from typing import Any

import pytest


def seeds(count: int, quick: int) -> list[Any]:
    """0 to count - 1; those from `quick` on are slow."""
    later = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(quick, count)]
    return [*range(quick), *later]
