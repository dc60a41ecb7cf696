"""`ombud doctor` and the chat models: what it says of them, and what they say when it asks."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from answer.faulty import Reply as Sent
from answer.faulty import completion, misbehaving, ok
from app.conftest import Open
from ombud.app import Workspace, check_all
from ombud.app.checks import Check
from ombud.cli.verbs import app
from ombud.store import Spending, add_spending


@pytest.fixture(autouse=True)
def _keyless(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def models(workspace: Workspace, ask: bool = False) -> dict[str, Check]:
    return {check.name: check for check in check_all(workspace, ask) if "model" in check.name}


def says(asked: dict[str, object]) -> Sent:
    if asked["model"] == "down":
        return 401, b'{"error": {"message": "no"}}', {}
    return ok(completion(asked, '{"ready": true}'))


TOML = """
[models]
chat = "openai:gpt-4.1"
base_url = "{url}"
fallbacks = ["openai:own"]
roles = {{ strategy = "openai:down" }}
"""


def test_without_asking_nobody_is_called(open_home: Open) -> None:
    with misbehaving(says) as server:
        (check,) = models(open_home(TOML.format(url=server.url))).values()
        assert server.asked == []
    assert check.ok
    assert check.said == (
        "openai:down (strategy); openai:gpt-4.1 (rerank, compose, verify, extract, judge, "
        "synthesise; 2 + 8 US dollars a million tokens in and out); "
        "openai:own (strategy, rerank, compose, verify, extract, synthesise)"
    )
    assert check.hint == "No price is known for openai:down, openai:own: set models.prices."


def test_each_is_asked_once_by_itself(open_home: Open) -> None:
    with misbehaving(says) as server:
        found = models(open_home(TOML.format(url=server.url)), ask=True)
        assert [asked["model"] for asked in server.asked] == ["down", "gpt-4.1", "own"]
    # 50 tokens in and 5 out at 2.00 and 8.00 US dollars a million (openai.com/api/pricing, April
    # 2025)
    assert found["model openai:gpt-4.1"].ok
    assert (
        "50 + 5 tokens, 0.000140 US dollars; for rerank, compose,"
        in found["model openai:gpt-4.1"].said
    )
    assert "price not known" in found["model openai:own"].said
    assert not found["model openai:down"].ok
    assert found["model openai:down"].said == (
        "The model `openai:down` answered with HTTP 401. It is for strategy."
    )
    assert "API key" in found["model openai:down"].hint


def roles(workspace: Workspace) -> dict[str, Check]:
    return {
        check.name: check
        for check in check_all(workspace, ask=True)
        if check.name.startswith("role ")
    }


def test_each_role_says_who_answers_and_what_a_call_costs(open_home: Open) -> None:
    with misbehaving(says) as server:
        toml = TOML.format(url=server.url).replace("roles = {", 'roles = { extract = "none", ')
        found = roles(open_home(toml))
    names = ("strategy", "rerank", "compose", "verify", "extract", "judge", "synthesise")
    assert list(found) == [f"role {name}" for name in names]
    assert all(check.ok for check in found.values())
    assert (
        found["role strategy"].said
        == "openai:own instead of openai:down; the test call: price not known"
    )
    assert found["role compose"].said == "openai:gpt-4.1; the test call: 0.000140 US dollars"
    assert found["role extract"].said == "no model"


def test_a_role_that_nobody_answers_in_fails(open_home: Open) -> None:
    with misbehaving(says) as server:
        workspace = open_home(TOML.format(url=server.url).replace('fallbacks = ["openai:own"]', ""))
        found = roles(workspace)
    assert found["role compose"].ok
    assert not found["role strategy"].ok
    assert found["role strategy"].said == "nobody answers: openai:down"


def test_a_role_without_a_model_is_named(open_home: Open) -> None:
    with misbehaving(says) as server:
        toml = f'[models]\nchat = "openai:own"\nbase_url = "{server.url}"\nroles = {{ rerank = "none", extract = "none" }}'
        assert models(open_home(toml))["chat model"].said.endswith("; no model for rerank, extract")


def test_a_model_that_knows_no_forms_is_found_out(open_home: Open) -> None:
    with misbehaving(
        lambda asked: ok(completion(asked, "I am ready!", content="I am ready!"))
    ) as server:
        found = models(
            open_home(f'[models]\nchat = "openai:a"\nbase_url = "{server.url}"'), ask=True
        )
    assert "no usable answer" in found["model openai:a"].said


def test_a_key_that_is_missing_is_one_failed_check(open_home: Open) -> None:
    found = models(open_home('[models]\nchat = "openai:gpt-4.1"'), ask=True)
    assert {name: check.ok for name, check in found.items()} == {
        "chat model": False,
        "model openai:gpt-4.1": False,
    }
    assert "OPENAI_API_KEY" in found["chat model"].said


def test_what_was_spent_today_is_said(open_home: Open) -> None:
    with misbehaving(says) as server:
        workspace = open_home(
            f'[models]\nchat = "openai:a"\nbase_url = "{server.url}"\ndaily_budget = 5'
        )
        day = workspace.today().isoformat()
        add_spending(workspace.store, day, Spending("openai:a", 1, 9, 9, 0.42))
        assert "0.42 of 5.00 US dollars spent today" in models(workspace)["chat model"].said


def test_without_models_there_is_nothing_to_ask(open_home: Open) -> None:
    assert list(models(open_home(), ask=True)) == ["chat model"]


def test_a_real_server_is_asked_once_for_all_its_roles(open_home: Open, llama: str) -> None:
    workspace = open_home(
        f'[models]\nchat = "openai:smollm2"\nbase_url = "{llama}"\nroles = {{ extract = "none" }}'
    )
    checks = {check.name: check for check in check_all(workspace, ask=True)}
    (said,) = [check.said for name, check in checks.items() if name.startswith("model ")]
    assert said.startswith("answered in ") == checks["role compose"].ok
    assert ("tokens, price not known; for strategy, rerank, compose" in said) or "openai:" in said
    assert checks["role extract"].said == "no model"


def test_the_command_prints_it(open_home: Open, tmp_path: Path) -> None:
    with misbehaving(says) as server:
        open_home(
            f'[models]\nembedder = "none"\nchat = "openai:gpt-4.1"\nbase_url = "{server.url}"'
        )
        words, machine = (
            CliRunner().invoke(app, ["--home", str(tmp_path), "doctor", "--ask", *more])
            for more in ([], ["--json"])
        )
    assert (words.exit_code, machine.exit_code) == (1, 1)  # nothing is indexed
    assert "ok   model openai:gpt-4.1: answered in" in words.stdout
    (check,) = [
        one for one in json.loads(machine.stdout)["checks"] if one["name"] == "model openai:gpt-4.1"
    ]
    assert check["ok"]
