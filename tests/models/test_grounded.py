"""The scripted model of the comparison: it says only what its prompt holds, whoever asks."""

from typing import Any

import httpx
import pytest

from models.grounded import REFUSAL, Grounded, Script, Statement, serve
from ombud.answer.proof.drafts import Draft

LEAVE = Statement("You get 26 days.", [["26 days of annual leave"]])
BOTH = Statement("Days and a half.", [["26 days of annual leave"], ["half a day", "twelve hours"]])
COMPOSE = {
    "type": "json_schema",
    "json_schema": {"name": "Draft", "schema": {"properties": dict.fromkeys(Draft.model_fields)}},
}


def asked(server: Grounded, prompt: str, **form: Any) -> httpx.Response:
    body = {"model": "m", "messages": [{"role": "user", "content": prompt}], **form}
    return httpx.post(f"{server.url}/chat/completions", json=body)


def said(server: Grounded, prompt: str, **form: Any) -> str:
    text: str = asked(server, prompt, **form).json()["choices"][0]["message"]["content"]
    return text


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("Everybody has **26 days** of [annual leave](a.md).", "You get 26 days."),
        ("<td>26 days</td> of annual leave", "You get 26 days."),
        ("Everybody has 25 days of annual leave.", REFUSAL),
        (
            "26 days of annual leave; on Fridays twelve hours.",
            "You get 26 days. Days and a half.",
        ),
    ],
)
def test_a_statement_needs_its_sentences_in_the_prompt(prompt: str, answer: str) -> None:
    with serve() as server:
        server.turn_to(Script([LEAVE, BOTH]))
        assert said(server, prompt) == answer


def test_claims_carry_the_labels_of_the_passages_that_hold_them() -> None:
    prompt = (
        '<passage label="L1" title="Hotels">\nA room costs 90.\n</passage>\n'
        '<passage label="G1" title="Leave > Annual">\nYou have 26 days of annual leave.\n</passage>'
    )
    with serve() as server:
        server.turn_to(Script([LEAVE]))
        assert '"passages": ["G1"]' in said(server, prompt, response_format=COMPOSE)
        server.turn_to(Script())
        assert '"outcome": "denied"' in said(server, prompt, response_format=COMPOSE)


def test_what_is_invented_is_said_whatever_the_prompt_holds() -> None:
    with serve() as server:
        server.turn_to(Script(invented="You get a car."))
        assert said(server, "Nothing of this.") == "You get a car."
        assert [call.told for call in server.calls] == [["You get a car."]]


def test_who_wants_a_stream_gets_the_same_words() -> None:
    with serve() as server:
        server.turn_to(Script([LEAVE]))
        events = asked(server, "26 days of annual leave", stream=True).text
    assert "You get 26 days." in events
    assert events.endswith("data: [DONE]\n\n")


def test_a_form_that_nothing_was_recorded_for_is_an_error() -> None:
    with serve() as server:
        server.turn_to(Script([LEAVE]))
        tools = [{"function": {"name": "search", "parameters": {"properties": {"query": {}}}}}]
        assert asked(server, "26 days of annual leave", tools=tools).status_code == 404
