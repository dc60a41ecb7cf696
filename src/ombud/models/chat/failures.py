"""Why a chat model gave no value, in words that repeat nothing of what was sent."""

import re
from typing import Any

from ombud.errors import MalformedOutput, ModelError, ModelUnavailable
from ombud.models.chat.outcomes import ModelFailure

PASSING = (408, 409, 425)
"""HTTP statuses beside 429 and 5xx that say "not now" (OpenAI's and Anthropic's clients ask again
after them too)."""
TOO_LARGE = 413
LONGEST = 150
"""Characters of an error that are repeated."""


def timed_out(name: str, seconds: float) -> ModelFailure:
    error = ModelUnavailable(
        f"The model `{name}` gave no answer within {seconds:.0f} seconds.",
        hint="Raise models.timeout_seconds or take a faster model.",
    )
    return ModelFailure(error, f"no answer within {seconds:.0f} seconds", down=True)


def failure_of(name: str, error: Exception) -> ModelFailure:
    """Whatever pydantic-ai, or a client under it, raised."""
    from pydantic_ai import exceptions

    if isinstance(error, exceptions.ModelHTTPError | exceptions.ModelConnectionError | OSError):
        status = getattr(error, "status_code", None)
        return _unreachable(name, error) if status is None else _refused(name, error, status)
    is_malformed = isinstance(
        error,
        exceptions.ModelAPIError
        | exceptions.UnexpectedModelBehavior
        | exceptions.IncompleteToolCall,
    )
    if not is_malformed and isinstance(error, exceptions.AgentRunError | exceptions.UserError):
        failed = ModelError(f"The model `{name}` failed: {_first_line(error)}")
        return ModelFailure(failed, type(error).__name__)
    return _malformed(name, error)


def _malformed(name: str, error: Exception) -> ModelFailure:
    from pydantic_ai import exceptions

    # The others say what they were given, which may repeat the prompt.
    why = type(error).__name__
    if isinstance(error, exceptions.UnexpectedModelBehavior):
        why = _first_line(error)
    malformed = MalformedOutput(f"The model `{name}` gave no usable answer ({why}).")
    return ModelFailure(malformed, "no usable answer")


def _unreachable(name: str, error: Exception) -> ModelFailure:
    unavailable = ModelUnavailable(
        f"The model `{name}` cannot be reached: {_first_line(error)}",
        hint="Check models.base_url and the network; `ombud doctor --ask` tries every model.",
    )
    return ModelFailure(
        unavailable,
        "it cannot be reached",
        again=True,
        after=getattr(error, "retry_after", None),
        down=True,
    )


def _refused(name: str, error: Exception, status: int) -> ModelFailure:
    """A request that the provider answered with an error."""
    from pydantic_ai import exceptions

    code = _error_code(error, status)
    reason = f"HTTP {status}, {code}" if code else f"HTTP {status}"
    is_passing = isinstance(
        error,
        exceptions.ModelRateLimitError
        | exceptions.ModelUnavailableError
        | exceptions.ModelServerError,
    )
    is_rejected = isinstance(error, exceptions.ModelRequestRejectedError) or status == TOO_LARGE
    is_key = isinstance(error, exceptions.ModelAuthenticationError | exceptions.ModelNotFoundError)
    return ModelFailure(
        ModelUnavailable(f"The model `{name}` answered with {reason}.", hint=_hint(error)),
        reason,
        again=is_passing or status in PASSING,
        after=getattr(error, "retry_after", None),
        down=is_key or not is_rejected,
    )


def _error_code(error: Exception, status: int) -> str:
    """What the provider calls the error, if that is a word. llama.cpp's code is the status once
    more, and its type says what happened."""
    for name in ("provider_error_code", "provider_error_type"):
        code = str(getattr(error, name, None) or "")
        if re.fullmatch(r"[\w.-]{1,60}", code) and code != str(status):
            return code
    return ""


def _hint(error: Exception) -> str:
    hints = _hints()
    # llama.cpp's has no class of its own.
    if getattr(error, "provider_error_type", "") == "exceed_context_size_error":
        return TOO_LONG
    for kind, hint in hints.items():
        if isinstance(error, kind):
            return hint
    return "Later it may work again."


TOO_LONG = "Lower plan.budget_tokens or plan.k."


def _hints() -> dict[type[Exception], str]:
    """The first that fits counts."""
    from pydantic_ai import exceptions

    return {
        exceptions.ModelQuotaExceededError: "The account's quota or credit is used up.",
        exceptions.ModelRateLimitError: (
            "The provider's rate limit is reached; lower models.concurrency or raise it."
        ),
        exceptions.ModelAuthenticationError: (
            "Check the provider's API key, and that it may use this model."
        ),
        exceptions.ModelNotFoundError: "Check the model's name, and models.base_url.",
        exceptions.ModelContextWindowExceededError: TOO_LONG,
        exceptions.ModelRequestRejectedError: (
            "The provider does not accept the request; does the model know JSON schemas and "
            "temperatures?"
        ),
    }


def _first_line(error: Any) -> str:
    """Of what happened, without the body of an answer."""
    text = str(getattr(error, "message", None) or error) or type(error).__name__
    return re.split(r",? body:|\n", text)[0].strip()[:LONGEST]
