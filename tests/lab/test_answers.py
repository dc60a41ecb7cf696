from typing import Any

import pytest

from lab.makers import case, cites, gold, says
from ombud.lab import Instruments, parse_metric, score
from ombud.lab.metrics.answers import outcome_class
from ombud.types import Answer, Case, Observation, Reference, Score, Trace

QUOTE = "You have 25 days of leave a year."
ASKED = case(gold(QUOTE), references=("25 days a year",))


def row(
    metric: str, asked: Case, answer: Answer | None, *, seconds: float | None = None, **tools: Any
) -> Score:
    seen = Observation(case=asked, answer=answer, seconds=seconds)
    (one,) = score(seen, [parse_metric(metric)], Instruments(**tools))
    return one


def measure(metric: str, asked: Case, answer: Answer | None, **given: Any) -> float | None:
    return row(metric, asked, answer, **given).value


def test_markers_are_no_words() -> None:
    answer = says("25 days a year [1].[2]")
    assert measure("exact_match", ASKED, answer) == 1
    assert measure("length", ASKED, answer) == 4


def test_the_best_reference_counts() -> None:
    asked = case(references=("entirely different", "25 days", "25 days of leave"))
    # 2 of 3 tokens, and 2 of 2.
    assert measure("token_f1", asked, says("25 days")) == 1
    assert measure("rouge_l", asked, says("25 days off")) == pytest.approx(0.8)


def test_references_for_other_personas_do_not_count() -> None:
    lawyer, anyone = Reference(text="clause 4", persona="lawyer"), Reference(text="25 days")
    assert (
        measure(
            "exact_match",
            case(id="x").model_copy(update={"references": (lawyer, anyone)}),
            says("clause 4"),
        )
        == 0
    )
    assert (
        measure(
            "exact_match",
            case(id="x").model_copy(update={"references": (lawyer,)}),
            says("clause 4"),
        )
        == 1
    )


@pytest.mark.parametrize(
    "metric",
    ["token_f1", "exact_match", "rouge_l", "chrf", "semantic_similarity", "number_agreement"],
)
def test_likeness_has_reasons(metric: str) -> None:
    assert row(metric, ASKED, None).reason == "no answer was recorded"
    assert row(metric, case(), says("x")).reason == "the case has no reference answer"
    assert "expects deny" in row(metric, case(expect="deny", references=("x",)), says("x")).reason
    assert "refusal" in row(metric, ASKED, says("I cannot say.", outcome="denied")).reason


def test_numbers_agree() -> None:
    asked = case(references=("25 days, 30 after ten years", "no figure"))
    assert measure("number_agreement", asked, says("25 days for all 2,000 of us [30]")) == 0.5
    assert measure("number_agreement", asked, says("30, before that 25.0")) == 1
    assert (
        row("number_agreement", case(references=("no figure",)), says("25")).reason
        == "the reference states no number"
    )


def embed(texts: list[str]) -> list[list[float]]:
    vectors = {
        "east": [1.0, 0.0],
        "north": [0.0, 2.0],
        "west": [-1.0, 0.0],
        "north-east": [3.0, 3.0],
        "": [0.0, 0.0],
    }
    return [vectors[text] for text in texts]


@pytest.mark.parametrize(
    ("said", "cosine", "of_5"),
    [("east", 1, 5), ("north-east", 0.5**0.5, 1 + 4 * 0.5**0.5), ("north", 0, 1), ("west", -1, 1)],
)
def test_cosine_and_its_scale(said: str, cosine: float, of_5: float) -> None:
    asked = case(references=("east",))
    assert measure("semantic_similarity", asked, says(said), embed=embed) == pytest.approx(cosine)
    assert measure("semantic_similarity_5", asked, says(said), embed=embed) == pytest.approx(of_5)


def test_embedders_that_do_not_help() -> None:
    asked = case(references=("east",))
    assert row("semantic_similarity", asked, says("east")).reason == "no embedder was given"
    assert "vectors" in row("semantic_similarity", asked, says(""), embed=embed).reason
    assert "vectors" in row("semantic_similarity", asked, says("x"), embed=lambda _: [[1.0]]).reason
    assert (
        "vectors"
        in row("semantic_similarity", asked, says("x"), embed=lambda _: [[1.0], [1.0, 2.0]]).reason
    )
    assert (
        "vectors"
        in row("semantic_similarity", asked, says("x"), embed=lambda _: [[float("nan")]] * 2).reason
    )
    assert "KeyError" in row("semantic_similarity_5", asked, says("unknown"), embed=embed).reason


def test_citations_against_gold_quotes() -> None:
    asked = case(gold(QUOTE), gold("Ask your manager.", "hr/ask.md"))
    right, part = cites(QUOTE), cites("25 days of leave", start=9)
    elsewhere, wrong = cites(QUOTE, "hr/old.md"), cites("Bring cake.")
    answer = says("x", right, part, elsewhere, wrong)
    assert measure("citation_precision", asked, answer) == 0.5
    assert measure("citation_recall", asked, answer) == 0.5
    assert measure("citation_recall", asked, says("x")) == 0
    assert row("citation_precision", asked, says("x")).reason == "the answer cites nothing"
    assert row("citation_recall", case(), answer).reason == "the case's evidence has no quotes"
    assert "expects deny" in row("citation_recall", case(gold(QUOTE), expect="deny"), answer).reason


def test_what_is_shown_first_meets_a_gold_quote_or_does_not() -> None:
    asked = case(gold(QUOTE), gold("Ask your manager.", "hr/ask.md"))
    right, wrong = cites(QUOTE), cites("Bring cake.")
    assert measure("leads", asked, says("x", right, wrong)) == 1
    assert measure("leads", asked, says("x", wrong, right)) == 0
    assert measure("leads", asked, says("x")) == 0
    assert row("leads", case(), says("x")).reason == "the case's evidence has no quotes"


def test_a_citation_that_shares_a_border_with_the_quote() -> None:
    asked = case(gold("abcdefgh"))
    assert measure("citation_precision", asked, says("x", cites("efghij"))) == 1
    assert measure("citation_precision", asked, says("x", cites("ghijkl"))) == 0


def test_verbatim() -> None:
    text = "Leave\n\n" + QUOTE
    texts = {("doc", "d1"): text}

    def text_of(document_id: str, digest: str) -> str | None:
        return texts.get((document_id, digest))

    right = cites(QUOTE, start=7, document_id="doc")
    moved = cites(QUOTE, start=6, document_id="doc")
    changed = cites(QUOTE.replace("25", "26"), start=7, document_id="doc")
    purged = cites(QUOTE, start=7, document_id="doc", digest="d0")
    assert measure("quote_verbatim", ASKED, says("x", right), text_of=text_of) == 1
    assert (
        measure(
            "quote_verbatim",
            ASKED,
            says("x", right, moved, changed, right, purged),
            text_of=text_of,
        )
        == 0.5
    )
    assert (
        "no longer stored"
        in row("quote_verbatim", ASKED, says("x", purged), text_of=text_of).reason
    )
    assert (
        row("quote_verbatim", ASKED, says("x"), text_of=text_of).reason
        == "the answer cites nothing"
    )
    assert row("quote_verbatim", ASKED, says("x", right)).reason == "no document texts were given"
    assert (
        measure("quote_verbatim", ASKED, says("x", cites("", document_id="doc")), text_of=text_of)
        == 0
    )


@pytest.mark.parametrize(
    ("outcome", "action", "kind"),
    [  # the table of contract.md
        ("full", "none", "answer"),
        ("partial", "none", "answer"),
        ("denied", "contact", "deny"),
        ("denied", "none", "deny"),
        ("denied", "clarify", "clarify"),
        ("partial", "handoff", "handoff"),
        ("denied", "handoff", "handoff"),
    ],
)
def test_outcome_classes(outcome: Any, action: Any, kind: str) -> None:
    answer = says("x", outcome=outcome, action=action)
    assert outcome_class(answer) == kind
    for expect in ("answer", "deny", "clarify", "handoff"):
        assert measure("outcome_accuracy", case(expect=expect), answer) == (expect == kind)


@pytest.mark.parametrize(
    ("expect", "kind", "right"),
    [
        ("answer", "simple", {"none"}),
        ("deny", "unanswerable", {"contact"}),
        ("deny", "off_topic", {"none"}),
        ("deny", "incoherent", {"none"}),
        ("deny", "simple", {"none", "contact"}),
        ("clarify", "vague", {"clarify"}),
        ("handoff", "sensitive", {"handoff"}),
    ],
)
def test_actions(expect: str, kind: str, right: set[str]) -> None:
    asked = case(expect=expect, type=kind)
    actions: tuple[Any, ...] = ("none", "clarify", "handoff", "contact")
    assert {
        a
        for a in actions
        if measure("action_accuracy", asked, says("x", outcome="denied", action=a))
    } == right


def test_cost() -> None:
    free, known = (
        says("x"),
        says("x", trace=Trace(model="m", tokens_in=100, tokens_out=20, price=0.003)),
    )
    assert (measure("tokens", ASKED, free), measure("price", ASKED, free)) == (0, 0)
    assert (measure("tokens", ASKED, known), measure("price", ASKED, known)) == (120, 0.003)
    assert (
        row("price", ASKED, says("x", trace=Trace(model="m"))).reason
        == "the price of m is not known"
    )
    called = says("x", trace=Trace(model="m", calls=3))
    assert (measure("model_calls", ASKED, free), measure("model_calls", ASKED, called)) == (0, 3)
    assert measure("latency", ASKED, free, seconds=0.25) == 0.25
    assert row("latency", ASKED, free).reason == "no time was recorded"
    for metric in (
        "tokens",
        "price",
        "length",
        "outcome_accuracy",
        "action_accuracy",
        "quote_verbatim",
    ):
        assert row(metric, ASKED, None).reason == "no answer was recorded"
