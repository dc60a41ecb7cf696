"""[target], [lab] and [publish]: another system that the lab measures, what it measures by itself,
and what a change of policy may change."""

from typing import Any, Literal

from pydantic import Field, NonNegativeFloat

from ombud.settings.sections import Section


class TargetSettings(Section):
    """Another system that the lab asks over HTTP."""

    url: str = Field(
        "",
        description="Where another system answers, for `ombud lab run --target` with this address.",
    )
    method: Literal["GET", "POST", "PUT"] = Field("POST", description="How it is asked.")
    path: str = Field(
        "/", description="Below the address; may hold {question} and {country}, such as /ask?q=…"
    )
    body: dict[str, Any] = Field(
        {"question": "{question}"},
        description="What is sent as JSON; {question}, {history}, {person} and {country} are "
        "filled in.",
    )
    answer: str = Field("answer", description="Where the answer stands in the reply (JMESPath).")
    contexts: str = Field(
        "",
        description="Where the texts of its passages stand, such as passages[*].text; empty = "
        "it gives none.",
    )
    ids: str = Field(
        "",
        description="Where the documents of the passages stand, such as passages[*].source; empty "
        "= it gives none.",
    )
    headers: dict[str, str] = Field(
        {},
        description='Headers; $NAME is taken from the environment: { Authorization = "Bearer '
        '$RAG_TOKEN" }.',
    )


class LabSettings(Section):
    every: str = Field(
        "",
        description="Cases, relative to the workspace, that `ombud serve` asks after every sync "
        "and every change of flags or prompts; empty = none.",
    )
    every_days: float = Field(
        7, gt=0, description="Days after which they are asked again though nothing has changed."
    )
    metrics: str = Field(
        "", description="Metrics of these answers, also judged ones; empty = the usual ones."
    )
    thresholds: dict[str, NonNegativeFloat] = Field(
        {"number_agreement": 0.1},
        description="Metric -> how far its mean may fall below the pinned baseline; further is "
        "reported whether or not it is beyond noise.",
    )
    wrong_figures: int = Field(
        -1,
        ge=-1,
        description="Most answers that may state fewer of the right figures than the pinned "
        "baseline; -1 = no limit.",
    )
    owner_mail: tuple[str, ...] = Field(
        (), description="Who is told by mail where these answers fell beyond noise."
    )
    owner_url: str = Field(
        "", description="Posted to where they did, signed with the key of handoff.notify."
    )
    harvest: bool = Field(
        False,
        description="States that those who ask have agreed: their questions may be taken, without "
        "who asked, to measure and to train.",
    )
    judge_share: float = Field(
        0,
        ge=0,
        le=1,
        description="Share of the answers that people got which a judge grades, without who asked; "
        "needs `harvest` and `judge_budget`.",
    )
    judge_budget: float = Field(
        0, ge=0, description="US dollars a day for these grades; the rest of the day has none."
    )
    judge_metrics: str = Field(
        "eva.relevance,eva.groundedness",
        description="Metrics of these grades: those that need no reference. Passages are the ones "
        "that an answer cites.",
    )
    judge_form: Literal["typed", "line"] = Field(
        "typed",
        description="How judges reply: a typed value, or a marked last line for models that can be "
        "held to no form.",
    )
    judge_repeats: int = Field(
        1, ge=1, le=15, description="Times a judge gives each grade; the most frequent counts."
    )
    judge_window: int = Field(
        32_000,
        ge=500,
        description="Tokens that a judge reads at once; an answer with longer passages gets no "
        "grade, and says why.",
    )
    # What the best published judge reaches on RAGChecker's human labels is .61.
    judge_bar: float = Field(
        0.6,
        ge=0,
        le=1,
        description="Spearman's correlation with people that a judge must have reached on a metric "
        "(`ombud lab align`) before the gate looks at it; 0 = none.",
    )


class PublishSettings(Section):
    refused: int = Field(
        0, ge=-1, description="Most answers that become refusals; -1 = no limit, here and below."
    )
    figures: int = Field(
        -1, ge=-1, description="Most answers whose figures change; they are always listed."
    )
    gate_fall: bool = Field(True, description="No case that was right may become wrong.")
    round: bool = Field(
        False,
        description="People must have rated answers with the drafts in force, and said go "
        "(`ombud lab round --draft`).",
    )
