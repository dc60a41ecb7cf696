"""What each model is given, and what of a sensitive message: the table of the documentation.

`models.sensitive` is carried out in answer/privacy.py; a test sends a sensitive message past
every row of this table and looks at the wire."""

from typing import NamedTuple

NOTHING_SENT = "nothing"
REDACTED = "the same of the message with names and numbers of people taken out"


class Exposure(NamedTuple):
    """A remote use of a model."""

    role: str
    """`models.roles`, or the setting that names the model."""
    used_by: str
    ordinary: str
    """Sent of an ordinary question, and of every one where `models.sensitive = "allowed"`."""
    never: str = NOTHING_SENT
    redacted: str = REDACTED


NOT_A_MESSAGE = "the same: no message is in it"

EXPOSURES: tuple[Exposure, ...] = (
    Exposure(
        role="strategy",
        used_by="strategies `understand`, `rewrite`, `reformulate`, `hyde`, `stepback`, `multi`, "
        "`keywords`",
        ordinary="the question, up to six earlier messages, the asker's country",
        redacted=f"{REDACTED}, no earlier message, the asker's country",
    ),
    Exposure(
        role="strategy",
        used_by="triage (prompt `triage`), where `understand` did not run",
        ordinary='with `models.sensitive = "allowed"` the message and the asker\'s country; else '
        "nothing of any message: triage on this machine decides alone",
        redacted=NOTHING_SENT,
    ),
    Exposure(
        role="rerank",
        used_by="rerankers `listwise`, `pointwise`",
        ordinary="the question as it is searched for, the passages of the pool",
        redacted=f"{REDACTED}, the passages of the pool",
    ),
    Exposure(
        role="compose",
        used_by="answers and their repair",
        ordinary="the question, up to six earlier messages, the asker's country, roles and grade, "
        "the day, the passages found, what it wrote itself",
        redacted="nothing of the sensitive message itself, which is handed over; of later turns "
        f"{REDACTED}, no earlier message, the asker's country, roles and grade, the passages",
    ),
    Exposure(
        role="verify",
        used_by="what claims mean, and what the documents do not say",
        ordinary="the question, the asker's country, roles and grade, the day, these claims of the "
        "answer and the passages that they cite",
        redacted=f"of later turns only: {REDACTED}, the asker's country, roles and grade, the day, "
        "these claims and the passages",
    ),
    Exposure(
        role="models.embedder",
        used_by="search, the choice of quotes",
        ordinary="the texts that are searched for, the question, earlier messages of the asker, "
        "sentences of the passages found",
        redacted=f"{REDACTED}, sentences of the passages found",
    ),
    Exposure(
        role="models.reranker",
        used_by="reranker `cross-encoder`",
        ordinary="the question as it is searched for, the passages of the pool",
        redacted=f"{REDACTED}, the passages of the pool",
    ),
    Exposure(
        role="extract",
        used_by='`ombud sync` with `index.graph = "model"`',
        ordinary="passages of the documents",
        never=NOT_A_MESSAGE,
        redacted=NOT_A_MESSAGE,
    ),
    Exposure(
        role="judge",
        used_by="`ombud lab run` with judged metrics",
        ordinary="the question of a case, its earlier messages and reference answers, what was "
        "answered, the passages found",
        never="the same: whoever names a judge's metric sends the cases of that dataset",
        redacted="the same; `ombud lab import --past-questions` takes names and numbers of people "
        "out before",
    ),
    Exposure(
        role="synthesise",
        used_by="`ombud lab synth` with a model, and cases with a goal",
        ordinary="passages of the documents, the test questions made of them; of cases with a goal "
        "the goal, and what was answered",
        never=NOT_A_MESSAGE,
        redacted=NOT_A_MESSAGE,
    ),
    Exposure(
        role="models.embedder",
        used_by="`ombud sync`, `ombud index rebuild`",
        ordinary="all texts of the documents",
        never=NOT_A_MESSAGE,
        redacted=NOT_A_MESSAGE,
    ),
)
