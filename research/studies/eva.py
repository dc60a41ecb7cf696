"""Eva, an HR assistant: strategies by priority, factual and sensitive questions, two runs alike."""

from research.studies.design import NO_FIGURE, Study, StudyAxes, StudyClaim, StudyRow

SEQUENCE = ["hyde", "stepback", "rewrite", "standard"]
"""Eva's order of priority; the question itself is the last rung."""
ITSELF = "the question itself"


def eva_study(axes: StudyAxes) -> Study:
    del axes
    return Study(
        title="Eva: strategies by priority, and what is sensitive",
        about=(
            "An HR assistant in several countries: flags switch strategies on by country, the "
            "first of them that works gives the search texts, and the question itself is the last "
            "rung; a country's own documents count before the global ones. Factual answers are "
            "graded for likeness and groundedness, sensitive ones for respect and the right place "
            "to turn to; two runs of the same set-up show how far its answers wander. Its own "
            "grades were a judge's; here they lead where a judge is set up."
        ),
        metrics=(
            "outcome_accuracy",
            "action_accuracy",
            "citation_recall",
            "quote_recall@5",
            "token_f1",
        ),
        rows=_rows(),
        claims=_claims(),
        judged=("eva.similarity", "eva.groundedness", "eva.relevance", "eva.sensitivity"),
        groups=("set", "country"),
        grouped=("outcome_accuracy", "action_accuracy", "citation_recall"),
        contrasted="country",
        repeated=True,
        notes=(
            "The study gives no figures, so none stands beside ours.",
            "A case is asked as somebody in its country, so the columns by country show what each "
            "flag does where it is switched on: `[country.XX.plan] strategies = [...]`.",
            "Local before global cannot be switched off here, so no row is without it.",
        ),
    )


def _rows() -> tuple[StudyRow, ...]:
    standard = {"plan.strategies": ["standard"]}
    first = {"plan.strategies": SEQUENCE, "plan.strategy_mode": "first"}
    together = {"plan.strategies": SEQUENCE, "plan.strategy_mode": "all"}
    return (
        StudyRow(ITSELF, standard),
        StudyRow("first that works", first, "chat model"),
        StudyRow("all together", together, "chat model"),
    )


def _claims() -> tuple[StudyClaim, ...]:
    def claim(said: str, better: str, worse: str, stated: str = "") -> StudyClaim:
        return StudyClaim(
            said,
            "citation_recall",
            better,
            worse,
            stated=stated,
            judged="eva.similarity",
            found="quote_recall@5",
        )

    return (
        claim("Strategies by priority beat the question itself.", "first that works", ITSELF,
              NO_FIGURE),
        claim("The first that works is as good as all together, or better.", "first that works",
              "all together"),
    )  # fmt: skip
