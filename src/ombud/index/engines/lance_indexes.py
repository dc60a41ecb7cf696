"""The search indexes of a LanceDB table of chunks."""

from typing import Any

from ombud.index.engines.quick_import import without_remote_client

with without_remote_client():
    from lancedb.index import FTS, Bitmap, BTree, IvfFlat

VECTOR_INDEX_FROM = 4096
"""Rows from which a table gets a vector index; fewer are compared one by one."""


def index_names(table: Any) -> set[str]:
    return {index.name for index in table.list_indices()}


def build_indexes(table: Any, *, vectors: bool) -> None:
    """Create the indexes that a table lacks. vectors: whether it has vectors."""
    existing = index_names(table)
    configs: dict[str, Any] = {
        "terms": FTS(
            base_tokenizer="whitespace",
            stem=False,
            lower_case=False,
            remove_stop_words=False,
            ascii_folding=False,
            with_position=False,
        ),
        # Bitmaps of the days too: a range on a BTree costs as much as reading the column.
        **dict.fromkeys(("reader", "status", "effective_from", "effective_to"), Bitmap()),
        "row_id": BTree(),
        "chunk_id": BTree(),
        "document_id": BTree(),
    }
    if vectors and table.count_rows() >= VECTOR_INDEX_FROM:
        configs["vector"] = IvfFlat(distance_type="dot")
    for column, config in configs.items():
        if f"{column}_idx" not in existing:
            table.create_index(column, config=config)
