"""Text in, typed value out: embedders, chat models, rerankers, language."""

from ombud.models import late, linear
from ombud.models.asking import at_most
from ombud.models.calls import Call, record, recorded, stand_ins
from ombud.models.chat import Chat, Reply
from ombud.models.embedder import Embedder, Reading, open_embedder
from ombud.models.language import detect_language
from ombud.models.onnx_graph import build_int8
from ombud.models.purse import Purse
from ombud.models.remembering import Remembering
from ombud.models.reranker import Reranker, open_reranker
from ombud.models.resilience import Timing
from ombud.models.switchboard import Switchboard, open_chat

__all__ = [
    "Call",
    "Chat",
    "Embedder",
    "Purse",
    "Reading",
    "Remembering",
    "Reply",
    "Reranker",
    "Switchboard",
    "Timing",
    "at_most",
    "build_int8",
    "detect_language",
    "late",
    "linear",
    "open_chat",
    "open_embedder",
    "open_reranker",
    "record",
    "recorded",
    "stand_ins",
]
