"""Eva, an HR assistant: strategies by priority, factual and sensitive questions, two runs alike."""

from research.studies.design import Study, StudyAxes, StudyClaim, StudyRow

SEQUENCE = ["hyde", "stepback", "rewrite", "standard"]
"""Eva's order of priority; the question itself is the last rung."""
RULES = ["feedback", "standard"]
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
            "grades were a judge's: `eva.similarity`, `eva.groundedness` and `eva.sensitivity` "
            "can be named with --metrics."
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
        groups=("set", "country"),
        grouped=("outcome_accuracy", "action_accuracy", "citation_recall"),
        contrasted="country",
        repeated=True,
        notes=(
            "None of the study's own figures is known to us, so none stands beside ours.",
            "A case is asked as somebody in its country, so the columns by country show what each "
            "flag does where it is switched on: `[country.XX.plan] strategies = [...]`.",
            "Local before global cannot be switched off here, so no row is without it.",
            "`feedback` is by rules; it stands where a model's strategies are not set up, and is "
            "not in the study.",
        ),
    )


def _rows() -> tuple[StudyRow, ...]:
    standard = {"plan.strategies": ["standard"]}
    first = {"plan.strategies": SEQUENCE, "plan.strategy_mode": "first"}
    together = {"plan.strategies": SEQUENCE, "plan.strategy_mode": "all"}
    by_rules = {"plan.strategies": RULES, "plan.strategy_mode": "first"}
    return (
        StudyRow(ITSELF, standard),
        StudyRow("the question itself, no glossary", {**standard, "plan.glossary": False}),
        StudyRow("first that works", first, "chat model"),
        StudyRow("all together", together, "chat model"),
        StudyRow("first that works, by rules", by_rules),
        StudyRow("all together, by rules", {**by_rules, "plan.strategy_mode": "all"}),
    )


def _claims() -> tuple[StudyClaim, ...]:
    def claim(said: str, better: str, worse: str) -> StudyClaim:
        return StudyClaim(said, "citation_recall", better, worse, found="quote_recall@5")

    return (
        claim("Strategies by priority beat the question itself.", "first that works", ITSELF),
        claim("The first that works is as good as all together, or better.", "first that works",
              "all together"),
        claim("The same by rules: priority beats the question itself.",
              "first that works, by rules", ITSELF),
        claim("Spelling abbreviations out (Eva's standard rung) helps.", ITSELF,
              "the question itself, no glossary"),
    )  # fmt: skip
