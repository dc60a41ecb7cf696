"""Studies over a scripted target whose best row is known: their tables, claims and honesty."""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from copies import open_copy
from lab.scripted import ScriptedTarget, cases, chunk
from ombud.answer import read_personas, switched
from ombud.errors import LabError, UnknownName
from ombud.lab import Instruments, RunOptions, Tuning, parse_grid, parse_metrics
from ombud.lab.metrics.parsing import needs
from ombud.store import Store
from ombud.types import Answer, Hit, Person, Question, Trace
from research.studies.carrying import STUDIES, carry_out, find_study
from research.studies.design import Study, StudyAxes, StudyClaim, StudyRow
from research.studies.hypa import router_table
from research.studies.persona import PROMPTS, READERS, WHOLE
from research.studies.writing import study_charts, study_markdown

TINY = Study(
    title="Tiny: what k is worth",
    about="Nothing else.",
    metrics=("citation_recall", "outcome_accuracy"),
    rows=(
        StudyRow("k=3", {"plan.k": 3}, paper=(".50",), table="K"),
        StudyRow("k=8", {"plan.k": 8}, table="K"),
        StudyRow("k=9", {"plan.k": 9}, table="K"),
        StudyRow("written", {"plan.refine": True}, "chat model", table="Models"),
    ),
    claims=(
        StudyClaim("Eight is better.", "citation_recall", "k=8", "k=3", stated=".5 against .4"),
        StudyClaim("Three is better.", "citation_recall", "k=3", "k=8"),
        StudyClaim("Nine is better than eight.", "citation_recall", "k=9", "k=8"),
        StudyClaim("A model is better.", "citation_recall", "written", "k=8"),
    ),
    paper_metrics=("its own score",),
    lines="K",
    groups=("tag",),
    repeated=True,
)


class ByK(ScriptedTarget):
    """Finds half of the passages with k = 3, and all with more."""

    async def ask(self, question: Question, plan: Mapping[str, Any]) -> Answer:
        answer = await super().ask(question, plan)
        number = int(question.text.split(":")[0])
        if plan.get("k") == 3 and number % 8 < 4:
            return answer.model_copy(update={"citations": ()})
        return answer


class Wordy(ByK):
    """Returns one passage with k = 3, and two with more; k = 3 is cheaper."""

    async def ask(self, question: Question, plan: Mapping[str, Any]) -> Answer:
        answer = await super().ask(question, plan)
        price = 0.001 if plan.get("k") == 3 else 0.002
        return answer.model_copy(update={"trace": Trace(price=price)})

    async def search(
        self, question: Question, plan: Mapping[str, Any]
    ) -> tuple[tuple[Hit, ...], Trace]:
        number = int(question.text.split(":")[0])
        found = [Hit(chunk=chunk(number + n), score=1 - n / 9) for n in range(2)]
        return tuple(found[:1] if plan.get("k") == 3 else found), Trace()


class Wavering(ScriptedTarget):
    """Cites what is right when a question is put for the first time in a set-up, then nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.known: set[tuple[str, str]] = set()

    async def ask(self, question: Question, plan: Mapping[str, Any]) -> Answer:
        answer = await super().ask(question, plan)
        key = (question.text, str(plan))
        is_new = key not in self.known
        self.known.add(key)
        return answer if is_new else answer.model_copy(update={"citations": ()})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(open_copy(tmp_path)) as opened:
        yield opened


def tuning(store: Store, study: Study, target: ScriptedTarget) -> Tuning:
    metrics = parse_metrics(",".join(study.metrics))
    return Tuning(
        target=target,
        store=store,
        options=RunOptions(metrics, "study", "scripted", study="study"),
        objectives=tuple(map(str, metrics)),
        axes={},
        instruments=lambda _: Instruments(),
    )


def test_claims_hold_do_not_hold_or_cannot_be_told(store: Store) -> None:
    target = ByK()
    outcome = asyncio.run(carry_out(TINY, tuning(store, TINY, target), cases(80), set()))
    assert [claim.verdict for claim in outcome.claims] == [
        "holds",
        "does not hold: the opposite does",
        "cannot be told with 80 cases",
        "not run here",
    ]
    report = study_markdown(outcome, dataset="tiny", made="Today.", metrics=TINY.metrics)
    # Half of the cases found nothing to cite.
    assert re.search(r"\| k=3 \| 0\.500 \(.*\) \| 1\.000 .*\| 80 \| \.50 \|", report)
    assert "| written | needs a chat model | needs a chat model | – |" in report
    assert "| Eight is better. | the study (.5 against .4) |" in report
    assert "| Three is better. | its design asks |" in report
    assert "## Two runs of “k=3”" in report
    assert "## citation_recall by tag" in report
    charts = study_charts(outcome, "citation_recall")
    assert set(charts) == {"K"}  # of the models' table nothing was run
    assert charts["K"].startswith("<svg")
    by_row = replace(outcome, study=replace(TINY, lines=""))
    assert "k=8" in study_charts(by_row, "citation_recall")["K"]


def test_less_words_and_no_worse_are_claims_of_their_own(store: Store) -> None:
    study = replace(
        TINY,
        metrics=("citation_recall", "words@10", "price"),
        claims=(
            StudyClaim("Fewer words.", "words@10", "k=3", "k=8", is_less=True),
            StudyClaim("More words.", "words@10", "k=8", "k=3", is_less=True),
            StudyClaim("As good.", "citation_recall", "k=9", "k=8", margin=0.05),
            StudyClaim("Half as good is as good.", "citation_recall", "k=3", "k=8", margin=0.05),
            # Nothing is cheaper here, and a price is better where it is lower.
            StudyClaim("Cheaper.", "price", "k=3", "k=8"),
        ),
        saves="k=8",
        saved=("words@10",),
    )
    outcome = asyncio.run(carry_out(study, tuning(store, study, Wordy()), cases(80), set()))
    assert [claim.verdict for claim in outcome.claims] == [
        "holds",
        "does not hold: the opposite does",
        "cannot be told with 80 cases",  # all alike, in twenty documents
        "does not hold: it loses more",
        "holds",
    ]
    report = study_markdown(outcome, dataset="tiny", made="Today.", metrics=study.metrics)
    # One passage of sixteen words instead of two.
    assert re.search(r"\| k=3 \| 50% \| -0\.500 ", report)
    assert "| cases with a value | 80 of 80 | 80 of 80 | 80 of 80 |" in report


def test_few_cases_are_said_to_tell_little(store: Store) -> None:
    study = replace(TINY, claims=TINY.claims[:1])
    outcome = asyncio.run(carry_out(study, tuning(store, study, ByK()), cases(12), set()))
    # Twelve cases of three documents: the smallest p that there can be is 1/4.
    assert outcome.claims[0].verdict == "cannot be told with 12 cases"


def test_rows_of_a_table_are_timed_on_the_same_questions(store: Store) -> None:
    study = replace(TINY, timed=("k=3", "k=8", "k=9"), repeated=False)
    target = ByK()
    outcome = asyncio.run(carry_out(study, tuning(store, study, target), cases(30), set()))
    report = study_markdown(outcome, dataset="tiny", made="Today.", metrics=TINY.metrics)
    assert "| citation_recall | outcome_accuracy | warm_latency | n of" in report
    assert "| 20 of 20 |" in report
    asked = len(target.asked)
    asyncio.run(carry_out(study, tuning(store, study, target), cases(30), set()))
    assert len(target.asked) == asked


def test_claims_are_tested_by_country_as_flags_are_set(store: Store) -> None:
    whole = [
        case.model_copy(update={"person": Person(country="GB" if number % 8 < 4 else "FR")})
        for number, case in enumerate(cases(80))
    ]
    study = replace(TINY, contrasted="country", groups=("country",))
    outcome = asyncio.run(carry_out(study, tuning(store, study, ByK()), whole, set()))
    report = study_markdown(outcome, dataset="tiny", made="Today.", metrics=TINY.metrics)
    # All that k = 3 loses is lost in one country.
    assert "| “k=8” over “k=3” | citation_recall | GB | +1.000 (+1.000 to +1.000) |" in report
    assert "| “k=8” over “k=3” | citation_recall | FR | +0.000 (+0.000 to +0.000) |" in report
    assert "|  | FR (n 40) | GB (n 40) |" in report
    assert "| k=3 | 1.00, 1.00 | 0.00, 0.00 |" in report


def test_readers_have_a_mean_and_a_median(store: Store) -> None:
    study = replace(TINY, medians="K")
    outcome = asyncio.run(carry_out(study, tuning(store, study, ByK()), cases(72), set()))
    report = study_markdown(outcome, dataset="tiny", made="Today.", metrics=TINY.metrics)
    assert "## K: mean with interval, median" in report
    assert re.search(r"\| k=8 \| 1\.000 \(1\.000 to 1\.000\), 1\.000 \|", report)


def test_two_runs_of_an_answer_that_changes_differ(store: Store) -> None:
    outcome = asyncio.run(carry_out(TINY, tuning(store, TINY, Wavering()), cases(80), set()))
    report = study_markdown(outcome, dataset="tiny", made="Today.", metrics=TINY.metrics)
    # First all cases cite the right passage, then none does.
    told = re.search(r"\| citation_recall \| 1\.000 .* \| 0\.000 .* \| 80 \| 1\.000 \|", report)
    assert told


def test_a_study_that_was_stopped_asks_nothing_twice(store: Store) -> None:
    first = ByK()
    asyncio.run(carry_out(TINY, tuning(store, TINY, first), cases(10), set()))
    again = ByK()
    asyncio.run(carry_out(TINY, tuning(store, TINY, again), cases(10), set()))
    assert again.asked == []


def test_where_no_row_can_be_run_it_is_said(store: Store) -> None:
    alone = Study("A: b", "", ("citation_recall",), (StudyRow("x", {}, "chat model"),))
    with pytest.raises(LabError, match="No row"):
        asyncio.run(carry_out(alone, tuning(store, alone, ByK()), cases(5), set()))


@pytest.mark.parametrize("name", list(STUDIES))
def test_every_shipped_study_names_settings_and_metrics_that_there_are(name: str) -> None:
    study = find_study(name)
    assert parse_metrics(",".join(study.metrics))
    labels = [row.label for row in study.rows]
    assert len(set(labels)) == len(labels)
    for row in study.rows:
        for key, value in row.cell.items():
            if not isinstance(value, list):
                parse_grid([f"{key}={value if isinstance(value, str) else str(value).lower()}"])
    for claim in study.claims:
        assert {claim.better, claim.worse} <= set(labels)
        assert claim.metric in study.metrics or {claim.better, claim.worse} <= set(study.timed)
    led = find_study(name, judged=True)
    parse_metrics(",".join(led.metrics))
    assert led.metrics[: len(study.judged)] == study.judged
    assert {claim.judged for claim in study.claims} <= {"", *study.judged}


def test_hypa_has_the_rows_of_its_tables_and_no_others() -> None:
    study = find_study("hypa")
    tables = [row.table for row in study.rows]
    assert Counter(tables) == {"Model only and fixed k": 6, "2 classes": 7, "3 classes": 8}
    assert {len(row.paper) for row in study.rows} == {len(study.paper_metrics)}
    by_label = {row.label: row for row in study.rows}
    best = by_label["3-class: k, K, S, Q + reranker"]
    assert best.paper == (".8689", ".7853", "4.1859", ".8402")
    assert best.needs == "chat model and reranker"
    assert best.cell["plan.adaptive"] == ["k", "rewrites", "graph_keywords", "graph_depth"]
    # * is held fixed: the graph is there, and its parameters do not follow the question.
    fixed = by_label["2-class: k, K*, S*"].cell
    assert (fixed["plan.graph"], fixed["plan.adaptive"]) == (True, ["k"])
    assert by_label["3-class: k, Q"].cell["plan.adaptive"] == ["k", "rewrites"]
    said = {claim.said: claim.stated for claim in study.claims}
    assert said["The graph alone helps, 3 classes."] == ".8030 against .7621"


def test_a_model_alone_is_asked_as_often_as_models_are_named() -> None:
    alone = [row for row in find_study("hypa").rows if row.cell.get("plan.k") == 0]
    assert [row.needs for row in alone] == ["chat model", "second chat model (--generator)"]
    named = find_study("hypa", StudyAxes(generators=("openai:g",))).rows[1]
    assert named.cell == {"plan.k": 0, "models.chat": "openai:g"}


def test_rows_of_fusion_differ_in_fusion_alone() -> None:
    rows = {row.label: row.cell for row in find_study("natwest").rows}
    rrf, combsum = rows["RRF, 10 results"], rows["CombSUM, 10 results"]
    assert {key for key in rrf if rrf[key] != combsum[key]} == {"plan.fusion"}
    assert {str(cell["plan.strategies"]) for cell in rows.values()} == {"['standard']"}


def test_corpus_extents_are_the_sources_of_the_workspace() -> None:
    study = find_study("wombat", StudyAxes(sources=("pages", "files", "old")))
    corpus = [(row.label, row.cell) for row in study.rows if row.table == "Corpus"]
    as_they_are = {"index.tables": "markdown"}
    assert corpus == [
        ("pages", {**as_they_are, "plan.sources": ["pages"]}),
        ("pages + files", {**as_they_are, "plan.sources": ["pages", "files"]}),
        ("everything, tables as they are", as_they_are),
        ("everything, tables row by row", {"index.tables": "rows"}),
    ]


def test_one_source_is_the_corpus_without_the_others() -> None:
    study = find_study("wombat", StudyAxes(sources=("pages",)))
    corpus = [row.label for row in study.rows if row.table == "Corpus"]
    assert corpus == ["pages", "everything, tables as they are", "everything, tables row by row"]
    with_pdfs = [claim for claim in study.claims if claim.stated.startswith("+37 %")]
    assert [(claim.better, claim.worse) for claim in with_pdfs] == [(corpus[2], corpus[0])]
    assert not [claim for claim in find_study("wombat").claims if claim.stated.startswith("+37")]


def test_more_embedders_and_generators_are_more_rows() -> None:
    axes = StudyAxes(embedders=("openai:e",), generators=("openai:g",))
    natwest = {row.label: row.cell for row in find_study("natwest", axes).rows}
    assert natwest["RRF (openai:e), 5 results"]["models.embedder"] == "openai:e"
    persona = {row.label: row for row in find_study("persona", axes).rows}
    second = persona["13M, no marks of a turn, marketing (openai:g)"].cell
    assert (second["plan.persona"], second["models.chat"]) == ("marketing", "openai:g")


@pytest.mark.parametrize(
    ("run", "gone", "come"),
    [
        ("B", {"persona-length"}, set()),
        ("C", {"persona-style"}, set()),
        ("D", {"tailoring", "persona-length", "persona-style"}, set()),
        ("E", {"tailoring", "persona-length", "persona-style", "persona-reinforcement"}, set()),
        ("F", {"ignore-irrelevant"}, set()),
        ("G", {"only-context"}, set()),
        ("H", {"insufficient-context"}, set()),
        ("I", {"format"}, set()),
        ("J", {"no-extraneous"}, set()),
        ("K", set(), {"question-first"}),
        ("L", {"answer-cue"}, set()),
        ("M", {"turn-delimiters"}, set()),
        ("N", {"answer-cue", "turn-delimiters"}, set()),
    ],
)
def test_a_run_of_the_persona_study_drops_what_the_study_dropped(
    run: str, gone: set[str], come: set[str]
) -> None:
    complete = set(switched(PROMPTS[WHOLE]))
    on = set(switched(_prompt(run)))
    assert (complete - on, on - complete) == (gone, come)


def test_the_barest_prompts_of_the_persona_study() -> None:
    bare = {"answer-cue", "turn-delimiters"}
    assert set(switched(_prompt("P"))) == bare
    assert set(switched(_prompt("O"))) == bare | {"persona-reinforcement"}
    assert [name[:3] for name in PROMPTS][1:] == [f"13{letter}" for letter in "BCDEFGHIJKLMNOP"]


def _prompt(run: str) -> list[str]:
    return next(parts for name, parts in PROMPTS.items() if name.startswith(f"13{run},"))


@pytest.mark.parametrize("name", list(STUDIES))
def test_a_search_alone_tells_less(name: str) -> None:
    study = find_study(name, searched=True)
    metrics = parse_metrics(",".join(study.metrics))
    assert needs(metrics) == (True, False)
    labels = {row.label for row in study.rows}
    assert "model only" not in labels
    assert study.claims
    for claim in study.claims:
        assert {claim.better, claim.worse} <= labels
        assert claim.metric in study.metrics


def test_routers_stand_beside_those_of_the_study() -> None:
    table = router_table([("mine", 3, "0.700 [0.6, 0.8]", 90), ("mine", 2, "0.800 [0.7, 0.9]", 90)])
    assert "| random labels (the study) | .34 | .49 | its own questions |" in table
    assert "| BART-large-MNLI, zero-shot (the study) | .29 | .53 |" in table
    assert "| TF-IDF with SVM (the study) | .86 | .92 | its own questions |" in table
    assert "| 0.700 [0.6, 0.8] | 0.800 [0.7, 0.9] | mine, 90 questions that it never saw |" in table
    assert "| ours | – | – |" in router_table([])


def test_an_unknown_study() -> None:
    assert set(STUDIES) == {"wombat", "natwest", "eva", "hypa", "persona"}
    with pytest.raises(UnknownName, match="No study"):
        find_study("ragas")


def test_the_study_of_readers_has_every_shipped_persona() -> None:
    assert sorted(READERS) == sorted(read_personas())
