"""By which path an answer came about, and what its calls came to."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.models.function import FunctionModel

from answer.asking import LEAVE, Script, ask, claim, company, draft, with_model
from ombud.app import find_usage, usage_json
from ombud.models import Chat
from ombud.types import Answer, Trace

TRUE = claim("Employees in Great Britain have 26 days of annual leave a year.", "L1")
WRONG = claim("Employees in Great Britain have 62 days of annual leave a year.", "L1")
TOLD = "My boss touches me against my will."


def answered(home: Path, *drafts: Any, text: str = LEAVE) -> tuple[Answer, Trace]:
    script = Script(*drafts)
    chat = Chat("test:writer", FunctionModel(script._say), role="compose")
    with_workspace = with_model(company(home).workspace, chat if drafts else None)
    answer = ask(with_workspace, text)
    return answer, answer.trace


@pytest.mark.parametrize(
    ("drafts", "path", "calls"),
    [
        ((), "no model", 0),
        ((draft(TRUE),), "composed", 1),
        ((draft(WRONG), draft(TRUE)), "repaired", 2),
        ((draft(WRONG),), "quotes after failure", 2),
        (("no draft at all",), "quotes after failure", 1),
    ],
    ids=["no model", "composed", "repaired", "nothing held", "malformed"],
)
def test_the_trace_says_the_path_and_counts_the_calls(
    tmp_path: Path, drafts: Any, path: str, calls: int
) -> None:
    _, trace = answered(tmp_path, *drafts)
    assert (trace.path, trace.calls) == (path, calls)


def test_what_was_asked_is_added_up_by_path(tmp_path: Path) -> None:
    script = Script(draft(TRUE), draft(WRONG), draft(TRUE))
    chat = Chat("test:writer", FunctionModel(script._say), role="compose")
    workspace = with_model(company(tmp_path).workspace, chat)
    for text in (LEAVE, LEAVE, TOLD):
        ask(workspace, text)
    lines = {line["path"]: line for line in usage_json(find_usage(workspace))["paths"]}
    assert {path: line["questions"] for path, line in lines.items()} == {
        "composed": 1,
        "repaired": 1,
        "handed over": 1,
        "all": 3,
    }
    assert (lines["composed"]["calls"], lines["repaired"]["calls"]) == (1, 2)
    assert lines["repaired"]["tokens_in"] == 2 * lines["composed"]["tokens_in"] > 0
    assert find_usage(workspace, date(2999, 1, 1)).paths == ()


def test_who_is_handed_over_costs_nothing(tmp_path: Path) -> None:
    answer, trace = answered(tmp_path, draft(TRUE), text=TOLD)
    assert answer.action == "handoff"
    assert (trace.path, trace.calls, trace.tokens_in) == ("handed over", 0, 0)
