"""Whether a model is on this machine, or what it is given leaves it."""

from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

IN_PROCESS = frozenset({"function", "outlines", "sentence-transformers", "test"})
"""Systems of pydantic-ai that run in this process."""
PASSED_ON = ("-cloud", ":cloud")
"""How the names of models end that a server of Ollama's on this machine asks its makers for."""


def is_remote(model: object) -> bool:
    """Of an embedder or a reranker, also one of a plugin: it says so in `remote`. One that does not
    say counts as remote."""
    return bool(getattr(model, "remote", True))


def is_remote_client(model: Any) -> bool:
    """Of a chat or an embedding model of pydantic-ai. A server on this machine that passes on what
    it is given cannot be told from one that answers itself."""
    if getattr(model, "system", "") in IN_PROCESS:
        return False
    if str(getattr(model, "model_name", "")).endswith(PASSED_ON):
        return True
    return not is_loopback(str(getattr(model, "base_url", None) or ""))


def is_loopback(address: str) -> bool:
    """Whether a URL names this machine as such: `localhost` or a loopback address. Other names are
    not looked up: what they mean may change."""
    try:
        host = urlsplit(address).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
