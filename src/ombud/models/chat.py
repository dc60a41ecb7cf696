"""Chat models through pydantic-ai: a typed value out, with what it cost, and our own errors."""

import asyncio
import os
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel

from ombud.errors import MalformedOutput, ModelError, ModelUnavailable, SetupError
from ombud.settings import Models

T = TypeVar("T", bound=BaseModel)
RETRIES = 1
"""Times a model is asked again, by pydantic-ai, when its reply does not fit the type."""


SHAPELESS = (AttributeError, TypeError, ValueError, LookupError)
"""What pydantic-ai lets through where a server's JSON is of another shape altogether."""


class Reply(NamedTuple, Generic[T]):
    value: T
    tokens_in: int
    tokens_out: int
    price: float | None
    """US dollars; None where the price list does not know the model."""


class Chat:
    """One chat model. `model` is a pydantic-ai name or model object, so that a scripted one can stand in."""

    def __init__(self, name: str, model: Any) -> None:
        self.name, self._model = name, model

    async def reply(
        self,
        instructions: str,
        prompt: str,
        kind: type[T],
        *,
        temperature: float,
        seconds: float,
    ) -> Reply[T]:
        """Ask once; raises ModelUnavailable (worth retrying elsewhere), MalformedOutput or ModelError.

        seconds: wall clock of the whole call, retries of malformed output included.
        """
        from pydantic_ai import Agent, NativeOutput, exceptions

        native = self._model.profile.get("supports_json_schema_output", False)
        output: Any = NativeOutput(kind) if native else kind
        agent: Any = Agent(self._model, output_type=output, instructions=instructions, retries=RETRIES)
        try:
            async with asyncio.timeout(seconds):
                run = await agent.run(prompt, model_settings={"temperature": temperature})
        except TimeoutError as late:
            raise ModelUnavailable(
                f"The model `{self.name}` gave no answer within {seconds:.0f} seconds.",
                hint="Raise models.timeout_seconds or take a faster model.",
            ) from late
        except (exceptions.UnexpectedModelBehavior, exceptions.IncompleteToolCall, *SHAPELESS) as odd:
            raise MalformedOutput(f"The model `{self.name}` gave no usable answer: {odd}") from odd
        except (exceptions.ModelAPIError, OSError) as away:
            raise ModelUnavailable(
                f"The model `{self.name}` cannot be reached: {_short(away)}",
                hint="Check models.chat, models.base_url and the provider's API key.",
            ) from away
        except (exceptions.AgentRunError, exceptions.UserError) as wrong:
            raise ModelError(f"The model `{self.name}` failed: {_short(wrong)}") from wrong
        usage = run.usage
        return Reply(run.output, usage.input_tokens or 0, usage.output_tokens or 0, _price(run.response))


def open_chat(settings: Models) -> Chat | None:
    """The configured chat model; None when there is none. Raises SetupError for a name or key that cannot work."""
    if not settings.chat:
        return None
    from pydantic_ai import UserError
    from pydantic_ai.models import infer_model

    try:
        if settings.base_url:
            return Chat(settings.chat, _compatible(settings.chat, settings.base_url))
        return Chat(settings.chat, infer_model(settings.chat))
    except (UserError, ValueError, ImportError) as wrong:
        raise SetupError(
            f"The chat model `{settings.chat}` cannot be used: {_short(wrong)}",
            hint="Names are `provider:model`, such as openai:gpt-4.1; keys stand in the provider's own variable.",
        ) from wrong


def _compatible(name: str, base_url: str) -> Any:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    # Local servers want no key, but the client insists on one.
    key = os.environ.get("OPENAI_API_KEY") or "none"
    return OpenAIChatModel(name.partition(":")[2] or name, provider=OpenAIProvider(base_url=base_url, api_key=key))


def _price(response: Any) -> float | None:
    try:
        return float(response.cost().total_price)
    except (LookupError, AssertionError, ValueError, TypeError, AttributeError):
        return None


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]
