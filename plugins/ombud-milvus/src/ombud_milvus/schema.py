"""The two collections of a generation."""

from pymilvus import CollectionSchema, DataType, Function, FunctionType, MilvusClient
from pymilvus.milvus_client import IndexParams

from ombud_milvus.rows import LONGEST, STRINGS


def create_passages(client: MilvusClient, name: str, dimension: int) -> None:
    """dimension: length of a vector, 0 for an index without."""
    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("row_id", DataType.VARCHAR, is_primary=True, max_length=600)
    analyzer = {
        "enable_analyzer": True,
        "enable_match": True,
        "analyzer_params": {"tokenizer": "standard"},
    }
    for field, longest in STRINGS.items():
        more = analyzer if field == "terms" else {}
        schema.add_field(field, DataType.VARCHAR, max_length=longest, **more)
    for field in ("part", "effective_from", "effective_to"):
        schema.add_field(field, DataType.INT64)
    schema.add_field("embedded", DataType.BOOL)
    schema.add_field("sparse", DataType.SPARSE_FLOAT_VECTOR)
    function = Function(
        name="bm25",
        function_type=FunctionType.BM25,
        input_field_names=["terms"],
        output_field_names=["sparse"],
    )
    schema.add_function(function)
    index = client.prepare_index_params()
    index.add_index(
        "sparse",
        index_type="SPARSE_INVERTED_INDEX",
        metric_type="BM25",
        params={"bm25_k1": 1.2, "bm25_b": 0.75},
    )
    if dimension:
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimension)
        index.add_index("vector", index_type="AUTOINDEX", metric_type="IP")
    for field in ("reader", "status", "document_id", "chunk_id"):
        index.add_index(field, index_type="INVERTED")
    _create(client, name, schema, index)


def create_meta(client: MilvusClient, name: str) -> None:
    """Keys and values."""
    schema = client.create_schema(auto_id=False)
    schema.add_field("key", DataType.VARCHAR, is_primary=True, max_length=512)
    schema.add_field("value", DataType.VARCHAR, max_length=LONGEST)
    # A collection must have a vector.
    schema.add_field("nothing", DataType.FLOAT_VECTOR, dim=2)
    index = client.prepare_index_params()
    index.add_index("nothing", index_type="FLAT", metric_type="IP")
    _create(client, name, schema, index)


def _create(client: MilvusClient, name: str, schema: CollectionSchema, index: IndexParams) -> None:
    """Nobody waits for the indexes, which hold nothing yet: pymilvus would sleep half a second for
    each before it looks."""
    client.create_collection(name, schema=schema, consistency_level="Strong")
    client.create_index(name, index, sync=False)
    client.load_collection(name)
