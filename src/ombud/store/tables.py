"""The tables. Migrations under `migrations/` bring a database to this shape."""

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


def _chained() -> tuple[Column[Any], ...]:
    """What every row has that a record of the audit's chain speaks of."""
    return (
        # Key of the row's digest in the chain, so that nobody can guess erased content and check
        # the guess.
        Column("salt", String(64), nullable=False, default=""),
        # Number of the record that took the row in.
        Column("record", Integer, nullable=True),
        # Number of the last record that erased something of it.
        Column("erased", Integer, nullable=True),
    )


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
    # What the sync compares besides the digest: everything that is known about a document but its
    # bytes.
    Column("facts_digest", String(64), nullable=False),
    Column("recipe", String(64), nullable=False),
    # Digest of what a source said before it was read: the same again means that nothing has
    # changed. Empty = unknown.
    Column("stamp", String(64), nullable=False, default=""),
    Column("facts", JSON, nullable=False),
    # The effective_to of its own metadata; `facts` holds the one cut by a successor.
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
    # Annotations of the text, as the type says them.
    Column("annotations", JSON, nullable=False, default=[]),
    # When these bytes were first read; empty = before that was kept.
    Column("at", String(32), nullable=False, default=""),
)

conversation = Table(
    "conversation",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("person", JSON, nullable=False),
    Column("at", String(32), nullable=False),
    *_chained(),
)

# From before there were events; empty since, but the audit's chain speaks of its rows.
message = Table(
    "message",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String(36), nullable=False, unique=True),
    Column(
        "conversation_id",
        String(36),
        ForeignKey("conversation.id", ondelete="CASCADE"),
        nullable=False,
    ),
    Column("role", String(16), nullable=False),
    Column("content", Text, nullable=False),
    Column("at", String(32), nullable=False),
    *_chained(),
    Index("ix_message_conversation_id_number", "conversation_id", "number"),
)

# What happens in a conversation, append-only: order and digest stay for ever, content can be
# blanked.
event = Table(
    "event",
    metadata,
    # In the order of their transactions' beginnings; a later one may become visible first.
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("id", String(36), nullable=False, unique=True),
    Column(
        "conversation_id",
        String(36),
        ForeignKey("conversation.id", ondelete="CASCADE"),
        nullable=False,
    ),
    # 1, 2, 3… in the conversation, without a gap.
    Column("place", Integer, nullable=False),
    Column("by", String(16), nullable=False),
    Column("kind", String(16), nullable=False),
    # JSON as text: PostgreSQL's JSON refuses some characters. Empty once it was erased.
    Column("content", Text, nullable=False),
    # Of the sender: the same once more is the same event.
    Column("key", String(64), nullable=True),
    Column("at", String(32), nullable=False),
    *_chained(),
    Index("uq_event_conversation_id_place", "conversation_id", "place", unique=True),
    Index("uq_event_conversation_id_key", "conversation_id", "key", unique=True),
)

# Each conversation as its events have left it: what they say can be read again from them at any
# time.
session = Table(
    "session",
    metadata,
    Column(
        "conversation_id",
        String(36),
        ForeignKey("conversation.id", ondelete="CASCADE"),
        primary_key=True,
    ),
    # Digest of the secret of whom it belongs to; empty = of whoever works on this machine.
    Column("owner", String(64), nullable=False, default="", index=True),
    Column("state", String(16), nullable=False, index=True),
    Column("desk", String(100), nullable=False, default=""),
    Column("last", Integer, nullable=False, default=0),
    # As its owner has named it; empty = how it begins.
    Column("title", String(200), nullable=False, default=""),
    # Session as JSON.
    Column("session", Text, nullable=False),
)

# Advisors at our own desk: when each was last there.
presence = Table(
    "presence",
    metadata,
    Column("advisor_id", String(100), primary_key=True),
    # Seconds since 1970 by the database's clock.
    Column("seen", Float, nullable=False),
    Column("away", Boolean, nullable=False, default=False),
)

# Who types, for whoever watches the conversation in another process; gone after a minute.
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

# A hand-over at a desk that is not ours: what must be known to go on with it.
line = Table(
    "line",
    metadata,
    Column("ticket_id", String(36), primary_key=True),
    Column(
        "conversation_id",
        String(36),
        ForeignKey("conversation.id", ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    Column("desk", String(100), nullable=False),
    Column("state", String(16), nullable=False, index=True),
    # What the desk wants to remember, such as a token, as JSON.
    Column("memory", Text, nullable=False),
    Column("cursor", Text, nullable=False, default=""),
)

# What is to be told to a desk; written in the transaction of the event that it is about. It holds
# no words: they are read from the events when they are sent, so that what is erased is not sent.
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
    # Of the event: open, message, read, close.
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

# What a desk has told, once each, whichever way and however often it came.
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
    # Kept for a shorter time, as is the whole conversation it stands in.
    Column("sensitive", Boolean, nullable=False, default=False),
    *_chained(),
)

# The audit's chain. A record is canonical JSON; its hash covers it whole, and it holds the hash of
# the one before.
audit = Table(
    "audit",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("record", Text, nullable=False),
    Column("hash", String(64), nullable=False),
)

# Rows that a record of the audit is still to take in.
unsealed = Table(
    "unsealed",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("name", String(20), nullable=False),
    Column("row_id", String(36), nullable=False),
    # What answered, for an answer: the digest of a set-up.
    Column("setup", String(64), nullable=False, default=""),
)

# What answered: settings, prompts' digests, models. A row for each set-up there has been, named by
# its digest.
setup = Table(
    "setup",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("content", Text, nullable=False),
)

# What a chat model thought before it answered: apart from the answer, so that nobody is shown it.
reasoning = Table(
    "reasoning",
    metadata,
    Column("answer_id", String(36), ForeignKey("answer.id", ondelete="CASCADE"), primary_key=True),
    Column("text", Text, nullable=False),
)

# What a long job says of itself while it works, for whoever asks: one row a job.
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
    # Grows with every new owner: work done under an older number is refused.
    Column("fence", Integer, nullable=False),
    Column("expires", Float, nullable=False),
)

# What models cost, for the daily budget: numbers and model names only.
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

# The lab's. Rows hold JSON as text: it is read whole or not at all, and PostgreSQL's JSON refuses
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

# What judges replied, by what they were asked: a verdict is paid for once, in whichever run.
lab_reply = Table(
    "lab_reply",
    metadata,
    Column("run_id", String(16), ForeignKey("lab_run.id", ondelete="CASCADE"), primary_key=True),
    # Of model, form, words and repeat.
    Column("key", String(64), primary_key=True, index=True),
    Column("model", String(200), nullable=False),
    # JSON of the form; what could not be read is kept as why.
    Column("reply", Text, nullable=False),
    Column("tokens_in", Integer, nullable=False),
    Column("tokens_out", Integer, nullable=False),
    Column("price", Float, nullable=True),
)

# How far a judge's grades go with what people said of the same answers.
lab_alignment = Table(
    "lab_alignment",
    metadata,
    Column("metric", String(200), primary_key=True),
    Column("judge", String(200), primary_key=True),
    # Of rubric, formula and how the judge is asked, as scores have it.
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

# Every look at a sealed split, for ever: also those of runs that were deleted.
lab_look = Table(
    "lab_look",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("dataset", Text, nullable=False),
    Column("dataset_digest", String(64), nullable=False, index=True),
    # Ids of the cases that were looked at, a JSON list; empty = all of the dataset.
    Column("cases", Text, nullable=False, default=""),
    Column("run_id", String(16), nullable=False),
    Column("at", String(32), nullable=False),
)

# What people said of an answer: each rater once, the last word counts.
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

# The graph of triplets, kept here and not in the index, so that it goes with the document's row in
# one transaction.

graph_document = Table(
    "graph_document",
    metadata,
    Column("document_id", String(16), primary_key=True),
    # Of the chunks and of how they were read; empty where some of them could not be.
    Column("digest", String(64), nullable=False),
    # {chunk id: digest of its text and of how it was read}, as text.
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
    # What two names of one thing have in common.
    Column("subject_key", String(200), nullable=False),
    Column("object_key", String(200), nullable=False),
    # Whose passages speak of an entity is read from these alone, however many triplets it has.
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

# By what an entity is found: its key, other names of it, and the stems of its words, each with its
# weight.
graph_name = Table(
    "graph_name",
    metadata,
    Column("document_id", String(16), primary_key=True),
    Column("name", String(200), primary_key=True, index=True),
    Column("key", String(200), primary_key=True),
    Column("weight", Float, nullable=False),
)

# Keys that a model says are one thing. `key` < `other`; gone when one of them has no triplet left.
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
