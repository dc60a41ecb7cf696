"""Where it listens, by which address people reach it, and how often they may ask: `[server]`."""

import re
from typing import Literal

from pydantic import Field, field_validator

from ombud.settings.sections import Section

_ORIGIN = r"https?://[A-Za-z0-9.-]+(?::\d{1,5})?"


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
        description="Requests one address may send for long; more are refused with 429. 0 = no "
        "limit.",
    )
    burst: int = Field(
        240, ge=1, description="Requests one address may send at once, after a time of silence."
    )
    # Half of what an address may: whoever floods leaves as much to the others behind it.
    person_requests_per_minute: int = Field(
        60,
        ge=0,
        description="Requests one browser may send for long, and half the burst at once. 0 = no "
        "limit.",
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
        description="Address by which people reach it, such as https://ask.example.com; empty = "
        "this machine alone.",
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
        description="What `ombud serve` writes to standard error: sentences, or a line of JSON for "
        "each event and request.",
    )
    metrics: bool = Field(
        True, description="Serve `/metrics` for a monitoring system: numbers, no words of anybody."
    )
    messages_per_minute: int = Field(
        120,
        ge=0,
        description="Messages one live connection may send; one more closes it. 0 = no limit.",
    )

    @field_validator("public_url")
    @classmethod
    def _is_origin(cls, url: str) -> str:
        if url and not re.fullmatch(_ORIGIN, url):
            raise ValueError(f"`{url}` is no address such as https://ask.example.com, without path")
        return url

    @field_validator("embed_origins")
    @classmethod
    def _are_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            # What stands here becomes part of a header.
            if not re.fullmatch(_ORIGIN, origin):
                raise ValueError(f"`{origin}` is no origin, such as https://intranet.example.com")
        return origins
