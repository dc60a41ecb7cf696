"""What each model is given, and what of a sensitive message: the table of the documentation.

`models.sensitive` is carried out in answer/triage/privacy.py; a test sends a sensitive message past
every row of this table and looks at the wire."""

from typing import NamedTuple

KEPT = "nothing"
REDACTED = "the same of the message with names and numbers of people taken out"


class Exposure(NamedTuple):
    """One use of a model; for models that are not on this machine."""

    role: str
    """`models.roles`, or the setting that names the model."""
    used_by: str
    given: str
    """Of an ordinary question; and of every one where `models.sensitive = "allowed"`."""
    never: str = KEPT
    redacted: str = REDACTED


NOT_A_MESSAGE = "the same: no message is in it"

EXPOSURES: tuple[Exposure, ...] = (
    Exposure(
        role="strategy",
        used_by="strategies `understand`, `rewrite`, `reformulate`, `hyde`, `stepback`, `multi`, "
        "`keywords`",
        given="the question, up to six earlier messages, the asker's country",
        redacted=f"{REDACTED}, no earlier message, the asker's country",
    ),
    Exposure(
        role="strategy",
        used_by="triage (prompt `triage`), where `understand` did not run",
        given='with `models.sensitive = "allowed"` the message and the asker\'s country; else '
        "nothing of any message: triage on this machine decides alone",
        redacted=KEPT,
    ),
    Exposure(
        role="rerank",
        used_by="rerankers `listwise`, `pointwise`",
        given="the question as it is searched for, the passages of the pool",
        redacted=f"{REDACTED}, the passages of the pool",
    ),
    Exposure(
        role="compose",
        used_by="answers and their repair",
        given="the question, up to six earlier messages, the asker's country, roles and grade, the "
        "day, the passages found, what it wrote itself",
        redacted="nothing of the sensitive message itself, which is handed over; of later turns "
        f"{REDACTED}, no earlier message, the asker's country, roles and grade, the passages",
    ),
    Exposure(
        role="verify",
        used_by="what claims mean, and what the documents do not say",
        given="the question, these claims of the answer and the passages that they cite",
        redacted=f"of later turns only: {REDACTED}, these claims and the passages",
    ),
    Exposure(
        role="models.embedder",
        used_by="search, the choice of quotes",
        given="the texts that are searched for, the question, earlier messages of the asker, "
        "sentences of the passages found",
        redacted=f"{REDACTED}, sentences of the passages found",
    ),
    Exposure(
        role="models.reranker",
        used_by="reranker `cross-encoder`",
        given="the question as it is searched for, the passages of the pool",
        redacted=f"{REDACTED}, the passages of the pool",
    ),
    Exposure(
        role="extract",
        used_by='`ombud sync` with `index.graph = "model"`',
        given="passages of the documents",
        never=NOT_A_MESSAGE,
        redacted=NOT_A_MESSAGE,
    ),
    Exposure(
        role="judge",
        used_by="`ombud lab run` and `ombud lab rescore` with judged metrics",
        given="the question of a case, its earlier messages and reference answers, what was "
        "answered, the passages found",
        never="the same: whoever names a judge's metric sends the cases of that dataset",
        redacted="the same; `ombud lab harvest` takes names and numbers of people out before",
    ),
    Exposure(
        role="synthesise",
        used_by="`ombud lab synth` with a model",
        given="passages of the documents, the test questions made of them",
        never=NOT_A_MESSAGE,
        redacted=NOT_A_MESSAGE,
    ),
    Exposure(
        role="models.embedder",
        used_by="`ombud sync`, `ombud index rebuild`",
        given="all texts of the documents",
        never=NOT_A_MESSAGE,
        redacted=NOT_A_MESSAGE,
    ),
)
