"""The index on a Milvus server: `engine = "milvus"` in `[index]`."""

from ombud_milvus.engine import MilvusBackend

__all__ = ["MilvusBackend"]
