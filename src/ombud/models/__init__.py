"""Text in, typed value out: embedders, chat models, language."""

from ombud.models.chat import Chat, Reply, open_chat
from ombud.models.embedder import Embedder, open_embedder
from ombud.models.language import detect_language

__all__ = ["Chat", "Embedder", "Reply", "detect_language", "open_chat", "open_embedder"]
