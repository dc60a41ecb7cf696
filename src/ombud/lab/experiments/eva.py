"""Eva, an HR assistant: strategies by priority, factual and sensitive questions, two runs alike."""

from ombud.lab.experiments.design import Study, StudyClaim, StudyRow

_SEQUENCE = ["hyde", "stepback", "rewrite", "standard"]

STUDY = Study(
    title="Eva: strategies by priority, and what is sensitive",
    about=(
        "An HR assistant in several countries: the first strategy of a list that works gives the "
        "search texts, the question itself is the last; factual answers are graded for likeness "
        "and groundedness, sensitive ones for respect and the right place to turn to; two runs of "
        "the same set-up show how far its answers wander. Its own grades were a judge's: "
        "`eva.similarity`, `eva.groundedness` and `eva.sensitivity` can be named with --metrics."
    ),
    metrics=("outcome_accuracy", "action_accuracy", "citation_recall", "quote_recall@5"),
    rows=(
        StudyRow("the question itself", {"plan.strategies": ["standard"]}),
        StudyRow(
            "the question itself, no glossary",
            {"plan.strategies": ["standard"], "plan.glossary": False},
        ),
        StudyRow(
            "first that works",
            {"plan.strategies": _SEQUENCE, "plan.strategy_mode": "first"},
            "chat model",
        ),
        StudyRow(
            "all together",
            {"plan.strategies": _SEQUENCE, "plan.strategy_mode": "all"},
            "chat model",
        ),
    ),
    claims=(
        StudyClaim(
            "Strategies by priority beat the question itself.",
            "citation_recall",
            "first that works",
            "the question itself",
        ),
        StudyClaim(
            "Spelling abbreviations out helps.",
            "citation_recall",
            "the question itself",
            "the question itself, no glossary",
        ),
    ),
    groups=("type", "country"),
    repeated=True,
)
