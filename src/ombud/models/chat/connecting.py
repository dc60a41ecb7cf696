"""From a name in the settings, such as `openai:gpt-4.1`, to the model behind it."""

import os
from typing import Any

from ombud.errors import MissingExtra, SetupError
from ombud.models.entra import needs_identity, open_provider
from ombud.models.remote import open_past_proxies

OWN_SERVERS = {
    "openai": "",
    "openai-chat": "",
    "ollama": "OLLAMA_BASE_URL",
    "vllm": "VLLM_BASE_URL",
}
"""Providers that `models.base_url` is for -> the variable that wins over it."""
EXTRAS = {
    "anthropic": "anthropic",
    "bedrock": "bedrock",
    "cohere": "cohere",
    "google": "google",
    "google-cloud": "google",
    "mistral": "mistral",
}
"""Providers -> the extra of ours that installs their client."""


def connect(name: str, base_url: str, seconds: float) -> Any:
    """Return a pydantic-ai model; nothing is sent. Raises MissingExtra, or SetupError for a name or
    key that cannot work.

    base_url: counts only for the providers of OWN_SERVERS and bare names. seconds: timeout for
    clients that cannot be cancelled."""
    provider = name.partition(":")[0]
    try:
        if base_url and is_for_own_server(name):
            return open_past_proxies(lambda: _compatible(name, base_url))
        return open_past_proxies(lambda: _named(name, provider, seconds))
    except SetupError:
        raise
    except ImportError as missing:
        extra = EXTRAS.get(provider, "")
        package = f"ombud[{extra}]" if extra else f"pydantic-ai-slim[{provider}]"
        raise MissingExtra(
            f"The chat model `{name}` needs a package that is not installed.",
            hint=f"pip install '{package}'",
        ) from missing
    except Exception as wrong:  # each client has errors of its own for a missing key
        raise SetupError(
            f"The chat model `{name}` cannot be used: {' '.join(str(wrong).split())[:300]}",
            hint="Names are `provider:model`, such as openai:gpt-4.1; "
            "keys stand in the provider's own variable.",
        ) from wrong


def is_for_own_server(name: str) -> bool:
    """Tell whether `models.base_url` applies to the model."""
    provider, colon, _ = name.partition(":")
    if not colon:
        return True
    return provider in OWN_SERVERS and not os.environ.get(OWN_SERVERS[provider])


def _named(name: str, provider: str, seconds: float) -> Any:
    from pydantic_ai.models import infer_model

    if provider == "bedrock":
        return infer_model(name, lambda _: _bedrock(seconds))
    if needs_identity(name):
        return infer_model(name, lambda _: open_provider(name))
    return infer_model(name)


def _compatible(name: str, base_url: str) -> Any:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    provider, colon, model = name.partition(":")
    if not colon:
        provider = "openai"
        model = name
    # Servers of one's own write by the form as it is; the strict one lacks where lists end.
    profile = OpenAIModelProfile(openai_supports_strict_tool_definition=False)
    return OpenAIChatModel(model, provider=_provider(provider, base_url), profile=profile)


def _provider(kind: str, base_url: str) -> Any:
    if kind == "ollama":
        from pydantic_ai.providers.ollama import OllamaProvider

        return OllamaProvider(base_url=base_url)
    if kind == "vllm":
        from pydantic_ai.providers.vllm import VLLMProvider

        return VLLMProvider(base_url=base_url)
    from pydantic_ai.providers.openai import OpenAIProvider

    # Local servers want no key, but the client insists on one.
    return OpenAIProvider(base_url=base_url, api_key=os.environ.get("OPENAI_API_KEY") or "none")


def _bedrock(seconds: float) -> Any:
    from pydantic_ai.providers.bedrock import BedrockProvider

    return BedrockProvider(aws_read_timeout=seconds)
