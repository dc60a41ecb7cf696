"""Where it listens, by which address people reach it, and how often they may ask: `[server]`. How
requests leave the organisation's network: `[network]`."""

import re
from typing import Literal

from pydantic import Field, field_validator

from ombud.settings.sections import Section, escaped

_ORIGIN = r"https?://[A-Za-z0-9.-]+(?::\d{1,5})?"
_ADDRESS = _ORIGIN + r"(?:/[A-Za-z0-9._~-]+)*"


class ServerSettings(Section):
    host: str = Field(
        "127.0.0.1",
        description="Address to listen on; only loopback while [identity] names nobody.",
    )
    port: int = Field(8321, ge=0, le=65535, description="Port to listen on; 0 picks a free one.")
    concurrency: int = Field(
        8, ge=1, description="Questions answered at the same time; more wait their turn."
    )
    # A page opened for the first time asks for ten files, and a person asks a few times a minute.
    requests_per_minute: int = Field(
        120,
        ge=0,
        description="Requests one address may send for long, and twice as many at once; one "
        "browser half of that, and as many messages over one live connection. More are refused "
        "with 429. 0 = no limit.",
    )
    person_cpu_seconds: float = Field(
        30,
        ge=0,
        description="CPU seconds a minute that answering one person may use for long, and twice as "
        "many at once; more is refused with 429. A client that asks for many people counts as one. "
        "0 = no limit.",
    )
    public_url: str = Field(
        "",
        description="Address by which people reach it, such as https://ask.example.com or, below a "
        "path, https://intranet.example.com/ombud; empty = this machine alone.",
    )
    trusted_proxies: tuple[str, ...] = Field(
        (),
        description="Addresses of proxies in front: whom they name counts as the sender.",
    )
    embed_origins: tuple[str, ...] = Field(
        (),
        description="Origins whose pages may show the chat in a frame (`/?embed=1`), such as "
        "https://intranet.example.com.",
    )
    log: Literal["text", "json"] = Field(
        "text",
        description="What `ombud serve` and `ombud work` write to standard error: sentences, or a "
        "line of JSON for each event and request and nothing else.",
    )
    metrics: bool = Field(
        True, description="Serve `/metrics` for a monitoring system: numbers, no words of anybody."
    )

    @field_validator("public_url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        url = url.rstrip("/")
        if url and not re.fullmatch(_ADDRESS, url):
            raise ValueError(f"`{url}` is no address such as https://intranet.example.com/ombud")
        return url

    @field_validator("embed_origins")
    @classmethod
    def _are_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            # What stands here becomes part of a header.
            if not re.fullmatch(_ORIGIN, origin):
                raise ValueError(f"`{origin}` is no origin, such as https://intranet.example.com")
        return origins


class NetworkSettings(Section):
    ca_file: str = Field(
        "",
        description="PEM file of your organisation's own certificate authority, relative to the "
        "workspace; trusted beside the public ones by models, sources, desks and mail.",
    )
    proxy: str = Field(
        "",
        description="Proxy by which requests leave your network, such as "
        "http://proxy.example.com:3128; empty = HTTPS_PROXY and HTTP_PROXY of the environment.",
    )
    no_proxy: tuple[str, ...] = Field(
        (), description="Hosts that are reached without it, as in NO_PROXY."
    )

    _proxy = field_validator("proxy")(escaped)
