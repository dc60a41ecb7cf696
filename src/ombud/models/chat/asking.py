"""One request to one chat model, through pydantic-ai: what came of it is a value, also where it
failed."""

import asyncio
import json
from collections.abc import AsyncIterable, Callable, Sequence
from typing import Any, Generic, NamedTuple

from pydantic import BaseModel, Field, WithJsonSchema

from ombud.models.chat.failures import failure_of, timed_out
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

OnText = Callable[[str | None], None]
"""Gets what a model writes, piece by piece, while it writes it; None when it begins anew, and
nothing of before counts. Called wherever the model is waited for, which may be another thread."""


def at_most(count: int) -> Any:
    """A bound of a list that a model writes, for its annotation.

    Told to the server, not demanded of the reply: a server that writes by the form ends the list
    there, where a small model would go on until its time is up; of a longer list the first are as
    good."""
    return Field(json_schema_extra={"maxItems": count})


def list_of(kind: type[BaseModel]) -> WithJsonSchema:
    """For the annotation of a list that a model writes: its form with that of `kind` in it, not
    beside it under a name, which is paid for with every call."""
    return WithJsonSchema({"type": "array", "items": kind.model_json_schema()})


def lean_form(*required: str) -> Callable[[dict[str, Any]], None]:
    """For `json_schema_extra` of what a model writes: the form without titles, defaults and what it
    is for, which say nothing that the prompt does not and are paid for with every call.

    required: told to the model as such; a reply without them is read all the same."""

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
    """What a model writes where no form is asked for."""

    text: str


class TextListener:
    """Passes on what a model writes, and remembers whether there was anything."""

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self.has_text = False

    def __call__(self, piece: str | None) -> None:
        self.has_text = self.has_text or bool(piece)
        self._on_text(piece)


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


def agent_for(name: str, model: Any, kind: type[BaseModel]) -> TypedAgent:
    """What asks `model` for values of this type; worth keeping, for it takes milliseconds to
    make."""
    from pydantic_ai import Agent, NativeOutput, TextOutput

    is_native = model.profile.get("supports_json_schema_output", False)
    output: Any = NativeOutput(kind, strict=_is_strict(model)) if is_native else kind
    if kind is PlainText:
        output = TextOutput(_plain)
    return TypedAgent(name, model, Agent(model, output_type=output, retries=TRIES))


def _plain(text: str) -> PlainText:
    return PlainText(text=text)


def _is_strict(model: Any) -> bool | None:
    """Whether the provider is held to the form in every detail; None: as the client sees fit."""
    supports = model.profile.get("openai_supports_strict_tool_definition", True)
    return True if supports and model.system in STRICT else None


async def ask_once(
    asked: TypedAgent, request: ModelRequest[T], seconds: float, on_text: OnText | None = None
) -> ModelOutput[T] | ModelFailure:
    """Ask, and once more where the reply does not fit the type.

    seconds: wall clock of it all. on_text: the reply is asked for as a stream.
    """
    from pydantic_ai import capture_run_messages

    with capture_run_messages() as messages:
        options: dict[str, Any] = {
            "instructions": request.instructions,
            "model_settings": _settings(asked.model, request),
        }
        if on_text:
            options["event_stream_handler"] = _handler(on_text)
        task = asyncio.create_task(asked.agent.run(request.prompt, **options))
        try:
            # Not asyncio.timeout: a client that works in a thread (Bedrock's) cannot be called off,
            # only left.
            done, _ = await asyncio.wait({task}, timeout=seconds)
            if not done:
                # What the provider made of it until then may cost something all the same.
                unknown = _usage(messages)._replace(price=None)
                return timed_out(asked.name, seconds)._replace(usage=unknown)
            run = task.result()
        # Clients let anything through where JSON is of another shape or depth.
        except Exception as failed:  # noqa: BLE001
            return failure_of(asked.name, failed)._replace(usage=_usage(messages))
        finally:
            if not task.done():
                task.cancel()
                task.add_done_callback(lambda left: left.cancelled() or left.exception())
    return ModelOutput(run.output, _usage(messages))


def _handler(on_text: OnText) -> Any:
    """What pydantic-ai calls with the events of each request."""
    from pydantic_ai import PartStartEvent, TextPart, ToolCallPart

    async def handle(_: Any, events: AsyncIterable[Any]) -> None:
        async for event in events:
            if isinstance(event, PartStartEvent):
                if not isinstance(event.part, TextPart | ToolCallPart):
                    continue
                on_text(None)  # a value is in one part; another is another try
            piece = _piece(event)
            if piece:  # some clients give a call's arguments whole, as a dict
                on_text(piece if isinstance(piece, str) else json.dumps(piece))

    return handle


def _piece(event: Any) -> Any:
    """What an event adds to the value that is written; None for other events."""
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


def _usage(messages: Sequence[Any]) -> Usage:
    """Of all replies, also those that did not fit."""
    from pydantic_ai import ModelResponse

    total = Usage()
    for message in messages:
        if not isinstance(message, ModelResponse):
            continue
        tokens_in = message.usage.input_tokens or 0
        tokens_out = message.usage.output_tokens or 0
        # A stream that breaks off, and some servers, leave out what it came to: that is not
        # nothing.
        is_known = tokens_in or tokens_out or not message.parts
        price = _price(message) if is_known else None
        cached = message.usage.cache_read_tokens or 0
        total = total.plus(Usage(tokens_in, tokens_out, price, tokens_cached=cached))
    return total


def _price(response: Any) -> float | None:
    try:
        return float(response.cost().total_price)
    except (LookupError, AssertionError, ValueError, TypeError, AttributeError):
        return None
