"""Of several errors at once, the one to show."""

from collections.abc import Iterator
from typing import Any

from ombud.errors import OmbudError


def most_telling(several: BaseExceptionGroup[Any]) -> BaseException:
    """Choose the error that explains why the run stopped, preferably one of ombud's own."""
    errors = list(_single_errors(several))
    for error in errors:
        if isinstance(error, OmbudError):
            return error
    return errors[0]


def _single_errors(several: BaseExceptionGroup[Any]) -> Iterator[BaseException]:
    for error in several.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _single_errors(error)
        else:
            yield error
