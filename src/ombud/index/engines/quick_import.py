"""Importing lancedb in about half the time.

lancedb imports the HTTP client of a remote catalogue that nothing here calls: hundreds of pydantic
models and functions under `validate_call`, whose schemas are built at import. They take .5 of the
.9 s of CPU that `import lancedb` needs (lancedb 0.40, 2 cores), of a command that answers in .2.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pydantic

Checked = TypeVar("Checked", bound=Callable[..., Any])


def _unchecked(function: Checked) -> Checked:
    """In place of `pydantic.validate_call`: arguments of that client are not checked."""
    return function


@contextmanager
def deferred_schemas() -> Iterator[None]:
    """What is imported inside builds the schemas of its models when they are first used."""
    config = pydantic.BaseModel.model_config
    validate_call = pydantic.validate_call
    deferred_before = config.get("defer_build", False)
    config["defer_build"] = True
    pydantic.validate_call = _unchecked  # type: ignore[assignment]
    try:
        yield
    finally:
        config["defer_build"] = deferred_before
        pydantic.validate_call = validate_call
