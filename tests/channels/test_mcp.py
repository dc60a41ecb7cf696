"""The Model Context Protocol, by its own client: over standard input and output, and over HTTP."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import httpx
import pytest

from ombud.app import Workspace, library, sync_all
from web.running import LEAVE_GB, make_workspace, running

mcp = pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

LEAVE = "How many days of annual leave do I have?"
Talk = Callable[[Any], Awaitable[Any]]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    made = make_workspace(tmp_path_factory.mktemp("workspace"))
    long = "# Long\n\n" + "\n\n".join(f"Rule {n} of the long page says {n}." for n in range(900))
    (made.home / "handbook/global/long.md").write_text(f"---\ntitle: Long\n---\n{long}\n")
    sync_all(made)
    yield made
    made.close()


@pytest.fixture(scope="module")
def address(workspace: Workspace) -> Iterator[str]:
    with running(workspace) as url:
        yield url


@pytest.fixture(params=["stdio", "http"])
def talk(request: pytest.FixtureRequest, workspace: Workspace, address: str) -> Any:
    """Runs a conversation with a server; both ways in are the same to whoever calls."""
    server: Any = f"{address}/mcp"
    if request.param == "stdio":
        arguments = ["-m", "ombud", "--home", str(workspace.home), "mcp"]
        server = mcp.StdioServerParameters(command=sys.executable, args=arguments)

    def run(work: Talk) -> Any:
        async def whole() -> Any:
            async with mcp.Client(server) as client:
                return await work(client)

        return asyncio.run(whole())

    return run


def call(talk: Any, tool: str, **arguments: Any) -> Any:
    async def work(client: Any) -> Any:
        return await client.call_tool(tool, arguments)

    return talk(work)


def test_three_tools_that_only_read_and_say_what_they_give(talk: Any) -> None:
    async def work(client: Any) -> Any:
        return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in talk(work)}
    assert set(tools) == {"ask", "search", "get_document"}
    for tool in tools.values():
        assert tool.annotations.read_only_hint
        assert "policies" in tool.description
        assert tool.output_schema["properties"]
    assert tools["ask"].input_schema["required"] == ["question"]


def test_an_answer_with_its_proof_and_the_document_behind_it(talk: Any) -> None:
    async def work(client: Any) -> Any:
        asked = await client.call_tool("ask", {"question": LEAVE, "country": "GB"})
        (cited, *_) = asked.structured_content["citations"]
        opened = await client.call_tool(
            "get_document", {"document": cited["document_id"], "country": "GB"}
        )
        found = await client.call_tool("search", {"query": "annual leave", "country": "GB", "k": 2})
        return asked.structured_content, cited, opened.structured_content, found.structured_content

    answer, cited, document, found = talk(work)
    assert answer["outcome"] == "full"
    assert LEAVE_GB in answer["text"]
    assert cited["quote"] in document["text"]
    assert (document["part"], document["parts"], document["countries"]) == (1, 1, ["GB"])
    assert len(found["passages"]) in {1, 2}
    assert found["passages"][0]["title"] == "Annual leave in Great Britain"


def test_what_one_may_not_read_is_not_told(talk: Any, workspace: Workspace) -> None:
    pay = next(one for one in library.documents(workspace, None) if "Pay bands" in one.title)
    refused = call(talk, "get_document", document=pay.id)
    assert refused.is_error
    assert "There is no document" in refused.content[0].text
    opened = call(talk, "get_document", document=pay.uri, role="manager")
    assert "48,000" in opened.structured_content["text"]


def test_long_documents_come_in_parts(talk: Any) -> None:
    async def work(client: Any) -> Any:
        (hit, *_) = (
            await client.call_tool("search", {"query": "Rule 7 of the long page", "k": 1})
        ).structured_content["passages"]
        return [
            (await client.call_tool("get_document", {"document": hit["uri"], "part": part}))
            for part in (1, 2, 99)
        ]

    first, second, beyond = talk(work)
    assert first.structured_content["parts"] >= 3
    assert len(first.structured_content["text"]) == 8_000
    assert first.structured_content["text"] != second.structured_content["text"]
    assert beyond.is_error
    assert "parts" in beyond.content[0].text


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("ask", {"question": LEAVE, "as_of": "soon"}, "as_of is no day"),
    ("ask", {"question": ""}, "question"),
    ("ask", {"question": "x" * 4_001}, "question"),
    ("ask", {}, "question"),
    ("search", {"query": "leave", "k": 0}, "k"),
    ("get_document", {"document": "nothing"}, "There is no document"),
]
"""(tool, arguments, what is said of them)."""


def test_what_is_wrong_is_a_sentence(talk: Any) -> None:
    """One conversation, which goes on after each."""

    async def work(client: Any) -> Any:
        return [await client.call_tool(tool, arguments) for tool, arguments, _ in WRONG]

    for result, (tool, arguments, said) in zip(talk(work), WRONG, strict=True):
        assert result.is_error, (tool, arguments)
        assert said in result.content[0].text


def test_other_sites_and_large_bodies_are_refused(address: str) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"accept": "application/json, text/event-stream", "origin": "https://evil.example"}
    assert httpx.post(f"{address}/mcp", json=body, headers=headers).status_code == 403
    other = httpx.post(f"{address}/mcp", json=body, headers={"host": "evil.example"})
    assert other.status_code == 400
    assert httpx.post(f"{address}/mcp", content=b"x" * 2_000_000).status_code == 413


def test_a_document_is_read_with_the_country_that_the_session_gave(workspace: Workspace) -> None:
    (document,) = [one for one in library.documents(workspace, None) if "gb/leave" in one.uri]
    arguments = ["-m", "ombud", "--home", str(workspace.home), "mcp"]
    server = mcp.StdioServerParameters(command=sys.executable, args=arguments)

    async def whole() -> tuple[Any, Any]:
        async with mcp.Client(server) as client:
            place = {"document": document.id}
            before = await client.call_tool("get_document", place)
            await client.call_tool("search", {"query": LEAVE, "country": "GB"})
            return before, await client.call_tool("get_document", place)

    before, after = asyncio.run(whole())
    assert before.is_error
    assert not after.is_error, after
    assert LEAVE_GB in after.structured_content["text"]
