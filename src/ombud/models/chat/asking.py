"""One request to one chat model, through pydantic-ai: what came of it is a value, also where it
failed."""

import asyncio
import json
import re
from collections.abc import AsyncIterable, Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, Field

from ombud.errors import MalformedOutput, ModelError, ModelUnavailable

T = TypeVar("T", bound=BaseModel)
TRIES = 1
"""Times a model is asked again, by pydantic-ai, when its reply does not fit the type."""
PASSING = (408, 409, 425)
"""HTTP statuses beside 429 and 5xx that say "not now" (OpenAI's and Anthropic's clients ask again
after them too)."""
LONGEST = 150


Hear = Callable[[str | None], None]
"""Gets what a model writes, piece by piece, while it writes it; None when it begins anew, and
nothing of before counts. Called wherever the model is waited for, which may be another thread. """


def at_most(count: int) -> Any:
    """A bound of a list that a model writes, for its annotation.

    Told to the server, not demanded of the reply: a server that writes by the form ends the list
    there, where a small model would go on until its time is up; of a longer list the first are as
    good."""
    return Field(json_schema_extra={"maxItems": count})


class Listening:
    """heard: whether there was anything to hear."""

    def __init__(self, hear: Hear) -> None:
        self._hear, self.heard = hear, False

    def __call__(self, piece: str | None) -> None:
        self.heard = self.heard or bool(piece)
        self._hear(piece)


class ModelRequest(NamedTuple, Generic[T]):
    """A request, the same for whichever model gets it."""

    instructions: str
    prompt: str
    kind: type[T]
    temperature: float


class Usage(NamedTuple):
    tokens_in: int = 0
    tokens_out: int = 0
    price: float | None = 0.0
    """US dollars; None where it is not known."""

    def plus(self, other: "Usage") -> "Usage":
        price = None if self.price is None or other.price is None else self.price + other.price
        return Usage(self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out, price)


class ModelOutput(NamedTuple, Generic[T]):
    value: T
    usage: Usage = Usage()


class Failed(NamedTuple):
    error: ModelError
    reason: str
    """A few words for traces and logs; never what a server sent, for that may repeat the prompt."""
    usage: Usage = Usage()
    again: bool = False
    """The same may work soon."""
    after: float | None = None
    """Seconds that the server asks to be left alone."""
    down: bool = False
    """The model is at fault, not what it was asked."""


async def ask_once(
    name: str,
    model: Any,
    agent: Any,
    asked: ModelRequest[T],
    seconds: float,
    hear: Hear | None = None,
) -> ModelOutput[T] | Failed:
    """Ask, and once more where the reply does not fit the type. agent: made by `agent_for`.

    seconds: wall clock of it all. hear: the reply is asked for as a stream.
    """
    from pydantic_ai import capture_run_messages, exceptions

    with capture_run_messages() as messages:
        settings: dict[str, Any] = {
            "instructions": asked.instructions,
            "model_settings": _settings(model, asked),
        }
        handler = {"event_stream_handler": _handler(hear)} if hear else {}
        task = asyncio.create_task(agent.run(asked.prompt, **settings, **handler))
        try:
            # Not asyncio.timeout: a client that works in a thread (Bedrock's) cannot be called off,
            # only left.
            if not (await asyncio.wait({task}, timeout=seconds))[0]:
                return _late(name, seconds, _usage(messages))
            run = task.result()
        except (exceptions.ModelHTTPError, exceptions.ModelConnectionError, OSError) as away:
            return _away(name, away)._replace(usage=_usage(messages))
        except (
            exceptions.ModelAPIError,
            exceptions.UnexpectedModelBehavior,
            exceptions.IncompleteToolCall,
        ) as odd:
            return _malformed(name, odd)._replace(usage=_usage(messages))
        except (exceptions.AgentRunError, exceptions.UserError) as wrong:
            kind = type(wrong).__name__
            return Failed(
                ModelError(f"The model `{name}` failed: {_short(wrong)}"), kind, _usage(messages)
            )
        except Exception as odd:  # noqa: BLE001 - clients let anything through where JSON is of another shape or depth
            return _malformed(name, odd)._replace(usage=_usage(messages))
        finally:
            if not task.done():
                task.cancel()
                task.add_done_callback(lambda left: left.cancelled() or left.exception())
    return ModelOutput(run.output, _usage(messages))


def _handler(hear: Hear) -> Any:
    """What pydantic-ai calls with the events of each request."""
    from pydantic_ai import (
        PartDeltaEvent,
        PartStartEvent,
        TextPart,
        TextPartDelta,
        ToolCallPart,
        ToolCallPartDelta,
    )

    async def handle(_: Any, events: AsyncIterable[Any]) -> None:
        async for event in events:
            said: Any = None
            if isinstance(event, PartStartEvent) and isinstance(
                event.part, TextPart | ToolCallPart
            ):
                hear(None)  # a value is in one part; another is another try
                said = event.part.content if isinstance(event.part, TextPart) else event.part.args
            elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                said = event.delta.content_delta
            elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, ToolCallPartDelta):
                said = event.delta.args_delta
            if said:  # some clients give a call's arguments whole, as a dict
                hear(said if isinstance(said, str) else json.dumps(said))

    return handle


def agent_for(model: Any, kind: type[BaseModel]) -> Any:
    """What asks `model` for values of this type; worth keeping, for it takes milliseconds to
    make."""
    from pydantic_ai import Agent, NativeOutput

    native = model.profile.get("supports_json_schema_output", False)
    output: Any = NativeOutput(kind) if native else kind
    return Agent(model, output_type=output, retries=TRIES)


def _settings(model: Any, asked: ModelRequest[Any]) -> dict[str, Any]:
    # Asking again is done in one place, which knows the deadline; a client that cannot be told is
    # left as it is.
    quiet = {} if "max_retries" in model.unsupported_settings else {"max_retries": 0}
    return {"temperature": asked.temperature, **quiet}


def _late(name: str, seconds: float, usage: Usage) -> Failed:
    error = ModelUnavailable(
        f"The model `{name}` gave no answer within {seconds:.0f} seconds.",
        hint="Raise models.timeout_seconds or take a faster model.",
    )
    # What the provider made of it until then may cost something all the same.
    return Failed(
        error, f"no answer within {seconds:.0f} seconds", usage._replace(price=None), down=True
    )


def _malformed(name: str, odd: Exception) -> Failed:
    from pydantic_ai import exceptions

    # The others say what they were given, which may repeat the prompt.
    said = (
        _short(odd) if isinstance(odd, exceptions.UnexpectedModelBehavior) else type(odd).__name__
    )
    return Failed(
        MalformedOutput(f"The model `{name}` gave no usable answer ({said})."), "no usable answer"
    )


def _away(name: str, away: Exception) -> Failed:
    """A request that the provider refused or never got."""
    from pydantic_ai import exceptions

    status = getattr(away, "status_code", None)
    if status is None:
        error = ModelUnavailable(
            f"The model `{name}` cannot be reached: {_short(away)}",
            hint="Check models.base_url and the network; `ombud doctor --ask` tries every model.",
        )
        return Failed(
            error,
            "it cannot be reached",
            again=True,
            after=getattr(away, "retry_after", None),
            down=True,
        )
    codes = (str(getattr(away, f"provider_error_{name}", None) or "") for name in ("code", "type"))
    # llama.cpp's code is the status once more, and its type says what happened.
    code = next((c for c in codes if re.fullmatch(r"[\w.-]{1,60}", c) and c != str(status)), "")
    reason = f"HTTP {status}" + (f", {code}" if code else "")
    passing = (
        exceptions.ModelRateLimitError,
        exceptions.ModelUnavailableError,
        exceptions.ModelServerError,
    )
    refused = isinstance(away, exceptions.ModelRequestRejectedError) or status == 413
    key = isinstance(away, exceptions.ModelAuthenticationError | exceptions.ModelNotFoundError)
    return Failed(
        ModelUnavailable(f"The model `{name}` answered with {reason}.", hint=_hint(away)),
        reason,
        again=isinstance(away, passing) or status in PASSING,
        after=getattr(away, "retry_after", None),
        down=key or not refused,
    )


def _hint(away: Exception) -> str:
    from pydantic_ai import exceptions

    hints = {
        exceptions.ModelQuotaExceededError: "The account's quota or credit is used up.",
        exceptions.ModelRateLimitError: "The provider's rate limit is reached; lower models.concurrency or raise it.",
        exceptions.ModelAuthenticationError: "Check the provider's API key, and that it may use this model.",
        exceptions.ModelNotFoundError: "Check the model's name, and models.base_url.",
        exceptions.ModelContextWindowExceededError: "Lower plan.budget_tokens or plan.k.",
        exceptions.ModelRequestRejectedError: "The provider does not accept the request; does the model know JSON "
        "schemas and temperatures?",
    }
    # llama.cpp's has no class of its own.
    if getattr(away, "provider_error_type", "") == "exceed_context_size_error":
        return hints[exceptions.ModelContextWindowExceededError]
    return next(
        (hint for kind, hint in hints.items() if isinstance(away, kind)), "Later it may work again."
    )


def _usage(messages: Sequence[Any]) -> Usage:
    """Of all replies, also those that did not fit."""
    from pydantic_ai import ModelResponse

    total = Usage()
    for one in messages:
        if isinstance(one, ModelResponse):
            tokens_in, tokens_out = one.usage.input_tokens or 0, one.usage.output_tokens or 0
            # A stream that breaks off, and some servers, leave out what it came to: that is not
            # nothing.
            price = _price(one) if tokens_in or tokens_out or not one.parts else None
            total = total.plus(Usage(tokens_in, tokens_out, price))
    return total


def _price(response: Any) -> float | None:
    try:
        return float(response.cost().total_price)
    except (LookupError, AssertionError, ValueError, TypeError, AttributeError):
        return None


def _short(error: Exception) -> str:
    """The first line of what happened, without the body of an answer."""
    said = str(getattr(error, "message", None) or error) or type(error).__name__
    return re.split(r",? body:|\n", said)[0].strip()[:LONGEST]
