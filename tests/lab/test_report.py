"""The report: what a reader sees is what was measured, and nobody's words run or leave the page."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from lab.makers import case, cites, gold, hit
from ombud.errors import LabError
from ombud.lab.report.comparing import RecordedRun
from ombud.lab.report.figures import format_figure
from ombud.lab.report.rendering import html_report, markdown_report
from ombud.types import Answer, Case, Message, Observation, Run, Score, Trace

MADE = datetime(2025, 7, 17, 9, 30, tzinfo=UTC)
HOSTILE = (
    "</style></script><script>alert(1)</script><img src=https://evil.example/x onerror='a()'>"
    ' & " {{ 7*7 }} \x00 ﷽ '
    "\N{RIGHT-TO-LEFT OVERRIDE}dna " + "W" * 900
)
ALONE = {"meta", "path", "rect", "circle", "br", "link", "img", "input"}


class Page(HTMLParser):
    """What a browser would see: elements in order, words, and whether every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.said: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ALONE:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in ALONE:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.said.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.said).split())

    def count(self, name: str, kind: str = "") -> int:
        return sum(
            tag == name and kind in (attributes.get("class") or "").split()
            for tag, attributes in self.tags
            if kind
        ) or (0 if kind else sum(tag == name for tag, _ in self.tags))


def asked(number: int, **fields: object) -> Case:
    given = {
        "id": f"c{number}",
        "question": f"Question {number}?",
        "tags": ("ordinary", "odd" if number % 2 else "even"),
    }
    return case(
        gold("A quote.", uri=f"{number % 7}.md"), references=("So it is.",), **{**given, **fields}
    )


def observed(number: int, *, lost: str = "", found: bool = True, **fields: object) -> Observation:
    uri = f"{number % 7}.md"
    answer = Answer(
        outcome="full", text="So **it** is. [1] [7]", citations=(cites("A quote.", uri=uri),)
    )
    hits = (
        hit("Other words.", uri="other.md"),
        *((hit("Before. A quote. After.", uri=uri, score=0.5),) if found else ()),
    )
    given = {
        "case": asked(number),
        "hits": hits,
        "answer": answer,
        "seconds": 0.1 * (number + 1),
        "lost": lost,
    }
    return Observation(**{**given, **fields})


def recorded(
    name: str = "baseline",
    n: int = 30,
    share: float = 0.5,
    observations: tuple[Observation, ...] | None = None,
    **run: object,
) -> RecordedRun:
    seen = (
        observations if observations is not None else tuple(observed(number) for number in range(n))
    )
    scores = [
        Score(case_id=one.case.id, metric=metric, value=value, reason=reason)
        for place, one in enumerate(seen)
        for metric, value, reason in (
            ("quote_recall@5", float(place < share * len(seen)), ""),
            (
                "outcome_accuracy",
                None if place == 0 else 1.0,
                "no answer was recorded" if place == 0 else "",
            ),
            ("latency", one.seconds, ""),
        )
    ]
    fields = {
        "id": name[:8],
        "name": name,
        "dataset": "handbook",
        "cases": len(seen),
        "state": "done",
        "split": "dev",
    } | run
    return RecordedRun(Run(**fields), seen, tuple(scores))


def page(*runs: RecordedRun) -> Page:
    return Page(html_report(runs, made=MADE))


def test_nothing_is_fetched_and_nothing_runs() -> None:
    text = html_report([recorded(), recorded("other", share=0.9)], made=MADE)
    for tag, attributes in Page(text).tags:
        assert tag not in {"script", "link", "iframe", "object", "form"}
        for name, value in attributes.items():
            assert not name.startswith("on")
            assert name not in {"srcset", "style"}
            assert name != "src" or (value or "").startswith("data:image/svg+xml;base64,")
            assert name not in {"href", "action"} or (value or "").startswith("#")
    style = text.partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style
    assert "default-src 'none'" in text


def test_words_from_documents_are_only_words() -> None:
    evil = asked(
        1,
        id=HOSTILE[:200],
        question=HOSTILE,
        tags=(HOSTILE,),
        history=(Message(role="user", content=HOSTILE),),
    ).model_copy(update={"evidence": (gold(HOSTILE, uri=HOSTILE),)})
    said = Answer(
        outcome="full",
        text=HOSTILE,
        citations=(cites(HOSTILE, uri=HOSTILE),),
        trace=Trace(model=HOSTILE),
    )
    seen = observed(
        1, case=evil, answer=said, hits=(hit(HOSTILE, uri=HOSTILE, trail=(HOSTILE,)),), lost=HOSTILE
    )
    broken = observed(2, hits=None, answer=None, error=HOSTILE)
    run = recorded(
        HOSTILE,
        observations=(seen, broken),
        dataset=HOSTILE,
        notes=(HOSTILE,),
        config={"plan": {HOSTILE: HOSTILE}},
    )
    text = html_report([run, run], made=MADE)
    text.encode("utf-8")
    shown = Page(text)
    assert not shown.open
    assert "script" not in {tag for tag, _ in shown.tags}
    images = [attributes for tag, attributes in shown.tags if tag == "img"]
    assert {attributes["class"] for attributes in images} == {"chart"}
    assert "alert(1)" in shown.words
    assert "{{ 7*7 }}" in shown.words
    assert "<script" not in markdown_report([run])


def test_figures_are_those_of_the_summary() -> None:
    run = recorded()
    shown = page(run)
    exact = [float(attributes["value"] or "") for tag, attributes in shown.tags if tag == "data"]
    for line in run.summary(by=("overall",)):
        assert line.mean.value in exact
        assert line.mean.median in exact
        assert (
            format_figure(line.mean.value, "seconds" if line.metric == "latency" else "0-1").split(
                "\N{NO-BREAK SPACE}"
            )[0]
            in shown.words
        )
    assert "29 of 30" in shown.words
    assert "no answer was recorded (1)" in shown.words


def test_one_run_is_told_in_a_sentence() -> None:
    said = page(recorded()).words.replace("\N{NO-BREAK SPACE}", " ")
    assert "Found 50 % of the right passages among the first five for 30 questions (" in said
    assert "gave the right kind of answer to 100 % of 29 questions" in said
    assert "half of them within 1.50 s and 95 of 100 within 2.90 s." in said


def test_two_runs_are_told_apart_only_beyond_noise() -> None:
    first, second, close = (
        recorded(share=0.2),
        recorded("improved", share=1.0),
        recorded("close", share=0.24),
    )
    better = page(first, second).words
    assert (
        "B (improved) is better than A (baseline) on 1 of 2 metrics (right passage found, first 5)"
        " and worse on none" in better
    )
    assert "cannot show a difference below" in better
    assert "worse on 1" in page(second, first).words
    assert (
        "C (close) cannot be told from A (baseline) by any of 2 metrics."
        in page(first, second, close).words
    )


def test_verdicts_are_words() -> None:
    text = html_report([recorded(share=0.2), recorded("improved", share=1.0)], made=MADE)
    verdicts = re.findall(r'<span class="verdict [a-z]+">([^<]+)</span>', text)
    assert verdicts == ["better", "the same"]
    assert "type simple (better, +80.0 points, n 30)" in Page(text).words
    noise = html_report([recorded(share=0.5), recorded("close", share=0.54)], made=MADE)
    assert "within noise" in noise


def test_figures_beside_each_other_are_over_the_cases_that_both_asked() -> None:
    whole, part = recorded(n=30, share=0.5), recorded("part", n=10, share=1.0)
    text = markdown_report([whole, part])
    # Its first fifteen of thirty cases have 1, so all of the ten that the other asked too.
    assert "| quote_recall@5 | A | 100 % |" in text.replace("\N{NO-BREAK SPACE}", " ")
    assert "| 10/10 |" in text


def test_times_stand_beside_each_other_only_where_they_were_measured_in_turn() -> None:
    one, other = recorded(), recorded("other")
    assert "Half within" in page(one).words
    apart = page(one, other).words
    assert "were not timed together" in apart
    assert "Half within" not in apart
    timed = [
        replace(
            run,
            scores=(
                *run.scores,
                *(
                    Score(case_id=seen.case.id, metric="warm_latency", value=0.5)
                    for seen in run.observations
                ),
            ),
            versions={"warm_latency": frozenset({("", 7)})},
        )
        for run in (one, other)
    ]
    assert "Half within" in page(*timed).words


def test_the_leading_metric_is_first_and_orders_the_cases() -> None:
    run = recorded(n=4)
    text = markdown_report([run], lead="outcome_accuracy")
    rows = [line for line in text.splitlines() if line.startswith("| ") and "| A |" in line]
    assert rows[0].startswith("| outcome_accuracy")
    judged = [
        Score(case_id=seen.case.id, metric="wombat.composite", value=0.5, by="j", reason="So so.")
        for seen in run.observations
    ]
    lost = judged[0].model_copy(update={"value": None, "reason": "invalid verdict: no number"})
    with_judge = replace(run, scores=(*run.scores, lost, *judged[1:]))
    text = markdown_report([with_judge])
    rows = [line for line in text.splitlines() if line.startswith("| ") and "| A |" in line]
    assert rows[0].startswith("| wombat.composite")
    assert rows[0].endswith("| 3/4 | 1 |")
    assert page(with_judge).words.count("So so.") == 3
    with pytest.raises(LabError, match="No run has `chrf`"):
        html_report([run], lead="chrf")


def test_runs_without_a_case_in_common_are_shown_but_not_compared() -> None:
    other = recorded(
        "other", observations=tuple(observed(n, case=asked(n, question="Else?")) for n in range(5))
    )
    shown = page(recorded(n=5), other)
    assert "The runs cannot be compared." in shown.words
    assert "no case in common" in shown.words
    assert "This run did not ask this case." in shown.words
    assert "no case in common" in unescape(markdown_report([recorded(n=5), other]))


def test_a_metric_that_one_run_lacks_and_one_that_nobody_knows() -> None:
    run = recorded(n=6)
    mine = [Score(case_id=one.case.id, metric="house.tact", value=4.0) for one in run.observations]
    shown = page(run, replace(run, scores=(*run.scores, *mine)))
    assert "not measured" in shown.words
    assert "house.tact" in shown.words
    both = replace(run, scores=(*run.scores, *mine))
    assert "not compared" in page(both, both).words


@pytest.mark.parametrize(
    "run",
    [
        recorded(n=0),
        recorded(n=1),
        replace(recorded(n=4), scores=()),
        recorded(
            observations=tuple(
                observed(n, hits=None, answer=None, seconds=None, error="down") for n in range(3)
            )
        ),
        recorded(observations=tuple(observed(n, answer=None) for n in range(3))),
        recorded(observations=tuple(observed(n, hits=None) for n in range(3))),
        replace(
            recorded(n=3),
            scores=tuple(Score(case_id=f"c{n}", metric="recall@5", value=None) for n in range(3)),
        ),
        recorded(n=3, state="running", cases=9, split="", dataset=""),
    ],
    ids=[
        "no cases",
        "one case",
        "no scores",
        "all failed",
        "search only",
        "answers only",
        "no values",
        "unfinished",
    ],
)
def test_whatever_is_missing(run: RecordedRun) -> None:
    for runs in ([run], [run, run], [run, recorded(n=3)]):
        text = html_report(runs, made=MADE)
        assert not Page(text).open
        assert not re.search(r"\b(nan|None|Undefined)\b", Page(text).words)
        assert markdown_report(runs).startswith("# ")


def test_nothing_to_report() -> None:
    with pytest.raises(LabError, match="no run was named"):
        html_report([])
    with pytest.raises(LabError):
        markdown_report([])


def test_where_evidence_was_lost_is_counted() -> None:
    seen = tuple(
        observed(n, lost="not retrieved" if n < 3 else "refused wrongly" if n < 4 else "")
        for n in range(10)
    )
    said = page(recorded(observations=seen)).words.replace("\N{NO-BREAK SPACE}", " ")
    assert "Came through It was found, shown and cited, as far as the run went. 6 60 %" in said
    assert "Not retrieved The search did not come upon it. 3 30 %" in said
    assert "Refused wrongly It was there, and no answer was given. 1 10 %" in said


def test_failures_come_first_and_are_counted() -> None:
    seen = (
        *(observed(n) for n in range(3)),
        observed(3, hits=None, answer=None, error="The model did not answer."),
    )
    text = html_report([recorded(observations=seen)], made=MADE)
    assert "no answer at all to 1 question." in Page(text).words
    assert text.count("The model did not answer.") == 2
    assert re.findall(r'class="asked" dir="auto">([^<]+)<', text)[0] == "Question 3?"


def test_cases_stand_worst_first_with_their_evidence() -> None:
    seen = tuple(observed(n, found=n > 0) for n in range(4))
    text = html_report([recorded(observations=seen)], made=MADE)
    assert re.findall(r'class="asked" dir="auto">([^<]+)<', text) == [
        f"Question {n}?" for n in (2, 3, 0, 1)
    ]
    assert text.count("✗ not found") == 1
    assert text.count("✓ found") == 3
    assert text.count('<li class="holds">') == 3


def test_an_answer_is_shown_with_the_citations_it_has() -> None:
    text = html_report([recorded(n=1)], made=MADE)
    assert 'So <strong>it</strong> is. <span class="cite">1</span> [7]</div>' in text


def test_a_great_run_stays_a_file_that_opens() -> None:
    shown = page(recorded(n=450))
    assert shown.count("details", "case") == 400
    assert "50 cases of 450 are left out here; ombud lab show RUN --case ID" in shown.words


def test_what_differs_between_runs_is_said() -> None:
    plan = {"plan": {"k": 8, "mode": "hybrid"}, "models": {"chat": "none"}}
    first, second = (
        recorded(config={**plan, "set": {}}),
        recorded("two", config={**plan, "set": {"k": 2}}),
    )
    shown = page(first, second)
    assert "A baseline k 8 B two k 2" in shown.words
    assert shown.count("tr", "differs") >= 2


def test_notes_stand_at_the_top() -> None:
    said = page(
        recorded(notes=("Look 2 at the sealed split of this dataset.",), state="running", cases=99)
    ).words
    assert said.index("Look 2 at the sealed split") < said.index("Every metric")
    assert "This run is not finished: 30 of 99 cases." in said


def test_cost_is_told_where_there_is_one() -> None:
    assert "nothing to pay" in page(recorded()).words
    paid = Answer(
        outcome="full",
        text="Yes.",
        trace=Trace(model="large", tokens_in=1000, tokens_out=50, price=0.02),
    )
    said = page(recorded(observations=tuple(observed(n, answer=paid) for n in range(3)))).words
    assert "large 3,000 150 1,050 $0.06" in said


def test_headings_are_in_order_and_tables_are_named() -> None:
    shown = page(recorded(), recorded("other", share=0.9))
    levels = [int(tag[1]) for tag, _ in shown.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(
        later <= earlier + 1 for earlier, later in pairwise(levels) if (earlier, later) != (2, 4)
    )
    assert shown.count("table") == shown.count("caption")
    assert all("scope" in attributes for tag, attributes in shown.tags if tag == "th")
    anchors = {attributes["id"] for _, attributes in shown.tags if "id" in attributes}
    links = {(attributes["href"] or "")[1:] for tag, attributes in shown.tags if tag == "a"}
    assert links <= anchors
    assert len(anchors) == sum("id" in attributes for _, attributes in shown.tags)


def test_markdown_has_the_means_and_the_differences() -> None:
    text = markdown_report([recorded(share=0.2), recorded("improved | better", share=1.0)])
    assert "- B: improved \\| better (`improved`), 30 cases" in text
    assert "| quote_recall@5 | B | 100 % | 100 to 100 % | 100 % | 30/30 |" in text.replace(
        "\N{NO-BREAK SPACE}", " "
    )
    assert "| quote_recall@5 | +80.0 |" in text
    tables = [row for row in text.splitlines() if row.startswith("|")]
    assert {row.count("|") for row in tables} == {7}
