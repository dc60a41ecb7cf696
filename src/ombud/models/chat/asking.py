"""One request to one chat model, through pydantic-ai: what came of it is a value, also where it
failed."""

import asyncio
import json
import time
from collections.abc import AsyncIterable, Callable, Sequence
from typing import Any, Generic, NamedTuple

from pydantic import BaseModel, Field, WithJsonSchema

from ombud.models.chat.failures import LastReply, failure_of, stalled, timed_out
from ombud.models.chat.outcomes import ModelFailure, ModelOutput, T, Usage

TRIES = 1
"""Times a model is asked again, by pydantic-ai, when its reply does not fit the type."""

STRICT = frozenset({"openai", "azure", "anthropic"})
"""Providers that can be held to a form: what does not fit it is never written."""
MOST_TOKENS = 8000
"""Tokens that a reply may have, reasoning included: an answer has about 500. Without
a bound a model that goes round in circles writes until the deadline, and is paid for it."""

CACHED = {"messages": False}
"""What providers that want it marked (Anthropic, Bedrock, OpenRouter, later models of OpenAI) are
to keep: the form and the instructions, which all questions share; not the message, which none
repeats. Others keep the beginning of a prompt by themselves, or not at all."""

THOUGHTS = ("<think>", "</think>")
"""Between these some models think, before the value or in the midst of their text."""

OnText = Callable[[str | None], None]
"""Gets what a model writes, piece by piece, while it writes it; None when it begins anew, and
nothing of before counts. Called wherever the model is waited for, which may be another thread."""


def at_most(count: int) -> Any:
    """Annotate the most items of a list that a model writes. The server is told, so that it ends
    the list there; a longer reply is cut and not refused."""
    return Field(json_schema_extra={"maxItems": count})


def list_of(kind: type[BaseModel]) -> WithJsonSchema:
    """Annotate a list that a model writes, with the schema of `kind` inline: a reference would cost
    tokens with every call."""
    return WithJsonSchema({"type": "array", "items": kind.model_json_schema()})


def lean_form(*required: str) -> Callable[[dict[str, Any]], None]:
    """Return a `json_schema_extra` that drops titles, defaults and descriptions, which cost tokens
    with every call and repeat the prompt.

    required: stated in the schema; a reply without these fields is accepted all the same."""

    def trim(schema: dict[str, Any]) -> None:
        schema.pop("title", None)
        schema.pop("description", None)
        for field in schema.get("properties", {}).values():
            field.pop("title", None)
            field.pop("default", None)
        if required:
            schema["required"] = list(required)

    return trim


class PlainText(BaseModel):
    """The reply of a model that is asked for no schema."""

    text: str


class TextListener:
    """Passes on what a model writes, without the thoughts that some write in front of it."""

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self._held: str | None = ""
        """What may still be thoughts; None once the value has begun."""
        self.has_text = False
        self.heard_at = 0.0
        """When the last piece came; 0 before the first."""

    def __call__(self, piece: str | None) -> None:
        self.has_text = self.has_text or bool(piece)
        self.heard_at = time.monotonic() if self.has_text else 0.0
        if piece is None:
            self._held = ""
        elif self._held is not None:
            piece = self._let_go(self._held + piece)
            if not piece:
                return
        self._on_text(piece)

    def _let_go(self, text: str) -> str:
        """Return what is no thought; nothing as long as it may be one."""
        begun = text.lstrip()
        if begun.startswith(THOUGHTS[0]):
            begun = begun.partition(THOUGHTS[1])[2]
        elif THOUGHTS[0].startswith(begun):
            begun = ""
        self._held = None if begun else text
        return begun


class TimeLimits(NamedTuple):
    """Seconds that one request may take."""

    whole: float
    silence: float
    """Between two pieces of a reply that has begun to come."""


class ModelRequest(NamedTuple, Generic[T]):
    """A request, the same for whichever model gets it."""

    instructions: str
    prompt: str
    kind: type[T]
    temperature: float


class TypedAgent(NamedTuple):
    """A model set up to write values of one type."""

    name: str
    model: Any
    """Of pydantic-ai."""
    agent: Any
    rates: tuple[float, float] | None = None
    """US dollars for a million tokens in and out; None = those of the price list."""


def agent_for(
    name: str, model: Any, kind: type[BaseModel], rates: tuple[float, float] | None = None
) -> TypedAgent:
    """Make the agent that asks `model` for values of this type. Callers cache it, because making
    one takes milliseconds."""
    from pydantic_ai import Agent, NativeOutput, TextOutput
    from pydantic_ai.capabilities import Hooks

    is_native = model.profile.get("supports_json_schema_output", False)
    output: Any = NativeOutput(kind, strict=is_strict(model)) if is_native else kind
    if kind is PlainText:
        output = TextOutput(_plain)
    hooks = Hooks(after_model_request=without_thoughts)
    agent = Agent(model, output_type=output, retries=TRIES, capabilities=[hooks])
    return TypedAgent(name, model, agent, rates)


def without_thoughts(_: Any, *, request_context: Any, response: Any) -> Any:
    """Take thoughts from the text of a reply, also where nothing parts the two or only their end is
    marked. Clients do so only where the mark is a piece of its own."""
    from pydantic_ai import TextPart

    del request_context
    for part in response.parts:
        if isinstance(part, TextPart) and not part.content.lstrip().startswith("{"):
            _, end, value = part.content.rpartition(THOUGHTS[1])
            part.content = value if end else part.content
    return response


def _plain(text: str) -> PlainText:
    return PlainText(text=text)


def is_strict(model: Any) -> bool | None:
    """Tell whether the provider enforces the schema in every detail; None leaves it to the
    client."""
    supports = model.profile.get("openai_supports_strict_tool_definition", True)
    return True if supports and model.system in STRICT else None


async def ask_once(
    agent: TypedAgent,
    request: ModelRequest[T],
    limits: TimeLimits,
    listener: TextListener | None = None,
) -> ModelOutput[T] | ModelFailure:
    """Ask, and once more where the reply does not fit the type.

    listener: the reply is asked for as a stream.
    """
    from pydantic_ai import capture_run_messages

    with capture_run_messages() as messages:
        options: dict[str, Any] = {
            "instructions": request.instructions,
            "model_settings": _settings(agent.model, request),
        }
        if listener:
            options["event_stream_handler"] = _handler(listener)
        task = asyncio.create_task(agent.agent.run(request.prompt, **options))
        try:
            is_silent = await is_late(task, limits, listener)
            if is_silent is not None:
                # What the provider made of it until then may cost something all the same.
                unknown = _usage(messages, agent.rates)._replace(price=None)
                late = stalled(agent.name) if is_silent else timed_out(agent.name, limits.whole)
                return late._replace(usage=unknown)
            run = task.result()
        # Clients let anything through where JSON is of another shape or depth.
        except Exception as failed:  # noqa: BLE001
            failure = failure_of(agent.name, failed, last_reply(messages))
            return failure._replace(usage=_usage(messages, agent.rates))
        finally:
            if not task.done():
                task.cancel()
                task.add_done_callback(lambda left: left.cancelled() or left.exception())
    return ModelOutput(run.output, _usage(messages, agent.rates))


async def is_late(
    task: asyncio.Task[Any], limits: TimeLimits, listener: TextListener | None
) -> bool | None:
    """Wait for a reply; None once it is there, else whether it fell silent before its time was
    up."""
    until = time.monotonic() + limits.whole
    while True:
        limit = until
        if listener and listener.heard_at:
            limit = min(until, listener.heard_at + limits.silence)
        # Not asyncio.timeout: a client that works in a thread (Bedrock's) cannot be called off,
        # only left.
        left = min(limit - time.monotonic(), limits.silence)
        done, _ = await asyncio.wait({task}, timeout=max(0.0, left))
        if done:
            return None
        now = time.monotonic()
        if now >= until:
            return False
        if listener and listener.heard_at and now >= listener.heard_at + limits.silence:
            return True


def last_reply(messages: Sequence[Any]) -> LastReply:
    """Return what of the last reply tells why it was no value."""
    from pydantic_ai import ModelResponse, TextPart, ToolCallPart

    for message in reversed(messages):
        if not isinstance(message, ModelResponse):
            continue
        written: list[str] = []
        for part in message.parts:
            if isinstance(part, TextPart):
                written.append(part.content)
            elif isinstance(part, ToolCallPart):
                written.append(part.args_as_json_str())
        return LastReply("".join(written), message.finish_reason or "")
    return LastReply()


def _handler(listener: TextListener) -> Any:
    """Return pydantic-ai's handler for the events of each request."""
    from pydantic_ai import PartStartEvent, TextPart, ToolCallPart

    async def handle(_: Any, events: AsyncIterable[Any]) -> None:
        async for event in events:
            if isinstance(event, PartStartEvent):
                if not isinstance(event.part, TextPart | ToolCallPart):
                    continue
                listener(None)  # a value is in one part; another is another try
            piece = _piece(event)
            if piece:  # some clients give a call's arguments whole, as a dict
                listener(piece if isinstance(piece, str) else json.dumps(piece))
        listener.heard_at = 0.0  # where it is asked again, silence begins anew

    return handle


def _piece(event: Any) -> Any:
    """Return the text that an event adds to the reply; None for other events."""
    from pydantic_ai import (
        PartDeltaEvent,
        PartStartEvent,
        TextPart,
        TextPartDelta,
        ToolCallPart,
        ToolCallPartDelta,
    )

    if isinstance(event, PartStartEvent):
        part = event.part
        if isinstance(part, TextPart):
            return part.content
        return part.args if isinstance(part, ToolCallPart) else None
    if not isinstance(event, PartDeltaEvent):
        return None
    if isinstance(event.delta, TextPartDelta):
        return event.delta.content_delta
    if isinstance(event.delta, ToolCallPartDelta):
        return event.delta.args_delta
    return None


def _settings(model: Any, request: ModelRequest[Any]) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "temperature": request.temperature,
        "max_tokens": MOST_TOKENS,
        "cache": CACHED,
    }
    # Asking again is done in one place, which knows the deadline; a client that cannot be told is
    # left as it is.
    if "max_retries" not in model.unsupported_settings:
        settings["max_retries"] = 0
    return settings


def _usage(messages: Sequence[Any], rates: tuple[float, float] | None) -> Usage:
    """Add up the usage of all replies, rejected ones included."""
    from pydantic_ai import ModelResponse

    total = Usage()
    for message in messages:
        if not isinstance(message, ModelResponse):
            continue
        tokens_in = message.usage.input_tokens or 0
        tokens_out = message.usage.output_tokens or 0
        # A stream that breaks off, and some servers, leave out what it came to: that is not
        # nothing.
        reports_usage = tokens_in or tokens_out or not message.parts
        price = _price(message, rates) if reports_usage else None
        cached = message.usage.cache_read_tokens or 0
        total = total.plus(Usage(tokens_in, tokens_out, price, tokens_cached=cached))
    return total


def _price(response: Any, rates: tuple[float, float] | None) -> float | None:
    if rates:
        tokens_in, tokens_out = response.usage.input_tokens, response.usage.output_tokens
        return float((tokens_in or 0) * rates[0] + (tokens_out or 0) * rates[1]) / 1e6
    try:
        return float(response.cost().total_price)
    except (LookupError, AssertionError, ValueError, TypeError, AttributeError):
        return None
