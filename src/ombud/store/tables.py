"""The tables of the database; the migrations under `migrations/` lead to this schema."""

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

names = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}
metadata = MetaData(naming_convention=names)


def audit_columns() -> tuple[Column[Any], ...]:
    """Return the columns of every table that the audit chain covers."""
    return (
        # Key of the row's digest in the chain, so that nobody can guess erased content and check
        # the guess.
        Column("salt", String(64), nullable=False, default=""),
        # Number of the record that first covers the row.
        Column("record", Integer, nullable=True),
        # Number of the last record about an erasure of the row.
        Column("erased", Integer, nullable=True),
    )


def conversation_column(**options: Any) -> Column[str]:
    """Return the column that names the conversation to which a row belongs and with which it is
    deleted. options: those of the column, such as `primary_key`."""
    owner = ForeignKey("conversation.id", ondelete="CASCADE")
    return Column("conversation_id", String(36), owner, **options)


source = Table(
    "source",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("path", Text, nullable=False),
    Column("country", String(2), nullable=False, default=""),
)

document = Table(
    "document",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("source", String(200), nullable=False, index=True),
    Column("uri", Text, nullable=False, unique=True),
    Column("digest", String(64), nullable=False),
    # What the sync compares besides the digest: all metadata, without the bytes.
    Column("facts_digest", String(64), nullable=False),
    Column("recipe", String(64), nullable=False),
    # Digest of what the source reported before the document was read; if equal, it is
    # unchanged. Empty = unknown.
    Column("stamp", String(64), nullable=False, default=""),
    Column("facts", JSON, nullable=False),
    # The effective_to of its own metadata; `facts` has the one cut by a successor.
    Column("own_end", String(10), nullable=True),
    Column("chunks", Integer, nullable=False, default=0),
    # A tombstone hides a document at once, before its chunks are gone from the index.
    Column("deleted", Boolean, nullable=False, default=False),
)

text = Table(
    "document_text",
    metadata,
    Column("document_id", String(16), primary_key=True),
    Column("digest", String(64), primary_key=True),
    # Version of the parsers; empty = from before versions were recorded.
    Column("parser", String(20), primary_key=True, default=""),
    Column("text", Text, nullable=False),
    # [[kind, level, page, length], ...]; the block texts are slices of `text` two characters apart.
    Column("blocks", JSON, nullable=False),
    # JSON list of `Annotation`.
    Column("annotations", JSON, nullable=False, default=[]),
    # Time of the first reading; empty = before this was recorded.
    Column("at", String(32), nullable=False, default=""),
)

conversation = Table(
    "conversation",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("person", JSON, nullable=False),
    Column("at", String(32), nullable=False),
    *audit_columns(),
)

# Used before there were events; kept because the audit chain covers its rows.
message = Table(
    "message",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String(36), nullable=False, unique=True),
    conversation_column(nullable=False),
    Column("role", String(16), nullable=False),
    Column("content", Text, nullable=False),
    Column("at", String(32), nullable=False),
    *audit_columns(),
    Index("ix_message_conversation_id_number", "conversation_id", "number"),
)

# What happens in a conversation, append-only: order and digest stay for ever, content can be
# blanked.
event = Table(
    "event",
    metadata,
    # In the order in which transactions began; a later one may become visible first.
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("id", String(36), nullable=False, unique=True),
    conversation_column(nullable=False),
    # 1, 2, 3… in the conversation, without a gap.
    Column("place", Integer, nullable=False),
    Column("by", String(16), nullable=False),
    Column("kind", String(16), nullable=False),
    # JSON as text: PostgreSQL's JSON refuses some characters. Empty once it was erased.
    Column("content", Text, nullable=False),
    # Made by the sender; a repeated key is the same event.
    Column("key", String(64), nullable=True),
    Column("at", String(32), nullable=False),
    *audit_columns(),
    Index("uq_event_conversation_id_place", "conversation_id", "place", unique=True),
    Index("uq_event_conversation_id_key", "conversation_id", "key", unique=True),
)

# State of each conversation, a projection of its events.
session = Table(
    "session",
    metadata,
    conversation_column(primary_key=True),
    # Digest of the owner's secret; empty = the operator of this machine.
    Column("owner", String(64), nullable=False, default="", index=True),
    Column("state", String(16), nullable=False, index=True),
    Column("desk", String(100), nullable=False, default=""),
    Column("last", Integer, nullable=False, default=0),
    # Title given by its owner; empty = the beginning of its first question.
    Column("title", String(200), nullable=False, default=""),
    # Kept at the top of its owner's list.
    Column("pinned", Boolean, nullable=False, default=False),
    # Session as JSON.
    Column("session", Text, nullable=False),
)

# Advisors at our own desk, with the time of their last signal.
presence = Table(
    "presence",
    metadata,
    Column("advisor_id", String(100), primary_key=True),
    # Seconds since 1970 by the database's clock.
    Column("seen", Float, nullable=False),
    Column("away", Boolean, nullable=False, default=False),
)

# Who is typing, for other processes; deleted after a minute.
signal = Table(
    "signal",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("conversation_id", String(36), nullable=False),
    Column("by", String(16), nullable=False),
    Column("name", String(200), nullable=False),
    Column("is_typing", Boolean, nullable=False),
    Column("at", Float, nullable=False),
)

# A handoff at an external desk, with the state needed to continue it.
line = Table(
    "line",
    metadata,
    Column("ticket_id", String(36), primary_key=True),
    conversation_column(nullable=False, index=True),
    Column("desk", String(100), nullable=False),
    Column("state", String(16), nullable=False, index=True),
    # Memory of the desk's client, such as a token, as JSON.
    Column("memory", Text, nullable=False),
    Column("cursor", Text, nullable=False, default=""),
)

# Messages to a desk, each written in the transaction of its event. It holds no text: that is read
# from the event when it is sent, so that erased text is not sent.
outbox = Table(
    "outbox",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column(
        "ticket_id",
        String(36),
        ForeignKey("line.ticket_id", ondelete="CASCADE"),
        nullable=False,
    ),
    # open, message, read, close, look.
    Column("kind", String(16), nullable=False),
    Column("event_id", String(36), nullable=False),
    # waiting, parked, sent, dropped.
    Column("state", String(16), nullable=False),
    Column("tries", Integer, nullable=False, default=0),
    # Seconds since 1970 by the database's clock.
    Column("due", Float, nullable=False, default=0.0),
    Column("error", Text, nullable=False, default=""),
    Index("ix_outbox_ticket_id_number", "ticket_id", "number"),
    Index("ix_outbox_state_due", "state", "due"),
)

# Entries received from a desk, to ignore repetitions.
inbox = Table(
    "inbox",
    metadata,
    Column(
        "ticket_id",
        String(36),
        ForeignKey("line.ticket_id", ondelete="CASCADE"),
        primary_key=True,
    ),
    Column("entry_id", String(200), primary_key=True),
    Column("event_id", String(36), nullable=True),
)

answer = Table(
    "answer",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("conversation_id", String(36), nullable=True, index=True),
    Column("question", JSON, nullable=False),
    Column("answer", JSON, nullable=False),
    Column("at", String(32), nullable=False, index=True),
    # Retained for a shorter time, with its whole conversation.
    Column("sensitive", Boolean, nullable=False, default=False),
    *audit_columns(),
)

# The audit chain. A record is canonical JSON that contains the hash of the one before; its own hash
# covers all of it.
audit = Table(
    "audit",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("record", Text, nullable=False),
    Column("hash", String(64), nullable=False),
)

# Rows that no record of the audit chain covers yet.
unsealed = Table(
    "unsealed",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("name", String(20), nullable=False),
    Column("row_id", String(36), nullable=False),
    # For an answer: digest of the setup that answered.
    Column("setup", String(64), nullable=False, default=""),
)

# Setups that answered: settings, digests of prompts, models. Named by their digests.
setup = Table(
    "setup",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("content", Text, nullable=False),
)

# Reasoning of chat models, apart from the answers, so that nobody sees it with them.
reasoning = Table(
    "reasoning",
    metadata,
    Column("answer_id", String(36), ForeignKey("answer.id", ondelete="CASCADE"), primary_key=True),
    Column("text", Text, nullable=False),
)

# Progress of long jobs, one row for each.
progress = Table(
    "progress",
    metadata,
    Column("job", String(100), primary_key=True),
    Column("said", Text, nullable=False),
)

lease = Table(
    "lease",
    metadata,
    Column("name", String(100), primary_key=True),
    Column("owner", String(200), nullable=False),
    # Grows with every new owner: writes under an older number are refused.
    Column("fence", Integer, nullable=False),
    Column("expires", Float, nullable=False),
)

# Costs of models, for the daily budget: numbers and model names only.
spending = Table(
    "spending",
    metadata,
    Column("day", String(10), primary_key=True),
    Column("model", String(200), primary_key=True),
    Column("calls", Integer, nullable=False),
    Column("tokens_in", BigInteger, nullable=False),
    Column("tokens_out", BigInteger, nullable=False),
    Column("price", Float, nullable=False),
)

# Tables of the lab. JSON is stored as text: it is never queried, and PostgreSQL's JSON refuses
# some characters.

lab_run = Table(
    "lab_run",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("name", String(200), nullable=False, index=True),
    Column("digest", String(64), nullable=False, index=True),
    Column("study", String(200), nullable=False, index=True),
    Column("state", String(16), nullable=False),
    Column("started", String(32), nullable=False),
    Column("run", Text, nullable=False),
)

lab_row = Table(
    "lab_row",
    metadata,
    Column("run_id", String(16), ForeignKey("lab_run.id", ondelete="CASCADE"), primary_key=True),
    # Place in the dataset: reports keep its order, whichever case was done first.
    Column("place", Integer, primary_key=True),
    Column("case_id", Text, nullable=False),
    Column("failed", Boolean, nullable=False),
    # The observation without its hits, and these as [[chunk id, score, found_by], ...] into
    # lab_passage.
    Column("observation", Text, nullable=False),
    Column("hits", Text, nullable=True),
)

lab_score = Table(
    "lab_score",
    metadata,
    Column("run_id", String(16), ForeignKey("lab_run.id", ondelete="CASCADE"), primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("metric", String(100), primary_key=True),
    Column("by", String(200), primary_key=True),
    # Order in which the metrics were named.
    Column("number", Integer, nullable=False),
    # Scores of different versions of a metric are not compared.
    Column("version", Integer, nullable=False),
    Column("value", Float, nullable=True),
    Column("reason", Text, nullable=False),
)

# Replies of judges by request, so that each verdict is paid for once, whatever the run.
lab_reply = Table(
    "lab_reply",
    metadata,
    Column("run_id", String(16), ForeignKey("lab_run.id", ondelete="CASCADE"), primary_key=True),
    # Digest of model, form, prompt and repetition.
    Column("key", String(64), primary_key=True, index=True),
    Column("model", String(200), nullable=False),
    # JSON of the form, or of the reason why it could not be parsed.
    Column("reply", Text, nullable=False),
    Column("tokens_in", Integer, nullable=False),
    Column("tokens_out", Integer, nullable=False),
    Column("price", Float, nullable=True),
)

# Agreement of a judge's grades with people's ratings of the same answers.
lab_alignment = Table(
    "lab_alignment",
    metadata,
    Column("metric", String(200), primary_key=True),
    Column("judge", String(200), primary_key=True),
    # Version of rubric, formula and judge prompt, as in the scores.
    Column("version", Integer, primary_key=True),
    Column("criterion", String(200), nullable=False),
    Column("items", Integer, nullable=False),
    Column("spearman", Float, nullable=True),
)

# Chunks that runs have seen, once each: a chunk's id changes with its text.
lab_passage = Table(
    "lab_passage",
    metadata,
    Column("chunk_id", Text, primary_key=True),
    Column("document_id", Text, nullable=False, index=True),
    Column("chunk", Text, nullable=False),
)

# Every look at a sealed split, also of deleted runs.
lab_look = Table(
    "lab_look",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("dataset", Text, nullable=False),
    Column("dataset_digest", String(64), nullable=False, index=True),
    # JSON list of the viewed cases' ids; empty = all of the dataset.
    Column("cases", Text, nullable=False, default=""),
    Column("run_id", String(16), nullable=False),
    Column("at", String(32), nullable=False),
)

# Ratings of answers, the latest of each rater.
answer_feedback = Table(
    "answer_feedback",
    metadata,
    Column("answer_id", String(64), primary_key=True),
    # A person's pseudonym, or the key of a browser.
    Column("rater", String(200), primary_key=True),
    # 1 or -1.
    Column("thumb", Integer, nullable=False),
    Column("comment", Text, nullable=False),
    Column("at", String(32), nullable=False),
)

# The knowledge graph, stored here and not in the index, so that it is deleted with the document's
# row in one transaction.

graph_document = Table(
    "graph_document",
    metadata,
    Column("document_id", String(16), primary_key=True),
    # Digest of the chunks and their extraction; empty if some failed.
    Column("digest", String(64), nullable=False),
    # {chunk id: digest of its text and extraction}, as text.
    Column("chunks", Text, nullable=False),
)

graph_triplet = Table(
    "graph_triplet",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("document_id", String(16), nullable=False, index=True),
    Column("chunk_id", String(64), nullable=False),
    Column("subject", Text, nullable=False),
    Column("predicate", Text, nullable=False),
    Column("object", Text, nullable=False),
    # Key shared by all names of one entity.
    Column("subject_key", String(200), nullable=False),
    Column("object_key", String(200), nullable=False),
    # Covering indexes: documents of an entity are counted without reading its triplets.
    Index(
        "ix_graph_triplet_subject_key_document_id_chunk_id",
        "subject_key",
        "document_id",
        "chunk_id",
    ),
    Index(
        "ix_graph_triplet_object_key_document_id_chunk_id", "object_key", "document_id", "chunk_id"
    ),
)

# Names by which entities are looked up: key, other names and word stems, with weights.
graph_name = Table(
    "graph_name",
    metadata,
    Column("document_id", String(16), primary_key=True),
    Column("name", String(200), primary_key=True, index=True),
    Column("key", String(200), primary_key=True),
    Column("weight", Float, nullable=False),
)

# Keys merged by a model. `key` < `other`; dropped when one of them has no triplet left.
graph_same = Table(
    "graph_same",
    metadata,
    Column("key", String(200), primary_key=True),
    Column("other", String(200), primary_key=True),
)

# Abbreviations that documents explain: "Annual Cash Bonus (ACB)".
glossary = Table(
    "glossary",
    metadata,
    Column("document_id", String(16), primary_key=True),
    Column("abbreviation", String(20), primary_key=True),
    Column("expansion", String(200), primary_key=True),
)
