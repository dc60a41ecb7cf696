"""The workspace as a target of the lab, on the sample handbook: what a gate must catch, and what
must not wake it."""

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ombud.app import LocalTarget, Workspace, asking, configured_sources, library
from ombud.documents.chunking.chunks import CHUNKERS
from ombud.documents.chunking.outline import ChunkBounds
from ombud.documents.chunking.structure import cut
from ombud.errors import BadRequest, LabError
from ombud.ingest import sync_sources
from ombud.lab import (
    RunOptions,
    Verdict,
    check_gate,
    parse_metrics,
    read_cases,
    read_run,
    run_cases,
    select_split,
)
from ombud.settings import IndexSettings
from ombud.text.sentences import split_sentences
from ombud.types import Document, Person, Question

SAMPLE = Path(__file__).parents[2] / "sample"
FLAGS = {"models": {"embedder": "none"}}
METRICS = parse_metrics("quote_recall@8,page_recall@8,mrr")
"""Retrieval alone: a gate over it takes a second."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    shutil.copytree(
        SAMPLE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".ombud", "drafts")
    )
    workspace = Workspace(folder, FLAGS)
    bring(workspace)
    workspace.close()
    return folder


@pytest.fixture
def workspace(home: Path) -> Iterator[Workspace]:
    opened = Workspace(home, FLAGS)
    yield opened
    opened.close()


def bring(workspace: Workspace) -> None:
    sources = configured_sources(workspace.settings, workspace.home, workspace.store)
    (report,) = sync_sources(workspace.ingest, sources, allow_deletes=True)
    assert report.ok


def run(
    workspace: Workspace, target: LocalTarget, name: str, plan: Mapping[str, Any] | None = None
) -> str:
    asked = select_split(read_cases(SAMPLE / "cases"), "open")
    options = RunOptions(METRICS, name, "sample", "open", plan or {})
    return asyncio.run(run_cases(asked, target, workspace.store, options)).id


def judged(workspace: Workspace, baseline: str, candidate: str) -> Verdict:
    return check_gate(read_run(workspace.store, baseline), read_run(workspace.store, candidate))


@pytest.fixture(scope="module")
def before(home: Path) -> str:
    """The run of the handbook as it is, to which the gate compares."""
    workspace = Workspace(home, FLAGS)
    done = run(workspace, LocalTarget(workspace), "before")
    workspace.close()
    return done


@pytest.mark.slow
def test_the_gate_stays_quiet_on_five_runs_of_the_same(workspace: Workspace, before: str) -> None:
    others = [run(workspace, LocalTarget(workspace), "same") for _ in range(5)]
    assert [judged(workspace, before, other).falls for other in others] == [()] * 5


@pytest.mark.slow
def test_the_gate_catches_fewer_passages(workspace: Workspace, before: str) -> None:
    verdict = judged(workspace, before, run(workspace, LocalTarget(workspace), "two", {"k": 2}))
    assert {fall.contrast.metric for fall in verdict.falls if fall.contrast} >= {
        "quote_recall@8",
        "mrr",
    }
    assert all(fall.worst for fall in verdict.falls)


@pytest.mark.slow
def test_the_gate_catches_a_chunker_that_drops_every_third_sentence(
    workspace: Workspace, before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CHUNKERS, "holes", "app.test_target:with_holes")
    holes = LocalTarget(workspace).variant({"index.chunker": "holes"})
    verdict = judged(workspace, before, run(workspace, holes, "holes"))
    assert any(fall.contrast and fall.contrast.metric == "quote_recall@8" for fall in verdict.falls)
    lost = [seen.lost for seen in read_run(workspace.store, "holes").observations]
    assert lost.count("not indexed") > 20


@pytest.mark.slow
def test_the_gate_catches_a_source_that_is_gone_and_names_its_country(
    home: Path, tmp_path: Path, before: str
) -> None:
    shutil.copytree(home, tmp_path / "home")
    workspace = Workspace(tmp_path / "home", FLAGS)
    shutil.rmtree(workspace.home / "handbook" / "fr")
    bring(workspace)
    verdict = judged(workspace, before, run(workspace, LocalTarget(workspace), "without"))
    assert ("country", "FR") in {
        (f.contrast.group, f.contrast.name) for f in verdict.falls if f.contrast
    }
    assert ("country", "DE") not in {
        (f.contrast.group, f.contrast.name) for f in verdict.falls if f.contrast
    }
    workspace.close()


def test_a_variant_holds_the_same_documents_cut_otherwise_and_leaves_the_index_alone(
    workspace: Workspace,
) -> None:
    target = LocalTarget(workspace)
    before = workspace.engine.version()
    small = target.variant({"index.chunk_tokens": 64})
    longest = [max(len(chunk.text.split()) for chunk in one.passages()) for one in (target, small)]
    assert longest[1] < longest[0] <= 256
    assert {chunk.uri for chunk in small.passages()} == {chunk.uri for chunk in target.passages()}
    assert workspace.engine.version() == before
    assert small.describe()["config_digest"] != target.describe()["config_digest"]
    # The second time it is only opened.
    again = target.variant({"index.chunk_tokens": 64})
    assert again.workspace.engine.version() == small.workspace.engine.version()


def test_a_variant_follows_the_documents(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home, tmp_path / "home")
    workspace = Workspace(tmp_path / "home", FLAGS)
    target = LocalTarget(workspace)
    target.variant({"index.chunk_tokens": 64})
    page = workspace.home / "handbook" / "gb" / "parking-badge.md"
    page.write_text(
        "# Parking badge\n\nThe badge for the garage costs 41 pounds.\n", encoding="utf-8"
    )
    library.delete_document(workspace, "handbook/gb/annual-leave.md")
    bring(workspace)
    library.delete_document(workspace, "handbook/gb/annual-leave.md")
    uris = {chunk.uri for chunk in target.variant({"index.chunk_tokens": 64}).passages()}
    assert "handbook/gb/parking-badge.md" in uris
    assert "handbook/gb/annual-leave.md" not in uris
    workspace.close()


def test_only_index_settings_can_be_varied(workspace: Workspace) -> None:
    with pytest.raises(BadRequest, match=r"plan\.k") as refused:
        LocalTarget(workspace).variant({"plan.k": 3})
    assert "index.chunk_tokens" in refused.value.hint
    with pytest.raises(BadRequest) as refused:
        LocalTarget(workspace).variant({"index.chunk_token": 3})
    assert refused.value.hint == "Did you mean `index.chunk_tokens`?"


def test_another_chat_model_is_asked_over_the_same_index(workspace: Workspace) -> None:
    target = LocalTarget(workspace)
    other = target.variant({"models.chat": "openai:gpt-4.1"})
    assert other.describe()["models"]["chat"] == "openai:gpt-4.1"
    assert target.describe()["models"]["chat"] == "none"
    assert other.describe()["index_version"] == target.describe()["index_version"]
    assert other.describe()["config_digest"] != target.describe()["config_digest"]
    assert other.workspace.data == workspace.data


def test_a_chat_model_that_a_role_hides_is_not_varied(home: Path) -> None:
    flags = {"models": {"embedder": "none", "roles": {"compose": ["openai:gpt-4.1"]}}}
    opened = Workspace(home, flags)
    with pytest.raises(BadRequest, match=r"models\.roles\.compose"):
        LocalTarget(opened).variant({"models.chat": "openai:gpt-4.1-mini"})
    opened.close()


def test_another_embedder_has_an_index_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "ombud.toml").write_text('[[source]]\nname = "pages"\npath = "pages"\n')
    page = "# Leave\n\nStaff have 25 days of leave a year.\n"
    (tmp_path / "pages" / "leave.md").write_text(page)
    opened = Workspace(tmp_path, FLAGS)
    bring(opened)
    target = LocalTarget(opened)
    other = target.variant({"models.embedder": "minilm"})
    assert target.describe()["models"]["embedder"] == "none"
    assert other.describe()["models"]["embedder"] != "none"
    question = Question(text="How much holiday do I get?")
    hits, trace = asyncio.run(other.search(question, {"mode": "dense"}))
    assert [hit.chunk.uri for hit in hits] == ["pages/leave.md"]
    assert not trace.degraded
    for one in (opened, other.workspace):
        one.close()


def test_a_document_that_cannot_be_indexed_anew_is_named(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home, tmp_path / "home")
    workspace = Workspace(tmp_path / "home", FLAGS)
    (workspace.home / "handbook" / "gb" / "annual-leave.md").unlink()
    with pytest.raises(LabError, match=r"handbook/gb/annual-leave\.md"):
        LocalTarget(workspace).variant({"index.chunk_tokens": 64})
    workspace.close()


def test_the_answers_are_those_of_the_product_but_are_not_kept(workspace: Workspace) -> None:
    question = Question(text="How many days of annual leave do I get?", asker=Person(country="GB"))
    target = LocalTarget(workspace)
    answer = asyncio.run(target.ask(question, {}))
    kept = asyncio.run(asking.ask(workspace, question))
    assert answer.text == kept.text
    assert answer.citations
    assert asking.stored_answer(workspace, kept.id).text == kept.text
    with pytest.raises(Exception, match="no answer"):
        asking.stored_answer(workspace, answer.id)
    first = answer.citations[0]
    text = target.text_of(first.document_id, first.digest)
    assert text is not None
    assert text[first.start : first.end] == first.quote


def with_holes(
    document: Document, settings: IndexSettings, count: Any, embed: Any
) -> Iterator[ChunkBounds]:
    """The structure chunker, but every third sentence of a chunk is in none."""
    for whole in cut(document, settings, count):
        spans = split_sentences(document.text[whole.start : whole.end], document.language)
        for at in range(0, len(spans), 3):
            first, last = spans[at], spans[min(at + 1, len(spans) - 1)]
            yield replace(whole, start=whole.start + first[0], end=whole.start + last[1])


UNCLOSED = """
import asyncio, sys
from pathlib import Path
from ombud.app import Workspace, asking
from ombud.types import Person, Question
workspace = Workspace(Path(sys.argv[1]), {"models": {"embedder": "none"}})
question = Question(text="How many days of annual leave do I get?", asker=Person(country="GB"))
print(asyncio.run(asking.ask(workspace, question)).text)
workspace.warm()
"""


def test_a_process_that_ends_without_closing_its_workspace_says_nothing_of_it(home: Path) -> None:
    """Also while it takes the index into memory, as it does after a number of searches."""
    ended = subprocess.run(
        [sys.executable, "-c", UNCLOSED, str(home)], capture_output=True, text=True, check=False
    )
    assert "26 days" in ended.stdout
    assert (ended.stderr, ended.returncode) == ("", 0)
