"""The lab's baseline: a chat model without any document."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from answer.asking import GB, LEAVE, company
from models.serving import serving
from ombud.app import asking
from ombud.errors import BadSetting
from ombud.settings import load
from ombud.types import Question


def test_without_a_search_nothing_is_proven_and_the_answer_says_so(tmp_path: Path) -> None:
    with serving() as server:
        server.said = '{"answer": "Most have 25 days. Ask your manager [1]."}'
        models: dict[str, Any] = {"embedder": "none", "chat": "openai:small"}
        workspace = company(tmp_path, models=models | {"base_url": server.url}).workspace
        question = Question(text=LEAVE, asker=GB)
        answer = asyncio.run(asking.ask(workspace, question, plan={"k": 0}, keep=False))
    assert answer.text.startswith("Most have 25 days.")
    assert answer.citations == ()
    assert {claim.verdict for claim in answer.claims} == {"unconfirmed"}
    assert any("nothing is proven" in note for note in answer.trace.degraded)
    assert answer.trace.evidence == ()
    assert len(server.asked) == 1


def test_settings_do_not_serve_it(tmp_path: Path) -> None:
    for text in (
        "[plan]\nk = 0\n",
        "[country.GB.plan]\nk = 0\n",
        "[experiment.x]\nshare = 1\nplan = {k = 0}\n",
    ):
        (tmp_path / "ombud.toml").write_text(text, encoding="utf-8")
        with pytest.raises(BadSetting, match="for the lab, not for people"):
            load(tmp_path)
