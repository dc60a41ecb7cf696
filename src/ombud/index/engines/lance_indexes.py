"""Which search indexes a LanceDB table of chunks has."""

from typing import Any

from ombud.index.engines.quick_import import without_remote_client

with without_remote_client():
    from lancedb.index import FTS, Bitmap, BTree, IvfFlat

VECTOR_INDEX_FROM = 4096
"""Rows; fewer are compared one by one."""


def index_names(table: Any) -> set[str]:
    return {index.name for index in table.list_indices()}


def build_indexes(table: Any, *, vectors: bool) -> None:
    """Those that are missing. vectors: whether the table has any."""
    have = index_names(table)
    wanted: dict[str, Any] = {
        "terms": FTS(
            base_tokenizer="whitespace",
            stem=False,
            lower_case=False,
            remove_stop_words=False,
            ascii_folding=False,
            with_position=False,
        ),
        # Bitmaps of the days too: a range on them costs nothing, on a BTree as much as reading
        # the column (4 ms).
        **dict.fromkeys(("reader", "status", "effective_from", "effective_to"), Bitmap()),
        "row_id": BTree(),
        "chunk_id": BTree(),
        "document_id": BTree(),
    }
    if vectors and table.count_rows() >= VECTOR_INDEX_FROM:
        wanted["vector"] = IvfFlat(distance_type="dot")
    for column, config in wanted.items():
        if f"{column}_idx" not in have:
            table.create_index(column, config=config)
