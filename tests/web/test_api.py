"""The API over a real workspace, through a real socket."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import TypeAdapter

from ombud.app import Workspace, library
from ombud.types import Answer, Chunk, Document, Trace
from web.running import LEAVE_DE, LEAVE_GB, make_workspace, running

BRITON = {"country": "gb"}


def test_search_gives_passages_of_the_country_and_of_everywhere(client: httpx.Client) -> None:
    found = client.post(
        "/api/v1/search", json={"query": "days of annual leave", "person": BRITON}
    ).json()
    first = found["hits"][0]
    assert first["uri"] == "handbook/gb/leave.md"
    assert first["scope"] == "local"
    assert LEAVE_GB in first["text"]
    assert {hit["scope"] for hit in found["hits"]} <= {"local", "shared"}
    assert not any("/de/" in hit["uri"] for hit in found["hits"])
    assert Trace.model_validate(found["trace"]).plan.k == 8


def test_search_takes_k_and_mode(client: httpx.Client) -> None:
    body = {"query": "annual leave", "person": BRITON, "k": 1, "mode": "sparse"}
    found = client.post("/api/v1/search", json=body).json()
    assert len(found["hits"]) == 1
    assert found["trace"]["plan"]["mode"] == "sparse"


def test_an_answer_quotes_the_document_word_for_word(client: httpx.Client) -> None:
    body = {"question": "How many days of annual leave do I have?", "person": BRITON}
    answer = Answer.model_validate(client.post("/api/v1/ask", json=body).json())
    assert answer.outcome in {"full", "partial"}
    assert any(LEAVE_GB in citation.quote for citation in answer.citations)
    for citation in answer.citations:
        params = {"country": "GB", "digest": citation.digest}
        text = client.get(f"/api/v1/documents/{citation.document_id}", params=params).json()["text"]
        assert text[citation.start : citation.end] == citation.quote


@pytest.mark.parametrize("written", ["United Kingdom", "Großbritannien", "UK", "gb"])
def test_a_country_is_asked_for_as_people_call_it(client: httpx.Client, written: str) -> None:
    body = {"query": "days of annual leave", "person": {"country": written}}
    found = client.post("/api/v1/search", json=body).json()
    assert found["hits"][0]["uri"] == "handbook/gb/leave.md"


def test_the_country_decides_the_answer(client: httpx.Client) -> None:
    body: dict[str, Any] = {"question": "How many days of annual leave do I have?"}
    texts = [
        client.post("/api/v1/ask", json=body | {"person": {"country": c}}).json()["text"]
        for c in ("GB", "DE")
    ]
    assert LEAVE_GB in texts[0]
    assert LEAVE_DE not in texts[0]
    assert LEAVE_DE in texts[1]


def test_the_stream_tells_status_claims_and_the_same_answer(client: httpx.Client) -> None:
    body = {"question": "How many days of annual leave do I have?", "person": BRITON}
    events = read_events(client, "/api/v1/ask", body)
    names = [name for name, _ in events]
    assert names[0] == "status"
    assert names[-1] == "answer"
    answer = Answer.model_validate(events[-1][1])
    claims = [data for name, data in events if name == "claim"]
    assert [claim["text"] for claim in claims] == [claim.text for claim in answer.claims]
    assert all(set(claim) == {"index", "text", "citations", "early"} for claim in claims)


def test_an_error_before_the_first_event_is_an_http_error(client: httpx.Client) -> None:
    body = {"question": "How many days of leave?", "conversation_id": "nobody"}
    response = client.post("/api/v1/ask", json=body, headers={"accept": "text/event-stream"})
    assert response.status_code == 404
    assert response.json()["type"] == "urn:ombud:not-found"


def test_a_conversation_remembers_what_was_said(client: httpx.Client) -> None:
    made = client.post("/api/v1/conversations", json={"person": BRITON})
    assert made.status_code == 201
    conversation = made.json()["id"]
    question = "How many days of annual leave do I have?"
    body = {"question": question, "person": BRITON, "conversation_id": conversation}
    assert client.post("/api/v1/ask", json=body).json()["conversation_id"] == conversation
    messages = client.get(f"/api/v1/conversations/{conversation}").json()["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert messages[0]["content"] == question


def test_a_conversation_needs_no_body(client: httpx.Client) -> None:
    assert client.post("/api/v1/conversations").status_code == 201


def test_documents_are_those_of_the_person(client: httpx.Client) -> None:
    def uris(**params: Any) -> set[str]:
        return {
            line["uri"]
            for line in client.get("/api/v1/documents", params=params).json()["documents"]
        }

    assert "handbook/gb/leave.md" in uris(country="gb")
    assert "handbook/gb/leave.md" not in uris(country="DE")
    assert "handbook/global/pay.md" not in uris()
    assert "handbook/global/pay.md" in uris(role="manager")
    assert "handbook/global/travel.md" not in uris(as_of="2023-12-31")


def test_a_document_one_may_not_read_is_not_there(
    client: httpx.Client, workspace: Workspace
) -> None:
    secret = next(d for d in library.documents(workspace, None) if d.uri.endswith("pay.md"))
    refused = client.get(f"/api/v1/documents/{secret.id}")
    assert refused.status_code == 404
    assert "confidential" not in refused.text
    allowed = client.get(f"/api/v1/documents/{secret.id}", params={"role": "manager"})
    assert "48,000" in Document.model_validate(allowed.json()).text


def test_passages_come_as_a_list_or_line_by_line(client: httpx.Client) -> None:
    listed = TypeAdapter(list[Chunk]).validate_python(client.get("/api/v1/passages").json())
    lines = client.get(
        "/api/v1/passages", headers={"accept": "application/x-ndjson"}
    ).text.splitlines()
    assert [json.loads(line)["id"] for line in lines] == [chunk.id for chunk in listed]
    assert len(listed) >= 6


def test_it_describes_itself_and_is_ready(client: httpx.Client) -> None:
    assert client.get("/api/v1/describe").json()["models"]["embedder"] == "none"
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ready"}


def test_an_empty_workspace_is_up_but_not_ready(tmp_path: Path) -> None:
    (tmp_path / "ombud.toml").write_text('[models]\nembedder = "none"\n')
    with running(Workspace(tmp_path)) as url:
        assert httpx.get(f"{url}/healthz").status_code == 200
        refused = httpx.get(f"{url}/readyz")
        assert refused.status_code == 503
        assert "ombud sync" in refused.json()["detail"]
        assert httpx.get(f"{url}/api/v1/passages").json() == []


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("search", {"query": " "}, "query"),
        ("search", {"query": "leave", "k": True}, "k"),
        ("search", {"query": "leave", "as_of": 20240101}, "as_of"),
        ("search", {"query": "leave", "person": {"country": "Europe"}}, "person.country"),
        ("search", {"query": "leave", "person": {"country": "Frnace"}}, "Did you mean France?"),
        ("search", {"query": "leave", "persons": {}}, "persons"),
        ("ask", {"question": "x" * 4001}, "question"),
        ("ask", {"question": "broken \ud800 text"}, "unicode"),
        ("ask", {"question": "days of annual leave", "plan": {"kk": 3}}, "kk"),
        ("ask", {"question": "days of annual leave", "plan": {"k": 0}}, "plan.k"),
        ("ask", {"question": "days of annual leave", "person": {"persona": "pirate"}}, "pirate"),
        ("ask", {"question": "leave?", "history": [{"role": "robot", "content": "x"}]}, "history"),
    ],
)
def test_what_cannot_be_read_is_said(
    client: httpx.Client, path: str, body: dict[str, Any], said: str
) -> None:
    headers = {"content-type": "application/json"}
    response = client.post(f"/api/v1/{path}", content=json.dumps(body), headers=headers)
    problem = response.json()
    assert response.headers["content-type"] == "application/problem+json"
    assert (response.status_code, problem["status"]) == (422, 422)
    assert set(problem) == {"type", "title", "status", "detail", "hint"}
    assert said in problem["detail"]


def test_bad_json_is_a_problem_too(client: httpx.Client) -> None:
    response = client.post("/api/v1/ask", content="{", headers={"content-type": "application/json"})
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"


def test_the_description_names_every_route_and_the_errors_as_they_are(client: httpx.Client) -> None:
    described = client.get("/openapi.json").json()
    assert {"/api/v1/search", "/api/v1/ask", "/api/v1/documents", "/healthz"} <= set(
        described["paths"]
    )
    assert "/" not in described["paths"]
    responses = described["paths"]["/api/v1/ask"]["post"]["responses"]
    assert set(responses["200"]["content"]) == {"application/json", "text/event-stream"}
    for status in ("404", "413", "422", "500"):
        assert set(responses[status]["content"]) == {"application/problem+json"}
    assert "HTTPValidationError" not in described["components"]["schemas"]


def test_meaning_is_found_with_the_default_embedder(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, embedder="minilm")
    with running(workspace) as url:
        body = {"query": "reimbursement for overnight accommodation", "mode": "dense", "k": 1}
        (hit,) = httpx.post(f"{url}/api/v1/search", json=body, timeout=60).json()["hits"]
        assert hit["uri"] == "handbook/global/travel.md"
    workspace.close()


def read_events(client: httpx.Client, path: str, body: dict[str, Any]) -> list[tuple[str, Any]]:
    events = []
    with client.stream(
        "POST", path, json=body, headers={"accept": "text/event-stream"}
    ) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        for block in response.read().decode().split("\n\n"):
            fields = dict(
                line.split(": ", 1)
                for line in block.splitlines()
                if line and not line.startswith(":")
            )
            if fields:
                events.append((fields["event"], json.loads(fields["data"])))
    return events
