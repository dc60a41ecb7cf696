"""The whole schema. Later changes are migrations beside this one."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = None

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    _create_documents()
    _create_conversations()
    _create_sessions()
    _create_answers()
    _create_delivery()
    _create_graph()
    _create_people()
    _create_coordination()
    _create_runs()
    _create_judges()


def _create_documents() -> None:
    op.create_table(
        "source",
        sa.Column("name", sa.String(200), primary_key=True),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("country", sa.String(2), nullable=False),
    )
    op.create_table(
        "document",
        sa.Column("id", sa.String(16), primary_key=True),
        sa.Column("source", sa.String(200), nullable=False, index=True),
        sa.Column("uri", sa.Text, nullable=False, unique=True),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("facts_digest", sa.String(64), nullable=False),
        sa.Column("recipe", sa.String(64), nullable=False),
        sa.Column("facts", sa.JSON, nullable=False),
        sa.Column("own_end", sa.String(10), nullable=True),
        sa.Column("chunks", sa.Integer, nullable=False),
        sa.Column("deleted", sa.Boolean, nullable=False),
        sa.Column("stamp", sa.String(64), nullable=False, server_default=""),
    )
    op.create_table(
        "document_text",
        sa.Column("document_id", sa.String(16), primary_key=True),
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("blocks", sa.JSON, nullable=False),
        sa.Column("at", sa.String(32), nullable=False, server_default=""),
    )
    op.create_table(
        "glossary",
        sa.Column("document_id", sa.String(16), primary_key=True),
        sa.Column("abbreviation", sa.String(20), primary_key=True),
        sa.Column("expansion", sa.String(200), primary_key=True),
    )


def _create_conversations() -> None:
    op.create_table(
        "conversation",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("person", sa.JSON, nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("salt", sa.String(64), nullable=False, server_default=""),
        sa.Column("record", sa.Integer, nullable=True),
        sa.Column("erased", sa.Integer, nullable=True),
    )
    op.create_table(
        "message",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(36), nullable=False, unique=True),
        sa.Column(
            "conversation_id",
            sa.String(36),
            sa.ForeignKey("conversation.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("salt", sa.String(64), nullable=False, server_default=""),
        sa.Column("record", sa.Integer, nullable=True),
        sa.Column("erased", sa.Integer, nullable=True),
    )
    op.create_index("ix_message_conversation_id_number", "message", ["conversation_id", "number"])
    op.create_table(
        "event",
        sa.Column("number", NUMBER, primary_key=True),
        sa.Column("id", sa.String(36), nullable=False, unique=True),
        sa.Column(
            "conversation_id",
            sa.String(36),
            sa.ForeignKey("conversation.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("by", sa.String(16), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("key", sa.String(64), nullable=True),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("salt", sa.String(64), nullable=False, server_default=""),
        sa.Column("record", sa.Integer, nullable=True),
        sa.Column("erased", sa.Integer, nullable=True),
        sa.Index("uq_event_conversation_id_place", "conversation_id", "place", unique=True),
        sa.Index("uq_event_conversation_id_key", "conversation_id", "key", unique=True),
    )


def _create_sessions() -> None:
    op.create_table(
        "session",
        sa.Column(
            "conversation_id",
            sa.String(36),
            sa.ForeignKey("conversation.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("owner", sa.String(64), nullable=False, server_default=""),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("desk", sa.String(100), nullable=False, server_default=""),
        sa.Column("last", sa.Integer, nullable=False, server_default="0"),
        sa.Column("session", sa.Text, nullable=False),
        sa.Column("title", sa.String(200), nullable=False, server_default=""),
    )
    op.create_index("ix_session_owner", "session", ["owner"])
    op.create_index("ix_session_state", "session", ["state"])
    op.create_table(
        "unsealed",
        sa.Column("number", NUMBER, primary_key=True),
        sa.Column("name", sa.String(20), nullable=False),
        sa.Column("row_id", sa.String(36), nullable=False),
        sa.Column("setup", sa.String(64), nullable=False, server_default=""),
    )
    op.create_table(
        "signal",
        sa.Column("number", NUMBER, primary_key=True),
        sa.Column("conversation_id", sa.String(36), nullable=False),
        sa.Column("by", sa.String(16), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("is_typing", sa.Boolean, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
    )
    op.create_table(
        "presence",
        sa.Column("advisor_id", sa.String(100), primary_key=True),
        sa.Column("seen", sa.Float, nullable=False),
        sa.Column("away", sa.Boolean, nullable=False, server_default=sa.false()),
    )


def _create_answers() -> None:
    op.create_table(
        "answer",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("conversation_id", sa.String(36), nullable=True, index=True),
        sa.Column("question", sa.JSON, nullable=False),
        sa.Column("answer", sa.JSON, nullable=False),
        sa.Column("at", sa.String(32), nullable=False, index=True),
        sa.Column("salt", sa.String(64), nullable=False, server_default=""),
        sa.Column("record", sa.Integer, nullable=True),
        sa.Column("erased", sa.Integer, nullable=True),
        sa.Column("sensitive", sa.Boolean, nullable=False, server_default=sa.false()),
    )
    op.create_table(
        "answer_feedback",
        sa.Column("answer_id", sa.String(64), primary_key=True),
        sa.Column("rater", sa.String(200), primary_key=True),
        sa.Column("thumb", sa.Integer, nullable=False),
        sa.Column("comment", sa.Text, nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
    )
    op.create_table(
        "reasoning",
        sa.Column(
            "answer_id",
            sa.String(36),
            sa.ForeignKey("answer.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_table(
        "audit",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("record", sa.Text, nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
    )
    op.create_table(
        "setup",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("content", sa.Text, nullable=False),
    )
    op.create_table(
        "spending",
        sa.Column("day", sa.String(10), primary_key=True),
        sa.Column("model", sa.String(200), primary_key=True),
        sa.Column("calls", sa.Integer, nullable=False),
        sa.Column("tokens_in", sa.BigInteger, nullable=False),
        sa.Column("tokens_out", sa.BigInteger, nullable=False),
        sa.Column("price", sa.Float, nullable=False),
    )


def _create_delivery() -> None:
    op.create_table(
        "line",
        sa.Column("ticket_id", sa.String(36), primary_key=True),
        sa.Column(
            "conversation_id",
            sa.String(36),
            sa.ForeignKey("conversation.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("desk", sa.String(100), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("memory", sa.Text, nullable=False),
        sa.Column("cursor", sa.Text, nullable=False, server_default=""),
    )
    op.create_index("ix_line_conversation_id", "line", ["conversation_id"])
    op.create_index("ix_line_state", "line", ["state"])
    op.create_table(
        "outbox",
        sa.Column("number", NUMBER, primary_key=True),
        sa.Column(
            "ticket_id",
            sa.String(36),
            sa.ForeignKey("line.ticket_id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("event_id", sa.String(36), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("tries", sa.Integer, nullable=False, server_default="0"),
        sa.Column("due", sa.Float, nullable=False, server_default="0"),
        sa.Column("error", sa.Text, nullable=False, server_default=""),
        sa.Index("ix_outbox_ticket_id_number", "ticket_id", "number"),
        sa.Index("ix_outbox_state_due", "state", "due"),
    )
    op.create_table(
        "inbox",
        sa.Column(
            "ticket_id",
            sa.String(36),
            sa.ForeignKey("line.ticket_id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("entry_id", sa.String(200), primary_key=True),
        sa.Column("event_id", sa.String(36), nullable=True),
    )


def _create_graph() -> None:
    op.create_table(
        "graph_document",
        sa.Column("document_id", sa.String(16), primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("chunks", sa.Text, nullable=False),
    )
    op.create_table(
        "graph_triplet",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("document_id", sa.String(16), nullable=False, index=True),
        sa.Column("chunk_id", sa.String(64), nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("predicate", sa.Text, nullable=False),
        sa.Column("object", sa.Text, nullable=False),
        sa.Column("subject_key", sa.String(200), nullable=False),
        sa.Column("object_key", sa.String(200), nullable=False),
    )
    for end in ("subject_key", "object_key"):
        columns = [end, "document_id", "chunk_id"]
        op.create_index(f"ix_graph_triplet_{'_'.join(columns)}", "graph_triplet", columns)
    op.create_table(
        "graph_name",
        sa.Column("document_id", sa.String(16), primary_key=True),
        sa.Column("name", sa.String(200), primary_key=True, index=True),
        sa.Column("key", sa.String(200), primary_key=True),
        sa.Column("weight", sa.Float, nullable=False),
    )
    op.create_table(
        "graph_same",
        sa.Column("key", sa.String(200), primary_key=True),
        sa.Column("other", sa.String(200), primary_key=True),
    )


def _create_people() -> None:
    op.create_table(
        "account",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("password", sa.String(200), nullable=False),
        sa.Column("subject", sa.String(64), nullable=True),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("duties", sa.Text, nullable=False),
        sa.Column("disabled", sa.Boolean, nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_account"),
        sa.UniqueConstraint("name", name="uq_account_name"),
        sa.UniqueConstraint("subject", name="uq_account_subject"),
    )
    op.create_table(
        "login",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("account_id", sa.String(36), nullable=False),
        sa.Column("expires", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_login"),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name="fk_login_account_id", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_login_account_id", "login", ["account_id"])
    op.create_table(
        "token",
        sa.Column("id", sa.String(16), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("account_id", sa.String(36), nullable=False),
        sa.Column("rights", sa.Text, nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("until", sa.String(10), nullable=False),
        sa.Column("last_used", sa.String(10), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_token"),
        sa.UniqueConstraint("digest", name="uq_token_digest"),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name="fk_token_account_id", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_token_account_id", "token", ["account_id"])
    op.create_table(
        "prompt_version",
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("by", sa.String(40), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("name", "number", name="pk_prompt_version"),
    )


def _create_coordination() -> None:
    op.create_table(
        "lease",
        sa.Column("name", sa.String(100), primary_key=True),
        sa.Column("owner", sa.String(200), nullable=False),
        sa.Column("fence", sa.Integer, nullable=False),
        sa.Column("expires", sa.Float, nullable=False),
    )
    op.create_table(
        "progress",
        sa.Column("job", sa.String(100), primary_key=True),
        sa.Column("said", sa.Text, nullable=False),
    )
    op.create_table(
        "index_generation",
        sa.Column("place", sa.String(500), nullable=False),
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.PrimaryKeyConstraint("place", "name", name="pk_index_generation"),
    )
    op.create_table(
        "index_write",
        sa.Column("document_id", sa.String(16), nullable=False),
        sa.Column("fence", sa.BigInteger, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("document_id", "fence", name="pk_index_write"),
    )
    op.create_table(
        "work",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("fence", sa.BigInteger, nullable=False),
        sa.Column("recipe", sa.String(64), nullable=False),
        sa.Column("facts", sa.Text, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("claim", sa.Integer, nullable=False),
        sa.Column("expires", sa.Float, nullable=False),
        sa.Column("result", sa.LargeBinary, nullable=True),
        sa.Column("reason", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_work"),
    )
    op.create_index("ix_work_state", "work", ["state"])


def _create_runs() -> None:
    op.create_table(
        "lab_run",
        sa.Column("id", sa.String(16), primary_key=True),
        sa.Column("name", sa.String(200), nullable=False, index=True),
        sa.Column("digest", sa.String(64), nullable=False, index=True),
        sa.Column("study", sa.String(200), nullable=False, index=True),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("started", sa.String(32), nullable=False),
        sa.Column("run", sa.Text, nullable=False),
    )
    op.create_table(
        "lab_row",
        _run(),
        sa.Column("place", sa.Integer, primary_key=True),
        sa.Column("case_id", sa.Text, nullable=False),
        sa.Column("failed", sa.Boolean, nullable=False),
        sa.Column("observation", sa.Text, nullable=False),
        sa.Column("hits", sa.Text, nullable=True),
    )
    op.create_table(
        "lab_score",
        _run(),
        sa.Column("place", sa.Integer, primary_key=True),
        sa.Column("metric", sa.String(100), primary_key=True),
        sa.Column("by", sa.String(200), primary_key=True),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("value", sa.Float, nullable=True),
        sa.Column("reason", sa.Text, nullable=False),
    )
    op.create_table(
        "lab_passage",
        sa.Column("chunk_id", sa.Text, primary_key=True),
        sa.Column("document_id", sa.Text, nullable=False, index=True),
        sa.Column("chunk", sa.Text, nullable=False),
    )
    op.create_table(
        "lab_look",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("dataset", sa.Text, nullable=False),
        sa.Column("dataset_digest", sa.String(64), nullable=False, index=True),
        sa.Column("run_id", sa.String(16), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("cases", sa.Text, nullable=False, server_default=""),
    )


def _create_judges() -> None:
    op.create_table(
        "lab_reply",
        _run(),
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("model", sa.String(200), nullable=False),
        sa.Column("reply", sa.Text, nullable=False),
        sa.Column("tokens_in", sa.Integer, nullable=False),
        sa.Column("tokens_out", sa.Integer, nullable=False),
        sa.Column("price", sa.Float, nullable=True),
    )
    op.create_index("ix_lab_reply_key", "lab_reply", ["key"])
    op.create_table(
        "lab_alignment",
        sa.Column("metric", sa.String(200), primary_key=True),
        sa.Column("judge", sa.String(200), primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True),
        sa.Column("criterion", sa.String(200), nullable=False),
        sa.Column("items", sa.Integer, nullable=False),
        sa.Column("spearman", sa.Float, nullable=True),
    )


def _run() -> sa.Column[str]:
    return sa.Column(
        "run_id", sa.String(16), sa.ForeignKey("lab_run.id", ondelete="CASCADE"), primary_key=True
    )
