"""Libraries of the extra `lab`, imported when a score or a statistic needs them."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ombud.errors import SetupError

NEEDED_BY_SCORES = ("ir_measures", "sacrebleu", "scipy")


def check_lab_libraries() -> None:
    """Raise SetupError where scores and their figures could not be made of what is asked."""
    for name in NEEDED_BY_SCORES:
        if find_spec(name) is None:
            lab_library(name)


def lab_library(name: str) -> Any:
    """Import a library of the extra. Raises SetupError that says how to install it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        raise SetupError(
            f"The lab needs `{missing.name}`, which is not installed.",
            hint="pip install 'ombud[lab]'",
        ) from missing
