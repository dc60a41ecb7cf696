"""Errors: what they tell a shell and a browser."""

import pytest

from ombud import errors


@pytest.mark.parametrize(
    ("kind", "exit_code", "status", "retryable"),
    [
        ("OmbudError", 1, 500, False),
        ("SetupError", 2, 500, False),
        ("BadSetting", 2, 500, False),
        ("UnknownName", 2, 422, False),
        ("MissingExtra", 2, 500, False),
        ("BadRequest", 2, 422, False),
        ("NotFound", 1, 404, False),
        ("Busy", 3, 409, True),
        ("ModelError", 1, 502, False),
        ("ModelUnavailable", 1, 503, True),
        ("StoreError", 1, 503, False),
        ("EngineError", 1, 503, False),
        ("Conflict", 1, 503, True),
        ("Undelivered", 1, 503, True),
        ("ConversationLost", 1, 503, False),
    ],
)
def test_codes(kind: str, exit_code: int, status: int, retryable: bool) -> None:
    error = getattr(errors, kind)("It broke.", hint="Mend it.")
    assert (error.exit_code, error.status, error.retryable) == (exit_code, status, retryable)
    assert (str(error), error.hint) == ("It broke.", "Mend it.")


def test_a_hint_may_be_missing() -> None:
    assert errors.LabError("It broke.").hint == ""


def test_the_picture_shows_the_tree_that_there_is() -> None:
    """Each name stands under the class that it derives from."""
    above: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        word = line.lstrip("│├└─ ").split(" ")[0]
        cls = getattr(errors, word, None)
        if not isinstance(cls, type):
            continue
        depth = len(line) - len(line.lstrip("│├└─ "))
        above = [entry for entry in above if entry[0] < depth]
        if above:
            assert cls.__bases__[0].__name__ == above[-1][1]
        above.append((depth, word))
    assert len(above) >= 2
