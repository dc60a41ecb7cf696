"""Why a chat model gave no value, in words that repeat nothing of what was sent."""

import json
import re
from typing import Any, NamedTuple

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


def stalled(name: str) -> ModelFailure:
    error = ModelUnavailable(
        f"The model `{name}` stopped in the middle of its answer.", hint="Later it may work again."
    )
    return ModelFailure(error, "it stopped in the middle", down=True)


class LastReply(NamedTuple):
    """The last reply of a model, if it could not be used."""

    text: str | None = None
    """None: it is not known whether there was a reply."""
    ending: str = ""
    """Why it ended, as pydantic-ai names it."""

    @property
    def fault(self) -> str:
        """Return in our own words what is wrong with it."""
        if self.ending == "content_filter":
            return "it refused to answer"
        if self.ending == "length":
            return "its reply was cut off"
        if self.text is None:
            return "no usable answer"
        if not self.text.strip():
            return "its reply was empty"
        try:
            json.loads(self.text)
        except (ValueError, RecursionError):
            return "its reply was no valid JSON"
        return "its reply had another form than was asked for"


def failure_of(name: str, error: Exception, last: LastReply) -> ModelFailure:
    """Translate an exception of pydantic-ai or of a client under it. last: the model's last
    reply."""
    from pydantic_ai import exceptions

    if isinstance(error, ModelUnavailable):  # no token for it was to be had
        return ModelFailure(error, "no identity for it", down=True)
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
        failed = ModelError(f"The model `{name}` failed ({type(error).__name__}).")
        return ModelFailure(failed, type(error).__name__)
    return _malformed(name, error, last)


def _malformed(name: str, error: Exception, last: LastReply) -> ModelFailure:
    from pydantic_ai import exceptions

    fault = last.fault
    if isinstance(error, exceptions.ContentFilterError):
        fault = last._replace(ending="content_filter").fault
    elif isinstance(error, exceptions.OutputTokenLimitExceeded):
        fault = last._replace(ending="length").fault
    malformed = MalformedOutput(f"The model `{name}` gave no usable answer: {fault}.")
    return ModelFailure(malformed, fault)


def _unreachable(name: str, error: Exception) -> ModelFailure:
    unavailable = ModelUnavailable(
        f"The model `{name}` cannot be reached.",
        hint=f"Check models.base_url and the network ({first_line(error)}); "
        "`ombud doctor --ask` tries every model.",
    )
    return ModelFailure(
        unavailable,
        "it cannot be reached",
        again=True,
        after=getattr(error, "retry_after", None),
        down=True,
    )


def _refused(name: str, error: Exception, status: int) -> ModelFailure:
    """Translate an error response of the provider."""
    from pydantic_ai import exceptions

    code = error_code(error, status)
    reason = f"HTTP {status}, {code}" if code else f"HTTP {status}"
    if _hint(error) == TOO_LONG:
        reason = f"HTTP {status}: what it was given is too long for it"
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


def error_code(error: Exception, status: int) -> str:
    """Return the provider's code of the error, if it is a word. llama.cpp repeats the status as
    code, and puts the kind into `type`."""
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
    """Return hints by exception class; the first that fits counts."""
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


def first_line(error: Any) -> str:
    """Return the first line of an error without the response body."""
    text = str(getattr(error, "message", None) or error) or type(error).__name__
    return re.split(r",? body:|\n", text)[0].strip()[:LONGEST]
