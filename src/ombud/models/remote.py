"""Whether a model is on this machine, or what it is given leaves it."""

from collections.abc import Callable
from typing import Any

from ombud.proxies import bypass_proxies, is_loopback, proxy_of, route_of

IN_PROCESS = frozenset({"function", "outlines", "sentence-transformers", "test"})
"""Systems of pydantic-ai that run in this process."""
PASSED_ON = ("-cloud", ":cloud")
"""How the names of models end that a server of Ollama's on this machine asks its makers for."""


def is_remote(model: object) -> bool:
    """Tell whether an embedder or reranker is remote by its attribute `remote`; without the
    attribute it counts as remote."""
    return bool(getattr(model, "remote", True))


def route_of_part(model: object) -> str:
    """Describe where the texts of an embedder or a reranker go, in its own words if it has any."""
    unknown = "not known" if is_remote(model) else "in this process"
    return str(getattr(model, "route", unknown))


def is_remote_client(model: Any) -> bool:
    """Tell whether a chat or embedding model of pydantic-ai is remote. A local proxy cannot be told
    from a local model."""
    if getattr(model, "system", "") in IN_PROCESS:
        return False
    if str(getattr(model, "model_name", "")).endswith(PASSED_ON):
        return True
    return is_remote_address(_base_url(model))


def is_remote_address(url: str) -> bool:
    """Tell whether requests to `url` leave this machine: it names another, or a proxy is taken."""
    return not is_loopback(url) or bool(proxy_of(url))


def open_past_proxies(connect: Callable[[], Any]) -> Any:
    """Connect a model so that requests to a local server take no proxy.

    Its address may come from a variable of the provider and is known only once it is open; it is
    then opened again, since clients read the proxies when they are made."""
    model = connect()
    address = _base_url(model)
    exempted = bypass_proxies(address)
    return connect() if exempted else model


def client_route(model: Any) -> str:
    """Describe where the requests of a pydantic-ai model go."""
    if getattr(model, "system", "") in IN_PROCESS:
        return "in this process"
    return route_of(_base_url(model))


def _base_url(model: Any) -> str:
    return str(getattr(model, "base_url", None) or "")
