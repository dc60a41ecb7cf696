"""What a model reads: passages with the rest of their sections, as far as the budget allows."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from answer.asking import Script, ask, claim, company, draft, with_model
from ombud.app import Workspace, library
from ombud.types import Answer

RULE = "Staff who move house for work may claim relocation costs."
LEAD_IN = "These costs are never paid, whatever the reason for the move:"
ITEM = "- storage of a piano or other large instruments"
EXCEPTION = "The Director may agree to more in writing."
FILLER = "The form is on the intranet and is handled by the finance team within ten days. "
PAGE = f"""# Relocation

## Moving costs

{RULE} {FILLER * 3}

{FILLER * 4}

{LEAD_IN}

{ITEM}
- storage of a car

{FILLER * 4}

{EXCEPTION}

## Visas

Visas are paid by the company. {FILLER * 4}
"""
ASKED = "Who pays for the storage of a piano or other large instruments?"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    files: dict[str, Any] = {"relocation.md": (PAGE, {})}
    index = {"chunk_tokens": 64}
    plan = {"abstain": 0.0, "k": 1}
    shelf = company(tmp_path_factory.mktemp("home"), files=files, index=index, plan=plan)
    yield shelf.workspace
    shelf.workspace.close()


def answered(home: Workspace, **plan: Any) -> tuple[Answer, str]:
    """The answer and the passages that the model was given."""
    script = Script(draft(claim(EXCEPTION, "G1") | {"quotes": [EXCEPTION]}))
    answer = ask(with_model(home, script.chat), ASKED, plan=plan)
    passages = re.findall(r"<passage [^\n]*>\n(.*?)\n</passage>", script.prompts[0], re.DOTALL)
    return answer, "\n---\n".join(passages)


def test_a_passage_comes_with_the_rest_of_its_section(home: Workspace) -> None:
    answer, given = answered(home)
    assert all(text in given for text in (RULE, LEAD_IN, ITEM, EXCEPTION))
    assert "---" not in given
    assert "Visas" not in given
    assert answer.outcome == "full"


def test_what_is_cited_and_what_was_read_are_the_chunks_of_the_index(home: Workspace) -> None:
    answer, given = answered(home)
    chunks = {chunk.id: chunk.text for chunk in library.passages(home)}
    assert EXCEPTION in chunks[answer.citations[0].chunk_id]
    read = [chunks[name] for name in answer.trace.evidence]
    assert ITEM in read[0]
    assert len(read) > 2
    assert all(text in given for text in read)


def test_chunks_may_be_read_as_they_were_cut(home: Workspace) -> None:
    answer, given = answered(home, evidence="chunk")
    assert ITEM in given
    assert RULE not in given
    assert len(answer.trace.evidence) == 1


def test_the_budget_ends_a_section_and_the_nearest_is_kept(home: Workspace) -> None:
    whole = len(answered(home)[1].split())
    _, given = answered(home, budget_tokens=256)
    assert ITEM in given
    assert len(given.split()) <= 256 * 3 / 4 < whole


def test_the_model_s_failure_leaves_the_passages_that_were_found(home: Workspace) -> None:
    answer = ask(with_model(home, Script("no form").chat), ASKED)
    assert "piano" in answer.text
    assert len(answer.trace.evidence) == 1
