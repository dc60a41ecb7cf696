"""Azure OpenAI with an identity of Microsoft Entra in place of a key: a managed identity, a service
principal or a workload identity, whichever azure-identity finds in the environment."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from ombud.errors import MissingExtra, ModelUnavailable, SetupError

SCOPES = {
    "us": "https://cognitiveservices.azure.us/.default",
    "cn": "https://cognitiveservices.azure.cn/.default",
}
"""What is asked for in clouds of their own, by the end of the endpoint's name."""
PUBLIC_SCOPE = "https://cognitiveservices.azure.com/.default"
IDENTITY = (
    "Give this machine a managed identity or its pod a workload identity, or set AZURE_TENANT_ID, "
    "AZURE_CLIENT_ID and AZURE_CLIENT_SECRET for a service principal, or AZURE_OPENAI_API_KEY."
)
ROLE = "Check its secret or federation; it needs the role Cognitive Services OpenAI User."


def needs_identity(name: str) -> bool:
    """Tell whether a model is one of Azure OpenAI for which no key is set."""
    has_key = bool(os.environ.get("AZURE_OPENAI_API_KEY", "").strip())
    return name.startswith("azure:") and not has_key


def open_provider(name: str) -> Any:
    """Return a pydantic-ai provider that asks for a token before each request; nothing is sent.
    Raises SetupError without an endpoint, MissingExtra without azure-identity."""
    from openai import AsyncAzureOpenAI, AsyncOpenAI
    from pydantic_ai.providers.azure import AzureProvider

    endpoint = os.environ.get("AZURE_OPENAI_ENDPOINT", "").strip().rstrip("/")
    if not endpoint:
        raise SetupError(
            f"`{name}` cannot be used: it has no address.",
            hint="Set AZURE_OPENAI_ENDPOINT, such as https://NAME.openai.azure.com.",
        )
    tokens = _tokens(name, endpoint)
    client: Any
    if endpoint.endswith("/v1"):  # takes no version
        client = AsyncOpenAI(base_url=endpoint, api_key=tokens)
    elif os.environ.get("OPENAI_API_VERSION"):
        client = AsyncAzureOpenAI(azure_endpoint=endpoint, azure_ad_token_provider=tokens)
    else:
        raise SetupError(
            f"`{name}` cannot be used: its interface has no version.",
            hint="Set OPENAI_API_VERSION, or end AZURE_OPENAI_ENDPOINT with /openai/v1.",
        )
    return AzureProvider(openai_client=client)


def _tokens(name: str, endpoint: str) -> Callable[[], Awaitable[str]]:
    """Return a function that gives a valid token: azure-identity keeps it and renews it before it
    ends."""
    try:
        from azure.core.exceptions import AzureError
        from azure.identity import DefaultAzureCredential, get_bearer_token_provider
    except ModuleNotFoundError as missing:
        raise MissingExtra(
            f"`{name}` without a key needs packages that are not installed.",
            hint="pip install 'ombud[azure]', or set AZURE_OPENAI_API_KEY.",
        ) from missing
    # An authority of one's own, such as that of a cloud without the internet, cannot be looked up
    # among Microsoft's.
    has_own_authority = bool(os.environ.get("AZURE_AUTHORITY_HOST"))
    try:
        credential = DefaultAzureCredential(disable_instance_discovery=has_own_authority)
        token = get_bearer_token_provider(credential, _scope(endpoint))
    except ValueError as wrong:
        raise SetupError(
            f"The identity for `{name}` cannot be used: {wrong}",
            hint="Check AZURE_AUTHORITY_HOST and AZURE_TOKEN_CREDENTIALS.",
        ) from wrong

    async def valid_token() -> str:
        try:
            return await asyncio.to_thread(token)
        except AzureError as failed:
            raise _no_token(name, failed) from None

    return valid_token


def _scope(endpoint: str) -> str:
    host = urlsplit(endpoint).hostname or ""
    return SCOPES.get(host.rpartition(".")[2], PUBLIC_SCOPE)


def _no_token(name: str, failed: Exception) -> ModelUnavailable:
    """Tell an identity that Entra refuses, by its code, from none at all. The message itself may
    name people and is not repeated."""
    words = str(failed).replace(":", " ").split()
    code = next((word for word in words if word.startswith("AADSTS")), "")
    if code:
        return ModelUnavailable(
            f"Microsoft Entra refused the identity for `{name}` ({code}).", hint=ROLE
        )
    return ModelUnavailable(
        f"No identity of Microsoft Entra was found for `{name}`.", hint=IDENTITY
    )
