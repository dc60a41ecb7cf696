"""Served below a path of another site, as programs use it through a proxy that strips the path."""

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from ombud.app import people
from ombud.settings import Settings
from ombud.types import Person
from web.proxy import stripping
from web.running import make_workspace, running
from web.test_login import PASSWORD, sign_in

QUESTION = {"question": "How many days of annual leave do I get?"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, str]]:
    """Its public address, the server's own, and a token."""
    with pytest.MonkeyPatch.context() as patch, stripping("/ombud") as proxy:
        public = f"http://127.0.0.1:{proxy.port}/ombud"
        patch.setenv("OMBUD_IDENTITY__KIND", "local")
        patch.setenv("OMBUD_SERVER__PUBLIC_URL", f"{public}/")
        made = make_workspace(tmp_path_factory.mktemp("home"))
        ann = people.add_person(made, "ann", Person(country="GB"), [], password=PASSWORD)
        _, token = people.make_token(made, ann, "test", ["ask"])
        with running(made) as url:
            proxy.target = url
            yield public, url, token
        made.close()


def test_signing_in_leads_back_below_the_path(site: tuple[str, str, str]) -> None:
    with httpx.Client(base_url=site[0]) as client:
        away = client.get("/documents", headers={"accept": "text/html"})
        assert away.status_code == 303
        assert away.headers["location"] == "/ombud/login?next=%2Fdocuments"
        back = sign_in(client)
        assert back.headers["location"] == "/ombud/documents"
        assert "; path=/ombud/;" in f"{back.headers['set-cookie'].lower()};"
        page = client.get("/documents", headers={"accept": "text/html"}).text
        assert 'href="/ombud/documents/' in page
        assert 'href="/documents' not in page
        assert client.post("/logout").headers["location"] == "/ombud/login"


def test_the_description_names_the_path(site: tuple[str, str, str]) -> None:
    headers = {"authorization": f"Bearer {site[2]}"}
    described = httpx.get(f"{site[0]}/openapi.json", headers=headers).json()
    assert described["servers"] == [{"url": "/ombud"}]


def test_a_proxy_that_leaves_the_path_will_do_too(site: tuple[str, str, str]) -> None:
    assert httpx.get(f"{site[1]}/ombud/healthz").status_code == 200
    assert httpx.get(f"{site[1]}/ombud").headers["location"] == "/ombud/"


def test_events_are_held_back_by_nobody(site: tuple[str, str, str]) -> None:
    headers = {"authorization": f"Bearer {site[2]}", "accept": "text/event-stream"}
    reply = httpx.post(f"{site[0]}/api/v1/ask", json=QUESTION, headers=headers, timeout=60)
    assert "event: answer" in reply.text
    assert reply.headers["x-accel-buffering"] == "no"
    assert reply.headers["cache-control"] == "no-cache"


def test_assistants_reach_the_tools(site: tuple[str, str, str]) -> None:
    mcp = pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    async def tools() -> list[Any]:
        headers = {"authorization": f"Bearer {site[2]}"}
        async with httpx2.AsyncClient(headers=headers) as http:
            transport = streamable_http_client(f"{site[0]}/mcp", http_client=http)
            async with mcp.Client(transport) as client:
                return list((await client.list_tools()).tools)

    assert {tool.name for tool in asyncio.run(tools())} == {"ask", "search", "get_document"}


@pytest.mark.parametrize("address", ["https://a.example/x y", "https://a.example/?q", "ftp://a"])
def test_an_address_that_cannot_be_one_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="is no address"):
        Settings.model_validate({"server": {"public_url": address}})
